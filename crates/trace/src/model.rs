//! The trace model: what every log format is read into.

use std::time::Duration;

use assize_rubric::Tokens;
use jiff::Timestamp;
use serde_json::Value;

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
    pub messages: Vec<Message>,
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
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.messages.iter().flat_map(|message| &message.calls)
    }

    /// The final answer: as the log states it, else the last text of the agent itself. `None` when the agent
    /// never said anything.
    pub fn answer(&self) -> Option<&str> {
        self.stated_answer.as_deref().or_else(|| {
            let said = |message: &&Message| {
                message.role == Role::Assistant && !message.subagent && !message.text.trim().is_empty()
            };
            self.messages.iter().rev().find(said).map(|message| message.text.as_str())
        })
    }

    /// What the session was begun with: the first text of the user.
    pub fn question(&self) -> Option<&str> {
        let asked = |message: &&Message| {
            message.role == Role::User && !message.subagent && !message.text.trim().is_empty()
        };
        self.messages.iter().find(asked).map(|message| message.text.as_str())
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Instructions of the program around the model.
    System,
    /// The person, or the program that stands in for them.
    User,
    /// The agent.
    Assistant,
}

impl Role {
    /// The role's name in chat formats.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One message, with the calls of tools the agent made in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said; empty when the message only calls tools.
    pub text: String,
    /// Calls of tools.
    pub calls: Vec<Call>,
    /// When it was logged.
    pub at: Option<Timestamp>,
    /// Whether an agent within the agent speaks.
    pub subagent: bool,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The id that ties result to call.
    pub id: Option<String>,
    /// The tool's name as the agent calls it.
    pub name: String,
    /// What it was called with; null when the log does not say.
    pub input: Value,
    /// What it gave back; `None` when no result was logged.
    pub output: Option<Value>,
    /// How long it took: as the log states it, else from the call's time to its result's.
    pub duration: Option<Duration>,
    /// Whether it failed; `None` when the log does not say.
    pub failed: Option<bool>,
}
