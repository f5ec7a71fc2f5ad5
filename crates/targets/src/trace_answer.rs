//! Converts an agent's trace to an answer.

use std::time::Duration;

use assize_rubric::{Cost, MessageRole, Usd};
use assize_trace::{AgentTrace, LoggedCall, LoggedMessage, SessionEnd};
use serde_json::{Value, json};

use crate::{TargetAnswer, TargetError, TargetErrorKind};

/// Converts a session to its final answer, with all messages, tool calls, tokens and cost. A session that did not
/// finish has no answer, even if it has messages.
pub fn traced_answer(trace: &AgentTrace) -> Result<TargetAnswer, TargetError> {
    let refuse = |kind, message| TargetError {
        attempts: 0,
        tokens: trace.tokens,
        cost: cost(trace).unwrap_or(Cost::UNKNOWN),
        duration: trace.duration,
        ..TargetError::new(kind, message)
    };
    let (kind, message) = match &trace.end {
        SessionEnd::Finished => (TargetErrorKind::NoAnswer, "the agent ended without an answer".to_owned()),
        SessionEnd::Failed(why) => (TargetErrorKind::Failed, format!("the agent failed: {}", shorten(why))),
        SessionEnd::Interrupted(why) => {
            (TargetErrorKind::Failed, format!("the agent was interrupted: {}", shorten(why)))
        }
        SessionEnd::CutOff(why) => {
            (TargetErrorKind::Failed, format!("the agent was cut off: {}", shorten(why)))
        }
        SessionEnd::GoingOn => {
            (TargetErrorKind::NoAnswer, "the log ends before the agent has finished".to_owned())
        }
    };

    let answer = trace.answer().filter(|_| trace.end == SessionEnd::Finished);
    let Some(text) = answer else { return Err(refuse(kind, message)) };
    Ok(TargetAnswer {
        text: text.to_owned(),
        messages: has_agent_messages(trace).then(|| messages_value(trace)),
        tokens: trace.tokens,
        cost: cost(trace),
        duration: trace.duration.unwrap_or(Duration::ZERO),
        model: trace.model.clone(),
        spans: trace.spans.clone(),
        tool_calls: trace.calls().cloned().collect(),
        ..TargetAnswer::default()
    })
}

/// A session as the `output` of a case, in the form that [`given_answer`](crate::given_answer) reads: messages
/// with `role`, `content` and `tool_calls` with `tool`, `input`, `output`, `duration_ms` and `failed`. The last
/// message is the answer, and has the tokens, cost and duration of the session. If the log has only the answer,
/// the result is the answer's text, because messages without calls would claim that no tool was called.
pub fn traced_output(trace: &AgentTrace) -> Value {
    match trace.answer() {
        Some(answer) if !has_agent_messages(trace) => Value::String(answer.to_owned()),
        _ => messages_value(trace),
    }
}

/// Whether the log has messages of the agent before its answer.
fn has_agent_messages(trace: &AgentTrace) -> bool {
    trace.messages.iter().any(|message| message.role == MessageRole::Assistant)
}

fn messages_value(trace: &AgentTrace) -> Value {
    let mut messages: Vec<Value> = trace.messages.iter().map(message_value).collect();
    if let Some(answer) = trace.answer() {
        let is_last = trace.messages.last().is_some_and(|last| {
            last.role == MessageRole::Assistant && !last.subagent && last.text.trim() == answer.trim()
        });
        if !is_last {
            messages.push(json!({ "role": "assistant", "content": answer }));
        }
    }

    if let Some(last) = messages.last_mut() {
        let tokens = trace.tokens;
        if tokens.input.is_some() || tokens.output.is_some() {
            last["token_usage"] = object([
                ("input", tokens.input.map(Value::from)),
                ("cached", tokens.cached.map(Value::from)),
                ("output", tokens.output.map(Value::from)),
            ]);
        }

        if let Some(duration) = trace.duration {
            last["duration_ms"] = millis(duration);
        }
        if let Some(cost) = trace.cost_usd {
            last["cost_usd"] = cost.into();
        }
    }

    Value::Array(messages)
}

