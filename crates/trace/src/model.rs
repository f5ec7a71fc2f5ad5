//! Trace model, common to all log formats.

use std::time::Duration;

use assize_rubric::{MessageRole, Tokens, ToolCall};
use jiff::Timestamp;
use serde_json::Value;

use crate::LogFormat;

/// One session of an agent. What its log does not say is `None`, never a made-up value.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentTrace {
    /// Log format it was read from.
    pub format: LogFormat,
    /// Id of the session.
    pub session: Option<String>,
    /// Model that answered, as the log names it; the last one if it changed.
    pub model: Option<String>,
    /// Everything said, in order.
    pub messages: Vec<LoggedMessage>,
    /// Tokens of the whole session.
    pub tokens: Tokens,
    /// Cost in US dollars, as the log states it.
    pub cost_usd: Option<f64>,
    /// Duration: as the log states it, else from its first to its last time.
    pub duration: Option<Duration>,
    /// Start time.
    pub started: Option<Timestamp>,
    /// Reason of a failure, if the log states one.
    pub error: Option<String>,
    /// Spans, if the log consists of them: a list of maps, as [`span_list`](crate::span_list) returns it.
    pub spans: Option<Value>,
    /// Final answer, if the log states it apart from the messages.
    pub(crate) stated_answer: Option<String>,
}

impl AgentTrace {
    /// All calls of tools in the order they were made, those of sub-agents included.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.messages.iter().flat_map(|message| &message.calls).map(|logged| &logged.call)
    }

    /// Returns the final answer: as the log states it, else the last text of the agent itself. `None` if the
    /// agent wrote no text.
    pub fn answer(&self) -> Option<&str> {
        self.stated_answer.as_deref().or_else(|| {
            let said = |message: &&LoggedMessage| {
                message.role == MessageRole::Assistant && !message.subagent && !message.text.trim().is_empty()
            };
            self.messages.iter().rev().find(said).map(|message| message.text.as_str())
        })
    }

    /// Returns the initial question: the first text of the user.
    pub fn question(&self) -> Option<&str> {
        let asked = |message: &&LoggedMessage| {
            message.role == MessageRole::User && !message.subagent && !message.text.trim().is_empty()
        };
        self.messages.iter().find(asked).map(|message| message.text.as_str())
    }
}

/// One message as logged: a text with the time and the speaker a log knows, and with the calls of tools as they ended.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedMessage {
    /// Role of the speaker.
    pub role: MessageRole,
    /// Text; empty if the message only calls tools.
    pub text: String,
    /// Calls of tools.
    pub calls: Vec<LoggedCall>,
    /// When it was logged.
    pub at: Option<Timestamp>,
    /// True if a sub-agent wrote the message.
    pub subagent: bool,
}

/// One call of a tool, with what ties its result to it in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedCall {
    /// The id of the call.
    pub id: Option<String>,
    /// The call. Its time is as the log states it, else from the call's time to its result's.
    pub call: ToolCall,
}
