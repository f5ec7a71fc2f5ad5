//! Claude Code: session files, and the output of `--output-format json` and `stream-json`.

use std::collections::{HashMap, HashSet};

use assize_rubric::{MessageRole, Tokens};
use jiff::Timestamp;
use serde_json::Value;

use super::record_reader::{TraceRecordReader, TraceRecordStatus};
use crate::builder::{TraceBuilder, TraceCallResult};
use crate::json::{content_text, count, millis, money, result_value, sum_counts, text, time};
use crate::{AgentTrace, LogFormat, SessionEnd};

pub(super) struct ClaudeReader {
    builder: TraceBuilder,
    /// The conversation is a tree: an edited prompt stays beside the new one. So all records are read before the first
    /// one is interpreted.
    records: Vec<Value>,
}

impl ClaudeReader {
    pub(super) fn new() -> Self {
        Self { builder: TraceBuilder::new(LogFormat::ClaudeCode), records: Vec::new() }
    }

    fn interpret(&mut self, record: &Value) {
        let at = time(record, "timestamp");
        let subagent = is_subagent(record);
        match text(record, "type").unwrap_or_default() {
            "assistant" => self.assistant(record, at, subagent),
            "user" => self.user(record, at, subagent),
            "result" => self.result(record),
            "system" if text(record, "subtype") == Some("init") => {
                self.builder.model(text(record, "model"));
                self.builder.begin_turn();
            }
            _ => {}
        }

        self.builder.session(text(record, "sessionId").or_else(|| text(record, "session_id")));
        self.builder.record_time(at);
    }

