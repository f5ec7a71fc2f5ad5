//! Options for running a part of a plan.

use assize_run::ShardNumber;

use super::headings::SELECTION;

/// Part of a plan to run.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct ShardArgs {
    /// Run shard I of N; `assize merge` joins the shards.
    ///
    /// Shards are numbered from 1. Cases that depend on each other, and those that share a workspace, are in the same shard. The exit code is
    /// about the cases of the shard.
    #[arg(long, value_name = "I/N", help_heading = SELECTION, hide_short_help = true)]
    pub(crate) shard: Option<ShardNumber>,
}
