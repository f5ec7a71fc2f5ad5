//! What judging will take, without doing it.

use std::ops::{AddAssign, Mul};

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
    /// How many of the calls are made only where others are not sure, and how much those of them send.
    pub uncertain: Uncertain,
}

/// The part of a forecast that may not come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Uncertain {
    /// Calls to a model.
    pub calls: u64,
    /// Bytes of text they send.
    pub input_bytes: u64,
    /// Criteria and scores they decide on.
    pub decisions: u64,
}

impl Forecast {
    /// The same as something that may not come about.
    #[must_use]
    pub const fn at_most(self) -> Self {
        let Self { calls, input_bytes, criteria, scores, .. } = self;
        Self { uncertain: Uncertain { calls, input_bytes, decisions: criteria + scores }, ..self }
    }
}

impl Mul<u32> for Forecast {
    type Output = Self;

    fn mul(self, times: u32) -> Self {
        let times = u64::from(times);
        let Uncertain { calls, input_bytes, decisions } = self.uncertain;
        Self {
            calls: self.calls * times,
            input_bytes: self.input_bytes * times,
            criteria: self.criteria * times,
            scores: self.scores * times,
            uncertain: Uncertain {
                calls: calls * times,
                input_bytes: input_bytes * times,
                decisions: decisions * times,
            },
        }
    }
}

impl AddAssign for Forecast {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.input_bytes += other.input_bytes;
        self.criteria += other.criteria;
        self.scores += other.scores;
        self.uncertain.calls += other.uncertain.calls;
        self.uncertain.input_bytes += other.uncertain.input_bytes;
        self.uncertain.decisions += other.uncertain.decisions;
    }
}
