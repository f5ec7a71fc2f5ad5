//! `assize explain`.

use super::LabelArgs;

/// Print the arithmetic behind the score of a case, or of a part of a scorecard.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize explain last refund-policy\n  \
    assize explain last A-REF\n  \
    assize explain .assize/runs/20260102-120000-support refund-policy --json")]
pub(crate) struct ExplainArgs {
    /// The run: its folder, its id, or `last`.
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Id of the case; in the run of a scorecard also the code of an index, a rubric or a benchmark.
    #[arg(value_name = "CASE")]
    pub(crate) case: String,
    /// Only the case of this suite, when several suites have one of that id.
    #[arg(long, value_name = "NAME")]
    pub(crate) suite: Option<String>,
    /// Only the case answered by this target.
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) labels: LabelArgs,
}
