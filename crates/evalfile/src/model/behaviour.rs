//! A benchmark as it is applied to one case: who decides, and what they are given.

use std::sync::Arc;

use assize_rubric::LabelOutcome;

use super::{EvaluatorType, Grader, Guidelines, ScoringScale};

/// A benchmark of a scorecard as a grader of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkGrader {
    /// Who decides.
    pub evaluator: EvaluatorType,
    /// Checks that need no judge; for `code` and `hybrid`.
    pub checks: Vec<Arc<Grader>>,
    /// Of `code`: all checks must pass, instead of the share that does being the score.
    pub all_must_pass: bool,
    /// What a judge is asked; for `llm_judge` and `hybrid`.
    pub behaviour: Option<Arc<Behaviour>>,
    /// Its scale, if it has one; the scores of people are on it.
    pub scale: Option<ScoringScale>,
    /// What people said about the case; for `manual_sme`.
    pub labels: Vec<SmeLabel>,
}

/// What one person said about a case.
#[derive(Debug, Clone, PartialEq)]
pub struct SmeLabel {
    /// What was decided.
    pub outcome: LabelOutcome,
    /// Who said it.
    pub reviewer: Option<String>,
    /// Why.
    pub note: Option<String>,
}

/// One yes-or-no question about one output, in the words of its authors. All of it is trusted: it comes
/// from the files of the scorecard, never from a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Behaviour {
    /// The prompt file as written.
    pub prompt: Arc<str>,
    /// The guidelines of the rubrics above, the topmost first.
    pub guidelines: Vec<Arc<Guidelines>>,
    /// When the benchmark applies, if the judge has to say so.
    pub applicability: Option<Applicability>,
    /// Its scale, if the judge gives a score beside pass and fail.
    pub scale: Option<ScoringScale>,
    /// What must hold for a pass, as the prompt lists it.
    pub pass_conditions: Vec<String>,
}

/// When a benchmark applies to a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applicability {
    /// `inclusion_criteria`.
    pub inclusion: String,
    /// `exclusion_criteria`.
    pub exclusion: Option<String>,
}
