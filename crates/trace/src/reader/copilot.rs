//! Copilot CLI: the events of a session.

use assize_rubric::{MessageRole, Tokens};
use serde_json::Value;

use super::record_reader::{TraceRecordReader, TraceRecordStatus};
use crate::builder::{TraceBuilder, TraceCallResult};
use crate::json::{count, millis, parse_arguments, text, time};
use crate::{AgentTrace, LogFormat, SessionEnd};

pub(super) struct CopilotReader {
    builder: TraceBuilder,
}

impl CopilotReader {
    pub(super) fn new() -> Self {
        Self { builder: TraceBuilder::new(LogFormat::Copilot) }
    }

    fn assistant(&mut self, record: &Value, data: &Value) {
        let at = time(record, "timestamp");
        let subagent = data.get("parentToolCallId").is_some_and(Value::is_string);
        let content = text(data, "content").unwrap_or_default().to_owned();
        self.builder.add_message(MessageRole::Assistant, content, at, subagent);

        for request in data["toolRequests"].as_array().into_iter().flatten() {
            let name = text(request, "name").unwrap_or_default();
            let input = parse_arguments(&request["arguments"]);
            self.builder.add_call(text(request, "toolCallId"), name, input, at, subagent);
        }
    }

    fn completed(&mut self, record: &Value, data: &Value) {
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

        self.builder.record_result(id, ended);
    }

    /// Reads the totals at the end of a session, by model.
    fn shutdown(&mut self, data: &Value) {
        if text(data, "shutdownType") == Some("error") {
            self.builder.fail(text(data, "errorReason").unwrap_or("the session failed"));
        }

        let Some(models) = data["modelMetrics"].as_object() else { return };
        let mut sum = Tokens::default();
        for metrics in models.values() {
            sum.add(read_usage(&metrics["usage"]));
        }

        if !models.is_empty() {
            self.builder.total_usage(sum);
        }
    }
}

impl TraceRecordReader for CopilotReader {
    fn record(&mut self, record: &Value) -> TraceRecordStatus {
        let at = time(record, "timestamp");
        self.builder.record_time(at);

        let data = &record["data"];
        match text(record, "type").unwrap_or_default() {
            "session.start" | "session.resume" => {
                self.builder.session(text(data, "sessionId"));
                self.builder.model(text(data, "selectedModel"));
            }
            "session.model_change" => self.builder.model(text(data, "newModel")),
            "session.error" => {
                self.builder.fail(text(data, "message").unwrap_or("an error without a message"));
            }
            "abort" => {
                let reason = text(data, "reason").unwrap_or("no reason given");
                self.builder.end(SessionEnd::Interrupted(reason.to_owned()));
            }
            "session.shutdown" => self.shutdown(data),
            kind @ ("user.message" | "system.message") => {
                let role = if kind == "user.message" { MessageRole::User } else { MessageRole::System };
                let content = text(data, "content").unwrap_or_default().to_owned();
                self.builder.add_message(role, content, at, false);
            }
            "assistant.message" => self.assistant(record, data),
            "assistant.usage" => {
                self.builder.model(text(data, "model"));
                self.builder.step_usage(read_usage(data));
            }
            "tool.execution_start" => {
                let name = text(data, "toolName").unwrap_or_default();
                let subagent = data.get("parentToolCallId").is_some_and(Value::is_string);
                let input = parse_arguments(&data["arguments"]);
                self.builder.add_call(text(data, "toolCallId"), name, input, at, subagent);
            }
            "tool.execution_complete" => self.completed(record, data),
            kind if ["session.", "assistant.", "tool.", "subagent.", "hook.", "skill."]
                .iter()
                .any(|part| kind.starts_with(part)) => {}
            other => return TraceRecordStatus::Unknown(other.to_owned()),
        }

        TraceRecordStatus::Known
    }

    fn finish(self: Box<Self>) -> Vec<AgentTrace> {
        self.builder.finish().into_iter().collect()
    }
}

fn read_usage(value: &Value) -> Tokens {
    Tokens {
        input: count(value, "inputTokens"),
        cached: count(value, "cacheReadTokens"),
        output: count(value, "outputTokens"),
    }
}
