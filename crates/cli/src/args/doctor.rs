//! `assize doctor`.

use std::path::PathBuf;

/// Check which providers are configured, and what the others lack.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --check, no request is sent to a provider. Addresses on this machine are tried, to see \
    whether a server runs there.\n\n\
    Examples:\n  \
    assize doctor\n  \
    assize doctor --check\n  \
    assize doctor --json"
)]
pub(crate) struct DoctorArgs {
    /// File or folder of the project to look at [default: the working folder].
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// Check each configured key, free of charge.
    ///
    /// By listing the server's models.
    #[arg(long)]
    pub(crate) check: bool,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// List all providers, also those not configured.
    #[arg(long)]
    pub(crate) all: bool,
}
