//! Which cases of files are run or graded.

use super::headings::SELECTION;

/// Cases to select, by id, tag or earlier result.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct CaseSelectionArgs {
    /// Run only cases whose id matches; repeatable.
    ///
    /// A pattern, such as `refund-*`. Alias: `--test-id`.
    #[arg(long, alias = "test-id", value_name = "GLOB", help_heading = SELECTION)]
    pub(crate) filter: Vec<String>,
    /// Run only cases with this tag; repeatable.
    ///
    /// Cases also have the tags of their suite.
    #[arg(long, value_name = "TAG", help_heading = SELECTION)]
    pub(crate) tag: Vec<String>,
    /// Run only what failed or is incomplete in this run.
    ///
    /// The results are a run of their own: its pass rate is that of these cases.
    #[arg(long, alias = "filter-failing", value_name = "RUN", conflicts_with_all = ["filter", "resume"], help_heading = SELECTION)]
    pub(crate) rerun_failed: Option<String>,
}
