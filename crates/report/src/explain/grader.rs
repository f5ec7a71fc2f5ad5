//! Record of a grader with its recomputed scores.

use assize_rubric::{CaseDecision, GraderOutcome, GraderScore, GraderWeighting};

/// Stored decisions of a grader with the scores computed from them.
pub(crate) struct GraderRecord<'a> {
    /// Its name, preceded by the names of the composites that contain it.
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) weighting: GraderWeighting,
    /// Decisions on its criteria; empty for a grader that is not a rubric.
    pub(crate) rows: Vec<&'a CaseDecision>,
    /// All its decisions, including decisions of its members.
    pub(crate) all_rows: Vec<&'a CaseDecision>,
    /// Number of composites that contain it.
    pub(crate) depth: usize,
    /// Decision on the answer as a whole, if the grader is not a rubric.
    pub(crate) whole: Option<&'a CaseDecision>,
    /// The members of a composite.
    pub(crate) members: Vec<(GraderRecord<'a>, GraderScore)>,
    pub(crate) outcome: GraderOutcome,
    pub(crate) problem: Option<String>,
}
