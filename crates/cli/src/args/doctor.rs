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
    /// Ask each server that is set up whether it takes the key. That costs nothing: it is asked for its list of models.
    #[arg(long)]
    pub(crate) check: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// List every provider, also those of which nothing is set up.
    #[arg(long)]
    pub(crate) all: bool,
}
