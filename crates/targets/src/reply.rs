//! Reads a command's answer: plain text, or JSON with tokens, cost and time.

use std::borrow::Cow;
use std::time::Duration;

use assize_llm::UnambiguousJson;
use assize_llm::wire::{error_words, named_error};
use assize_rubric::{Cost, Tokens, Usd};
use serde_json::{Map, Value};

use crate::messages::{self, plain_text};
use crate::{TargetAnswer, TargetError, TargetErrorKind};

/// Keys that make a JSON object an answer with details. An object without any of them is a plain-text answer
/// that happens to be JSON.
const ANSWER_KEYS: [&str; 3] = ["text", "output", "output_messages"];

/// If an object has only these keys, an `error` in it is an error of the command. With any other key, the object is a
/// plain-text answer about an error.
const DETAIL_KEYS: [&str; 10] = [
    "error", "token_usage", "cost_usd", "duration_ms", "model", "id", "case_id", "eval_id", "test_id",
    "messages",
];

/// Reads the answer from the bytes of a command. `measured` is the duration unless the answer contains one.
///
/// - A JSON object with a `text`, or an `output` or `output_messages` that is a text or a list of messages: the answer
///   with `token_usage` {input, output, cached}, `cost_usd`, `duration_ms` and `model` where they are valid,
///   `guardrails` as a map and `trace` as an export of OpenTelemetry. `text` takes precedence over messages as the
///   answer's text. Negative and non-numeric numbers are dropped. An object with an `error` is a failure, even if it
///   also has an answer. An object that has a key twice, or two different texts, is malformed.
/// - Anything else is plain text. Line breaks at its end are dropped, as a shell does.
///
/// Bytes that are not UTF-8 are malformed: with replacement characters, the graded text would not be the answer of the
/// command.
pub(crate) fn parse_reply(bytes: &[u8], measured: Duration) -> Result<TargetAnswer, TargetError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let message = format!(
            "the output is not UTF-8: byte {} is 0x{:02X}; let the program write UTF-8",
            at + 1,
            bytes.get(at).copied().unwrap_or_default()
        );
        TargetError::new(TargetErrorKind::Malformed, message)
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(object) = parse_object(text)? {
        refuse_error(&object)?;

        if let Some(answer) = read_object(&object, measured)? {
            return Ok(answer);
        }
    }

    let text = text.trim_end_matches(['\n', '\r']).to_owned();
    Ok(TargetAnswer { text, duration: measured, attempts: 1, ..TargetAnswer::default() })
}

/// Parses an answer with details; `None` for any other text.
fn parse_object(text: &str) -> Result<Option<Map<String, Value>>, TargetError> {
    let text = text.trim();
    if !(text.starts_with('{') && text.ends_with('}')) {
        return Ok(None);
    }

    let parsed = serde_json::from_str(text).or_else(|_| serde_json::from_str(&replace_nonfinite(text)));
    let Ok(Value::Object(object)) = parsed else { return Ok(None) };
    let has_answer = ANSWER_KEYS.iter().any(|key| object.contains_key(*key));
    let is_failure =
        object.contains_key("error") && object.keys().all(|key| DETAIL_KEYS.contains(&key.as_str()));
    if !has_answer && !is_failure {
        return Ok(None);
    }

    // With two values for one key, either could be meant.
    match serde_json::from_str::<UnambiguousJson>(&replace_nonfinite(text)) {
        Ok(_) => Ok(Some(object)),
        Err(error) => Err(malformed(error)),
    }
}

/// Refuses an object that names an error, because a text beside it is not an answer.
fn refuse_error(object: &Map<String, Value>) -> Result<(), TargetError> {
    match named_error(object) {
        None => Ok(()),
        Some(error) => {
            let message = format!("the command reports an error: {}", error_words(error));
            Err(TargetError::new(TargetErrorKind::Failed, message))
        }
    }
}

fn malformed(problem: impl std::fmt::Display) -> TargetError {
    TargetError::new(TargetErrorKind::Malformed, format!("the command's answer is invalid: {problem}"))
}

