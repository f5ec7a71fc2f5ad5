//! Gemini CLI: the output of `--output-format json` and `stream-json`.

use assize_rubric::{MessageRole, Tokens};
use serde_json::Value;

use super::record_reader::{TraceRecordReader, TraceRecordStatus};
use crate::builder::{TraceBuilder, TraceCallResult};
use crate::json::{count, millis, text, time};
use crate::{AgentTrace, LogFormat, SessionEnd};

pub(super) struct GeminiReader {
    builder: TraceBuilder,
}

impl GeminiReader {
    pub(super) fn new() -> Self {
        Self { builder: TraceBuilder::new(LogFormat::Gemini) }
    }

    /// Reads the single object of `--output-format json`.
    fn summary(&mut self, record: &Value) {
        self.builder.session(text(record, "session_id"));
        self.builder.answer(text(record, "response"));

        if let Some(error) = record.get("error").filter(|error| !error.is_null()) {
            self.fail(error);
        }

        let Some(models) = record["stats"]["models"].as_object() else { return };
        let mut sum = Tokens::default();
        for (name, model) in models {
            self.builder.model(Some(name));
            let tokens = &model["tokens"];
            let thoughts = count(tokens, "thoughts").unwrap_or(0);
            sum.add(Tokens {
                input: count(tokens, "prompt"),
                cached: count(tokens, "cached"),
                output: count(tokens, "candidates").map(|output| output + thoughts),
            });
        }

        self.builder.total_usage(sum);
    }

    fn result(&mut self, record: &Value) {
        let stats = &record["stats"];
        if stats.is_object() {
            self.builder.total_usage(Tokens {
                input: count(stats, "input_tokens"),
                cached: count(stats, "cached"),
                output: count(stats, "output_tokens"),
            });
            self.builder.duration(millis(stats.get("duration_ms")));
        }

        if text(record, "status") == Some("error") {
            self.fail(&record["error"]);
        } else {
            self.builder.end(SessionEnd::Finished);
        }
    }

    fn fail(&mut self, error: &Value) {
        let reason = text(error, "message").unwrap_or("an error without a message").to_owned();
        let is_limit = text(error, "type").is_some_and(|kind| kind.contains("Limit"));
        let end = if is_limit { SessionEnd::CutOff } else { SessionEnd::Failed };
        self.builder.end(end(reason));
    }
}

impl TraceRecordReader for GeminiReader {
    fn record(&mut self, record: &Value) -> TraceRecordStatus {
        let at = time(record, "timestamp");
        self.builder.record_time(at);

        match text(record, "type") {
            None => self.summary(record),
            Some("init") => {
                self.builder.session(text(record, "session_id"));
                self.builder.model(text(record, "model"));
                self.builder.expect_end();
            }
            Some("message") => {
                let content = text(record, "content").unwrap_or_default();
                let role = match text(record, "role") {
                    Some("user") => MessageRole::User,
                    Some("system") => MessageRole::System,
                    _ => MessageRole::Assistant,
                };
                if record.get("delta").and_then(Value::as_bool) == Some(true) {
                    self.builder.append_text(role, content, at);
                } else {
                    self.builder.add_message(role, content.to_owned(), at, false);
                }
            }
            Some("tool_use") => {
                let name = text(record, "tool_name").unwrap_or_default();
                self.builder.add_call(text(record, "tool_id"), name, record["parameters"].clone(), at, false);
            }
            Some("tool_result") => {
                if let Some(id) = text(record, "tool_id") {
                    let error = record.get("error").filter(|error| !error.is_null());
                    let output = record.get("output").cloned().or_else(|| error.cloned());
                    let failed = text(record, "status").map(|status| status == "error");
                    self.builder.record_result(id, TraceCallResult { output, failed, duration: None, at });
                }
            }
            Some("result") => self.result(record),
            // Warnings do not end a session; the result record states how it ended.
            Some("error") => {
                if text(record, "severity") != Some("warning") {
                    self.fail(record);
                }
            }
            Some(other) => return TraceRecordStatus::Unknown(other.to_owned()),
        }

        TraceRecordStatus::Known
    }

    fn finish(self: Box<Self>) -> Vec<AgentTrace> {
        self.builder.finish().into_iter().collect()
    }
}
