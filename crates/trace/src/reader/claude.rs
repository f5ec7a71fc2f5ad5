//! Claude Code: session files, and the output of `--output-format json` and `stream-json`.

use assize_rubric::{Role, Tokens};
use jiff::Timestamp;
use serde_json::Value;

use super::{Reader, Understood};
use crate::builder::{Builder, Ended};
use crate::json::{content, count, millis, money, result, text, time};
use crate::{Format, Trace};

pub(super) struct Claude {
    builder: Builder,
}

impl Claude {
    pub(super) fn new() -> Self {
        Self { builder: Builder::new(Format::ClaudeCode) }
    }

    fn assistant(&mut self, record: &Value, at: Option<Timestamp>, subagent: bool) {
        let message = &record["message"];
        self.builder.model(text(message, "model"));
        let blocks = &message["content"];
        if blocks.is_string() {
            self.builder.message(Role::Assistant, content(blocks), at, subagent);
        }
        for block in blocks.as_array().into_iter().flatten() {
            match text(block, "type") {
                Some("text") => {
                    let said = text(block, "text").unwrap_or_default().to_owned();
                    self.builder.message(Role::Assistant, said, at, subagent);
                }
                Some("tool_use" | "server_tool_use") => {
                    let name = text(block, "name").unwrap_or_default();
                    self.builder.call(text(block, "id"), name, block["input"].clone(), at, subagent);
                }
                // Thoughts are not part of the conversation, and no other block is known to carry an action.
                _ => {}
            }
        }
        if let Some(usage) = message.get("usage").filter(|usage| usage.is_object()) {
            // A reply of several blocks is logged as several records with one id and the same usage.
            match text(message, "id") {
                Some(id) => self.builder.usage(id, tokens(usage)),
                None => self.builder.step_usage(tokens(usage)),
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
                let ended = Ended {
                    output: block.get("content").map(result),
                    failed: Some(failed),
                    duration: record.get("toolUseResult").and_then(|result| millis(result, "durationMs")),
                    at,
                };
                self.builder.ended(id, ended);
            }
        }
        // Text that the program itself inserts as the user is not a request.
        let is_meta = record.get("isMeta").and_then(Value::as_bool).unwrap_or(false);
        let role = if is_meta { Role::System } else { Role::User };
        self.builder.message(role, content(said), at, subagent);
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
            self.builder.total_usage(tokens(usage));
        }
    }
}

impl Reader for Claude {
    fn record(&mut self, record: &Value) -> Understood {
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
            other => return Understood::No(name(other)),
        }
        self.builder.session(session);
        self.builder.seen(at);
        Understood::Yes
    }

    fn finish(self: Box<Self>) -> Vec<Trace> {
        self.builder.finish().into_iter().collect()
    }
}

fn name(kind: &str) -> String {
    if kind.is_empty() { "a record without a type".to_owned() } else { kind.to_owned() }
}

/// Reads usage as the provider states it: tokens read from and written to its cache are not included in
/// `input_tokens`.
fn tokens(usage: &Value) -> Tokens {
    let cached = count(usage, "cache_read_input_tokens");
    let written = count(usage, "cache_creation_input_tokens");
    let fresh = count(usage, "input_tokens");
    let known = fresh.is_some() || cached.is_some() || written.is_some();
    let sum = fresh.unwrap_or(0) + cached.unwrap_or(0) + written.unwrap_or(0);
    Tokens { input: known.then_some(sum), cached, output: count(usage, "output_tokens") }
}
