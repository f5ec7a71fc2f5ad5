//! Names that choose the judge of a grader.

/// Inputs to the choice of a judge, beside the command line and the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JudgeSelector<'a> {
    /// The judge that the grader names.
    pub grader: Option<&'a str>,
    /// The target that answers the case: it may name a judge.
    pub target: Option<&'a str>,
    /// The judge that the suite names.
    pub suite: Option<&'a str>,
    /// The judge named by a panel; overrides every other source.
    pub exactly: Option<&'a str>,
}
