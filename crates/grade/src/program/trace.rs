//! Metrics of tool calls, tokens and times, in the form that grading programs read.

use std::collections::BTreeMap;

use assize_rubric::{Tokens, ToolCall};
use serde_json::{Value, json};

/// Metrics of the tool calls: `tool_calls` counts them by name, like the older `tool_names` and
/// `tool_calls_by_name`.
pub(super) fn trace(calls: &[ToolCall], model_calls: Option<u64>) -> Value {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut durations: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for call in calls {
        *counts.entry(&call.name).or_default() += 1;
        if let Some(duration) = call.duration {
            durations.entry(&call.name).or_default().push(duration.as_secs_f64() * 1000.0);
        }
    }

    let mut trace = json!({
        "event_count": calls.len(),
        "tool_calls": counts,
        "tool_names": counts.keys().collect::<Vec<_>>(),
        "tool_calls_by_name": counts,
        "error_count": calls.iter().filter(|call| call.failed == Some(true)).count(),
    });
    if !durations.is_empty() {
        trace["tool_durations"] = json!(durations);
    }
    if let Some(count) = model_calls {
        trace["llm_call_count"] = count.into();
    }

    trace
}

/// The tool calls as events of a trace.
pub(super) fn trace_events(calls: &[ToolCall]) -> Value {
    let event = |(ordinal, call): (usize, &ToolCall)| {
        let status = match call.failed {
            Some(true) => "error",
            Some(false) => "ok",
            None => "unknown",
        };
        let mut tool = json!({ "name": call.name, "input": call.input, "status": status });
        if let Some(output) = &call.output {
            tool["output"] = output.clone();
        }

        let mut event = json!({
            "event_id": format!("event-{ordinal}"), "ordinal": ordinal, "type": "tool_call", "tool": tool,
        });
        if let Some(duration) = call.duration {
            event["duration_ms"] = (duration.as_secs_f64() * 1000.0).into();
        }

        event
    };

    calls.iter().enumerate().map(event).collect()
}

/// `{input, output, cached}`. Readers need both of the first two, so one alone is useless.
pub(super) fn token_usage(tokens: Tokens) -> Option<Value> {
    let mut usage = json!({ "input": tokens.input?, "output": tokens.output? });
    if let Some(cached) = tokens.cached {
        usage["cached"] = cached.into();
    }

    Some(usage)
}
