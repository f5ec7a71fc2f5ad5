//! What judging will take, without doing it.

use std::ops::AddAssign;

/// The calls of a task and what they send, if every reply is usable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Forecast {
    /// Calls to a model.
    pub calls: u64,
    /// Bytes of text they send, schemas included.
    pub input_bytes: u64,
    /// Criteria they decide on.
    pub criteria: u64,
    /// Answers they score as a whole.
    pub scores: u64,
}

impl AddAssign for Forecast {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.input_bytes += other.input_bytes;
        self.criteria += other.criteria;
        self.scores += other.scores;
    }
}
