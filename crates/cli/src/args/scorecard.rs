//! `assize scorecard`.

use std::path::PathBuf;

use clap::Subcommand;

/// Trees of rubrics over benchmarks.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize scorecard list scorecards/intake\n  \
    assize scorecard list scorecards/intake --weights phase-2 --json")]
pub(crate) struct ScorecardArgs {
    #[command(subcommand)]
    pub(crate) command: ScorecardCommand,
}

/// What to do with a scorecard.
#[derive(Debug, Subcommand)]
pub(crate) enum ScorecardCommand {
    /// Print the tree with weights, thresholds, evaluators and how many cases each part has.
    List(ListArgs),
}

/// Options of `assize scorecard list`.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// The scorecard: a folder, or one file with everything inside.
    #[arg(value_name = "DIR")]
    pub(crate) path: PathBuf,
    /// The weight set of the index to show, instead of the one it names.
    #[arg(long, value_name = "SET")]
    pub(crate) weights: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Folder that the scorecard may read from, beside its own repository; may be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
}
