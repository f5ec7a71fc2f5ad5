//! Finding on a benchmark: its state and who decided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SeenHash;

crate::named_enum! {
    /// State of a benchmark on a case.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    pub enum BenchmarkState {
        /// It has a score.
        Scored = "scored",
        /// The judge was not certain: it scores 0, and a person should look at it.
        Uncertain = "uncertain",
        /// It does not apply.
        NotApplicable = "not_applicable",
        /// It waits for a person.
        Waiting = "waiting",
        /// People differ about it, so it is not decided.
        ReviewersDiffer = "reviewers_differ",
        /// The judges of a panel are evenly split, so it is not decided.
        JudgesDiffer = "judges_differ",
        /// It should have a score and has none.
        Missing = "missing",
    }
}

impl BenchmarkState {
    /// Returns true if a person should look at the case.
    pub const fn is_for_review(self) -> bool {
        matches!(self, Self::Uncertain | Self::Waiting | Self::ReviewersDiffer | Self::JudgesDiffer)
    }
}

/// Source of the decision about a benchmark on a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// Checks that need no judge.
    Checks,
    /// A judge.
    Judge,
    /// A person.
    Person,
}

/// The finding about a benchmark on a case. Its score stands in the grader's finding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BenchmarkRow")]
pub struct BenchmarkFinding {
    /// State of the benchmark on the case.
    pub state: BenchmarkState,
    /// True if the case passes; null where nothing was decided. An uncertain decision does not pass.
    pub pass: Option<bool>,
    /// The score on the benchmark's own scale, where one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_score: Option<f64>,
    /// True if its scores are on a scale of its own: those of several judges are then averaged, not voted on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scaled: bool,
    /// Source of the decision; null where there is none.
    pub decided_by: Option<DecidedBy>,
    /// Hash of the question, the inputs, the target and the answer: what a label must be about to count. Absent in
    /// votes, and in runs of versions that had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<SeenHash>,
    /// True if a judge may say that it does not apply; kept beside it.
    #[serde(skip)]
    pub may_not_apply: bool,
}
