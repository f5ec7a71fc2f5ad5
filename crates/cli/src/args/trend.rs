//! `assize trend`.

use std::num::NonZeroUsize;

/// Show runs in a row.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without RUNS: the runs in `.assize/runs` that hold the same suites as the newest.\n\n\
    Examples:\n  \
    assize trend\n  \
    assize trend --suite support --last 10\n  \
    assize trend runs/january runs/february runs/march --json"
)]
pub(crate) struct TrendArgs {
    /// The runs, oldest first: folders, ids, `last`, `last~N`; `@TARGET` takes the answers of that target only.
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Only the cases of this suite, and only runs that hold it.
    #[arg(long, value_name = "NAME")]
    pub(crate) suite: Option<String>,
    /// Only the answers of this target.
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// Only the newest so many runs.
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<NonZeroUsize>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
