//! Gemini CLI: the output of `--output-format json` and `stream-json`; its files are read by `gemini_chat.rs`.

use assize_rubric::{MessageRole, Tokens};
use serde_json::Value;

use super::gemini_chat::ChatMessages;
use super::record_reader::{TraceRecordReader, TraceRecordStatus};
use crate::builder::{TraceBuilder, TraceCallResult};
use crate::json::{count, millis, text, time};
use crate::{AgentTrace, LogFormat, SessionEnd};

pub(super) struct GeminiReader {
    builder: TraceBuilder,
    chat: ChatMessages,
}

impl GeminiReader {
    pub(super) fn new() -> Self {
        Self { builder: TraceBuilder::new(LogFormat::Gemini), chat: ChatMessages::default() }
    }
}

impl TraceRecordReader for GeminiReader {
    fn record(&mut self, record: &Value) -> TraceRecordStatus {
        if self.chat.take(&mut self.builder, record) {
            return TraceRecordStatus::Known;
        }

        read_output(&mut self.builder, record)
    }

    fn finish(mut self: Box<Self>) -> Vec<AgentTrace> {
        self.chat.read(&mut self.builder);
        self.builder.finish().into_iter().collect()
    }
}

/// Reads the single object of `--output-format json`.
fn summary(builder: &mut TraceBuilder, record: &Value) {
    builder.session(text(record, "session_id"));
    builder.answer(text(record, "response"));

    if let Some(error) = record.get("error").filter(|error| !error.is_null()) {
        fail(builder, error);
    }

    let Some(models) = record["stats"]["models"].as_object() else { return };
    let mut sum = Tokens::default();
    for (name, model) in models {
        builder.model(Some(name));
        let tokens = &model["tokens"];
        let thoughts = count(tokens, "thoughts").unwrap_or(0);
        sum.add(Tokens {
            input: count(tokens, "prompt"),
            cached: count(tokens, "cached"),
            output: count(tokens, "candidates").map(|output| output + thoughts),
        });
    }

    builder.total_usage(sum);
}

fn result(builder: &mut TraceBuilder, record: &Value) {
    let stats = &record["stats"];
    if stats.is_object() {
        builder.total_usage(Tokens {
            input: count(stats, "input_tokens"),
            cached: count(stats, "cached"),
            output: count(stats, "output_tokens"),
        });
        builder.duration(millis(stats.get("duration_ms")));
    }

    if text(record, "status") == Some("error") {
        fail(builder, &record["error"]);
    } else {
        // A limit is an error and no failure.
        builder.finish_turn();
    }
}

fn fail(builder: &mut TraceBuilder, error: &Value) {
    let reason = text(error, "message").unwrap_or("an error without a message").to_owned();
    let kind = text(error, "type").unwrap_or_default();
    let is_limit = kind.contains("Limit") || reason.starts_with("Maximum session turns") || is_loop(error);
    builder.end(match kind {
        _ if is_limit => SessionEnd::CutOff(reason),
        "FatalCancellationError" => SessionEnd::Interrupted(reason),
        _ => SessionEnd::Failed(reason),
    });
}

/// Whether the program stopped an agent that repeated itself. It warns of that, and calls the result a success.
fn is_loop(error: &Value) -> bool {
    text(error, "message").is_some_and(|message| message.starts_with("Loop detected"))
}

fn read_output(builder: &mut TraceBuilder, record: &Value) -> TraceRecordStatus {
    let at = time(record, "timestamp");
    builder.record_time(at);

    match text(record, "type") {
        None => summary(builder, record),
        Some("init") => {
            builder.session(text(record, "session_id"));
            builder.model(text(record, "model"));
            builder.begin_turn();
        }
        Some("message") => {
            let content = text(record, "content").unwrap_or_default();
            let role = match text(record, "role") {
                Some("user") => MessageRole::User,
                Some("system") => MessageRole::System,
                _ => MessageRole::Assistant,
            };
            if record.get("delta").and_then(Value::as_bool) == Some(true) {
                builder.append_text(role, content, at);
            } else {
                builder.add_message(role, content.to_owned(), at, false);
            }
        }
        Some("tool_use") => {
            let name = text(record, "tool_name").unwrap_or_default();
            builder.add_call(text(record, "tool_id"), name, record["parameters"].clone(), at, false);
        }
        Some("tool_result") => {
            if let Some(id) = text(record, "tool_id") {
                let error = record.get("error").filter(|error| !error.is_null());
                let output = record.get("output").cloned().or_else(|| error.cloned());
                let failed = text(record, "status").map(|status| status == "error");
                builder.record_result(id, TraceCallResult { output, failed, duration: None, at });
            }
        }
        Some("result") => result(builder, record),
        // Other warnings do not end a session; the result record states how it ended.
        Some("error") => {
            if text(record, "severity") != Some("warning") || is_loop(record) {
                fail(builder, record);
            }
        }
        Some(other) => return TraceRecordStatus::Unknown(other.to_owned()),
    }

    TraceRecordStatus::Known
}
