//! Pi: the output of `--mode json`, and session files.

use std::collections::{HashMap, HashSet};

use assize_rubric::{MessageRole, Tokens};
use serde_json::Value;

use super::record_reader::{SessionReader, TraceRecordReader, TraceRecordStatus};
use crate::builder::{TraceBuilder, TraceCallResult};
use crate::json::{content_text, count, money, result_value, sum_counts, text, time};
use crate::{AgentTrace, LogFormat, SessionEnd};

pub(super) struct PiReader {
    reader: SessionReader,
    /// A session file is a tree: what the user left to go another way stays in it.
    records: Vec<Value>,
}

impl PiReader {
    pub(super) fn new() -> Self {
        Self { reader: SessionReader::new(LogFormat::Pi, record), records: Vec::new() }
    }
}

impl TraceRecordReader for PiReader {
    fn record(&mut self, record: &Value) -> TraceRecordStatus {
        self.records.push(record.clone());
        self.reader.record(record)
    }

    fn finish(self: Box<Self>) -> Vec<AgentTrace> {
        let parents: HashMap<&str, Option<&str>> = self
            .records
            .iter()
            .filter(|record| record.get("parentId").is_some())
            .filter_map(|record| Some((text(record, "id")?, text(record, "parentId"))))
            .collect();
        let is_entry = |record: &&Value| text(record, "id").is_some_and(|id| parents.contains_key(id));
        let last = self.records.iter().rev().find(is_entry).and_then(|record| text(record, "id"));
        // Each step goes to an earlier record, unless the log is broken.
        let steps = std::iter::successors(last, |id| parents.get(id).copied().flatten());
        let branch: HashSet<&str> = steps.take(self.records.len()).collect();
        if parents.keys().all(|id| branch.contains(id)) {
            return Box::new(self.reader).finish();
        }

        let mut reader = SessionReader::new(LogFormat::Pi, record);
        let is_left =
            |record: &&Value| is_entry(record) && !branch.contains(text(record, "id").unwrap_or_default());
        for record in self.records.iter().filter(|record| !is_left(record)) {
            reader.record(record);
        }
        Box::new(reader).finish()
    }
}

/// Reads a complete message. Streams repeat messages in other events; only the final event is read.
fn message(builder: &mut TraceBuilder, record: &Value) -> TraceRecordStatus {
    let message = &record["message"];
    let at = time(message, "timestamp").or_else(|| time(record, "timestamp"));
    let content = || content_text(&message["content"]);
    match text(message, "role").unwrap_or_default() {
        "user" => builder.add_message(MessageRole::User, content(), at, false),
        "system" | "custom" => builder.add_message(MessageRole::System, content(), at, false),
        "assistant" => {
            builder.model(text(message, "model"));
            builder.add_message(MessageRole::Assistant, content(), at, false);

            for block in message["content"].as_array().into_iter().flatten() {
                if text(block, "type") == Some("toolCall") {
                    let name = text(block, "name").unwrap_or_default();
                    // The start time comes from the start event.
                    builder.add_call(text(block, "id"), name, block["arguments"].clone(), None, false);
                }
            }

            builder.step_usage(read_usage(&message["usage"]));
            builder.cost(money(&message["usage"]["cost"], "total"));

            let why = |reason: &str| text(message, "errorMessage").unwrap_or(reason).to_owned();
            match text(message, "stopReason") {
                Some(reason @ "error") => builder.fail(why(reason)),
                Some(reason @ "aborted") => builder.end(SessionEnd::Interrupted(why(reason))),
                Some("length") => builder.end(SessionEnd::CutOff("the limit of a reply".to_owned())),
                Some("toolUse") => builder.end(SessionEnd::GoingOn),
                // A retry that succeeds clears the earlier failure.
                _ => builder.end(SessionEnd::Finished),
            }
        }
        "toolResult" => {
            let id = text(message, "toolCallId").unwrap_or_default();
            let failed = message.get("isError").and_then(Value::as_bool);
            let output = message.get("content").map(result_value);
            builder.record_result(id, TraceCallResult { output, failed, duration: None, at });
        }
        // Commands that people run by hand in a session, and summaries for the model.
        "bashExecution" | "branchSummary" | "compactionSummary" => {}
        other => return TraceRecordStatus::Unknown(format!("message {other}")),
    }

    TraceRecordStatus::Known
}

fn record(builder: &mut TraceBuilder, record: &Value) -> TraceRecordStatus {
    let at = time(record, "timestamp");
    match text(record, "type").unwrap_or_default() {
        "session" => {
            builder.session(text(record, "id"));
            builder.record_time(at);
        }
        "message_end" | "message" => return message(builder, record),
        "tool_execution_start" => {
            let name = text(record, "toolName").unwrap_or_default();
            builder.add_call(text(record, "toolCallId"), name, record["args"].clone(), at, false);
        }
        "tool_execution_end" => {
            let id = text(record, "toolCallId").unwrap_or_default();
            let failed = record.get("isError").and_then(Value::as_bool);
            let output = record["result"].get("content").or_else(|| record.get("result")).map(result_value);
            builder.record_result(id, TraceCallResult { output, failed, duration: None, at });
        }
        "auto_retry_end" if record["success"] == false => {
            builder.fail(text(record, "finalError").unwrap_or("the last try failed"));
        }
        "agent_start"
        | "agent_end"
        | "agent_settled"
        | "turn_start"
        | "turn_end"
        | "message_start"
        | "message_update"
        | "tool_execution_update"
        | "queue_update"
        | "compaction_start"
        | "compaction_end"
        | "auto_retry_start"
        | "auto_retry_end"
        | "model_change"
        | "thinking_level_change"
        | "compaction"
        | "branch_summary"
        | "custom"
        | "custom_message"
        | "label"
        | "session_info" => builder.record_time(at),
        other => return TraceRecordStatus::Unknown(other.to_owned()),
    }

    TraceRecordStatus::Known
}

/// Reads usage; tokens read from and written to the provider's cache are not included in `input`.
fn read_usage(usage: &Value) -> Tokens {
    let cached = count(usage, "cacheRead");
    let written = count(usage, "cacheWrite");
    Tokens {
        input: count(usage, "input").map(|input| sum_counts([Some(input), cached, written])),
        cached,
        output: count(usage, "output"),
    }
}
