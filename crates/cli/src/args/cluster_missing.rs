//! Running over many machines, in a build that can't.

use super::headings::CLUSTER;

/// The options of `--cluster`, parsed only so that this build can say that it lacks the feature.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ClusterArgs {
    /// Run the cases on workers. Needs a build with `--features full`, as released programs are.
    #[arg(long, value_name = "ADDRESS", help_heading = CLUSTER, hide_short_help = true)]
    pub(crate) cluster: Option<String>,
    #[arg(long, requires = "cluster", hide = true)]
    cluster_credentials: Option<String>,
    #[arg(long, requires = "cluster", hide = true)]
    results: Option<String>,
    #[arg(long, requires = "cluster", hide = true)]
    unit_size: Option<String>,
    #[arg(long, requires = "cluster", hide = true)]
    lease: Option<String>,
    #[arg(long, requires = "cluster", hide = true)]
    worker_wait: Option<String>,
}
