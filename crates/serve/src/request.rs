//! Decoding of grading requests.

use std::collections::BTreeMap;

use assize_engine::{GradingSample, SampleParts};
use serde_json::{Map, Value};

use crate::api::{
    CompareMode, GradeRequest, GradeSample, NamedRubric, OnUngraded, RewardKind, RubricSource,
    ScorecardSource, UngradedPolicy,
};
use crate::decode::{ObjectReader, ProblemList, UsableBody, child, type_name};
use crate::options::RequestLimits;
use crate::problem::{ApiError, RequestProblem};

/// Longest deadline: a day.
pub(crate) const MAX_DEADLINE_MS: u64 = 24 * 60 * 60 * 1000;

/// Decodes the body of a grading request.
///
/// # Errors
/// With every problem of the body. If there are any, `check_rubric` is called to add the problems of the rubric, so
/// that all are reported at once.
pub(crate) fn decode_request(
    body: Value,
    limits: &RequestLimits,
    check_rubric: impl FnOnce(RubricSource) -> Vec<RequestProblem>,
) -> Result<GradeRequest, ApiError> {
    let mut problems = ProblemList::default();
    let request = read_request(body, limits, &mut problems, check_rubric);
    problems.check()?;

    request.ok_or_else(|| ApiError::invalid_at("", "the request can't be read"))
}

/// Decodes the body of a grading request in which samples may hold numbers that JSON lacks. Such samples are not graded;
/// the others are, if there are any, unless they are to be compared with each other.
///
/// # Errors
/// As [`decode_request`], and with all such numbers if none of the request can be graded.
pub(crate) fn decode_usable(
    body: UsableBody,
    limits: &RequestLimits,
    check_rubric: impl FnOnce(RubricSource) -> Vec<RequestProblem>,
) -> Result<GradeRequest, ApiError> {
    let UsableBody { value, no_numbers } = body;
    let mut request = match decode_request(value, limits, check_rubric) {
        Ok(request) => request,
        Err(error) if no_numbers.is_empty() => return Err(error),
        Err(error) => {
            let others = error.body.problems.into_iter();
            return Err(ApiError::invalid(no_numbers.into_iter().chain(others).collect()));
        }
    };
    for problem in &no_numbers {
        let index =
            problem.path.strip_prefix("/samples/").and_then(|rest| rest.split('/').next()?.parse().ok());
        let Some(index) = index.filter(|_| request.compare.is_none()) else {
            return Err(ApiError::invalid(no_numbers));
        };
        let reason = || format!("{}: {}", problem.path, problem.message);
        request.unusable.entry(index).or_insert_with(reason);
    }
    if request.unusable.len() == request.samples.len() {
        return Err(ApiError::invalid(no_numbers));
    }

    Ok(request)
}

fn read_request(
    body: Value,
    limits: &RequestLimits,
    problems: &mut ProblemList,
    check_rubric: impl FnOnce(RubricSource) -> Vec<RequestProblem>,
) -> Option<GradeRequest> {
    let mut object = ObjectReader::new(body, "", problems)?;
    let rubric = object.take("rubric").map(|rubric| read_rubric_source(rubric, &mut object));
    let scorecard = object.take("scorecard").map(|card| read_scorecard_source(card, &mut object));
    match (&rubric, &scorecard) {
        (None, None) => {
            object.problem(
                "rubric",
                "missing: a list of criteria, or {\"name\": ...} of a loaded rubric; or `scorecard`",
            );
        }
        (Some(_), Some(_)) => {
            object.problem("scorecard", "`rubric` is given too; samples are graded by one of them");
        }
        _ => {}
    }

    let weights = object.text("weights");
    let samples = match object.list("samples") {
        None => {
            object.problem("samples", "missing: a list of samples, each with `output` or `messages`");
            None
        }
        Some(list) if list.is_empty() => {
            object.problem("samples", "the list is empty");
            None
        }
        Some(list) if list.len() > limits.samples => {
            let message = format!("{} samples; at most {} are graded at once", list.len(), limits.samples);
            object.problem("samples", message);
            None
        }
        Some(list) => {
            let samples = list.into_iter().enumerate();
            let read: Vec<Option<GradeSample>> = samples
                .map(|(index, value)| {
                    let path = child("/samples", &index.to_string());
                    read_sample(value, path, limits, object.problems)
                })
                .collect();
            read.into_iter().collect::<Option<Vec<_>>>()
        }
    };

    let reward = object.word("reward", &RewardKind::NAMED).unwrap_or_default();
    let on_ungraded =
        object.take("on_ungraded").map(|value| read_policy(value, &mut object)).unwrap_or_default();
    let deadline_ms = object.take("deadline_ms").and_then(|deadline| {
        let millis = deadline.as_u64().filter(|millis| (1..=MAX_DEADLINE_MS).contains(millis));
        if millis.is_none() {
            object.problem("deadline_ms", format!("expected 1 to {MAX_DEADLINE_MS}"));
        }
        millis
    });
    let modes = [("pairwise", CompareMode::Pairwise), ("ranked", CompareMode::Ranked)];
    let compare = object.word("compare", &modes);
    object.finish();

    if !problems.is_empty() {
        problems.extend(rubric.flatten().map(check_rubric).unwrap_or_default());
        return None;
    }

    let (rubric, scorecard) = match (rubric, scorecard) {
        (Some(rubric), _) => (Some(rubric?), None),
        (None, card) => (None, Some(card??)),
    };
    let samples = samples?;
    Some(GradeRequest {
        rubric,
        scorecard,
        weights,
        samples,
        reward,
        on_ungraded,
        deadline_ms,
        compare,
        unusable: BTreeMap::new(),
    })
}

