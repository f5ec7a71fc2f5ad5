//! A grader while it is explained.

use assize_rubric::{CaseDecision, GraderOutcome, GraderScore, GraderWeighting};

/// A grader on its way to being explained.
pub(crate) struct Grader<'a> {
    /// Its name; behind the names of the composites it is a member of.
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) standing: GraderWeighting,
    /// Its criteria; none for a grader that is no rubric.
    pub(crate) rows: Vec<&'a CaseDecision>,
    /// All its rows, those of its members among them.
    pub(crate) all_rows: Vec<&'a CaseDecision>,
    /// Number of composites around it.
    pub(crate) depth: usize,
    /// Decision on the whole, if it is no rubric.
    pub(crate) whole: Option<&'a CaseDecision>,
    /// The members of a composite.
    pub(crate) members: Vec<(Grader<'a>, GraderScore)>,
    pub(crate) outcome: GraderOutcome,
    pub(crate) problem: Option<String>,
}
