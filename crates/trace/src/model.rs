//! Trace model, common to all log formats.

use std::time::Duration;

use assize_rubric::Tokens;
use jiff::Timestamp;
use serde_json::Value;

use crate::Format;

/// One session of an agent. What its log does not say is `None`, never a made-up value.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Log format it was read from.
    pub format: Format,
    /// Id of the session.
    pub session: Option<String>,
    /// Model that answered, as the log names it; the last one if it changed.
    pub model: Option<String>,
    /// All messages, in order.
    pub messages: Vec<Message>,
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
    /// Final answer, if the log states it apart from the messages.
    pub(crate) stated_answer: Option<String>,
}

impl Trace {
    /// Iterates over all tool calls in order, including those of sub-agents.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.messages.iter().flat_map(|message| &message.calls)
    }

    /// Returns the final answer: as the log states it, else the last text of the agent itself. `None` if the
    /// agent wrote no text.
    pub fn answer(&self) -> Option<&str> {
        self.stated_answer.as_deref().or_else(|| {
            let said = |message: &&Message| {
                message.role == Role::Assistant && !message.subagent && !message.text.trim().is_empty()
            };
            self.messages.iter().rev().find(said).map(|message| message.text.as_str())
        })
    }

    /// Returns the initial question: the first text of the user.
    pub fn question(&self) -> Option<&str> {
        let asked = |message: &&Message| {
            message.role == Role::User && !message.subagent && !message.text.trim().is_empty()
        };
        self.messages.iter().find(asked).map(|message| message.text.as_str())
    }
}

/// Author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Instructions of the program around the model.
    System,
    /// The person, or the program that acts for them.
    User,
    /// The agent.
    Assistant,
}

impl Role {
    /// Returns the name of the role in chat formats.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One message, with the tool calls made in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Author of the message.
    pub role: Role,
    /// Text; empty if the message only calls tools.
    pub text: String,
    /// Tool calls of the message.
    pub calls: Vec<Call>,
    /// Time of the log entry.
    pub at: Option<Timestamp>,
    /// True if a sub-agent wrote the message.
    pub subagent: bool,
}

/// One tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Id that links the result to the call.
    pub id: Option<String>,
    /// Name of the tool, as the agent uses it.
    pub name: String,
    /// Arguments; null if the log does not have them.
    pub input: Value,
    /// Result; `None` if none was logged.
    pub output: Option<Value>,
    /// Duration: as the log states it, else from the call's time to its result's.
    pub duration: Option<Duration>,
    /// True if it failed; `None` if the log does not say.
    pub failed: Option<bool>,
}
