//! Copilot CLI: the events of a session.

use assize_rubric::{MessageRole, Tokens};
use serde_json::Value;

use super::record_reader::TraceRecordStatus;
use crate::SessionEnd;
use crate::builder::{TraceBuilder, TraceCallResult};
use crate::json::{count, millis, parse_arguments, text, time};

fn assistant(builder: &mut TraceBuilder, record: &Value, data: &Value) {
    let at = time(record, "timestamp");
    let subagent = is_subagent(record);
    let content = text(data, "content").unwrap_or_default().to_owned();
    builder.add_message(MessageRole::Assistant, content, at, subagent);

    for request in data["toolRequests"].as_array().into_iter().flatten() {
        let name = text(request, "name").unwrap_or_default();
        let input = parse_arguments(&request["arguments"]);
        builder.add_call(text(request, "toolCallId"), name, input, at, subagent);
    }
}

fn completed(builder: &mut TraceBuilder, record: &Value, data: &Value) {
    let Some(id) = text(data, "toolCallId") else { return };
    let success = data.get("success").and_then(Value::as_bool);
    let result = data.get("result").filter(|value| !value.is_null());
    let output = result.map(|result| result.get("content").unwrap_or(result).clone()).or_else(|| {
        let error = data.get("error").filter(|error| !error.is_null())?;
        Some(error.get("message").unwrap_or(error).clone())
    });
    let ended = TraceCallResult {
        output,
        failed: success.map(|success| !success),
        duration: millis(data.get("durationMs")),
        at: time(record, "timestamp"),
    };

    builder.record_result(id, ended);
}

/// Whether an event is about a sub-agent. Older logs name the call that started it.
fn is_subagent(record: &Value) -> bool {
    text(record, "agentId").or_else(|| text(&record["data"], "parentToolCallId")).is_some()
}

/// Reads the totals at the end of a session, by model.
fn shutdown(builder: &mut TraceBuilder, data: &Value) {
    if text(data, "shutdownType") == Some("error") {
        builder.fail(text(data, "errorReason").unwrap_or("the session failed"));
    }

    let Some(models) = data["modelMetrics"].as_object() else { return };
    let mut sum = Tokens::default();
    for metrics in models.values() {
        sum.add(read_usage(&metrics["usage"]));
    }

    if !models.is_empty() {
        builder.total_usage(sum);
    }
}

pub(super) fn record(builder: &mut TraceBuilder, record: &Value) -> TraceRecordStatus {
    let at = time(record, "timestamp");
    builder.record_time(at);

    let data = &record["data"];
    match text(record, "type").unwrap_or_default() {
        "session.start" | "session.resume" => {
            builder.session(text(data, "sessionId"));
            builder.model(text(data, "selectedModel"));
        }
        "session.model_change" => builder.model(text(data, "newModel")),
        "session.error" | "abort" if is_subagent(record) => {}
        "session.error" => {
            builder.fail(text(data, "message").unwrap_or("an error without a message"));
        }
        "abort" => {
            let reason = text(data, "reason").unwrap_or("no reason given");
            builder.end(SessionEnd::Interrupted(reason.to_owned()));
        }
        "session_limits_exhausted.requested" => {
            builder.end(SessionEnd::CutOff("the limit of the session".to_owned()));
        }
        // The reviewer did not accept it as complete.
        "session.task_complete" if data["success"] == false => builder.end(SessionEnd::GoingOn),
        "session.shutdown" => shutdown(builder, data),
        "result" => {
            if count(record, "exitCode").is_some_and(|code| code != 0) {
                builder.fail("the program ended with an error");
            }
        }
        kind @ ("user.message" | "system.message") => {
            let role = if kind == "user.message" { MessageRole::User } else { MessageRole::System };
            let content = text(data, "content").unwrap_or_default().to_owned();
            builder.add_message(role, content, at, is_subagent(record));
        }
        "assistant.message" => assistant(builder, record, data),
        "assistant.usage" => {
            builder.model(text(data, "model"));
            builder.step_usage(read_usage(data));
        }
        "tool.execution_start" => {
            let name = text(data, "toolName").unwrap_or_default();
            let input = parse_arguments(&data["arguments"]);
            builder.add_call(text(data, "toolCallId"), name, input, at, is_subagent(record));
        }
        "tool.execution_complete" => completed(builder, record, data),
        kind if [
            "session", "assistant.", "tool.", "subagent.", "hook.", "skill.", "model.", "permission.",
        ]
        .iter()
        .any(|part| kind.starts_with(part)) => {}
        other => return TraceRecordStatus::Unknown(other.to_owned()),
    }

    TraceRecordStatus::Known
}

fn read_usage(value: &Value) -> Tokens {
    Tokens {
        input: count(value, "inputTokens"),
        cached: count(value, "cacheReadTokens"),
        output: count(value, "outputTokens"),
    }
}