fn read_rubric_source(value: Value, object: &mut ObjectReader<'_>) -> Option<RubricSource> {
    match value {
        Value::Array(list) => Some(RubricSource::List(list)),
        Value::String(text) => Some(RubricSource::Text(text)),
        // A rubric file has criteria, and may have a name too.
        Value::Object(map)
            if map.contains_key("name") && !map.contains_key("criteria") && !map.contains_key("rubrics") =>
        {
            read_named(map, object.at("rubric"), object.problems).map(RubricSource::Named)
        }
        Value::Object(map) => Some(RubricSource::File(map)),
        other => {
            let found = type_name(&other);
            object.problem(
                "rubric",
                format!("expected a list of criteria, an object or YAML text, found {found}"),
            );
            None
        }
    }
}

fn read_scorecard_source(value: Value, object: &mut ObjectReader<'_>) -> Option<ScorecardSource> {
    match value {
        Value::Object(map) if map.contains_key("name") => {
            read_named(map, object.at("scorecard"), object.problems).map(ScorecardSource::Named)
        }
        Value::Object(map) => Some(ScorecardSource::Content(map)),
        other => {
            object.problem("scorecard", format!("expected an object, found {}", type_name(&other)));
            None
        }
    }
}

/// Reads the name of a loaded rubric, with its hash if there is one.
pub(crate) fn read_named(
    map: Map<String, Value>,
    path: String,
    problems: &mut ProblemList,
) -> Option<NamedRubric> {
    let mut named = ObjectReader::new(Value::Object(map), path, problems)?;
    let (name, hash) = (named.text("name"), named.text("hash"));
    named.finish();

    Some(NamedRubric { name: name?, hash })
}

fn read_tags(value: Value, object: &mut ObjectReader<'_>) -> Vec<String> {
    let tags: Option<Vec<String>> =
        value.as_array().and_then(|tags| tags.iter().map(|tag| tag.as_str().map(str::to_owned)).collect());
    if tags.is_none() {
        object.problem("tags", "expected a list of texts");
    }

    tags.unwrap_or_default()
}

fn read_policy(value: Value, object: &mut ObjectReader<'_>) -> OnUngraded {
    let expected = "expected null, drop, error, low, high or {\"value\": NUMBER}";
    let policy = match &value {
        Value::String(text) => UngradedPolicy::from_name(text).map(OnUngraded::Named),
        Value::Object(map) if map.len() == 1 => {
            let number = map.get("value").and_then(Value::as_f64).filter(|value| value.is_finite());
            number.map(|value| OnUngraded::Value { value })
        }
        _ => None,
    };
    if policy.is_none() {
        object.problem("on_ungraded", expected);
    }

    policy.unwrap_or_default()
}

fn read_sample(
    value: Value,
    path: String,
    limits: &RequestLimits,
    problems: &mut ProblemList,
) -> Option<GradeSample> {
    let mut object = ObjectReader::new(value, path, problems)?;
    let sample = GradeSample {
        id: read_name("id", limits, &mut object),
        input: object.take("input"),
        output: object.take("output"),
        messages: object.list("messages"),
        reference: object.take("reference"),
        expected_outcome: object.text("expected_outcome"),
        vars: object.take("vars").and_then(|vars| match vars {
            Value::Object(vars) => Some(vars.into_iter().collect()),
            other => {
                object.problem("vars", format!("expected an object, found {}", type_name(&other)));
                None
            }
        }),
        tags: object.take("tags").map(|tags| read_tags(tags, &mut object)).unwrap_or_default(),
        group: read_name("group", limits, &mut object),
    };

    match (&sample.output, &sample.messages) {
        (None, None) => object.own_problem("no answer: give it as `output`, or as `messages`"),
        (Some(_), Some(_)) => object.problem("messages", "the answer is given twice, as `output` too"),
        _ => {}
    }

    object.finish();
    Some(sample)
}

/// Id or group. Both are often numbers, which become their digits.
fn read_name(key: &'static str, limits: &RequestLimits, object: &mut ObjectReader<'_>) -> Option<String> {
    let name = match object.take(key)? {
        Value::String(text) => text,
        Value::Number(number) if number.is_u64() || number.is_i64() => number.to_string(),
        other => {
            object.problem(key, format!("expected a text or a whole number, found {}", type_name(&other)));
            return None;
        }
    };
    if name.is_empty() || name.len() > limits.name_bytes {
        object.problem(key, format!("expected 1 to {} bytes", limits.name_bytes));
        return None;
    }

    Some(name)
}

/// Turns a sample of a request into a sample to grade.
///
/// # Errors
/// With its problems: a message has no role, or there is no answer.
pub(crate) fn to_grading_sample(
    sample: GradeSample,
    index: usize,
    problems: &mut ProblemList,
) -> Option<GradingSample> {
    let path = child("/samples", &index.to_string());
    let GradeSample { id, input, output, messages, reference, expected_outcome, tags, .. } = sample;
    let parts = SampleParts { input, output, messages, reference, expected_outcome, tags };

    let made = GradingSample::from_parts(id.unwrap_or_else(|| index.to_string()), parts);
    made.map_err(|problem| problems.add(format!("{path}{}", problem.path), problem.message)).ok()
}
