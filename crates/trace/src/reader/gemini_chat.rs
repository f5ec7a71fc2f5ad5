//! Session files of Gemini CLI, in `~/.gemini/tmp/PROJECT/chats`, and conversations that it saved (`/chat save`).

use std::collections::HashMap;

use assize_rubric::{MessageRole, Tokens};
use jiff::Timestamp;
use serde_json::Value;

use crate::SessionEnd;
use crate::builder::{TraceBuilder, TraceCallResult};
use crate::json::{content_text, count, sum_counts, text, time};

/// Messages of a session file. The file has a record for each change of a message, and the last one counts.
#[derive(Default)]
pub(super) struct ChatMessages {
    messages: Vec<Value>,
    /// Indexes of the messages, by id.
    places: HashMap<String, usize>,
}

impl ChatMessages {
    /// Takes a record of a session file, or reads a saved conversation. Returns false for any other record.
    pub(super) fn take(&mut self, builder: &mut TraceBuilder, record: &Value) -> bool {
        let is_head = text(record, "sessionId").is_some() && record.get("projectHash").is_some();
        let saved = ["clientHistory", "history"].iter().find_map(|key| record[*key].as_array());
        if let Some(id) = text(record, "$rewindTo") {
            // An unknown message takes everything back, as in the program itself.
            self.messages.truncate(self.places.get(id).copied().unwrap_or(0));
            self.places.retain(|_, place| *place < self.messages.len());
        } else if text(record, "id").is_some() && is_message(record) {
            self.update(builder, record);
        } else if is_head || record.get("$set").is_some() {
            self.head(builder, record.get("$set").unwrap_or(record));
        } else if let Some(turns) = saved {
            for turn in turns {
                read_turn(builder, turn);
            }
        } else if record["parts"].is_array() {
            read_turn(builder, record);
        } else {
            return false;
        }

        true
    }

    /// Reads what a record says about the session. It may hold all messages that the model still sees: those that a
    /// summary has replaced were said all the same.
    fn head(&mut self, builder: &mut TraceBuilder, head: &Value) {
        if text(head, "kind") == Some("subagent") {
            builder.subagent_of(text(head, "sessionId"), None);
        } else {
            builder.session(text(head, "sessionId"));
        }

        for message in head["messages"].as_array().into_iter().flatten().filter(|message| is_message(message))
        {
            if text(message, "id").is_some_and(|id| !self.places.contains_key(id)) {
                self.update(builder, message);
            }
        }
    }

    fn update(&mut self, builder: &mut TraceBuilder, message: &Value) {
        let Some(id) = text(message, "id") else { return };
        if message["tokens"].is_object() {
            builder.usage(id, read_usage(&message["tokens"]));
        }

        if let Some(place) = self.places.get(id) {
            self.messages[*place] = message.clone();
        } else {
            self.places.insert(id.to_owned(), self.messages.len());
            self.messages.push(message.clone());
        }
    }

    /// Reads the messages.
    pub(super) fn read(self, builder: &mut TraceBuilder) {
        for message in &self.messages {
            read_message(builder, message);
        }
    }
}

fn is_message(record: &Value) -> bool {
    matches!(text(record, "type"), Some("user" | "gemini" | "info" | "warning" | "error"))
}

fn read_message(builder: &mut TraceBuilder, message: &Value) {
    let (at, content) = (time(message, "timestamp"), &message["content"]);
    match text(message, "type") {
        Some("user") => {
            // What the user typed, where the program added the contents of files.
            let typed = message.get("displayContent").unwrap_or(content);
            add_text(builder, MessageRole::User, typed, at);
            read_actions(builder, content, at);
        }
        Some("gemini") => {
            builder.model(text(message, "model"));
            add_text(builder, MessageRole::Assistant, content, at);
            match message["toolCalls"].as_array().filter(|calls| !calls.is_empty()) {
                Some(calls) => {
                    for call in calls {
                        read_call(builder, call, at);
                    }
                }
                None => read_actions(builder, content, at),
            }
        }
        _ => read_notice(builder, &spoken(content)),
    }
}

