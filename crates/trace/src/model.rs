//! The trace model: what every log format is read into.

use std::time::Duration;

use assize_rubric::{Role, Tokens, ToolCall};
use jiff::Timestamp;

use crate::Format;

/// One session of an agent. What its log does not say is `None`, never a made-up value.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The log format it was read from.
    pub format: Format,
    /// The session's id.
    pub session: Option<String>,
    /// The model that answered, as the log names it; the last one when it changed.
    pub model: Option<String>,
    /// Everything said, in order.
    pub messages: Vec<LoggedMessage>,
    /// Tokens of the whole session.
    pub tokens: Tokens,
    /// Cost in US dollars, as the log states it.
    pub cost_usd: Option<f64>,
    /// How long it took: as the log states it, else from its first to its last time.
    pub duration: Option<Duration>,
    /// When it began.
    pub started: Option<Timestamp>,
    /// Why the agent ended in failure, if the log says it did.
    pub error: Option<String>,
    /// The final answer where the log states it apart from the messages.
    pub(crate) stated_answer: Option<String>,
}

impl Trace {
    /// All calls of tools in the order they were made, those of sub-agents included.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.messages.iter().flat_map(|message| &message.calls).map(|logged| &logged.call)
    }

    /// The final answer: as the log states it, else the last text of the agent itself. `None` when the agent
    /// never said anything.
    pub fn answer(&self) -> Option<&str> {
        self.stated_answer.as_deref().or_else(|| {
            let said = |message: &&LoggedMessage| {
                message.role == Role::Assistant && !message.subagent && !message.text.trim().is_empty()
            };
            self.messages.iter().rev().find(said).map(|message| message.text.as_str())
        })
    }

    /// What the session was begun with: the first text of the user.
    pub fn question(&self) -> Option<&str> {
        let asked = |message: &&LoggedMessage| {
            message.role == Role::User && !message.subagent && !message.text.trim().is_empty()
        };
        self.messages.iter().find(asked).map(|message| message.text.as_str())
    }
}

/// One message as logged: a text with the time and the speaker a log knows, and with the calls of tools as they ended.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said; empty when the message only calls tools.
    pub text: String,
    /// Calls of tools.
    pub calls: Vec<LoggedCall>,
    /// When it was logged.
    pub at: Option<Timestamp>,
    /// Whether an agent within the agent speaks.
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
