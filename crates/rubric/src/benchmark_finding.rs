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
        /// The judge was uncertain: the score is 0, and a person should review it.
        Uncertain = "uncertain",
        /// It does not apply.
        NotApplicable = "not_applicable",
        /// It needs a person's decision.
        Waiting = "waiting",
        /// Reviewers disagree, so it is ungraded.
        ReviewersDiffer = "reviewers_differ",
        /// Current labels of people contradict the judge, and the benchmark is a gate, so it is ungraded.
        Disputed = "disputed",
        /// The votes of the panel are tied, so it is ungraded.
        JudgesDiffer = "judges_differ",
        /// It has no score, but should have one.
        Missing = "missing",
    }
}

impl BenchmarkState {
    /// Returns true if a person should look at the case.
    pub const fn is_for_review(self) -> bool {
        matches!(
            self,
            Self::Uncertain | Self::Waiting | Self::ReviewersDiffer | Self::Disputed | Self::JudgesDiffer
        )
    }
}

crate::named_enum! {
    /// Source of the decision about a benchmark on a case.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum DecidedBy {
        /// Checks that need no judge.
        Checks = "checks",
        /// A judge.
        Judge = "judge",
        /// A person.
        Person = "person",
    }
}

/// Result of a benchmark on a case. Its score is in the grader's result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BenchmarkRow")]
pub struct BenchmarkFinding {
    /// State of the benchmark on the case.
    pub state: BenchmarkState,
    /// True if the case passes; null if nothing was decided. An uncertain decision does not pass.
    pub pass: Option<bool>,
    /// Score on the benchmark's own scale, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_score: Option<f64>,
    /// True if the benchmark has its own scale. Scores of several judges are then averaged instead of voted on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scaled: bool,
    /// Source of the decision; null if there is none.
    pub decided_by: Option<DecidedBy>,
    /// Hash of the question, inputs, target and answer. A label counts only if it has the same hash. Absent in votes
    /// and in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<SeenHash>,
    /// True if a judge may decide that it does not apply.
    #[serde(skip)]
    pub may_not_apply: bool,
}