/// Reads a turn as it is sent to the model: a role and parts.
fn read_turn(builder: &mut TraceBuilder, turn: &Value) {
    let role = if text(turn, "role") == Some("model") { MessageRole::Assistant } else { MessageRole::User };
    add_text(builder, role, &turn["parts"], None);
    read_actions(builder, &turn["parts"], None);
}

/// Adds what was said. What the program says in another role, about its surroundings or the conversation so far, is its own.
fn add_text(builder: &mut TraceBuilder, role: MessageRole, content: &Value, at: Option<Timestamp>) {
    const OWN: [&str; 5] = [
        "<session_context>", "<hook_context>", "<state_snapshot>", "This is the Gemini CLI.",
        "Got it. Thanks for the ",
    ];

    let words = spoken(content);
    let is_own = OWN.iter().any(|begin| words.starts_with(begin));
    builder.add_message(if is_own { MessageRole::System } else { role }, words, at, false);
}

/// The text of a content, without thoughts.
fn spoken(content: &Value) -> String {
    match content {
        Value::Array(parts) => {
            content_text(&parts.iter().filter(|part| part["thought"] != true).cloned().collect())
        }
        Value::Object(_) => text(content, "text").unwrap_or_default().to_owned(),
        _ => content_text(content),
    }
}

/// Reads the calls and the results among the parts of a content.
fn read_actions(builder: &mut TraceBuilder, content: &Value, at: Option<Timestamp>) {
    for part in content.as_array().into_iter().flatten() {
        let call = &part["functionCall"];
        if let Some(name) = text(call, "name") {
            builder.add_call(text(call, "id"), name, call["args"].clone(), at, false);
        }
        if let Some(id) = text(&part["functionResponse"], "id") {
            builder.record_result(id, TraceCallResult { at, ..read_result(part) });
        }
    }
}

/// Reads a call of a session file, with its result.
fn read_call(builder: &mut TraceBuilder, call: &Value, at: Option<Timestamp>) {
    let id = text(call, "id");
    builder.add_call(id, text(call, "name").unwrap_or_default(), call["args"].clone(), at, false);
    builder.started_agent(text(call, "agentId"));

    let failed = match text(call, "status") {
        Some("success") => Some(false),
        Some("error" | "cancelled") => Some(true),
        _ => return,
    };
    let parts = call["result"].as_array().into_iter().flatten();
    let result = parts.map(read_result).find(|result| result.output.is_some()).unwrap_or_default();
    if let Some(id) = id {
        builder.record_result(id, TraceCallResult { failed, at: time(call, "timestamp"), ..result });
    }
}

fn read_result(part: &Value) -> TraceCallResult {
    let response = &part["functionResponse"]["response"];
    let (output, error) = (response.get("output"), response.get("error"));
    TraceCallResult {
        output: output.or(error).cloned().or_else(|| response.is_object().then(|| response.clone())),
        failed: output.or(error).map(|_| error.is_some()),
        ..TraceCallResult::default()
    }
}

/// Reads a message of the program to the user, which may say that it stopped the agent.
fn read_notice(builder: &mut TraceBuilder, notice: &str) {
    const INTERRUPTED: [&str; 4] = [
        "Request cancelled", "User cancelled the request", "Agent execution stopped",
        "Agent execution blocked",
    ];
    const CUT_OFF: [&str; 4] = [
        "maximum number of turns", "A potential loop was detected", "might exceed the context window",
        "Response truncated",
    ];

    let says = |words: &[&str]| words.iter().any(|words| notice.contains(words));
    let why = notice.trim_start_matches(['⚠', '\u{fe0f}', ' ']).to_owned();
    if says(&INTERRUPTED) {
        builder.end(SessionEnd::Interrupted(why));
    } else if says(&CUT_OFF) {
        builder.end(SessionEnd::CutOff(why));
    } else if notice.starts_with("[API Error") || says(&["Response stopped"]) {
        builder.fail(why);
    }
}

/// Reads the usage of a reply. Results of tools count beside the prompt, and thoughts beside the output.
fn read_usage(usage: &Value) -> Tokens {
    Tokens {
        input: count(usage, "input").map(|input| sum_counts([Some(input), count(usage, "tool")])),
        cached: count(usage, "cached"),
        output: count(usage, "output").map(|output| sum_counts([Some(output), count(usage, "thoughts")])),
    }
}
