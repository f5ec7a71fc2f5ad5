//! `assize cache`.

use clap::Subcommand;

/// Look at the reply cache, or make it smaller.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize cache stats\n  \
    assize cache prune --older-than 7\n  \
    assize cache clear")]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) action: CacheAction,
}

/// What to do with it.
#[derive(Debug, Subcommand)]
pub(crate) enum CacheAction {
    /// Count the replies in it, by model.
    Stats {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Delete old replies.
    Prune {
        /// Delete replies bought longer ago than this.
        #[arg(long, value_name = "DAYS", default_value = "30")]
        older_than: u32,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Delete all replies.
    Clear {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}
