//! Codex: the rollout file of a session.

use assize_rubric::Role;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::Understood;
use super::codex_exec::tokens;
use crate::Format;
use crate::builder::{Builder, Ended};
use crate::json::{arguments, content, text, time};

pub(super) struct Rollout {
    pub(super) builder: Builder,
}

impl Rollout {
    pub(super) fn new() -> Self {
        Self { builder: Builder::new(Format::Codex) }
    }

    pub(super) fn record(&mut self, record: &Value) -> Understood {
        let at = time(record, "timestamp");
        self.builder.seen(at);
        let Some(payload) = record.get("payload") else {
            // Older rollouts have the head and the items without a wrapper.
            if record.get("type").is_none() {
                self.builder.session(text(record, "id"));
                return Understood::Yes;
            }
            return self.item(record, at);
        };
        match text(record, "type").unwrap_or_default() {
            "session_meta" => {
                self.builder.session(text(payload, "id"));
                Understood::Yes
            }
            "turn_context" => {
                self.builder.model(text(payload, "model"));
                Understood::Yes
            }
            "response_item" => self.item(payload, at),
            "event_msg" => {
                self.event(payload);
                Understood::Yes
            }
            "compacted" => Understood::Yes,
            other => Understood::No(other.to_owned()),
        }
    }

    /// Reads events outside the conversation. Messages occur here as well; they are read from the items.
    fn event(&mut self, payload: &Value) {
        match text(payload, "type").unwrap_or_default() {
            "token_count" => {
                let total = &payload["info"]["total_token_usage"];
                if total.is_object() {
                    self.builder.total_usage(tokens(total));
                }
            }
            "error" => {
                self.builder.error(text(payload, "message").unwrap_or("an error without a message"));
            }
            "turn_aborted" => {
                let reason = text(payload, "reason").unwrap_or("no reason given");
                self.builder.error(format!("the turn was given up: {reason}"));
            }
            _ => {}
        }
    }

    fn item(&mut self, item: &Value, at: Option<Timestamp>) -> Understood {
        match text(item, "type").unwrap_or_default() {
            "message" => {
                let role = match text(item, "role") {
                    Some("assistant") => Role::Assistant,
                    Some("user") => Role::User,
                    _ => Role::System,
                };
                let said = content(&item["content"]);
                // The program tells the model about its environment as the user, between tags.
                let told = ["<environment_context>", "<user_instructions>", "<permissions", "# AGENTS.md"];
                let is_told = told.iter().any(|tag| said.trim_start().starts_with(tag));
                let role = if role == Role::User && is_told { Role::System } else { role };
                self.builder.message(role, said, at, false);
            }
            "function_call" => {
                let name = text(item, "name").unwrap_or_default();
                self.builder.call(call_id(item), name, arguments(&item["arguments"]), at, false);
            }
            "custom_tool_call" => {
                let name = text(item, "name").unwrap_or_default();
                self.builder.call(call_id(item), name, item["input"].clone(), at, false);
            }
            "local_shell_call" => {
                let input = json!({ "command": item["action"]["command"] });
                self.builder.call(call_id(item), "shell", input, at, false);
            }
            "web_search_call" => {
                let input = json!({ "query": item["action"]["query"] });
                self.builder.call(call_id(item), "web_search", input, at, false);
            }
            "function_call_output" | "custom_tool_call_output" => {
                if let Some(id) = call_id(item) {
                    self.builder.ended(id, ended(&item["output"], at));
                }
            }
            "reasoning" | "ghost_snapshot" | "compaction" => {}
            other => return Understood::No(other.to_owned()),
        }
        Understood::Yes
    }
}

fn call_id(item: &Value) -> Option<&str> {
    text(item, "call_id").or_else(|| text(item, "id"))
}

/// Reads the result of a tool: a text, or JSON in a text with the output and an exit code.
fn ended(output: &Value, at: Option<Timestamp>) -> Ended {
    let value = arguments(output);
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
    // A text that happens to be JSON of another shape is the tool's output itself.
    Ended { output: Some(text.unwrap_or_else(|| output.clone())), failed, duration, at }
}
