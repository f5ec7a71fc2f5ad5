//! Checks requests without a server.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::adapters::{gym, lambda, openai, openrlhf, slime};
use crate::api::{GradeRequest, GradeSample, ScorecardSource};
use crate::decode::{ProblemList, parse_body};
use crate::inline_rubric::inline_rubric;
use crate::inline_scorecard::InlineScorecard;
use crate::options::RequestLimits;
use crate::problem::{ApiError, ErrorBody, RequestProblem};
use crate::request::{decode_request, to_grading_sample};

/// Problems in the body of a grading request, as a server with these limits and judges would list them. Opens
/// no files and makes no calls; names of loaded rubrics count as known.
pub fn check_request(body: &[u8], limits: &RequestLimits, judges: &[String]) -> Vec<RequestProblem> {
    find_problems(body, limits, judges).unwrap_or_else(problems_of)
}

/// The problems of a refused request; its message if it lists none.
fn problems_of(error: ApiError) -> Vec<RequestProblem> {
    match error.body {
        ErrorBody { problems, message, .. } if problems.is_empty() => vec![RequestProblem::new("", message)],
        ErrorBody { problems, .. } => problems,
    }
}

fn find_problems(
    body: &[u8],
    limits: &RequestLimits,
    judges: &[String],
) -> Result<Vec<RequestProblem>, ApiError> {
    let request = decode_request(parse_body(body, limits)?, limits, |_| Vec::new())?;
    let GradeRequest { rubric, scorecard, weights, samples, .. } = request;

    let mut problems = Vec::new();
    if let Some(rubric) = rubric.and_then(inline_rubric) {
        let refused = rubric.refuse(limits);
        if !refused.is_empty() {
            return Ok(refused);
        }
        if weights.is_some() {
            problems.extend(ApiError::no_weight_sets().body.problems);
        }
        let none = BTreeMap::new();
        let vars = samples.first().and_then(|sample| sample.vars.as_ref()).unwrap_or(&none);
        problems.extend(rubric.decode(vars, limits, judges).err().unwrap_or_default());
    }
    if let Some(ScorecardSource::Content(content)) = scorecard {
        let decoded = InlineScorecard::new(content, limits).and_then(|card| card.decode(limits));
        let unknown = decoded.as_ref().ok().and_then(|card| card.weight_set(weights.as_deref()?).err());
        problems.extend(unknown.map(|error| RequestProblem::new("/weights", error.to_string())));
        problems.extend(decoded.err().unwrap_or_default());
    }

    let mut found = ProblemList::default();
    for (index, sample) in samples.into_iter().enumerate() {
        to_grading_sample(sample, index, &mut found);
    }
    match found.check() {
        Ok(()) => Ok(problems),
        Err(error) => Ok([problems, error.body.problems].concat()),
    }
}

/// A framework whose request bodies an adapter reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdapterBody {
    /// `POST /get_reward` of OpenRLHF.
    OpenRlhf,
    /// `POST /slime`.
    Slime,
    /// `POST /verify` of NeMo Gym.
    Gym,
    /// `POST /lambda`: events of AWS.
    Lambda,
    /// `POST /v1/fine_tuning/alpha/graders/run` of OpenAI.
    Grader,
}

impl AdapterBody {
    /// All adapters.
    pub const ALL: [Self; 5] = [Self::OpenRlhf, Self::Slime, Self::Gym, Self::Lambda, Self::Grader];
}

/// Problems in the body of a framework, as the adapter of a server with these limits and judges would list
/// them. Makes no calls.
pub fn check_adapter(
    adapter: AdapterBody,
    body: &[u8],
    limits: &RequestLimits,
    judges: &[String],
) -> Vec<RequestProblem> {
    find_adapter_problems(adapter, body, limits, judges).err().map(problems_of).unwrap_or_default()
}

fn find_adapter_problems(
    adapter: AdapterBody,
    body: &[u8],
    limits: &RequestLimits,
    judges: &[String],
) -> Result<(), ApiError> {
    let body = parse_body(body, limits)?;
    let mut problems = ProblemList::default();
    let samples: Vec<GradeSample> = match adapter {
        AdapterBody::OpenRlhf => openrlhf::read_samples(body, false, &mut problems).unwrap_or_default(),
        AdapterBody::Slime => slime::read_sample(body, &mut problems).into_iter().collect(),
        AdapterBody::Gym => match body {
            Value::Object(body) => gym::read_sample(&body)?.into_iter().collect(),
            _ => return Err(ApiError::invalid_at("", "expected an object")),
        },
        AdapterBody::Lambda => lambda::read_event(body, &mut problems).0,
        AdapterBody::Grader => {
            openai::read_run(body, judges, &mut problems);
            Vec::new()
        }
    };
    for (index, sample) in samples.into_iter().enumerate() {
        to_grading_sample(sample, index, &mut problems);
    }

    problems.check()
}

/// Problems in the formula of a `multi` grader over graders named `a` and `b`.
pub fn check_formula(formula: &str) -> Vec<RequestProblem> {
    let names = ["a".to_owned(), "b".to_owned()];
    let problem = openai::formula_problem(formula, names.iter());
    problem.map(|problem| RequestProblem::new("/calculate_output", problem)).into_iter().collect()
}
