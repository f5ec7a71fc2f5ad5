//! The trace model, common to all log formats.

use std::time::Duration;

use assize_rubric::{MessageRole, Tokens, ToolCall};
use jiff::Timestamp;
use serde_json::Value;

use crate::LogFormat;

/// One session of an agent. A value that its log does not have is `None`, never made up.
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
    /// Duration as the log states it, or else from the first to the last time.
    pub duration: Option<Duration>,
    /// Start time.
    pub started: Option<Timestamp>,
    /// Reason of a failure, if the log states one.
    pub error: Option<String>,
    /// Spans, if the log consists of them: a list of maps, as [`span_list`](crate::span_list) returns it.
    pub spans: Option<Value>,
    /// The final answer, if the log states it separately from the messages.
    pub(crate) stated_answer: Option<String>,
}

impl AgentTrace {
    /// All tool calls in the order in which they were made, including those of sub-agents.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.messages.iter().flat_map(|message| &message.calls).map(|logged| &logged.call)
    }

    /// The final answer as the log states it, or else the last text of the agent itself. `None` if the agent
    /// wrote no text.
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

/// One message as logged: a text with its time and speaker, if the log has them, and with the tool calls
/// including their results.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedMessage {
    /// Role of the speaker.
    pub role: MessageRole,
    /// Text; empty if the message only calls tools.
    pub text: String,
    /// Tool calls.
    pub calls: Vec<LoggedCall>,
    /// When it was logged.
    pub at: Option<Timestamp>,
    /// True if a sub-agent wrote the message.
    pub subagent: bool,
}

/// One tool call, with the id that connects its result to it in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedCall {
    /// The id of the call.
    pub id: Option<String>,
    /// The call. Its duration is as the log states it, or else from the time of the call to that of its result.
    pub call: ToolCall,
}
