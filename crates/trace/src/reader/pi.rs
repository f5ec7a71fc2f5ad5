//! Pi: the output of `--mode json`, and session files.

use assize_rubric::{MessageRole, Tokens};
use serde_json::Value;

use super::record_reader::{TraceRecordReader, TraceRecordStatus};
use crate::builder::{TraceBuilder, TraceCallResult};
use crate::json::{content_text, count, money, result_value, sum_counts, text, time};
use crate::{AgentTrace, LogFormat, SessionEnd};

pub(super) struct PiReader {
    builder: TraceBuilder,
}

impl PiReader {
    pub(super) fn new() -> Self {
        Self { builder: TraceBuilder::new(LogFormat::Pi) }
    }

    /// Reads a complete message. Streams repeat messages in other events; only the final event is read.
    fn message(&mut self, record: &Value) -> TraceRecordStatus {
        let message = &record["message"];
        let at = time(message, "timestamp").or_else(|| time(record, "timestamp"));
        let content = || content_text(&message["content"]);
        match text(message, "role").unwrap_or_default() {
            "user" => self.builder.add_message(MessageRole::User, content(), at, false),
            "system" | "custom" => self.builder.add_message(MessageRole::System, content(), at, false),
            "assistant" => {
                self.builder.model(text(message, "model"));
                self.builder.add_message(MessageRole::Assistant, content(), at, false);

                for block in message["content"].as_array().into_iter().flatten() {
                    if text(block, "type") == Some("toolCall") {
                        let name = text(block, "name").unwrap_or_default();
                        // The start time comes from the start event.
                        self.builder.add_call(
                            text(block, "id"),
                            name,
                            block["arguments"].clone(),
                            None,
                            false,
                        );
                    }
                }

                self.builder.step_usage(read_usage(&message["usage"]));
                self.builder.cost(money(&message["usage"]["cost"], "total"));

                let why = |reason: &str| text(message, "errorMessage").unwrap_or(reason).to_owned();
                match text(message, "stopReason") {
                    Some(reason @ "error") => self.builder.fail(why(reason)),
                    Some(reason @ "aborted") => self.builder.end(SessionEnd::Interrupted(why(reason))),
                    Some("length") => self.builder.end(SessionEnd::CutOff("the limit of a reply".to_owned())),
                    Some("toolUse") => self.builder.end(SessionEnd::GoingOn),
                    // A retry that succeeds clears the earlier failure.
                    _ => self.builder.end(SessionEnd::Finished),
                }
            }
            "toolResult" => {
                let id = text(message, "toolCallId").unwrap_or_default();
                let failed = message.get("isError").and_then(Value::as_bool);
                let output = message.get("content").map(result_value);
                self.builder.record_result(id, TraceCallResult { output, failed, duration: None, at });
            }
            // Commands that people run by hand in a session.
            "bashExecution" => {}
            other => return TraceRecordStatus::Unknown(format!("message {other}")),
        }

        TraceRecordStatus::Known
    }
}

impl TraceRecordReader for PiReader {
    fn record(&mut self, record: &Value) -> TraceRecordStatus {
        let at = time(record, "timestamp");
        match text(record, "type").unwrap_or_default() {
            "session" => {
                self.builder.session(text(record, "id"));
                self.builder.record_time(at);
            }
            "message_end" | "message" => return self.message(record),
            "tool_execution_start" => {
                let name = text(record, "toolName").unwrap_or_default();
                self.builder.add_call(text(record, "toolCallId"), name, record["args"].clone(), at, false);
            }
            "tool_execution_end" => {
                let id = text(record, "toolCallId").unwrap_or_default();
                let failed = record.get("isError").and_then(Value::as_bool);
                let output =
                    record["result"].get("content").or_else(|| record.get("result")).map(result_value);
                self.builder.record_result(id, TraceCallResult { output, failed, duration: None, at });
            }
            "auto_retry_end" if record["success"] == false => {
                self.builder.fail(text(record, "finalError").unwrap_or("the last try failed"));
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
            | "session_info" => self.builder.record_time(at),
            other => return TraceRecordStatus::Unknown(other.to_owned()),
        }

        TraceRecordStatus::Known
    }

    fn finish(self: Box<Self>) -> Vec<AgentTrace> {
        self.builder.finish().into_iter().collect()
    }
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
