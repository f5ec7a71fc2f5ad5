//! What judging will take, without doing it.

use std::ops::AddAssign;

/// The calls of a task and what they send, if every reply is usable. Forecasts add up: over graders, cases, repeats and
/// the judges of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Forecast {
    /// Calls to a model.
    pub calls: u64,
    /// Bytes of text they send, schemas included.
    pub input_bytes: u64,
    /// Tokens they send, at most by expectation.
    pub input_tokens: u64,
    /// Those of `input_tokens` that an earlier call for the same answer began with, so that the provider may have them
    /// cached.
    pub repeated_tokens: u64,
    /// Tokens that their replies may have together; `None` as soon as one of them has no limit.
    pub max_output_tokens: Option<u64>,
    /// Decisions that their replies hold; a criterion that is judged in parts has one for each.
    pub decisions: u64,
    /// Criteria they decide on.
    pub criteria: u64,
    /// Answers they score as a whole.
    pub scores: u64,
    /// Criteria and scores, in parts, for which nothing is sent because the judge can't read that much.
    pub too_long: u64,
}

impl AddAssign for Forecast {
    fn add_assign(&mut self, other: Self) {
        self.max_output_tokens = match (self.calls, other.calls) {
            (_, 0) => self.max_output_tokens,
            (0, _) => other.max_output_tokens,
            _ => self.max_output_tokens.zip(other.max_output_tokens).map(|(a, b)| a.saturating_add(b)),
        };
        self.calls += other.calls;
        self.input_bytes += other.input_bytes;
        self.input_tokens += other.input_tokens;
        self.repeated_tokens += other.repeated_tokens;
        self.decisions += other.decisions;
        self.criteria += other.criteria;
        self.scores += other.scores;
        self.too_long += other.too_long;
    }
}
