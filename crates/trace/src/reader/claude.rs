//! Claude Code: session files, and the output of `--output-format json` and `stream-json`.

use assize_rubric::{MessageRole, Tokens};
use jiff::Timestamp;
use serde_json::Value;

use super::record_reader::{TraceRecordReader, TraceRecordStatus};
use crate::builder::{TraceBuilder, TraceCallResult};
use crate::json::{content_text, count, millis, money, result_value, sum_counts, text, time};
use crate::{AgentTrace, LogFormat};

pub(super) struct ClaudeReader {
    builder: TraceBuilder,
}

impl ClaudeReader {
    pub(super) fn new() -> Self {
        Self { builder: TraceBuilder::new(LogFormat::ClaudeCode) }
    }

    fn assistant(&mut self, record: &Value, at: Option<Timestamp>, subagent: bool) {
        let message = &record["message"];
        self.builder.model(text(message, "model"));

        let blocks = &message["content"];
        if blocks.is_string() {
            self.builder.add_message(MessageRole::Assistant, content_text(blocks), at, subagent);
        }

        for block in blocks.as_array().into_iter().flatten() {
            match text(block, "type") {
                Some("text") => {
                    let said = text(block, "text").unwrap_or_default().to_owned();
                    self.builder.add_message(MessageRole::Assistant, said, at, subagent);
                }
                Some("tool_use" | "server_tool_use") => {
                    let name = text(block, "name").unwrap_or_default();
                    self.builder.add_call(text(block, "id"), name, block["input"].clone(), at, subagent);
                }
                // Reasoning is not part of the conversation, and no other known block is an action.
                _ => {}
            }
        }

        if let Some(usage) = message.get("usage").filter(|usage| usage.is_object()) {
            // A reply of several blocks is logged as several records with one id and the same usage.
            match text(message, "id") {
                Some(id) => self.builder.usage(id, read_usage(usage)),
                None => self.builder.step_usage(read_usage(usage)),
            }
        }
    }

    fn user(&mut self, record: &Value, at: Option<Timestamp>, subagent: bool) {
        let said = &record["message"]["content"];
        for block in said.as_array().into_iter().flatten() {
            if text(block, "type") == Some("tool_result")
                && let Some(id) = text(block, "tool_use_id")
            {
                let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
                let ended = TraceCallResult {
                    output: block.get("content").map(result_value),
                    failed: Some(failed),
                    duration: record.get("toolUseResult").and_then(|result| millis(result, "durationMs")),
                    at,
                };
                self.builder.record_result(id, ended);
            }
        }

        // Text that the program itself inserts in the user's role is not a request.
        let is_meta = record.get("isMeta").and_then(Value::as_bool).unwrap_or(false);
        let role = if is_meta { MessageRole::System } else { MessageRole::User };
        self.builder.add_message(role, content_text(said), at, subagent);
    }

    fn result(&mut self, record: &Value) {
        if record.get("is_error").and_then(Value::as_bool) == Some(true) {
            let why = text(record, "result").or_else(|| text(record, "subtype")).unwrap_or("no reason given");
            self.builder.error(why);
        } else {
            self.builder.answer(text(record, "result"));
        }

        self.builder.total_cost(money(record, "total_cost_usd"));
        self.builder.duration(millis(record, "duration_ms"));

        if let Some(usage) = record.get("usage").filter(|usage| usage.is_object()) {
            self.builder.total_usage(read_usage(usage));
        }
    }
}

impl TraceRecordReader for ClaudeReader {
    fn record(&mut self, record: &Value) -> TraceRecordStatus {
        let kind = text(record, "type").unwrap_or_default();
        let at = time(record, "timestamp");
        let session = text(record, "sessionId").or_else(|| text(record, "session_id"));
        let is = |key: &str| record.get(key).and_then(Value::as_bool).unwrap_or(false);
        let subagent = is("isSidechain") || record.get("parent_tool_use_id").is_some_and(Value::is_string);
        match kind {
            "assistant" => self.assistant(record, at, subagent),
            "user" => self.user(record, at, subagent),
            "result" => self.result(record),
            "system" if text(record, "subtype") == Some("init") => self.builder.model(text(record, "model")),
            "system"
            | "summary"
            | "file-history-snapshot"
            | "queue-operation"
            | "progress"
            | "attachment"
            | "stream_event"
            | "last-prompt"
            | "custom-title"
            | "permission-mode" => {}
            other => return TraceRecordStatus::Unknown(record_name(other)),
        }

        self.builder.session(session);
        self.builder.record_time(at);

        TraceRecordStatus::Known
    }

    fn finish(self: Box<Self>) -> Vec<AgentTrace> {
        self.builder.finish().into_iter().collect()
    }
}

fn record_name(kind: &str) -> String {
    if kind.is_empty() { "a record without a type".to_owned() } else { kind.to_owned() }
}

/// Reads usage as the provider states it: tokens read from and written to its cache are not included in
/// `input_tokens`.
fn read_usage(usage: &Value) -> Tokens {
    let cached = count(usage, "cache_read_input_tokens");
    let written = count(usage, "cache_creation_input_tokens");
    let fresh = count(usage, "input_tokens");
    let known = fresh.is_some() || cached.is_some() || written.is_some();
    let input = known.then(|| sum_counts([fresh, cached, written]));

    Tokens { input, cached, output: count(usage, "output_tokens") }
}
