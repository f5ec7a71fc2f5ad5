//! `assize cache`.

use std::time::Duration;

use clap::Subcommand;

use super::values;

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

/// Actions on the reply cache.
#[derive(Debug, Subcommand)]
pub(crate) enum CacheAction {
    /// Count the replies in it, by model.
    #[command(after_help = "Examples:\n  assize cache stats\n  assize cache stats --json")]
    Stats {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Delete old replies.
    #[command(after_help = "Examples:\n  \
        assize cache prune\n  \
        assize cache prune --older-than 7\n  \
        assize cache prune --older-than 12h")]
    Prune {
        /// Delete replies bought at least this long ago: days, or a length of time such as `12h` or `7d`.
        #[arg(long, value_name = "DAYS", default_value = "30", value_parser = values::age)]
        older_than: Duration,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Delete all replies, also of a cache that can't be read any more.
    #[command(after_help = "Examples:\n  assize cache clear")]
    Clear {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}
