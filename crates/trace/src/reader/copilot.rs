//! Copilot CLI: the events of a session.

use assize_rubric::{Role, Tokens};
use serde_json::Value;

use super::{Reader, Understood};
use crate::builder::{Builder, Ended};
use crate::json::{arguments, count, millis, text, time};
use crate::{Format, Trace};

pub(super) struct Copilot {
    builder: Builder,
}

impl Copilot {
    pub(super) fn new() -> Self {
        Self { builder: Builder::new(Format::Copilot) }
    }

    fn assistant(&mut self, record: &Value, data: &Value) {
        let at = time(record, "timestamp");
        let subagent = data.get("parentToolCallId").is_some_and(Value::is_string);
        let said = text(data, "content").unwrap_or_default().to_owned();
        self.builder.message(Role::Assistant, said, at, subagent);
        for request in data["toolRequests"].as_array().into_iter().flatten() {
            let name = text(request, "name").unwrap_or_default();
            let input = arguments(&request["arguments"]);
            self.builder.call(text(request, "toolCallId"), name, input, at, subagent);
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
        let ended = Ended {
            output,
            failed: success.map(|success| !success),
            duration: millis(data, "durationMs"),
            at: time(record, "timestamp"),
        };
        self.builder.ended(id, ended);
    }

    /// Reads the totals at the end of a session, by model.
    fn shutdown(&mut self, data: &Value) {
        let Some(models) = data["modelMetrics"].as_object() else { return };
        let mut sum = Tokens::default();
        for metrics in models.values() {
            sum.add(usage(&metrics["usage"]));
        }
        if !models.is_empty() {
            self.builder.total_usage(sum);
        }
    }
}

impl Reader for Copilot {
    fn record(&mut self, record: &Value) -> Understood {
        let at = time(record, "timestamp");
        self.builder.seen(at);
        let data = &record["data"];
        match text(record, "type").unwrap_or_default() {
            "session.start" | "session.resume" => {
                self.builder.session(text(data, "sessionId"));
                self.builder.model(text(data, "selectedModel"));
            }
            "session.model_change" => self.builder.model(text(data, "newModel")),
            "session.error" => {
                self.builder.error(text(data, "message").unwrap_or("an error without a message"));
            }
            "session.shutdown" => self.shutdown(data),
            "user.message" => {
                let said = text(data, "content").unwrap_or_default().to_owned();
                self.builder.message(Role::User, said, at, false);
            }
            "system.message" => {
                let said = text(data, "content").unwrap_or_default().to_owned();
                self.builder.message(Role::System, said, at, false);
            }
            "assistant.message" => self.assistant(record, data),
            "assistant.usage" => {
                self.builder.model(text(data, "model"));
                self.builder.step_usage(usage(data));
            }
            "tool.execution_start" => {
                let name = text(data, "toolName").unwrap_or_default();
                let subagent = data.get("parentToolCallId").is_some_and(Value::is_string);
                let input = arguments(&data["arguments"]);
                self.builder.call(text(data, "toolCallId"), name, input, at, subagent);
            }
            "tool.execution_complete" => self.completed(record, data),
            kind if ["session.", "assistant.", "tool.", "subagent.", "hook.", "skill.", "abort"]
                .iter()
                .any(|part| kind.starts_with(part)) => {}
            other => return Understood::No(other.to_owned()),
        }
        Understood::Yes
    }

    fn finish(self: Box<Self>) -> Vec<Trace> {
        self.builder.finish().into_iter().collect()
    }
}

fn usage(value: &Value) -> Tokens {
    Tokens {
        input: count(value, "inputTokens"),
        cached: count(value, "cacheReadTokens"),
        output: count(value, "outputTokens"),
    }
}