/// `None` if none of the answer's keys holds a possible answer.
fn read_object(object: &Map<String, Value>, measured: Duration) -> Result<Option<TargetAnswer>, TargetError> {
    let mut text = object.get("text").and_then(Value::as_str).map(str::to_owned);
    let mut text_key = "text";
    let mut given_messages = None;
    let mut tool_calls = Vec::new();
    let mut found_messages = false;
    for key in ["output_messages", "output"] {
        let Some(value) = object.get(key).filter(|value| !value.is_null()) else { continue };
        if let Value::String(words) = value {
            match &text {
                Some(known) if known.trim() != words.trim() => {
                    return Err(malformed(format!("`{key}` is another text than `{text_key}`")));
                }
                Some(_) => {}
                None => (text, text_key) = (Some(words.clone()), key),
            }
            continue;
        }

        let read = messages::parse_messages(value).map_err(malformed)?;
        match read {
            Some(transcript) if !found_messages => {
                found_messages = true;
                text = text.or(transcript.text);
                tool_calls = transcript.tool_calls;
                given_messages = Some(value.clone());
            }
            // Structured output in an object with other details of an answer.
            None if text.is_none() && has_details(object) => text = Some(plain_text(value)),
            Some(_) | None => {}
        }
    }

    let Some(text) = text else {
        if found_messages {
            let message = "the command's output messages hold none with the role `assistant`";
            return Err(TargetError::new(TargetErrorKind::NoAnswer, message));
        }
        return Ok(None);
    };
    let cost = object.get("cost_usd").and_then(Value::as_f64);
    let cost = cost.filter(|number| number.is_finite() && *number >= 0.0);
    Ok(Some(TargetAnswer {
        text,
        is_json: object.get("is_json").and_then(Value::as_bool).unwrap_or_default(),
        messages: given_messages,
        tokens: object.get("token_usage").map(read_tokens).unwrap_or_default(),
        cost: cost.and_then(Usd::from_dollars).map(Cost::from_known),
        duration: assize_trace::millis(object.get("duration_ms")).unwrap_or(measured),
        model: object.get("model").and_then(Value::as_str).map(str::to_owned),
        guardrails: object.get("guardrails").filter(|map| map.is_object()).cloned(),
        spans: object.get("trace").and_then(assize_trace::span_list),
        tool_calls,
        attempts: 1,
        ..TargetAnswer::default()
    }))
}

fn has_details(object: &Map<String, Value>) -> bool {
    ["token_usage", "cost_usd", "duration_ms"].iter().any(|key| object.contains_key(*key))
}

pub(crate) fn read_tokens(usage: &Value) -> Tokens {
    let count = |key: &str| {
        let value = usage.get(key)?;
        // A count written as 12.0 is accepted; 12.5 is not.
        value.as_u64().or_else(|| {
            value.as_f64().filter(|n| (0.0..1e15).contains(n) && n.fract() == 0.0).map(|n| n as u64)
        })
    };
    Tokens { input: count("input"), cached: count("cached"), output: count("output") }
}

