//! Builds a trace while its log is read.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use assize_rubric::{MessageRole, Tokens, ToolCall};
use jiff::Timestamp;
use serde_json::Value;

use crate::json::duration_between;
use crate::{AgentTrace, LogFormat, LoggedCall, LoggedMessage, SessionEnd};

/// Position of a call: index of its message and index within it.
type TraceCallPosition = (usize, usize);

/// Collects the contents of a log about one session.
#[derive(Debug)]
pub(crate) struct TraceBuilder {
    trace: AgentTrace,
    /// Positions of the calls that have an id.
    calls: HashMap<String, TraceCallPosition>,
    /// Start times of calls.
    begun: HashMap<TraceCallPosition, Timestamp>,
    last: Option<Timestamp>,
    /// Usage by the id of the reply it belongs to. Logs repeat it, and the last entry counts.
    usage: BTreeMap<String, Tokens>,
    total: Option<Tokens>,
    /// How the session ended, as its log states; `None` once the agent went on.
    end: Option<SessionEnd>,
    /// True if a log of this kind states how the session ended.
    states_end: bool,
    /// True if the log is that of a sub-agent.
    is_subagent: bool,
}

/// The result of a call.
#[derive(Debug, Default)]
pub(crate) struct TraceCallResult {
    pub(crate) output: Option<Value>,
    pub(crate) failed: Option<bool>,
    pub(crate) duration: Option<Duration>,
    pub(crate) at: Option<Timestamp>,
}

impl TraceBuilder {
    pub(crate) fn new(format: LogFormat) -> Self {
        let trace = AgentTrace {
            format,
            session: None,
            parent: None,
            started_agents: Vec::new(),
            model: None,
            messages: Vec::new(),
            tokens: Tokens::default(),
            cost_usd: None,
            duration: None,
            started: None,
            end: SessionEnd::GoingOn,
            spans: None,
            stated_answer: None,
        };
        Self {
            trace,
            calls: HashMap::new(),
            begun: HashMap::new(),
            last: None,
            usage: BTreeMap::new(),
            total: None,
            end: None,
            states_end: false,
            is_subagent: false,
        }
    }

    /// Records the time of a log entry.
    pub(crate) fn record_time(&mut self, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        self.trace.started = Some(self.trace.started.map_or(at, |first| first.min(at)));
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
    }

    pub(crate) fn session(&mut self, id: Option<&str>) {
        if self.trace.session.is_none() {
            self.trace.session = id.map(str::to_owned);
        }
    }

    /// Records that the log is that of a sub-agent, with its own id and that of the session that started it.
    pub(crate) fn subagent_of(&mut self, own: Option<&str>, parent: Option<&str>) {
        self.session(own);
        if self.trace.parent.is_none() {
            self.trace.parent = parent.map(str::to_owned);
        }
        self.is_subagent = true;
    }

    /// Records that the session started a sub-agent with this id.
    pub(crate) fn started_agent(&mut self, id: Option<&str>) {
        self.trace.started_agents.extend(id.map(str::to_owned));
    }

    pub(crate) fn model(&mut self, name: Option<&str>) {
        // Programs write their own name instead of a model's for their own messages.
        if let Some(name) = name.filter(|name| !name.is_empty() && !name.starts_with('<')) {
            self.trace.model = Some(name.to_owned());
        }
    }

    /// Adds a message. Empty messages are only added by a call; see [`Self::add_call`].
    pub(crate) fn add_message(
        &mut self,
        role: MessageRole,
        text: String,
        at: Option<Timestamp>,
        subagent: bool,
    ) {
        self.record_time(at);
        let subagent = subagent || self.is_subagent;
        if !text.trim().is_empty() {
            self.go_on(role, subagent);
            self.trace.messages.push(LoggedMessage { role, text, calls: Vec::new(), at, subagent });
        }
    }

    /// Appends to the text of the message that is being streamed.
    pub(crate) fn append_text(&mut self, role: MessageRole, text: &str, at: Option<Timestamp>) {
        match self.trace.messages.last_mut() {
            Some(last) if last.role == role && last.calls.is_empty() && !last.subagent => {
                last.text.push_str(text);
                self.record_time(at);
                self.go_on(role, false);
            }
            _ => self.add_message(role, text.to_owned(), at, false),
        }
    }

    /// Adds a call to the agent's last message. A repeated id completes the existing call.
    pub(crate) fn add_call(
        &mut self,
        id: Option<&str>,
        name: &str,
        input: Value,
        at: Option<Timestamp>,
        subagent: bool,
    ) {
        self.record_time(at);
        let subagent = subagent || self.is_subagent;
        self.go_on(MessageRole::Assistant, subagent);

        if let Some(&(message, number)) = id.and_then(|id| self.calls.get(id)) {
            let call = &mut self.trace.messages[message].calls[number].call;
            if call.input.is_null() {
                call.input = input;
            }
            return;
        }

        let continues =
            |last: &LoggedMessage| last.role == MessageRole::Assistant && last.subagent == subagent;
        if !self.trace.messages.last().is_some_and(continues) {
            self.trace.messages.push(LoggedMessage {
                role: MessageRole::Assistant,
                text: String::new(),
                calls: Vec::new(),
                at,
                subagent,
            });
        }

        let message = self.trace.messages.len() - 1;
        let calls = &mut self.trace.messages[message].calls;
        let place = (message, calls.len());
        let call = ToolCall { name: name.to_owned(), input, output: None, duration: None, failed: None };
        calls.push(LoggedCall { id: id.map(str::to_owned), call });

        if let Some(id) = id {
            self.calls.insert(id.to_owned(), place);
        }
        if let Some(at) = at {
            self.begun.insert(place, at);
        }
    }

