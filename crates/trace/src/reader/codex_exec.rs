//! Codex: the output of `exec --json`.

use assize_rubric::{MessageRole, Tokens};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::record_reader::TraceRecordStatus;
use crate::SessionEnd;
use crate::builder::{TraceBuilder, TraceCallResult};
use crate::json::{count, result_value, text, time};

pub(super) fn record(builder: &mut TraceBuilder, record: &Value) -> TraceRecordStatus {
    let kind = text(record, "type").unwrap_or_default();
    let at = time(record, "timestamp");
    builder.record_time(at);

    match kind {
        "thread.started" => builder.session(text(record, "thread_id")),
        "turn.started" => builder.begin_turn(),
        "item.started" | "item.updated" => item(builder, &record["item"], false, at),
        "item.completed" => item(builder, &record["item"], true, at),
        "turn.completed" => {
            builder.step_usage(read_usage(&record["usage"]));
            builder.end(SessionEnd::Finished);
        }
        "turn.failed" => {
            builder.fail(text(&record["error"], "message").unwrap_or("the turn failed"));
        }
        // Some errors are followed by another try, as `Reconnecting... 1/5`.
        "error" => builder.fail(text(record, "message").unwrap_or("an error without a message")),
        other => return TraceRecordStatus::Unknown(other.to_owned()),
    }

    TraceRecordStatus::Known
}

fn item(builder: &mut TraceBuilder, item: &Value, completed: bool, at: Option<Timestamp>) {
    let id = text(item, "id");
    let kind = text(item, "type").or_else(|| text(item, "item_type")).unwrap_or_default();
    let (name, input, output) = match kind {
        "agent_message" | "assistant_message" => {
            if completed {
                let message = text(item, "text").unwrap_or_default().to_owned();
                builder.add_message(MessageRole::Assistant, message, at, false);
            }
            return;
        }
        "command_execution" => {
            ("shell", json!({ "command": item["command"] }), item.get("aggregated_output").cloned())
        }
        "file_change" => ("apply_patch", json!({ "changes": item["changes"] }), None),
        "mcp_tool_call" => (
            text(item, "tool").unwrap_or_default(),
            item.get("arguments").cloned().unwrap_or(Value::Null),
            item.get("result").filter(|value| !value.is_null()).map(|found| match found.get("content") {
                Some(content) => result_value(content),
                None => found.clone(),
            }),
        ),
        "web_search" => ("web_search", json!({ "query": item["query"] }), None),
        // Reasoning, plans and warnings are not actions.
        _ => return,
    };

    builder.add_call(id, name, input, at, false);
    let Some(id) = id.filter(|_| completed) else { return };
    let status = text(item, "status");
    let exit = item.get("exit_code").and_then(Value::as_i64);
    let error = item.get("error").filter(|error| !error.is_null());
    let failed = match (status, exit) {
        (Some("failed" | "declined"), _) => Some(true),
        (_, Some(code)) => Some(code != 0),
        (Some("completed"), None) => Some(error.is_some()),
        _ => None,
    };

    let output = output.or_else(|| error.cloned());
    builder.record_result(id, TraceCallResult { output, failed, duration: None, at });
}

/// Reads usage as Codex states it: cached tokens are included in the input.
pub(super) fn read_usage(usage: &Value) -> Tokens {
    Tokens {
        input: count(usage, "input_tokens"),
        cached: count(usage, "cached_input_tokens"),
        output: count(usage, "output_tokens"),
    }
}