fn message_value(message: &LoggedMessage) -> Value {
    let mut value = json!({ "role": message.role.name(), "content": message.text });
    if !message.calls.is_empty() {
        value["tool_calls"] = message.calls.iter().map(call_value).collect();
    }
    if let Some(at) = message.at {
        value["timestamp"] = at.to_string().into();
    }
    if message.subagent {
        value["metadata"] = json!({ "subagent": true });
    }

    value
}

fn call_value(logged: &LoggedCall) -> Value {
    let call = &logged.call;

    object([
        ("id", logged.id.clone().map(Value::from)),
        ("tool", Some(call.name.clone().into())),
        ("input", Some(call.input.clone())),
        ("output", call.output.clone()),
        ("duration_ms", call.duration.map(millis)),
        ("failed", call.failed.map(Value::from)),
    ])
}

fn cost(trace: &AgentTrace) -> Option<Cost> {
    trace.cost_usd.and_then(Usd::from_dollars).map(Cost::from_known)
}

fn object<const N: usize>(entries: [(&str, Option<Value>); N]) -> Value {
    let known = entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(known.collect())
}

fn millis(duration: Duration) -> Value {
    (duration.as_secs_f64() * 1000.0).into()
}

/// Maximum length of a reason in an error, in characters.
const MAX_REASON: usize = 500;

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_REASON) {
        Some((end, _)) => format!("{}... [cut]", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::given_answer;

    fn logs() -> Vec<(String, Vec<AgentTrace>)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/logs");
        let mut all: Vec<(String, Vec<AgentTrace>)> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                let read = assize_trace::read_log(fs::read(&path).unwrap().as_slice(), None).unwrap();
                (path.display().to_string(), read.traces)
            })
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    #[test]
    fn a_session_is_the_same_answer_directly_and_by_way_of_its_messages() {
        let logs = logs();
        assert!(logs.len() >= 9);
        for (path, traces) in logs {
            for trace in traces {
                let direct = traced_answer(&trace).unwrap();
                let again = given_answer(&traced_output(&trace)).unwrap();
                assert_eq!(again.text.trim(), direct.text.trim(), "{path}");
                assert_eq!(again.tool_calls, direct.tool_calls, "{path}");
                assert_eq!(again.messages.is_some(), direct.messages.is_some(), "{path}");
                // This log has only the answer and no messages before it.
                assert_eq!(direct.messages.is_none(), path.ends_with("gemini.json"), "{path}");
                if direct.messages.is_none() {
                    continue;
                }
                assert_eq!(again.tokens.input, direct.tokens.input, "{path}");
                assert_eq!(again.tokens.output, direct.tokens.output, "{path}");
                assert_eq!(again.cost, direct.cost, "{path}");
                let gap = again.duration.abs_diff(direct.duration);
                assert!(gap < Duration::from_micros(1), "{path}: {gap:?}");
            }
        }
    }

    #[test]
    fn a_failure_is_no_answer_and_keeps_what_it_cost() {
        let log = concat!(
            r#"{"type":"assistant","session_id":"s","message":{"id":"m","content":[{"type":"text","text":"On it."}]}}"#,
            "\n",
            r#"{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"s","total_cost_usd":0.5,"usage":{"input_tokens":7,"output_tokens":3}}"#,
        );
        let read = assize_trace::read_log(log.as_bytes(), None).unwrap();
        let error = traced_answer(&read.traces[0]).unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::Failed);
        assert_eq!((error.tokens.input, error.tokens.output), (Some(7), Some(3)));
        assert_eq!(error.cost, Cost::from_known(Usd::from_dollars(0.5).unwrap()));
        assert!(error.message.contains("error_during_execution"));
    }
}