    fn assistant(&mut self, record: &Value, at: Option<Timestamp>, subagent: bool) {
        let message = &record["message"];
        self.builder.model(text(message, "model"));

        // The program reports an error of the service in the agent's role.
        if record.get("isApiErrorMessage").and_then(Value::as_bool) == Some(true) {
            if !subagent {
                self.builder.fail(content_text(&message["content"]));
            }
            return;
        }

        // Its other texts in the agent's role fill a gap, as "No response requested." after an interrupted turn.
        if text(message, "model") == Some("<synthetic>") {
            return;
        }

        let blocks = &message["content"];
        if blocks.is_string() {
            self.builder.add_message(MessageRole::Assistant, content_text(blocks), at, subagent);
        }

        for block in blocks.as_array().into_iter().flatten() {
            match text(block, "type") {
                Some("text") => {
                    let content = text(block, "text").unwrap_or_default().to_owned();
                    self.builder.add_message(MessageRole::Assistant, content, at, subagent);
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

        if !subagent {
            if matches!(text(message, "stop_reason"), Some("tool_use" | "pause_turn")) {
                self.builder.end(SessionEnd::GoingOn);
            }
            self.stop(message);
            if record["aborted"] == true {
                self.builder.end(SessionEnd::Interrupted("by the user".to_owned()));
            }
        }
    }

    /// Records why the model stopped, if that was not the end of its turn.
    fn stop(&mut self, message: &Value) {
        match text(message, "stop_reason") {
            Some("max_tokens") => self.builder.end(SessionEnd::CutOff("the limit of a reply".to_owned())),
            Some("model_context_window_exceeded") => {
                self.builder.end(SessionEnd::CutOff("the context window".to_owned()));
            }
            Some("refusal") => self.builder.fail("the model refused"),
            _ => {}
        }
    }

    fn user(&mut self, record: &Value, at: Option<Timestamp>, subagent: bool) {
        let content = &record["message"]["content"];
        for block in content.as_array().into_iter().flatten() {
            if text(block, "type") == Some("tool_result")
                && let Some(id) = text(block, "tool_use_id")
            {
                let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
                let ended = TraceCallResult {
                    output: block.get("content").map(result_value),
                    failed: Some(failed),
                    duration: millis(record["toolUseResult"].get("durationMs")),
                    at,
                };
                self.builder.record_result(id, ended);
            }
        }

        let content = content_text(content);
        let role = if is_told(record, &content) { MessageRole::System } else { MessageRole::User };
        if content.starts_with("[Request interrupted by user") && !subagent {
            self.builder.end(SessionEnd::Interrupted("by the user".to_owned()));
        } else {
            self.builder.add_message(role, content, at, subagent);
        }
    }

    fn result(&mut self, record: &Value) {
        let kind = text(record, "subtype").unwrap_or_default();
        let why = text(record, "result").or_else(|| text(record, "subtype")).unwrap_or("no reason given");
        if kind.starts_with("error_max_") {
            self.builder.end(SessionEnd::CutOff(why.to_owned()));
        } else if kind.starts_with("error") || record.get("is_error").and_then(Value::as_bool) == Some(true) {
            self.builder.fail(why);
        } else {
            self.builder.answer(text(record, "result"));
            self.builder.end(terminal_end(text(record, "terminal_reason")));
            self.stop(record);
        }

        self.builder.total_cost(money(record, "total_cost_usd"));
        self.builder.duration(millis(record.get("duration_ms")));

        if let Some(usage) = record.get("usage").filter(|usage| usage.is_object()) {
            self.builder.total_usage(read_usage(usage));
        }
    }
}

impl TraceRecordReader for ClaudeReader {
    fn record(&mut self, record: &Value) -> TraceRecordStatus {
        let kind = text(record, "type").unwrap_or_default();
        match kind {
            "assistant"
            | "user"
            | "result"
            | "system"
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

        self.records.push(record.clone());
        TraceRecordStatus::Known
    }

    fn finish(mut self: Box<Self>) -> Vec<AgentTrace> {
        let records = std::mem::take(&mut self.records);
        let replaced = replaced_prompts(&records);
        let parents: HashMap<&str, &str> = records
            .iter()
            .filter_map(|record| Some((text(record, "uuid")?, text(record, "parentUuid")?)))
            .collect();
        let is_replaced = |record: &Value| {
            // Each step goes to an earlier record, unless the log is broken.
            let chain = std::iter::successors(text(record, "uuid"), |id| parents.get(id).copied());
            chain.take(records.len()).any(|id| replaced.contains(id))
        };
        // After a refusal, the answer of another model takes the place of these messages.
        let superseded: HashSet<&str> = records
            .iter()
            .flat_map(|record| record["supersedes"].as_array().into_iter().flatten())
            .filter_map(Value::as_str)
            .collect();
        let is_superseded = |record: &Value| text(record, "uuid").is_some_and(|id| superseded.contains(id));
        for record in records.iter().filter(|record| replaced.is_empty() || !is_replaced(record)) {
            if !is_superseded(record) {
                self.interpret(record);
            }
        }

        self.builder.finish().into_iter().collect()
    }
}

/// How a run ended that is called a success.
fn terminal_end(reason: Option<&str>) -> SessionEnd {
    let Some(reason) = reason.filter(|reason| *reason != "completed") else { return SessionEnd::Finished };
    let why = reason.replace('_', " ");
    match reason {
        "tool_deferred" | "background_requested" => SessionEnd::GoingOn,
        "aborted_streaming" | "aborted_tools" | "hook_stopped" | "stop_hook_prevented" => {
            SessionEnd::Interrupted(why)
        }
        "max_turns" | "budget_exhausted" | "blocking_limit" | "prompt_too_long" => SessionEnd::CutOff(why),
        _ => SessionEnd::Failed(why),
    }
}

/// Whether the program wrote a text in the user's role: it is not a request.
fn is_told(record: &Value, content: &str) -> bool {
    let is_marked = ["isMeta", "isCompactSummary"].iter().any(|key| record[key] == true);
    // Commands of the program and of a shell, and their output. A command that sends a prompt begins with another tag.
    let tags = ["<command-name>", "<local-command-", "<bash-input>", "<bash-stdout>", "<bash-stderr>"];
    is_marked || tags.iter().any(|tag| content.starts_with(tag))
}

fn is_subagent(record: &Value) -> bool {
    let is_sidechain = record.get("isSidechain").and_then(Value::as_bool).unwrap_or(false);
    is_sidechain || record.get("parent_tool_use_id").is_some_and(Value::is_string)
}

/// The ids of prompts in whose place the user wrote another: of several that follow the same record, the last one counts.
fn replaced_prompts(records: &[Value]) -> HashSet<&str> {
    let mut latest: HashMap<Option<&str>, &str> = HashMap::new();
    let mut replaced = HashSet::new();
    for record in records {
        let is_prompt = text(record, "type") == Some("user")
            && record.get("parentUuid").is_some()
            && record.get("isMeta").and_then(Value::as_bool) != Some(true)
            && !is_subagent(record)
            && !content_text(&record["message"]["content"]).trim().is_empty();
        let Some(id) = text(record, "uuid").filter(|_| is_prompt) else { continue };
        // After it was compacted, a conversation begins anew and is the same one.
        if record.get("isCompactSummary").and_then(Value::as_bool) == Some(true) {
            continue;
        }
        replaced.extend(latest.insert(text(record, "parentUuid"), id));
    }

    replaced
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
