//! Options that adapters take from the address, because the frameworks' bodies have no field for them.

use std::collections::BTreeMap;

use url::form_urlencoded;

use crate::api::{
    GradeRequest, GradeSample, NamedRubric, OnUngraded, RewardKind, RubricSource, UngradedPolicy,
};
use crate::decode::ProblemList;
use crate::problem::ApiError;
use crate::request::MAX_DEADLINE_MS;
use crate::telemetry::TraceParent;

/// Rubric of requests to adapters that name none: some frameworks send no query.
pub(crate) const DEFAULT_RUBRIC: &str = "default";

/// Options of an adapter.
#[derive(Debug, Clone, Default)]
pub(crate) struct AdapterQuery {
    rubric: Option<String>,
    hash: Option<String>,
    weights: Option<String>,
    reward: RewardKind,
    /// Policy for unknown rewards; `None` if the address has none.
    pub(crate) on_ungraded: Option<OnUngraded>,
    pub(crate) deadline_ms: Option<u64>,
    /// True if OpenRLHF's `query` is the answer alone.
    pub(crate) query_is_answer: bool,
    /// Trace of the request.
    pub(crate) trace: Option<TraceParent>,
}

impl AdapterQuery {
    /// Parses the query of an address; `answer` is an option only if `takes_answer`.
    ///
    /// # Errors
    /// With every invalid option.
    pub(crate) fn parse(query: Option<&str>, takes_answer: bool) -> Result<Self, ApiError> {
        let mut problems = ProblemList::default();
        let mut read = Self::default();

        for (key, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            match &*key {
                "rubric" => read.rubric = Some(value.into_owned()),
                "hash" => read.hash = Some(value.into_owned()),
                "weights" => read.weights = Some(value.into_owned()),
                "reward" => match RewardKind::from_name(&value) {
                    Some(reward) => read.reward = reward,
                    None => problems.add("", "`reward` of the address: expected score, gated or pass"),
                },
                "on_ungraded" => match policy(&value) {
                    Some(policy) => read.on_ungraded = Some(policy),
                    None => problems.add(
                        "",
                        "`on_ungraded` of the address: expected null, drop, error, low, high or a number",
                    ),
                },
                "deadline_ms" => match value.parse() {
                    Ok(deadline) if (1..=MAX_DEADLINE_MS).contains(&deadline) => {
                        read.deadline_ms = Some(deadline);
                    }
                    _ => {
                        let message =
                            format!("`deadline_ms` of the address: expected 1 to {MAX_DEADLINE_MS}");
                        problems.add("", message);
                    }
                },
                "answer" if takes_answer && value == "query" => read.query_is_answer = true,
                "answer" if takes_answer => problems.add("", "`answer` of the address: expected query"),
                other => {
                    let known = "rubric, hash, weights, reward, on_ungraded, deadline_ms";
                    let own = if takes_answer { ", answer" } else { "" };
                    let message = format!("unknown option `{other}` in the address; known are {known}{own}");
                    problems.add("", message);
                }
            }
        }
        problems.check()?;

        Ok(read)
    }

    /// The options with a rubric named in the body, which overrides the one in the address.
    pub(crate) fn with_rubric(self, named: NamedRubric) -> Self {
        Self { rubric: Some(named.name), hash: named.hash, ..self }
    }

    /// The request that grades these samples. `has_default` is true if a rubric named [`DEFAULT_RUBRIC`] is loaded.
    ///
    /// # Errors
    /// When no rubric is named and there is no default.
    pub(crate) fn request(
        &self,
        samples: Vec<GradeSample>,
        otherwise: OnUngraded,
        has_default: bool,
    ) -> Result<GradeRequest, ApiError> {
        let default = || has_default.then(|| DEFAULT_RUBRIC.to_owned());
        let Some(name) = self.rubric.clone().or_else(default) else {
            let message = "name a loaded rubric or scorecard in the address, `?rubric=NAME`, or load one of the name `default`";
            return Err(ApiError::invalid_at("", message));
        };

        Ok(GradeRequest {
            rubric: Some(RubricSource::Named(NamedRubric { name, hash: self.hash.clone() })),
            scorecard: None,
            weights: self.weights.clone(),
            samples,
            reward: self.reward,
            on_ungraded: self.on_ungraded.unwrap_or(otherwise),
            deadline_ms: self.deadline_ms,
            compare: None,
            unusable: BTreeMap::new(),
        })
    }
}

fn policy(text: &str) -> Option<OnUngraded> {
    if text == "null" {
        return Some(OnUngraded::Null);
    }

    let named = UngradedPolicy::from_name(text).map(OnUngraded::Named);
    let number = || text.parse::<f64>().ok().filter(|value| value.is_finite());
    named.or_else(|| number().map(|value| OnUngraded::Value { value }))
}
