//! A case in the index: some hundred bytes, without answers and reasons.

use assize_rubric::{OutcomeKind, Usd, Verdict};

/// A case of the table of cases.
#[derive(Debug, Clone)]
pub(crate) struct CaseTableEntry {
    /// Offset of its row in `results.jsonl`.
    pub(crate) offset: u64,
    pub(crate) id: Box<str>,
    /// Id of the test, if it makes several cases.
    pub(crate) test: Option<Box<str>>,
    /// Numbers of interned names: suite, prompt, target, tags, failed gates.
    pub(crate) suite: u32,
    pub(crate) prompt: Option<u32>,
    pub(crate) target: Option<u32>,
    pub(crate) tags: Box<[u32]>,
    pub(crate) gates: Box<[u32]>,
    pub(crate) trial: u32,
    /// Position in the order of the eval files; [`NO_PLACE`](Self::NO_PLACE) if it is not known.
    pub(crate) place: u64,
    pub(crate) verdict: CaseStatus,
    pub(crate) has_error: bool,
    pub(crate) score: Option<f64>,
    /// Lowest and highest possible score, if there is no score.
    pub(crate) bounds: Option<(f64, f64)>,
    pub(crate) criteria: Box<[CriterionEntry]>,
    pub(crate) cost: Option<Usd>,
    pub(crate) latency_ms: Option<u32>,
}

impl CaseTableEntry {
    /// Value of `place` for cases of a run that did not store places.
    pub(crate) const NO_PLACE: u64 = u64::MAX;

    /// Id of the test, which is the name of the case beside its prompt and target.
    pub(crate) fn test_id(&self) -> &str {
        self.test.as_deref().unwrap_or(&self.id)
    }

    /// Returns true if the votes of the judges of a criterion were not all the same.
    pub(crate) fn is_disputed(&self) -> bool {
        self.criteria.iter().any(|criterion| criterion.is_disputed)
    }
}

/// A criterion of a case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CriterionEntry {
    /// Number of its interned name, `GRADER/ID`.
    pub(crate) name: u32,
    pub(crate) outcome: OutcomeKind,
    /// Score from 0 to 10, if there is one.
    pub(crate) points: Option<f32>,
    /// True if its weight is negative.
    pub(crate) is_penalty: bool,
    /// True if its grader is negated: it is shown as met when its text is not met.
    pub(crate) is_negated: bool,
    /// True if the case can't pass without it.
    pub(crate) is_gate: bool,
    /// True if the votes of its judges were not all the same.
    pub(crate) is_disputed: bool,
}

impl CriterionEntry {
    /// Returns true if the decision counts against the answer: unmet, or a penalty that was incurred.
    pub(crate) fn is_missed(self) -> bool {
        self.is_met().is_some_and(|is_met| is_met == self.is_penalty)
    }

    /// Whether it is shown as met, or as incurred if it is a penalty; `None` if it is neither met nor unmet.
    pub(crate) fn is_met(self) -> Option<bool> {
        match self.outcome {
            OutcomeKind::Met => Some(!self.is_negated),
            OutcomeKind::Unmet => Some(self.is_negated),
            _ => None,
        }
    }
}

/// Verdict of a case, or that it was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CaseStatus {
    Fail,
    Incomplete,
    Borderline,
    Pass,
    Skipped,
}

assize_rubric::named_variants!(CaseStatus {
    Fail = "fail",
    Incomplete = "incomplete",
    Borderline = "borderline",
    Pass = "pass",
    Skipped = "skipped",
});

impl CaseStatus {
    pub(crate) const fn new(verdict: Verdict, is_skipped: bool) -> Self {
        match verdict {
            _ if is_skipped => Self::Skipped,
            Verdict::Pass => Self::Pass,
            Verdict::Borderline => Self::Borderline,
            Verdict::Fail => Self::Fail,
            Verdict::Incomplete => Self::Incomplete,
        }
    }
}
