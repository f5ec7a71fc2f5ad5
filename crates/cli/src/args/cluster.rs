//! Running over many machines.

use std::path::PathBuf;
use std::time::Duration;

use assize_cluster::{ClusterAddress, ClusterError, ClusterOptions, check_results};

use super::headings::CLUSTER;
use super::values::duration;

/// Machines to run on.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ClusterArgs {
    /// Run the cases on workers; see `assize worker --help`.
    ///
    /// The address of NATS servers with JetStream, 2.12 or newer: `nats://HOST:4222`, several with commas between them.
    #[arg(
        long, value_name = "ADDRESS", help_heading = CLUSTER, hide_short_help = true,
        conflicts_with_all = [
            "shard", "export_requests", "import_replies", "judge_batch", "bail", "stop_when", "dry_run", "min_pass_rate",
            "retry_incomplete",
        ]
    )]
    pub(crate) cluster: Option<ClusterAddress>,
    /// File with the credentials for these servers.
    #[arg(long, value_name = "FILE", requires = "cluster", help_heading = CLUSTER, hide_short_help = true)]
    pub(crate) cluster_credentials: Option<PathBuf>,
    /// File with a secret shared with the workers; it signs stored data.
    ///
    /// Or set `ASSIZE_JOB_SECRET`. Results and replies that are not signed with it are refused.
    #[arg(long, value_name = "FILE", requires = "cluster", help_heading = CLUSTER, hide_short_help = true)]
    pub(crate) job_secret: Option<PathBuf>,
    /// Shared folder (whole path) or bucket for results [default: the servers keep them].
    #[arg(long, value_name = "PLACE", requires = "cluster", help_heading = CLUSTER, hide_short_help = true)]
    pub(crate) results: Option<String>,
    /// Results per unit of work [default: 500].
    #[arg(
        long, value_name = "N", requires = "cluster", help_heading = CLUSTER,
        value_parser = clap::value_parser!(u32).range(1..=100_000), hide_short_help = true
    )]
    pub(crate) unit_size: Option<u32>,
    /// Reassign the work of a worker that is silent this long [default: 30s].
    #[arg(
        long, value_parser = duration, value_name = "TIME", requires = "cluster", help_heading = CLUSTER,
        hide_short_help = true
    )]
    pub(crate) lease: Option<Duration>,
    /// End after this long without a working worker; `--resume` continues [default: 15m].
    #[arg(
        long, value_parser = duration, value_name = "TIME", requires = "cluster", help_heading = CLUSTER,
        hide_short_help = true
    )]
    pub(crate) worker_wait: Option<Duration>,
}

impl ClusterArgs {
    /// Address and credentials of the servers, and typed options.
    ///
    /// # Errors
    /// When results can't be kept at the given location. This is not a parse error of the arguments, because
    /// that would repeat the location with any secrets in it.
    pub(crate) fn options(
        &self,
        resume: bool,
    ) -> Result<Option<(ClusterAddress, ClusterOptions)>, ClusterError> {
        let Some(address) = self.cluster.clone() else { return Ok(None) };
        self.results.as_deref().map_or(Ok(()), check_results)?;
        let options = ClusterOptions {
            unit_size: self.unit_size,
            results: self.results.clone(),
            lease: self.lease,
            worker_wait: self.worker_wait,
            resume,
        };

        Ok(Some((address.with_credentials(self.cluster_credentials.clone()), options)))
    }
}
