//! Conversations that are led turn by turn.

use std::sync::Arc;

use super::{Grader, Message, Place};

/// A case whose target is asked several times, each time with the answers so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// What is said, in order; never empty.
    pub turns: Vec<Turn>,
    /// How the scores of the turns become one.
    pub aggregation: TurnAggregation,
    /// What happens after a turn that failed.
    pub on_turn_failure: OnTurnFailure,
    /// How many past turns the target is shown; all if absent.
    pub window_size: Option<u32>,
}

/// One turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// What is said to the target.
    pub input: Vec<Message>,
    /// An example of a good answer.
    pub expected_output: Vec<Message>,
    /// Who grades the answer; may be empty.
    pub graders: Vec<Arc<Grader>>,
    /// Where it is written.
    pub place: Place,
}

/// How the scores of the turns become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TurnAggregation {
    /// Their mean.
    #[default]
    Mean,
    /// The lowest.
    Min,
    /// The highest.
    Max,
}

/// What happens after a turn that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnTurnFailure {
    /// The next turn follows.
    #[default]
    Continue,
    /// The conversation ends.
    Stop,
}

/// What happens to a case when one it depends on failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDependencyFailure {
    /// It is left out.
    #[default]
    Skip,
    /// It fails.
    Fail,
    /// It runs all the same.
    Run,
}
