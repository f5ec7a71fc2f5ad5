//! Application of a benchmark to one case: the evaluator and its input.

use std::num::NonZeroU32;
use std::sync::Arc;

use assize_rubric::{Label, SubjectHash, UnboundLabels, UnitInterval};

use super::{EvaluatorType, Grader, Guidelines, ScoringScale};

/// A benchmark of a scorecard as a grader of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkGrader {
    /// Kind of evaluator.
    pub evaluator: EvaluatorType,
    /// Checks that need no judge; for `code` and `hybrid`.
    pub checks: Vec<Arc<Grader>>,
    /// True if all checks of a `code` benchmark must pass; otherwise the score is the share that passes.
    pub all_must_pass: bool,
    /// Question for a judge; for `llm_judge` and `hybrid`.
    pub behaviour: Option<Arc<Behaviour>>,
    /// Scoring scale, if there is one; scores of reviewers use it.
    pub scale: Option<ScoringScale>,
    /// Hash of the question and of the case's inputs. Reviewers' labels are bound to it.
    pub subject: Option<SubjectHash>,
    /// Labels of the case; for `manual_sme`.
    pub labels: Vec<Label>,
    /// Number of reviewers needed before labels count.
    pub raters: Option<NonZeroU32>,
    /// How labels without a reference to an answer are treated.
    pub unbound_labels: UnboundLabels,
}

/// A yes-or-no question about one answer, as its authors wrote it. All of it is trusted, because it comes from the
/// files of the scorecard, never from a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Behaviour {
    /// Prompt file as written.
    pub prompt: Arc<str>,
    /// Guidelines of the enclosing rubrics, the topmost first.
    pub guidelines: Vec<Arc<Guidelines>>,
    /// Criteria of applicability, if the judge has to decide on it.
    pub applicability: Option<Applicability>,
    /// Scoring scale, if the judge gives a score as well as pass or fail.
    pub scale: Option<ScoringScale>,
    /// Pass conditions, as the prompt lists them.
    pub pass_conditions: Vec<String>,
    /// Score from 0 to 1 that a failed case must stay below. Never shown to a judge.
    pub failure_limit: UnitInterval,
}

impl Behaviour {
    /// Returns true if a pass needs a quote from the inputs.
    pub fn needs_quote(&self) -> bool {
        self.guidelines
            .iter()
            .any(|found| found.evidence_requirements.is_some() && !found.evidence_is_advisory)
    }

    /// Returns true if the judge must say whether all critical requirements are met.
    pub fn has_critical_requirements(&self) -> bool {
        self.guidelines.iter().any(|found| !found.critical_requirements.is_empty())
    }
}

/// Criteria for deciding whether a benchmark applies to a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applicability {
    /// Value of `inclusion_criteria`.
    pub inclusion: String,
    /// Value of `exclusion_criteria`.
    pub exclusion: Option<String>,
}
