//! Codex: the rollout file of a session.

use assize_rubric::MessageRole;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::codex_exec::read_usage;
use super::record_reader::TraceRecordStatus;
use crate::SessionEnd;
use crate::builder::{TraceBuilder, TraceCallResult};
use crate::json::{content_text, count, parse_arguments, text, time};

pub(super) fn record(builder: &mut TraceBuilder, record: &Value) -> TraceRecordStatus {
    let at = time(record, "timestamp");
    builder.record_time(at);

    let Some(payload) = record.get("payload") else {
        // Older rollouts have the head and the items without a wrapper.
        if record.get("type").is_none() {
            builder.session(text(record, "id"));
            return TraceRecordStatus::Known;
        }
        return item(builder, record, at);
    };
    match text(record, "type").unwrap_or_default() {
        "session_meta" => {
            if let Some(kind) = payload["source"].get("subagent") {
                let parent = text(&kind["thread_spawn"], "parent_thread_id");
                let parent = parent.or_else(|| text(payload, "parent_thread_id"));
                builder.subagent_of(text(payload, "id"), parent);
            }
            builder.session(text(payload, "id"));
            TraceRecordStatus::Known
        }
        "turn_context" => {
            builder.model(text(payload, "model"));
            TraceRecordStatus::Known
        }
        "response_item" => item(builder, payload, at),
        "event_msg" => {
            event(builder, payload);
            TraceRecordStatus::Known
        }
        "compacted" => TraceRecordStatus::Known,
        other => TraceRecordStatus::Unknown(other.to_owned()),
    }
}

/// Reads events outside the conversation. Messages occur here as well, but they are read from the items.
fn event(builder: &mut TraceBuilder, payload: &Value) {
    match text(payload, "type").unwrap_or_default() {
        "token_count" => {
            let total = &payload["info"]["total_token_usage"];
            if total.is_object() {
                builder.total_usage(read_usage(total));
            }
        }
        "task_started" | "turn_started" => builder.begin_turn(),
        "error" => fail(builder, payload),
        "task_complete" | "turn_complete" => {
            if let Some(error) = payload.get("error").filter(|error| !error.is_null()) {
                fail(builder, error);
            }
            // Older logs leave out the error.
            let is_silent = payload.get("last_agent_message").is_some_and(Value::is_null);
            if is_silent && !builder.has_spoken_last() {
                builder.end(SessionEnd::Failed("the turn ended without a message".to_owned()));
            }
            builder.finish_turn();
        }
        "thread_rolled_back" => builder.roll_back(count(payload, "num_turns").unwrap_or(0)),
        "turn_aborted" => {
            let reason = text(payload, "reason").unwrap_or("no reason given").to_owned();
            let is_limit = reason.contains("limit") || reason.contains("budget");
            let end = if is_limit { SessionEnd::CutOff } else { SessionEnd::Interrupted };
            builder.end(end(reason));
        }
        _ => {}
    }
}

fn fail(builder: &mut TraceBuilder, error: &Value) {
    // Two errors refuse a wish of the user and do not concern the turn.
    let kind = &error["codex_error_info"];
    let is_of_turn = kind != "thread_rollback_failed" && kind.get("active_turn_not_steerable").is_none();
    if is_of_turn {
        builder.fail(text(error, "message").unwrap_or("an error without a message"));
    }
}

fn item(builder: &mut TraceBuilder, item: &Value, at: Option<Timestamp>) -> TraceRecordStatus {
    match text(item, "type").unwrap_or_default() {
        "message" => {
            let role = match text(item, "role") {
                Some("assistant") => MessageRole::Assistant,
                Some("user") => MessageRole::User,
                _ => MessageRole::System,
            };

            let content = content_text(&item["content"]);
            // The program describes the environment to the model in the user's role, between tags.
            let instruction_tags = [
                "<environment_context>", "<user_instructions>", "<permissions", "# AGENTS.md", "<skill>",
                "<turn_aborted>", "<user_shell_command>", "<INSTRUCTIONS>",
            ];
            let is_told = instruction_tags.iter().any(|tag| content.trim_start().starts_with(tag));
            let role = if role == MessageRole::User && is_told { MessageRole::System } else { role };

            builder.add_message(role, content, at, false);
        }
        "function_call" => {
            let name = text(item, "name").unwrap_or_default();
            builder.add_call(call_id(item), name, parse_arguments(&item["arguments"]), at, false);
        }
        "custom_tool_call" => {
            let name = text(item, "name").unwrap_or_default();
            builder.add_call(call_id(item), name, item["input"].clone(), at, false);
        }
        "local_shell_call" => {
            let input = json!({ "command": item["action"]["command"] });
            builder.add_call(call_id(item), "shell", input, at, false);
        }
        "web_search_call" => {
            let input = json!({ "query": item["action"]["query"] });
            builder.add_call(call_id(item), "web_search", input, at, false);
        }
        "function_call_output" | "custom_tool_call_output" => {
            if let Some(id) = call_id(item) {
                builder.record_result(id, call_result(&item["output"], at));
            }
        }
        "reasoning" | "ghost_snapshot" | "compaction" => {}
        other => return TraceRecordStatus::Unknown(other.to_owned()),
    }
    TraceRecordStatus::Known
}

fn call_id(item: &Value) -> Option<&str> {
    text(item, "call_id").or_else(|| text(item, "id"))
}

/// Reads the result of a tool: a text, or JSON in a text with the output and an exit code.
fn call_result(output: &Value, at: Option<Timestamp>) -> TraceCallResult {
    let value = parse_arguments(output);
    let of_object = |key: &str| value.is_object().then(|| value.get(key)).flatten();
    let text = of_object("output").or_else(|| of_object("content")).cloned();
    let metadata = &value["metadata"];
    let failed = metadata
        .get("exit_code")
        .and_then(Value::as_i64)
        .map(|code| code != 0)
        .or_else(|| of_object("success")?.as_bool().map(|success| !success));

    let seconds = metadata.get("duration_seconds").and_then(Value::as_f64);
    let duration = seconds.and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok());

    // If the text is JSON of another form, it is the tool's output itself.
    TraceCallResult { output: Some(text.unwrap_or_else(|| output.clone())), failed, duration, at }
}
