//! What judging will take, without doing it.

use std::ops::AddAssign;

use assize_llm::{ChatRequest, ModelCard, Part, reply_limit, thinks};

/// Tokens that a model thinks for before a long reply.
const THOUGHT: u64 = 4096;
/// Tokens of a long reply where nobody knows what it holds.
const REPLY: u32 = 1000;

/// The calls of a task and what they send, if every reply is usable. Forecasts add up: over graders, cases, repeats and
/// the judges of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Forecast {
    /// Calls to a model.
    pub calls: u64,
    /// Bytes of text they send, without schemas.
    pub input_bytes: u64,
    /// Tokens they send, at most by expectation.
    pub input_tokens: u64,
    /// Those of `input_tokens` that an earlier call for the same answer began with, so that the provider may have them
    /// cached.
    pub repeated_tokens: u64,
    /// Tokens of their replies together where these are long, what a model thinks before included.
    pub long_reply_tokens: u64,
    /// The most that one of them can take: tokens it reads, and tokens it may write. This is what a budget sets aside.
    pub largest: (u64, u64),
    /// Decisions that their replies hold; a criterion that is judged in parts has one for each.
    pub decisions: u64,
    /// Criteria they decide on.
    pub criteria: u64,
    /// Answers they score as a whole.
    pub scores: u64,
    /// Criteria and scores, in parts, for which nothing is sent because the judge can't read that much.
    pub too_long: u64,
    /// How many of the calls are made only where others are not sure.
    pub unsure_calls: u64,
}

impl Forecast {
    /// One request to the model of this name, whose reply holds so many decisions.
    pub fn of(request: &ChatRequest, decisions: u64, model: &str, card: ModelCard) -> Self {
        let limit = u64::from(reply_limit(model, card, request));
        let long = u64::from(request.expected_output.unwrap_or(REPLY));
        let thought = if thinks(model) { THOUGHT } else { 0 };
        let texts = request.messages.iter().flat_map(|message| &*message.content).map(|part| match part {
            Part::Text(text) => text.len() as u64,
            Part::Image { .. } => 0,
        });
        Self {
            calls: 1,
            input_bytes: texts.sum(),
            input_tokens: card.estimator.request(request),
            long_reply_tokens: (long + thought).min(limit),
            largest: (card.estimator.most(request), limit),
            decisions,
            ..Self::default()
        }
    }

    /// The same as something that may not come about.
    #[must_use]
    pub const fn at_most(self) -> Self {
        Self { unsure_calls: self.calls, ..self }
    }

    /// The same so many times.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        (0..times).fold(Self::default(), |mut sum, _| {
            sum += self;
            sum
        })
    }
}

impl AddAssign for Forecast {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.input_bytes += other.input_bytes;
        self.input_tokens += other.input_tokens;
        self.long_reply_tokens += other.long_reply_tokens;
        self.largest = (self.largest.0.max(other.largest.0), self.largest.1.max(other.largest.1));
        self.repeated_tokens += other.repeated_tokens;
        self.decisions += other.decisions;
        self.criteria += other.criteria;
        self.scores += other.scores;
        self.too_long += other.too_long;
        self.unsure_calls += other.unsure_calls;
    }
}
