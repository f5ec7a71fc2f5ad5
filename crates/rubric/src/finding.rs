//! Findings: the outcome of a criterion, or the result of a grader as a whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AnswerComparison, AnswerPreference, BenchmarkFinding, BenchmarkState, CompositeStructure, Criterion,
    Outcome, UnitInterval, VoteValue,
};

/// What was decided.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// The outcome of a criterion.
    Criterion {
        /// Criterion as the judge saw it.
        criterion: Criterion,
        /// The outcome of the criterion.
        outcome: Outcome,
    },
    /// The result of a grader other than a rubric.
    Grader(Box<GraderFinding>),
    /// The better of two answers in one order. It is only part of a comparison and is never stored alone.
    Preference(AnswerPreference),
}

/// The result of a grader as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct GraderFinding {
    /// Score before negation. `None` if the grader does not apply, or if its score is computed from its
    /// members. The error is the reason why the grader failed to run.
    pub score: Result<Option<UnitInterval>, String>,
    /// Findings point by point.
    pub notes: Vec<GraderNote>,
    /// Further details from a program.
    pub details: Option<Value>,
    /// Result beyond the score, by kind of grader.
    pub kind: GraderFindingKind,
}

/// Result of a grader beyond its score, by kind.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum GraderFindingKind {
    /// Only a score.
    #[default]
    Score,
    /// A score, and a decision by the grader itself whether the answer passes.
    Checked {
        /// True if it passes.
        passed: bool,
    },
    /// The members of a composite.
    Composite(CompositeStructure),
    /// The state of a benchmark.
    Benchmark(BenchmarkFinding),
    /// A comparison with another answer.
    Comparison(Box<AnswerComparison>),
}

/// One point of a grader's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Note")]
pub struct GraderNote {
    /// Point that was checked.
    pub text: String,
    /// True if the check passed; null for a remark.
    pub passed: Option<bool>,
    /// Reason.
    #[serde(default)]
    pub reason: String,
    /// Weight among the notes; null if the notes do not determine the score.
    #[serde(default)]
    pub weight: Option<f64>,
}

impl GraderNote {
    /// Creates a note about a check that passed or failed.
    pub fn new(passed: bool, text: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { text: text.into(), passed: Some(passed), reason: reason.into(), weight: None }
    }

    /// Creates a remark, which has no effect on the result.
    pub fn remark(text: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { text: text.into(), passed: None, reason: reason.into(), weight: None }
    }
}

impl From<GraderFinding> for Finding {
    fn from(finding: GraderFinding) -> Self {
        Self::Grader(Box::new(finding))
    }
}

impl From<AnswerPreference> for Finding {
    fn from(preference: AnswerPreference) -> Self {
        Self::Preference(preference)
    }
}

impl GraderFinding {
    /// Creates a finding with this score and these notes.
    pub const fn new(score: Option<UnitInterval>, notes: Vec<GraderNote>) -> Self {
        Self { score: Ok(score), notes, details: None, kind: GraderFindingKind::Score }
    }

    /// Creates the finding of a grader that does not apply, or whose score is computed from its members.
    pub const fn without_score() -> Self {
        Self::new(None, Vec::new())
    }

    /// Creates the finding of a grader that failed to run.
    pub const fn broken(message: String) -> Self {
        let kind = GraderFindingKind::Score;
        Self { score: Err(message), notes: Vec::new(), details: None, kind }
    }

    /// The score, if there is one.
    pub fn score(&self) -> Option<UnitInterval> {
        self.score.as_ref().ok().copied().flatten()
    }

    /// Returns the error of a grader that failed to run.
    pub fn error(&self) -> Option<&str> {
        self.score.as_ref().err().map(String::as_str)
    }

    /// Returns pass or fail as decided by the grader itself, whatever the score; `None` for most graders.
    pub const fn passed(&self) -> Option<bool> {
        match self.kind {
            GraderFindingKind::Checked { passed } => Some(passed),
            _ => None,
        }
    }

    /// The members of a composite.
    pub const fn composition(&self) -> Option<&CompositeStructure> {
        match &self.kind {
            GraderFindingKind::Composite(composition) => Some(composition),
            _ => None,
        }
    }

    /// The state of a benchmark.
    pub const fn benchmark(&self) -> Option<&BenchmarkFinding> {
        match &self.kind {
            GraderFindingKind::Benchmark(benchmark) => Some(benchmark),
            _ => None,
        }
    }

    /// The comparison with another answer.
    pub fn comparison(&self) -> Option<&AnswerComparison> {
        match &self.kind {
            GraderFindingKind::Comparison(comparison) => Some(comparison),
            _ => None,
        }
    }

    pub(crate) fn vote_value(&self) -> VoteValue {
        match (&self.score, self.benchmark().map(|benchmark| benchmark.state)) {
            (Ok(_), Some(BenchmarkState::NotApplicable)) => VoteValue::NotApplicable,
            (Ok(Some(score)), state) if state != Some(BenchmarkState::Uncertain) => {
                VoteValue::Value(score.get())
            }
            (Ok(_) | Err(_), _) => VoteValue::Missing,
        }
    }

    pub(crate) fn is_binary(&self) -> bool {
        let all_or_nothing =
            self.score().is_none_or(|score| score == UnitInterval::ZERO || score == UnitInterval::ONE);
        self.benchmark().is_some_and(|benchmark| !benchmark.scaled && all_or_nothing)
    }
}
