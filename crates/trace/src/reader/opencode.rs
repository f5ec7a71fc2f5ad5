//! OpenCode: the output of `run --format json`, and exported sessions.

use assize_rubric::{MessageRole, Tokens};
use jiff::Timestamp;
use serde_json::Value;

use super::record_reader::TraceRecordStatus;
use crate::SessionEnd;
use crate::builder::{TraceBuilder, TraceCallResult};
use crate::json::{count, duration_between, money, sum_counts, text, time};

/// Reads one part of a message. Returns its kind as the error if it is unknown.
fn read_part(
    builder: &mut TraceBuilder,
    part: &Value,
    role: MessageRole,
    at: Option<Timestamp>,
) -> Result<(), String> {
    let started = time(&part["time"], "start").or(at);
    match text(part, "type").unwrap_or_default() {
        "text" => {
            // Text that the program adds in the user's role is marked.
            let synthetic = part.get("synthetic").and_then(Value::as_bool).unwrap_or(false);
            let role = if synthetic { MessageRole::System } else { role };
            builder.add_message(role, text(part, "text").unwrap_or_default().to_owned(), started, false);
        }
        "tool" => tool(builder, part, at),
        "step-finish" => {
            builder.step_usage(read_usage(&part["tokens"]));
            builder.cost(money(part, "cost"));
            step_end(builder, text(part, "reason"));
        }
        "step-start" => builder.begin_turn(),
        "reasoning" | "snapshot" | "patch" | "file" | "agent" | "compaction" | "subtask" | "retry" => {}
        other => return Err(other.to_owned()),
    }

    Ok(())
}

/// Notes why a step ended. After calls of tools another one follows.
fn step_end(builder: &mut TraceBuilder, reason: Option<&str>) {
    match reason {
        Some("stop") => builder.end(SessionEnd::Finished),
        Some("length") => builder.end(SessionEnd::CutOff("the limit of a reply".to_owned())),
        Some(reason @ ("error" | "content-filter")) => builder.fail(reason),
        Some("tool-calls") => builder.end(SessionEnd::GoingOn),
        _ => builder.infer_end(),
    }
}

fn fail(builder: &mut TraceBuilder, error: &Value) {
    let name = text(error, "name").unwrap_or_default();
    let message = text(&error["data"], "message").or_else(|| text(error, "message"));
    let reason = message.unwrap_or(if name.is_empty() { "the session failed" } else { name }).to_owned();
    builder.end(match name {
        "MessageAbortedError" => SessionEnd::Interrupted(reason),
        "MessageOutputLengthError" => SessionEnd::CutOff(reason),
        _ => SessionEnd::Failed(reason),
    });
}

fn tool(builder: &mut TraceBuilder, part: &Value, at: Option<Timestamp>) {
    let state = &part["state"];
    let (from, to) = (time(&state["time"], "start"), time(&state["time"], "end"));
    let id = text(part, "callID").or_else(|| text(part, "id"));
    let name = text(part, "tool").unwrap_or_default();
    builder.add_call(id, name, state["input"].clone(), from.or(at), false);

    let failed = match text(state, "status") {
        Some("completed") => false,
        Some("error") => true,
        _ => return,
    };

    let output = state.get("output").or_else(|| state.get("error")).cloned();
    let duration = from.zip(to).and_then(|(from, to)| duration_between(from, to));
    if let Some(id) = id {
        builder.record_result(id, TraceCallResult { output, failed: Some(failed), duration, at: to });
    }
}

/// Reads an exported session: one object with all messages.
fn export(builder: &mut TraceBuilder, record: &Value) -> TraceRecordStatus {
    let session = &record["info"];
    match text(session, "parentID") {
        Some(parent) => builder.subagent_of(text(session, "id"), Some(parent)),
        None => builder.session(text(session, "id")),
    }
    let mut unknown = None;
    // What the user took back stays in the session until the next question.
    let revert = &session["revert"];
    for message in record["messages"].as_array().into_iter().flatten() {
        let info = &message["info"];
        let is_reverted = text(info, "id").is_some_and(|id| text(revert, "messageID") == Some(id));
        let reverted_part = text(revert, "partID").filter(|_| is_reverted);
        if is_reverted && reverted_part.is_none() {
            break;
        }

        // The summary of a compacted session is for the model.
        let is_summary = info["summary"] == true;
        let role = match text(info, "role") {
            _ if is_summary => MessageRole::System,
            Some("user") => MessageRole::User,
            _ => MessageRole::Assistant,
        };

        builder.model(text(info, "modelID"));
        let at = time(&info["time"], "created");
        for part in message["parts"].as_array().into_iter().flatten() {
            if reverted_part.is_some() && text(part, "id") == reverted_part {
                break;
            }
            if is_summary && text(part, "type") == Some("step-start") {
                continue;
            }
            unknown = read_part(builder, part, role, at).err().or(unknown);
        }

        builder.record_time(time(&info["time"], "completed"));
        if let Some(error) = info.get("error").filter(|error| !error.is_null()) {
            fail(builder, error);
        }
    }

    unknown.map_or(TraceRecordStatus::Known, |kind| TraceRecordStatus::Unknown(format!("part {kind}")))
}

pub(super) fn record(builder: &mut TraceBuilder, record: &Value) -> TraceRecordStatus {
    let Some(kind) = text(record, "type") else { return export(builder, record) };
    let at = time(record, "timestamp");
    builder.record_time(at);
    builder.session(text(record, "sessionID"));

    match (kind, record.get("part")) {
        ("error", _) => {
            fail(builder, &record["error"]);
            TraceRecordStatus::Known
        }
        (_, Some(part)) => match read_part(builder, part, MessageRole::Assistant, at) {
            Ok(()) => TraceRecordStatus::Known,
            Err(kind) => TraceRecordStatus::Unknown(format!("part {kind}")),
        },
        ("done", None) => TraceRecordStatus::Known,
        (other, None) => TraceRecordStatus::Unknown(other.to_owned()),
    }
}

/// Reads the usage of a step. Tokens read from and written to the provider's cache are not included in `input`,
/// and reasoning is not included in `output`.
fn read_usage(usage: &Value) -> Tokens {
    let cached = count(&usage["cache"], "read");
    let (written, thought) = (count(&usage["cache"], "write"), count(usage, "reasoning"));
    Tokens {
        input: count(usage, "input").map(|input| sum_counts([Some(input), cached, written])),
        cached,
        output: count(usage, "output").map(|output| sum_counts([Some(output), thought])),
    }
}
