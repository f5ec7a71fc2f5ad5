//! Multi-turn conversations.

use std::sync::Arc;

use assize_rubric::CaseMessage;

use super::{FilePosition, Grader};

/// A case that calls its target several times, each time with the answers so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// Turns, in order; never empty.
    pub turns: Vec<ConversationTurn>,
    /// Aggregation of the scores of the turns.
    pub aggregation: TurnAggregation,
    /// What happens after a failed turn.
    pub on_turn_failure: OnTurnFailure,
    /// Number of past turns shown to the target; all if absent.
    pub window_size: Option<u32>,
}

/// One turn.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationTurn {
    /// Messages to the target.
    pub input: Vec<CaseMessage>,
    /// Reference answer.
    pub expected_output: Vec<CaseMessage>,
    /// Graders of the answer; may be empty.
    pub graders: Vec<Arc<Grader>>,
    /// Position in the file.
    pub place: FilePosition,
}

/// Aggregation of the scores of turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TurnAggregation {
    /// Mean.
    #[default]
    Mean,
    /// Lowest score.
    Min,
    /// Highest score.
    Max,
}

assize_rubric::named_variants!(TurnAggregation { Mean = "mean", Min = "min", Max = "max" });

/// What happens after a failed turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnTurnFailure {
    /// The next turn follows.
    #[default]
    Continue,
    /// The conversation ends.
    Stop,
}

assize_rubric::named_variants!(OnTurnFailure { Continue = "continue", Stop = "stop" });

/// What happens to a case if one that it depends on failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDependencyFailure {
    /// The case is skipped.
    #[default]
    Skip,
    /// The case fails.
    Fail,
    /// The case runs anyway.
    Run,
}

assize_rubric::named_variants!(OnDependencyFailure { Skip = "skip", Fail = "fail", Run = "run" });
