//! `assize worker`.

use std::path::PathBuf;
use std::time::Duration;

use assize_cluster::{ClusterAddress, ClusterError, WorkerOptions, check_results};

use super::eval::programs;
use super::headings::CLUSTER;
use super::values::duration;

/// Run units of `assize eval --cluster` on this machine.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Start it in a checkout of the same version of the project as the coordinator's, in the same folder, with the \
    keys of the models that the files use: Assize sends neither files nor keys. Workers can join and leave at any time.\n\n\
    With `--job-secret`, a worker takes the jobs of those who know the secret; without, of anyone who can write to the servers.\n\n\
    Examples:\n  \
    assize worker --cluster nats://10.0.0.5:4222\n  \
    assize worker --cluster nats://a:4222,nats://b:4222,nats://c:4222 --idle 10m"
)]
pub(crate) struct WorkerArgs {
    /// Addresses of NATS servers.
    ///
    /// With commas between them.
    #[arg(long, value_name = "ADDRESS", help_heading = CLUSTER)]
    cluster: ClusterAddress,
    /// Credentials for these servers.
    #[arg(long, value_name = "FILE", help_heading = CLUSTER)]
    cluster_credentials: Option<PathBuf>,
    /// Place of the results.
    ///
    /// The whole path, as this machine sees it.
    #[arg(long, value_name = "PLACE", help_heading = CLUSTER)]
    results: Option<String>,
    /// Exit after this long without work.
    #[arg(long, value_parser = duration, value_name = "TIME", help_heading = CLUSTER)]
    idle: Option<Duration>,
    /// Join jobs with other model addresses.
    ///
    /// A job is refused by default if its first worker asks another host for the same models.
    #[arg(long, help_heading = CLUSTER)]
    any_address: bool,
    /// File with the secret of the job.
    ///
    /// The coordinator has the same. Or set `ASSIZE_JOB_SECRET`. Jobs, results and replies that are not signed with it are refused.
    #[arg(long, value_name = "FILE", help_heading = CLUSTER)]
    pub(crate) job_secret: Option<PathBuf>,
    /// Allow files to run programs.
    ///
    /// And to send variables of the environment to addresses that they name. The consent of the coordinator's user does not count here.
    #[arg(long, help_heading = CLUSTER)]
    allow_code: bool,
    /// No notices; warnings and errors remain.
    #[arg(long, short = 'q', help_heading = CLUSTER)]
    pub(crate) quiet: bool,
}

impl WorkerArgs {
    /// Address of the servers, with the credentials for them.
    pub(crate) fn address(&self) -> ClusterAddress {
        self.cluster.clone().with_credentials(self.cluster_credentials.clone())
    }

    /// Typed options of these flags.
    ///
    /// # Errors
    /// When results can't be kept at the given location.
    pub(crate) fn options(&self) -> Result<WorkerOptions, ClusterError> {
        self.results.as_deref().map_or(Ok(()), check_results)?;
        Ok(WorkerOptions {
            idle: self.idle,
            results: self.results.clone(),
            any_address: self.any_address,
            programs: programs(self.allow_code),
        })
    }
}
