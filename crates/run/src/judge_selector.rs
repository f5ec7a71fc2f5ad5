//! Names that determine the judge of a grader.

/// Inputs to the choice of a judge, in addition to the command line and the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JudgeSelector<'a> {
    /// The judge that the grader names.
    pub grader: Option<&'a str>,
    /// The target that answers, by the name of its definition; it may name a judge.
    pub target: Option<&'a str>,
    /// The fallback target that answered. If it names a judge, this judge precedes the judge of `target`.
    pub answered_by: Option<&'a str>,
    /// The judge that the suite names.
    pub suite: Option<&'a str>,
    /// The judge named by a panel; overrides every other source.
    pub exactly: Option<&'a str>,
}
