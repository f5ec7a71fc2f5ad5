//! `assize cache`.

use std::time::Duration;

use clap::Subcommand;

use super::values;

/// Inspect and prune the reply cache.
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
    /// Count cached replies by model.
    #[command(after_help = "Examples:\n  assize cache stats\n  assize cache stats --json")]
    Stats {
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Delete old replies.
    #[command(after_help = "Examples:\n  \
        assize cache prune\n  \
        assize cache prune --older-than 7\n  \
        assize cache prune --older-than 12h")]
    Prune {
        /// Delete replies of this age and older.
        ///
        /// In days, or a time such as `12h`.
        #[arg(long, value_name = "DAYS", default_value = "30", value_parser = values::age)]
        older_than: Duration,
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Delete all replies, even of a damaged cache.
    #[command(after_help = "Examples:\n  assize cache clear")]
    Clear {
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
}
