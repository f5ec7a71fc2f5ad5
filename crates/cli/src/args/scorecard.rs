//! `assize scorecard`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

/// Trees of rubrics over benchmarks.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize scorecard list scorecards/intake\n  \
    assize scorecard list scorecards/intake --weights phase-2 --json\n  \
    assize scorecard score scorecards/intake --results results.jsonl")]
pub(crate) struct ScorecardArgs {
    #[command(subcommand)]
    pub(crate) command: ScorecardCommand,
}

/// What to do with a scorecard.
#[derive(Debug, Subcommand)]
pub(crate) enum ScorecardCommand {
    /// Print the tree with weights, thresholds, evaluators and how many cases each part has.
    List(ListArgs),
    /// Add up results and labels that are already there: scores, gates, what blocks what.
    Score(ScoreCardArgs),
}

/// Options of `assize scorecard score`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each line of a results file is a JSON object with `case`, `benchmark` and `pass`, and optionally\n\
    `score` (on the benchmark's scale), `uncertain`, `applies`, `confidence`, `reason`. Labels of the\n\
    scorecard count for its `manual_sme` benchmarks.\n\n\
    Examples:\n  \
    assize scorecard score scorecards/intake --results results.jsonl\n  \
    assize scorecard score scorecards/intake --results results.jsonl --treat-missing skip --json"
)]
pub(crate) struct ScoreCardArgs {
    #[command(flatten)]
    pub(crate) list: ListArgs,
    /// Results, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,
    /// How a case without a result counts.
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    pub(crate) treat_missing: MissingChoice,
}

/// How a case without a result counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum MissingChoice {
    /// As unknown: what is above can't pass.
    #[default]
    Incomplete,
    /// As a score of 0.
    Zero,
    /// As a case that does not apply.
    Skip,
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
