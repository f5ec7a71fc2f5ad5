//! `assize list`.

/// List the stored runs, newest first.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Commands that take a run accept the names in the first column (`last`, `last~1`, ...), an id, or a \
    folder. Runs made with `--run-dir` are not listed: name their folder. Times are UTC. `assize scorecard list` shows the content of a scorecard.\n\n\
    Examples:\n  \
    assize list\n  \
    assize list --suite support --all\n  \
    assize list --json"
)]
pub(crate) struct ListRunsArgs {
    /// List only runs of this suite.
    #[arg(long, value_name = "NAME")]
    pub(crate) suite: Option<String>,
    /// List all runs, not only the newest 20.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
