//! `assize doctor`.

/// Say which judges are usable here, and what the others lack.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Nothing is sent to a provider. Addresses on this machine are tried, to see whether a server runs there.\n\n\
    Examples:\n  \
    assize doctor\n  \
    assize doctor --json"
)]
pub(crate) struct DoctorArgs {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// List every provider, also those of which nothing is set up.
    #[arg(long)]
    pub(crate) all: bool,
}
