//! Aspects of two runs that can differ, besides the answers.

use serde::Serialize;

assize_rubric::named_enum! {
    /// Aspect in which two runs differ although only the answers should.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    pub enum ComparisonAspect {
        /// Input or expectation of a case.
        Question = "question",
        /// Text, scale, weight, gate or settings of criteria or graders, or the set of them.
        Rubric = "rubric",
        /// The judge.
        Judge = "judge",
        /// Instructions of the judge.
        Prompt = "prompt",
        /// Number of criteria in one call.
        Judging = "judging",
        /// Thresholds of verdicts.
        Thresholds = "thresholds",
    }
}

impl ComparisonAspect {
    /// Describes the difference.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Question => "the input or the expectations differ",
            Self::Rubric => "graders or criteria differ, or their settings, weights or gates",
            Self::Judge => "the judge differs",
            Self::Prompt => "the judge's prompt differs",
            Self::Judging => "the number of criteria per call differs",
            Self::Thresholds => "the thresholds differ",
        }
    }
}