    /// Records the result of a call. Returns true if the call is known.
    pub(crate) fn record_result(&mut self, id: &str, ended: TraceCallResult) -> bool {
        self.record_time(ended.at);
        let Some(&place) = self.calls.get(id) else { return false };
        let begun = self.begun.get(&place).copied();
        let call = &mut self.trace.messages[place.0].calls[place.1].call;
        if ended.output.is_some() {
            call.output = ended.output;
        }
        if ended.failed.is_some() {
            call.failed = ended.failed;
        }

        let measured = begun.zip(ended.at).and_then(|(from, to)| duration_between(from, to));
        call.duration = ended.duration.or(call.duration).or(measured);

        true
    }

    /// Returns true if a call with this id was recorded.
    pub(crate) fn knows_call(&self, id: &str) -> bool {
        self.calls.contains_key(id)
    }

    /// Records the usage of a reply, replacing an earlier record of it.
    pub(crate) fn usage(&mut self, reply: &str, tokens: Tokens) {
        self.usage.insert(reply.to_owned(), tokens);
    }

    /// Adds the usage of one more step.
    pub(crate) fn step_usage(&mut self, tokens: Tokens) {
        self.usage(&format!("step {}", self.usage.len()), tokens);
    }

    /// Records the usage of the whole session, as the log states it.
    pub(crate) fn total_usage(&mut self, tokens: Tokens) {
        self.total = Some(tokens);
    }

    /// Adds to the stated cost.
    pub(crate) fn cost(&mut self, cost: Option<f64>) {
        if let Some(cost) = cost {
            *self.trace.cost_usd.get_or_insert(0.0) += cost;
        }
    }

    /// Records the cost of the whole session, as the log states it.
    pub(crate) fn total_cost(&mut self, cost: Option<f64>) {
        self.trace.cost_usd = cost.or(self.trace.cost_usd);
    }

    pub(crate) fn duration(&mut self, duration: Option<Duration>) {
        self.trace.duration = duration.or(self.trace.duration);
    }

    pub(crate) fn answer(&mut self, text: Option<&str>) {
        if let Some(text) = text {
            self.trace.stated_answer = Some(text.to_owned());
        }
    }

    /// Records how the session ended. If the agent writes or does something later, the session has continued.
    pub(crate) fn end(&mut self, end: SessionEnd) {
        self.end = Some(end);
    }

    /// Records that the session failed.
    pub(crate) fn fail(&mut self, reason: impl Into<String>) {
        self.end(SessionEnd::Failed(reason.into()));
    }

    /// Records that a turn begins in a log that also states how a turn ends. If this log does not, the agent was still
    /// working.
    pub(crate) fn begin_turn(&mut self) {
        self.states_end = true;
        self.end = None;
    }

    /// Records that the turn ended well, unless the log already says otherwise of what the agent did last.
    pub(crate) fn finish_turn(&mut self) {
        self.end.get_or_insert(SessionEnd::Finished);
    }

    /// Records that the log does not say how the last turn that counts ended: [`Self::inferred_end`] decides.
    pub(crate) fn infer_end(&mut self) {
        self.states_end = false;
        self.end = None;
    }

    /// Whether the last of the conversation is a text of the agent, without calls.
    pub(crate) fn has_spoken_last(&self) -> bool {
        let own = |message: &&LoggedMessage| !message.subagent && message.role != MessageRole::System;
        let last = self.trace.messages.iter().rev().find(own);
        last.is_some_and(|last| last.role == MessageRole::Assistant && last.calls.is_empty())
    }

    /// Takes back the last turns: each is a request of the user and what followed. Their tokens were used all the same.
    pub(crate) fn roll_back(&mut self, turns: u64) {
        let messages = &mut self.trace.messages;
        for _ in 0..turns {
            let is_request = |message: &LoggedMessage| message.role == MessageRole::User && !message.subagent;
            let Some(begin) = messages.iter().rposition(is_request) else { break };
            messages.truncate(begin);
        }

        let kept = messages.len();
        self.calls.retain(|_, place| place.0 < kept);
        self.begun.retain(|place, _| place.0 < kept);
        self.infer_end();
    }

    /// Records that the session continues with a message of this role.
    fn go_on(&mut self, role: MessageRole, subagent: bool) {
        if role != MessageRole::System && !subagent {
            self.end = None;
        }
    }

    /// Infers how a session ended if its log does not state it: the agent has finished if its last action was a
    /// message.
    fn inferred_end(&self) -> SessionEnd {
        let has_finished = self.trace.stated_answer.is_some() || self.has_spoken_last() && !self.states_end;

        if has_finished { SessionEnd::Finished } else { SessionEnd::GoingOn }
    }

    /// Returns the trace; `None` if the log contains no session.
    pub(crate) fn finish(mut self) -> Option<AgentTrace> {
        let trace = &mut self.trace;
        trace.tokens = self.total.unwrap_or_else(|| {
            self.usage.values().fold(Tokens::default(), |mut sum, tokens| {
                sum.add(*tokens);
                sum
            })
        });

        if trace.duration.is_none() {
            let ends = trace.started.zip(self.last);
            trace.duration =
                ends.and_then(|(from, to)| duration_between(from, to)).filter(|time| !time.is_zero());
        }

        let is_silent = trace.messages.is_empty() && trace.stated_answer.is_none();
        let says_nothing = is_silent && matches!(self.end, None | Some(SessionEnd::Finished));
        self.trace.end = self.end.take().unwrap_or_else(|| self.inferred_end());
        (!says_nothing).then_some(self.trace)
    }
}
