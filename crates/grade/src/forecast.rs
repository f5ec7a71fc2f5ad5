//! Forecasts the calls and tokens that judging will take.

use std::ops::AddAssign;

use assize_llm::{ChatRequest, ModelCard, OutputLimit, Part, reply_limit, thinks};

/// Reasoning tokens assumed before a long reply.
const REASONING_TOKENS: u64 = 4096;
/// Tokens assumed for a long reply of unknown length.
const LONG_REPLY_TOKENS: u32 = 1000;

/// The calls of a task and the tokens they send, if every reply is usable. Forecasts can be added: over
/// graders, cases, trials, judges and the repeats of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallForecast {
    /// Calls to a model.
    pub calls: u64,
    /// Bytes of text they send, without schemas.
    pub input_bytes: u64,
    /// Tokens they send, as an upper estimate.
    pub input_tokens: u64,
    /// The part of `input_tokens` shared with an earlier call about the same answer, which the provider may
    /// have cached.
    pub repeated_tokens: u64,
    /// Total tokens of long replies, including reasoning tokens.
    pub long_reply_tokens: u64,
    /// The largest single call: input tokens and the limits of its reply. A budget reserves this much.
    pub largest: (u64, OutputLimit),
    /// Decisions in their replies; a criterion that is judged in parts has one decision for each part.
    pub decisions: u64,
    /// Criteria that they decide.
    pub criteria: u64,
    /// Answers scored as a whole.
    pub scores: u64,
    /// Criteria and scores, counted in parts, that exceed the judge's context window and are therefore not
    /// sent.
    pub too_long: u64,
    /// Calls that are made only if other judges are unsure.
    pub unsure_calls: u64,
}

impl CallForecast {
    /// Forecast of one request to the named model, whose reply holds this many decisions.
    pub fn from_request(request: &ChatRequest, decisions: u64, model: &str, card: ModelCard) -> Self {
        let limit = reply_limit(model, card, request);
        let long = u64::from(request.expected_output.unwrap_or(LONG_REPLY_TOKENS));
        let thought = if thinks(model) { REASONING_TOKENS } else { 0 };
        let texts = request.messages.iter().flat_map(|message| &*message.content).map(|part| match part {
            Part::Text(text) => text.len() as u64,
            Part::Image { .. } => 0,
        });

        Self {
            calls: 1,
            input_bytes: texts.sum(),
            input_tokens: card.estimator.request(request),
            long_reply_tokens: (long + thought).min(limit.most.into()),
            largest: (card.estimator.most(request), limit),
            decisions,
            ..Self::default()
        }
    }

    /// Marks all calls as made only if other judges are unsure.
    #[must_use]
    pub const fn as_uncertain(self) -> Self {
        Self { unsure_calls: self.calls, ..self }
    }

    /// Multiplies the forecast.
    #[must_use]
    pub fn multiply(self, times: u32) -> Self {
        (0..times).fold(Self::default(), |mut sum, _| {
            sum += self;
            sum
        })
    }
}

impl AddAssign for CallForecast {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.input_bytes += other.input_bytes;
        self.input_tokens += other.input_tokens;
        self.long_reply_tokens += other.long_reply_tokens;
        self.largest = (self.largest.0.max(other.largest.0), self.largest.1.larger_of(other.largest.1));
        self.repeated_tokens += other.repeated_tokens;
        self.decisions += other.decisions;
        self.criteria += other.criteria;
        self.scores += other.scores;
        self.too_long += other.too_long;

        self.unsure_calls += other.unsure_calls;
    }
}
