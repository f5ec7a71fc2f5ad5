//! From the record of a sample to its result. Scores are taken over as they are; only the choice of the reward is made here.

use std::collections::BTreeMap;

use assize_rubric::{OutcomeKind, UngradedReason, Verdict};
use assize_store::{CaseRecord, ResultRow};

use crate::api::{
    DecisionResult, GradeStatus, GradeSummary, OnUngraded, RewardKind, SampleResult, UngradedPolicy,
};
use crate::telemetry::TraceParent;

/// Place and names of a sample in its request.
#[derive(Debug, Clone)]
pub(crate) struct SamplePlace {
    pub(crate) index: usize,
    pub(crate) id: String,
    pub(crate) group: Option<String>,
    /// Trace that the request belongs to.
    pub(crate) trace: Option<TraceParent>,
}

/// The reward that is known, with the lowest and the highest that are possible.
pub(crate) struct RewardBounds {
    pub(crate) known: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
}

impl RewardBounds {
    /// A reward that is known.
    pub(crate) const fn certain(reward: f64) -> Self {
        Self { known: Some(reward), low: Some(reward), high: Some(reward) }
    }

    /// The reward with this policy for what is not known, and whether it was assumed.
    pub(crate) const fn choose(&self, on_ungraded: OnUngraded) -> (Option<f64>, bool) {
        match (self.known, on_ungraded) {
            (Some(known), _) => (Some(known), false),
            (None, OnUngraded::Value { value }) => (Some(value), true),
            (None, OnUngraded::Named(UngradedPolicy::Low)) => (self.low, self.low.is_some()),
            (None, OnUngraded::Named(UngradedPolicy::High)) => (self.high, self.high.is_some()),
            (None, _) => (None, false),
        }
    }
}

/// Makes the result of a sample of its record.
pub(crate) fn sample_result(
    place: SamplePlace,
    record: CaseRecord,
    reward: RewardKind,
    on_ungraded: OnUngraded,
    config_hash: &str,
) -> SampleResult {
    let CaseRecord { result, decisions } = record;
    let (mut calls, mut cached, mut tokens) = (0_u64, 0_u64, assize_rubric::Tokens::default());
    let mut causes: BTreeMap<String, UngradedReason> = BTreeMap::new();
    for row in decisions {
        let spent = &row.decision.spent;
        calls += u64::from(spent.attempts) + u64::from(spent.cached_calls);
        cached += u64::from(spent.cached_calls);
        tokens.add(spent.tokens);
        if let (Some(criterion), Some(reason)) = (row.decision.criterion(), &row.decision.ungraded) {
            causes.entry(criterion.id.to_string()).or_insert_with(|| reason.clone());
        }
    }

    let bounds = reward_bounds(&result, reward);
    let status = status_of(&result);
    let (reward, reward_assumed) = bounds.choose(on_ungraded);

    let error = reason_of(&result, &causes);
    let rows = result.graders.into_iter().flat_map(|grader| grader.criteria);
    let decisions: Vec<DecisionResult> = rows
        .map(|decision| {
            let is_ungraded = decision.outcome == OutcomeKind::Ungraded;
            let ungraded = if is_ungraded { causes.remove(&*decision.id) } else { None };
            DecisionResult { decision, ungraded }
        })
        .collect();

    SampleResult {
        index: place.index,
        id: place.id,
        group: place.group,
        status,
        reward,
        reward_assumed,
        reward_components: decisions
            .iter()
            .map(|row| (row.decision.id.to_string(), row.decision.value))
            .collect(),
        score: result.score,
        score_low: result.score_low,
        score_high: result.score_high,
        coverage: result.coverage,
        verdict: result.verdict,
        gates_failed: result.gates_failed,
        decisions,
        scorecard: Vec::new(),
        error,
        group_score: None,
        group_comparisons: None,
        judge_calls: calls,
        judge_calls_cached: cached,
        tokens,
        cost_usd: result.cost_usd,
        cost_partial: result.cost_partial,
        duration_ms: result.duration_ms,
        judge_config_hash: config_hash.to_owned(),
    }
}

