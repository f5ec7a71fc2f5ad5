//! OpenRLHF, `--reward.remote_url URL/get_reward?rubric=NAME`: prompts with their answers in, lists of rewards out.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use serde_json::{Value, json};

use super::{grade, read};
use crate::api::{GradeSample, OnUngraded, SampleResult, UngradedPolicy};
use crate::decode::{ObjectReader, ProblemList, child, type_name};
use crate::problem::ApiError;
use crate::service::Service;
use crate::tenant::Tenant;

/// Path of the address.
pub(crate) const PATH: &str = "/get_reward";

/// Answers with `rewards`, `scores` (0 to 1, for dynamic filtering) and `extra_logs`. OpenRLHF knows no missing reward: without
/// `on_ungraded` in the address the request fails, and OpenRLHF tries again.
pub(crate) async fn get_reward(
    State(service): State<Arc<Service>>,
    Extension(tenant): Extension<Arc<Tenant>>,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let (body, query) = read(&service, &tenant, request).await?;
    let mut problems = ProblemList::default();
    if query.on_ungraded == Some(OnUngraded::Named(UngradedPolicy::Drop)) {
        let message = "`on_ungraded=drop`: OpenRLHF needs a reward for each sample; use `error`, `low`, `high` or a number";
        return Err(ApiError::invalid_at("", message));
    }
    let samples = read_samples(body, query.query_is_answer, &mut problems).unwrap_or_default();
    problems.check()?;

    // With several addresses, all but the first are sent empty lists.
    if samples.is_empty() {
        return Ok(Json(json!({ "rewards": [], "scores": [], "extra_logs": {} })));
    }

    let error = OnUngraded::Named(UngradedPolicy::Error);
    let results = grade(&service, &tenant, &query, samples, error).await?;
    let column = |value: fn(&SampleResult) -> Option<f64>| -> Value {
        match &results[..] {
            // OpenRLHF sends one sample at a time, and takes what comes back for its number.
            [only] => json!(value(only)),
            several => several.iter().map(|result| json!(value(result))).collect(),
        }
    };
    Ok(Json(json!({
        "rewards": column(|result| result.reward),
        "scores": column(|result| result.reward.map(|reward| reward.clamp(0.0, 1.0))),
        "extra_logs": {
            "coverage": column(|result| result.coverage),
            "score_low": column(|result| result.score_low),
            "score_high": column(|result| result.score_high),
        },
    })))
}

/// The samples of a body; `None` with problems for one that has no list of them.
pub(crate) fn read_samples(
    body: Value,
    query_is_answer: bool,
    problems: &mut ProblemList,
) -> Option<Vec<GradeSample>> {
    let mut object = ObjectReader::new(body, "", problems)?;
    let Some(queries) = object.list("query") else {
        object.problem("query", "missing: a list of texts, each a prompt with its answer");
        return None;
    };

    let prompts = object.list("prompts").unwrap_or_default();
    let labels = object.list("labels").unwrap_or_default();
    for (key, list) in [("prompts", &prompts), ("labels", &labels)] {
        if !list.is_empty() && list.len() != queries.len() {
            object.problem(key, format!("{} entries beside {} of `query`", list.len(), queries.len()));
        }
    }

    let mut samples = Vec::with_capacity(queries.len());
    for (index, query) in queries.into_iter().enumerate() {
        let Value::String(query) = query else {
            let path = child("/query", &index.to_string());
            object.problems().add(path, format!("expected a text, found {}", type_name(&query)));
            continue;
        };

        let prompt = prompts.get(index).and_then(Value::as_str).filter(|prompt| !prompt.is_empty());
        let answer = prompt.and_then(|prompt| answer_after(prompt, &query)).map(str::to_owned);
        let Some(answer) = answer.filter(|_| !query_is_answer).or_else(|| query_is_answer.then_some(query))
        else {
            let path = child("/query", &index.to_string());
            object.problems().add(path, no_answer(prompt.is_some()));
            continue;
        };
        samples.push(GradeSample {
            input: prompt.map(Value::from),
            output: Some(Value::from(answer)),
            reference: labels.get(index).filter(|label| !is_blank(label)).cloned(),
            ..GradeSample::default()
        });
    }
    object.finish();

    Some(samples)
}

/// Rest of a query after the prompt that it begins with. Marks of the tokenizer, such as `<s>` or `[gMASK]<sop>`, may stand before
/// the prompt; a prompt that is found further on is quoted by the answer.
fn answer_after<'q>(prompt: &str, query: &'q str) -> Option<&'q str> {
    let (before, answer) = query.split_once(prompt)?;
    let mut marks = before;
    while !marks.is_empty() {
        let end = match marks.as_bytes()[0] {
            b'<' => marks.find('>')?,
            b'[' => marks.find(']')?,
            _ => return None,
        };
        if marks[..end].contains(char::is_whitespace) {
            return None;
        }
        marks = &marks[end + 1..];
    }

    Some(answer)
}

/// Problem of a query that can't be told from its prompt: whatever the prompt says would be graded as the answer.
fn no_answer(has_prompt: bool) -> &'static str {
    if has_prompt {
        "does not begin with its entry of `prompts`, so where the answer begins is not known; add `answer=query` to the address \
         if `query` is the answer alone"
    } else {
        "`prompts` has no entry for it, so where the answer begins is not known; add `answer=query` to the address if \
         `query` is the answer alone"
    }
}

/// Rows without a label have null or an empty text.
fn is_blank(label: &Value) -> bool {
    label.is_null() || label.as_str().is_some_and(str::is_empty)
}
