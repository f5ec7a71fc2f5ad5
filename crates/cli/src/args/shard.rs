//! Running a part of a plan.

use assize_run::ShardNumber;

use super::headings::SELECTION;

/// Part of a plan to run.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct ShardArgs {
    /// Run part I of N of the cases, from 1/N to N/N; `assize merge` joins the parts.
    ///
    /// Cases that depend on each other, and those that share a workspace, are in the same part. The exit code is about the
    /// cases of the part.
    #[arg(long, value_name = "I/N", help_heading = SELECTION)]
    pub(crate) shard: Option<ShardNumber>,
}