fn status_of(result: &ResultRow) -> GradeStatus {
    let rows = || result.graders.iter().flat_map(|grader| &grader.criteria);
    let ungraded = rows().filter(|row| row.outcome == OutcomeKind::Ungraded).count();
    match rows().count() {
        0 => GradeStatus::Ungraded,
        _ if ungraded == 0 => GradeStatus::Graded,
        all if ungraded == all => GradeStatus::Ungraded,
        _ => GradeStatus::Partial,
    }
}

/// Bounds of a reward. They are those of the score, so the worst case follows the sign of the weights.
fn reward_bounds(result: &ResultRow, reward: RewardKind) -> RewardBounds {
    match reward {
        RewardKind::Gated if !result.gates_failed.is_empty() => RewardBounds::certain(0.0),
        RewardKind::Gated if has_open_gate(result) => {
            RewardBounds { known: None, low: result.score_low.map(|_| 0.0), high: result.score_high }
        }
        RewardKind::Score | RewardKind::Gated => {
            RewardBounds { known: result.score, low: result.score_low, high: result.score_high }
        }
        RewardKind::Pass => match result.verdict {
            Verdict::Pass => RewardBounds::certain(1.0),
            Verdict::Borderline | Verdict::Fail => RewardBounds::certain(0.0),
            Verdict::Incomplete => RewardBounds { known: None, low: Some(0.0), high: Some(1.0) },
        },
    }
}

/// True if a criterion that gates is ungraded.
fn has_open_gate(result: &ResultRow) -> bool {
    let mut rows = result.graders.iter().flat_map(|grader| &grader.criteria);
    rows.any(|row| row.gate.is_some() && row.outcome == OutcomeKind::Ungraded)
}

/// Reason why something is ungraded: that of the case, of the grader, else of the first such criterion.
fn reason_of(result: &ResultRow, causes: &BTreeMap<String, UngradedReason>) -> Option<String> {
    if let Some(error) = &result.error {
        return Some(error.message.clone());
    }
    if let Some(error) = result.graders.iter().find_map(|grader| grader.error.clone()) {
        return Some(error);
    }

    let rows = result.graders.iter().flat_map(|grader| &grader.criteria);
    let open: Vec<_> = rows.filter(|row| row.outcome == OutcomeKind::Ungraded).collect();
    let first = open.first()?;
    let reason = causes.get(&*first.id).map_or(first.reason.as_str(), |cause| &cause.message);
    Some(match open.len() {
        1 => format!("{}: {reason}", first.id),
        more => format!("{}: {reason} (and {} more)", first.id, more - 1),
    })
}

impl SampleResult {
    /// True if its reward is asked for and not known.
    pub(crate) fn lacks_reward(&self) -> bool {
        self.reward.is_none() || self.reward_assumed
    }
}

impl GradeSummary {
    /// Adds a result.
    pub(crate) fn add(&mut self, result: &SampleResult, on_ungraded: OnUngraded) {
        self.samples += 1;
        match result.status {
            GradeStatus::Graded => self.graded += 1,
            GradeStatus::Partial => self.partial += 1,
            GradeStatus::Ungraded => self.ungraded += 1,
        }
        self.dropped += usize::from(is_dropped(result, on_ungraded));
        self.judge_calls += result.judge_calls;
        self.judge_calls_cached += result.judge_calls_cached;

        let cost = assize_rubric::Cost::from_parts(result.cost_usd, result.cost_partial);
        self.cost_usd += cost.lower_bound();
        self.unpriced_calls += cost.unpriced_calls();
    }
}

/// True if the result is left out.
pub(crate) fn is_dropped(result: &SampleResult, on_ungraded: OnUngraded) -> bool {
    on_ungraded == OnUngraded::Named(UngradedPolicy::Drop) && result.reward.is_none()
}