/// Replaces bare `NaN`, `Infinity` and `-Infinity` by null. Some JSON writers emit them for numbers, and one
/// such number must not invalidate the whole answer.
fn replace_nonfinite(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut kept = 0;
    let mut in_string = false;
    let mut at = 0;
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'N' | b'I' | b'-' if !in_string => {
                let rest = &text[at..];
                if let Some(word) =
                    ["NaN", "Infinity", "-Infinity"].iter().find(|word| rest.starts_with(**word))
                {
                    out.push_str(&text[kept..at]);
                    out.push_str("null");
                    kept = at + word.len();
                    at = kept;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }

    if kept == 0 {
        return Cow::Borrowed(text);
    }

    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const MEASURED: Duration = Duration::from_millis(70);

    fn answer(text: &str) -> TargetAnswer {
        parse_reply(text.as_bytes(), MEASURED).unwrap()
    }

    #[test]
    fn plain_text_loses_only_its_last_line_breaks() {
        assert_eq!(answer("  a\n\nb \r\n\n").text, "  a\n\nb ");
        assert_eq!(answer("").text, "");
        let error = parse_reply(b"a\xff", MEASURED).unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::Malformed);
        assert!(error.to_string().contains("byte 2 is 0xFF"), "{error}");
        assert_eq!(answer("x").duration, MEASURED);
    }

    #[test]
    fn json_that_is_not_the_answer_form_is_plain_text() {
        for text in [
            r#"{"result": 4}"#, r#"["text"]"#, r#""text""#, r#"{"text": 5}"#, r#"{"output": {"total": 4}}"#,
            r#"{"output": null}"#, r#"{"text": "cut"#,
        ] {
            let read = answer(text);
            assert_eq!((read.text.as_str(), read.messages), (text, None));
        }
    }

    #[test]
    fn details_are_taken_over_where_they_are_sound() {
        let read = answer(
            r#"{"text": "hi\n", "token_usage": {"input": 10, "output": 2.0, "cached": -1},
               "cost_usd": 0.25, "duration_ms": 1500, "model": "m-1"}"#,
        );
        assert_eq!(read.text, "hi\n");
        assert_eq!(read.tokens, Tokens { input: Some(10), cached: None, output: Some(2) });
        assert_eq!(
            (read.cost.and_then(Cost::total), read.duration),
            (Usd::from_dollars(0.25), Duration::from_millis(1500))
        );
        assert_eq!(read.model.as_deref(), Some("m-1"));
        assert_eq!((read.guardrails, read.spans), (None, None));
    }

    #[test]
    fn guardrails_and_spans_are_taken_over_where_they_have_their_form() {
        let read = answer(
            r#"{"text": "hi", "guardrails": {"flagged": true},
               "trace": {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "a", "status": {"code": "STATUS_CODE_ERROR"}}]}]}]}}"#,
        );
        assert_eq!(read.guardrails, Some(json!({"flagged": true})));
        assert_eq!(read.spans, Some(json!([{"name": "a", "statusCode": 2, "attributes": {}}])));

        let read = answer(r#"{"text": "hi", "guardrails": true, "trace": [1]}"#);
        assert_eq!((read.text.as_str(), read.guardrails, read.spans), ("hi", None, None));
    }

    #[test]
    fn senseless_figures_are_dropped_and_the_answer_stays() {
        for figures in [
            r#""cost_usd": -1, "duration_ms": -5"#,
            r#""cost_usd": NaN, "duration_ms": -Infinity"#,
            r#""cost_usd": "free", "duration_ms": 1e300"#,
        ] {
            let read = answer(&format!(r#"{{"text": "\"NaN", {figures}}}"#));
            assert_eq!(read.text, "\"NaN", "{figures}");
            assert_eq!((read.cost, read.duration), (None, MEASURED), "{figures}");
        }
    }

    #[test]
    fn messages_give_the_text_and_the_calls() {
        for key in ["output", "output_messages"] {
            let list = json!([
                {"role": "assistant", "content": "", "tool_calls": [{"tool": "ls", "input": {"a": 1}}]},
                {"role": "assistant", "content": "done"},
            ]);
            let read = answer(&json!({key: list}).to_string());
            assert_eq!(read.text, "done");
            assert_eq!(read.tool_calls[0].name, "ls");
            assert_eq!(read.messages, Some(list));
        }
        let both = answer(r#"{"text": "short", "output": [{"role": "assistant", "content": "long"}]}"#);
        assert_eq!(both.text, "short");
        assert!(both.messages.is_some());
        assert_eq!(answer(r#"{"output": "words"}"#).text, "words");
        assert!(answer(r#"{"text": "[1]", "is_json": true}"#).is_json);
        assert!(!answer(r#"{"text": "[1]"}"#).is_json);
    }

    #[test]
    fn an_error_beside_an_answer_is_a_failure() {
        for text in [
            r#"{"text": "hello", "error": "boom"}"#,
            r#"{"output": "hello", "error": {"message": "boom"}}"#,
            r#"{"error": "boom"}"#,
            r#"{"id": "a", "error": "boom", "duration_ms": 5}"#,
        ] {
            let error = parse_reply(text.as_bytes(), MEASURED).unwrap_err();
            assert_eq!(error.kind, TargetErrorKind::Failed, "{text}");
            assert!(error.message.ends_with("error: boom"), "{error}");
        }
        for text in [r#"{"text": "hello", "error": null}"#, r#"{"text": "hello", "error": ""}"#] {
            assert_eq!(answer(text).text, "hello");
        }
        let about = r#"{"error": "not_found", "status": 404}"#;
        assert_eq!(answer(about).text, about, "an answer that is JSON of its own");
    }

    #[test]
    fn an_answer_that_says_two_things_is_malformed() {
        for text in [
            r#"{"text": "bye", "text": "hello"}"#,
            r#"{"text": "hello", "output": "bye"}"#,
            r#"{"output": "hello", "output_messages": "bye"}"#,
            r#"{"text": "x", "cost_usd": NaN, "cost_usd": 1}"#,
        ] {
            let error = parse_reply(text.as_bytes(), MEASURED).unwrap_err();
            assert_eq!(error.kind, TargetErrorKind::Malformed, "{text}");
        }
        assert_eq!(answer(r#"{"text": "hello", "output": "hello\n"}"#).text, "hello");
        let own = r#"{"a": 1, "a": 2}"#;
        assert_eq!(answer(own).text, own);
    }

    #[test]
    fn broken_messages_are_an_error() {
        let kind = |text: &str| parse_reply(text.as_bytes(), MEASURED).unwrap_err().kind;
        assert_eq!(kind(r#"{"output": [{"role": "assistant"}, 1]}"#), TargetErrorKind::Malformed);
        assert_eq!(kind(r#"{"output": [{"role": "user", "content": "?"}]}"#), TargetErrorKind::NoAnswer);
    }

    #[test]
    fn structured_output_with_details_is_written_as_json() {
        assert_eq!(answer(r#"{"output": {"a": 1}, "cost_usd": 1}"#).text, "{\n  \"a\": 1\n}");
    }
}
