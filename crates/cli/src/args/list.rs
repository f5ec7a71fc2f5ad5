//! `assize list`.

/// List the stored runs, newest first.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Every command that takes a run takes the first one here as `last`, the next as `last~1`, and so on; or a run by\n\
    its id or its folder. Times are UTC. `assize scorecard list` shows what is in a scorecard.\n\n\
    Examples:\n  \
    assize list\n  \
    assize list --suite support --all\n  \
    assize list --json"
)]
pub(crate) struct ListRunsArgs {
    /// Only runs that hold this suite.
    #[arg(long, value_name = "NAME")]
    pub(crate) suite: Option<String>,
    /// List all runs; without it the newest 20.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print a JSON list of all runs.
    #[arg(long)]
    pub(crate) json: bool,
}
