//! The trace model, common to all log formats.

use std::collections::HashSet;
use std::time::Duration;

use assize_rubric::{MessageRole, Tokens, ToolCall};
use jiff::Timestamp;
use serde_json::Value;

use crate::LogFormat;

/// A session of an agent. A value that its log does not have is `None` and never estimated.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentTrace {
    /// Log format it was read from.
    pub format: LogFormat,
    /// Id of the session.
    pub session: Option<String>,
    /// The session that started it, if it is the log of a sub-agent that says so.
    pub parent: Option<String>,
    /// The ids of sub-agents that it started and that have logs of their own, if it names them.
    pub started_agents: Vec<String>,
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
    /// How it ended.
    pub end: SessionEnd,
    /// Spans, if the log consists of them: a list of maps, as [`span_list`](crate::span_list) returns it.
    pub spans: Option<Value>,
    /// The final answer, if the log states it separately from the messages.
    pub(crate) stated_answer: Option<String>,
}

impl AgentTrace {
    /// Whether the log is only about a sub-agent, and belongs to the session that started it.
    pub fn is_subagent(&self) -> bool {
        !self.messages.is_empty() && self.messages.iter().all(|message| message.subagent)
    }

    /// Adds the work of a sub-agent of the session, from a separate log.
    pub fn add_subagent(&mut self, mut other: Self) {
        // A sub-agent that begins with the conversation so far repeats its calls, and goes on with its count of tokens.
        let own = self.messages.iter().flat_map(|message| &message.calls).filter_map(|call| call.id.clone());
        let own: HashSet<String> = own.collect();
        let is_own = |call: &LoggedCall| call.id.as_ref().is_some_and(|id| own.contains(id));
        let mut repeats = false;
        for message in &mut other.messages {
            let logged = message.calls.len();
            message.calls.retain(|call| !is_own(call));
            repeats |= message.calls.len() < logged;
        }
        if repeats {
            other.tokens = Tokens::default();
        }

        self.messages.extend(other.messages);
        // The sort is stable, so that messages with equal times keep their order.
        if self.messages.iter().all(|message| message.at.is_some()) {
            self.messages.sort_by_key(|message| message.at);
        }
        self.tokens.add(other.tokens);
        self.cost_usd = match (self.cost_usd, other.cost_usd) {
            (Some(own), Some(more)) => Some(own + more),
            (own, more) => own.or(more),
        };
    }

    /// All tool calls in the order in which they were made, including calls of sub-agents.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.messages.iter().flat_map(|message| &message.calls).map(|logged| &logged.call)
    }

    /// The final answer as the log states it, or else the last text of the agent itself. `None` if the agent
    /// wrote no text.
    pub fn answer(&self) -> Option<&str> {
        self.stated_answer.as_deref().or_else(|| {
            let is_answer = |message: &&LoggedMessage| {
                message.role == MessageRole::Assistant && !message.subagent && !message.text.trim().is_empty()
            };
            self.messages.iter().rev().find(is_answer).map(|message| message.text.as_str())
        })
    }

    /// Returns the initial question: the first text of the user.
    pub fn question(&self) -> Option<&str> {
        let is_question = |message: &&LoggedMessage| {
            message.role == MessageRole::User && !message.subagent && !message.text.trim().is_empty()
        };
        self.messages.iter().find(is_question).map(|message| message.text.as_str())
    }
}

/// How a session ended. Only a finished session has an answer: the last message before a failure, a stop or further
/// work was not intended as the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEnd {
    /// The agent ended its last turn.
    Finished,
    /// It failed, for this reason.
    Failed(String),
    /// Somebody stopped it, for this reason.
    Interrupted(String),
    /// It reached this limit of turns, tokens or money.
    CutOff(String),
    /// The log ends while the agent works.
    GoingOn,
}

/// A message as logged: a text with its time and role, if the log has them, and with the tool calls including their
/// results.
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

/// A tool call, with the id that connects its result to it in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedCall {
    /// The id of the call.
    pub id: Option<String>,
    /// The call. Its duration is as the log states it, or else from the time of the call to that of its result.
    pub call: ToolCall,
}
