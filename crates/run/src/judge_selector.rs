//! Names that choose the judge of a grader.

/// Inputs to the choice of a judge, beside the command line and the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JudgeSelector<'a> {
    /// The judge that the grader names.
    pub grader: Option<&'a str>,
    /// The target that is asked, by the name it is defined by: it may name a judge.
    pub target: Option<&'a str>,
    /// The target that answered in its place: a judge that this one names comes before that of `target`.
    pub answered_by: Option<&'a str>,
    /// The judge that the suite names.
    pub suite: Option<&'a str>,
    /// The judge named by a panel; overrides every other source.
    pub exactly: Option<&'a str>,
}
