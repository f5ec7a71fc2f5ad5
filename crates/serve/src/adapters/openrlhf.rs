//! OpenRLHF, `--reward.remote_url URL/get_reward?rubric=NAME`: prompts and answers in, lists of rewards out.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use serde_json::{Value, json};

use super::shared::{grade, read};
use crate::api::{GradeSample, OnUngraded, SampleResult, UngradedPolicy};
use crate::decode::{ObjectReader, ProblemList, child, type_name};
use crate::problem::ApiError;
use crate::service::Service;
use crate::tenant::Tenant;

/// Minimum length, in bytes, of the end of a prompt that identifies a query whose prompt was cut off at the
/// beginning.
const MIN_PROMPT_END: usize = 32;

/// Maximum number of tokenizer marks before a prompt: a query is compared with its prompt after each of them.
const MAX_MARKS: usize = 16;

/// Answers with `rewards`, `scores` (0 to 1, for dynamic filtering) and `extra_logs`. OpenRLHF has no missing
/// reward: without `on_ungraded` in the address, the request fails and OpenRLHF retries.
pub(crate) async fn get_reward(
    State(service): State<Arc<Service>>,
    Extension(tenant): Extension<Arc<Tenant>>,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let (body, query, memory) = read(&service, &tenant, request).await?;
    let mut problems = ProblemList::default();
    if query.on_ungraded == Some(OnUngraded::Named(UngradedPolicy::Drop)) {
        let message = "`on_ungraded=drop`: OpenRLHF needs a reward for each sample; use `error`, `low`, `high` or a number";
        return Err(ApiError::invalid_at("", message));
    }
    let samples = read_samples(body, query.query_is_answer, &mut problems).unwrap_or_default();
    problems.check()?;

    // With several addresses, OpenRLHF sends empty lists to all but the first.
    if samples.is_empty() {
        return Ok(Json(json!({ "rewards": [], "scores": [], "extra_logs": {} })));
    }

    let error = OnUngraded::Named(UngradedPolicy::Error);
    let results = grade(&service, &tenant, &query, memory, samples, error).await?;
    let column = |value: fn(&SampleResult) -> Option<f64>| -> Value {
        match &results[..] {
            // OpenRLHF sends one sample at a time and expects a number, not a list.
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

/// The samples of a body; `None` with problems if the body has no list of them.
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

/// The part of a query after the prompt that it begins with. Tokenizer marks such as `<s>` or `[gMASK]<sop>`
/// may precede the prompt; if the prompt is only found further on, the answer quotes it. OpenRLHF keeps only
/// the end of a long prompt.
fn answer_after<'q>(prompt: &str, query: &'q str) -> Option<&'q str> {
    if let Some((before, answer)) = query.split_once(prompt)
        && after_marks(before).last() == Some("")
    {
        return Some(answer);
    }

    after_marks(query).take(MAX_MARKS + 1).find_map(|query| query.get(end_of_prompt(prompt, query)?..))
}

/// A text, and the rest of it after each of the marks that it begins with.
fn after_marks(text: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(text), |text| {
        let end = match text.as_bytes().first()? {
            b'<' => text.find('>')?,
            b'[' => text.find(']')?,
            _ => return None,
        };
        (!text[..end].contains(char::is_whitespace)).then(|| &text[end + 1..])
    })
}

/// Length of the end of a prompt that is also the beginning of a query, if it is too long for a coincidence and no
/// other end matches.
fn end_of_prompt(prompt: &str, query: &str) -> Option<usize> {
    let (prompt, query) = (prompt.as_bytes(), query.as_bytes());
    let query = &query[..query.len().min(prompt.len())];

    // Knuth, Morris and Pratt: for each prefix of the query, the longest shorter prefix that it ends with.
    let mut shorter = vec![0; query.len() + 1];
    let mut matched = 0;
    for (at, byte) in query.iter().enumerate().skip(1) {
        matched = extended(query, &shorter, matched, *byte);
        shorter[at + 1] = matched;
    }

    let mut matched = 0;
    for byte in prompt {
        if matched == query.len() {
            matched = shorter[matched];
        }
        matched = extended(query, &shorter, matched, *byte);
    }
    (matched >= MIN_PROMPT_END && shorter[matched] < MIN_PROMPT_END).then_some(matched)
}

/// Length of the longest prefix of the query that the text ends with after `byte`, if it was `matched` before.
fn extended(query: &[u8], shorter: &[usize], mut matched: usize, byte: u8) -> usize {
    while matched > 0 && query.get(matched) != Some(&byte) {
        matched = shorter[matched];
    }

    if query.get(matched) == Some(&byte) { matched + 1 } else { 0 }
}

/// Error for a query whose prompt can't be separated: the prompt would be graded as part of the answer.
fn no_answer(has_prompt: bool) -> &'static str {
    if has_prompt {
        "begins with neither its entry of `prompts` nor a long end of it (as if the prompt was cut), so the beginning of the \
         answer is unknown; add `answer=query` to the address if `query` is the answer alone"
    } else {
        "`prompts` has no entry for it, so the beginning of the answer is unknown; add `answer=query` to the address if \
         `query` is the answer alone"
    }
}

/// Rows without a label have null or an empty text.
fn is_blank(label: &Value) -> bool {
    label.is_null() || label.as_str().is_some_and(str::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str =
        "System: You answer questions of customers.\nUser: How long can I return it?\nAssistant: ";

    #[test]
    fn the_answer_follows_the_prompt_or_a_long_end_of_it() {
        let end = &PROMPT[20..];
        let repeating = format!("{PROMPT}30 days");
        for (query, answer) in [
            (format!("{PROMPT}30 days"), Some("30 days")),
            (format!("<s>[gMASK]{PROMPT}30 days"), Some("30 days")),
            (format!("{end}30 days"), Some("30 days")),
            (format!("<s>{end}30 days"), Some("30 days")),
            (end.to_owned(), Some("")),
            // A repetition in the answer is part of the answer.
            (format!("{end}{PROMPT}30 days"), Some(repeating.as_str())),
            ("Assistant: 30 days".to_owned(), None),
            ("30 days".to_owned(), None),
        ] {
            assert_eq!(answer_after(PROMPT, &query), answer, "{query}");
        }

        // With a very large number of marks, no answer is searched: a comparison after each of them would take hours.
        assert_eq!(answer_after(&PROMPT.repeat(10_000), &"<s>".repeat(1 << 18)), None);

        // If the prompt repeats itself, it is unknown where it was cut.
        let repeated = "ab ".repeat(40);
        assert_eq!(answer_after(&repeated, &format!("{}c", "ab ".repeat(30))), None);
        assert_eq!(answer_after(&repeated, &format!("{repeated}c")), Some("c"));
    }
}
