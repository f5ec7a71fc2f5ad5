//! From what an agent did to an answer.

use std::time::Duration;

use assize_rubric::{Cost, Usd};
use assize_trace::{Call, Message, Trace};
use serde_json::{Value, json};

use crate::{Answer, TargetError, TargetErrorKind, ToolCall};

/// The answer that a session ended with, with all its messages, calls of tools and figures. A session that ended
/// in failure has no answer, whatever was said in it.
pub fn traced_answer(trace: &Trace) -> Result<Answer, TargetError> {
    let refuse = |kind, message| TargetError {
        attempts: 0,
        tokens: trace.tokens,
        cost: cost(trace).unwrap_or(Cost::UNKNOWN),
        duration: trace.duration,
        ..TargetError::new(kind, message)
    };
    if let Some(error) = &trace.error {
        let message = format!("the agent ended in failure: {}", shortened(error));
        return Err(refuse(TargetErrorKind::Failed, message));
    }
    let Some(text) = trace.answer() else {
        let message = "the agent ended without a word, so there is no answer".to_owned();
        return Err(refuse(TargetErrorKind::NoAnswer, message));
    };
    Ok(Answer {
        text: text.to_owned(),
        messages: Some(traced_messages(trace)),
        tokens: trace.tokens,
        cost: cost(trace),
        duration: trace.duration.unwrap_or(Duration::ZERO),
        model: trace.model.clone(),
        tool_calls: trace.calls().map(tool_call).collect(),
        ..Answer::default()
    })
}

/// The messages of a session as a case's `output` has them: `role`, `content` and `tool_calls` with `tool`, `input`,
/// `output`, `duration_ms` and `failed`. The last one is the answer, and carries the session's figures.
pub fn traced_messages(trace: &Trace) -> Value {
    let mut messages: Vec<Value> = trace.messages.iter().map(message).collect();
    if let Some(answer) = trace.answer() {
        let is_last = trace.messages.last().is_some_and(|last| {
            last.role == assize_trace::Role::Assistant && !last.subagent && last.text.trim() == answer.trim()
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

fn message(message: &Message) -> Value {
    let mut value = json!({ "role": message.role.as_str(), "content": message.text });
    if !message.calls.is_empty() {
        value["tool_calls"] = message.calls.iter().map(call).collect();
    }
    if let Some(at) = message.at {
        value["timestamp"] = at.to_string().into();
    }
    if message.subagent {
        value["metadata"] = json!({ "subagent": true });
    }
    value
}

fn call(call: &Call) -> Value {
    object([
        ("id", call.id.clone().map(Value::from)),
        ("tool", Some(call.name.clone().into())),
        ("input", Some(call.input.clone())),
        ("output", call.output.clone()),
        ("duration_ms", call.duration.map(millis)),
        ("failed", call.failed.map(Value::from)),
    ])
}

fn tool_call(call: &Call) -> ToolCall {
    ToolCall {
        name: call.name.clone(),
        input: call.input.clone(),
        output: call.output.clone(),
        duration: call.duration,
        failed: call.failed,
    }
}

fn cost(trace: &Trace) -> Option<Cost> {
    trace.cost_usd.and_then(Usd::from_dollars).map(Cost::exactly)
}

fn object<const N: usize>(entries: [(&str, Option<Value>); N]) -> Value {
    let known = entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(known.collect())
}

fn millis(duration: Duration) -> Value {
    (duration.as_secs_f64() * 1000.0).into()
}

/// Longest reason that is repeated, in characters.
const MAX_REASON: usize = 500;

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_REASON) {
        Some((end, _)) => format!("{}... [cut]", &text[..end]),
        None => text.to_owned(),
    }
}
