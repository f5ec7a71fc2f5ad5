//! `assize trust`.

use std::path::PathBuf;

/// Trust a folder: its files may run programs without `--allow-code`.
///
/// The list of trusted folders is in your data folder, readable by you alone. A folder is trusted with everything in it. If it
/// is moved, or another folder or a link takes its place, it is no longer trusted. `assize init` trusts the projects it makes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize trust\n  \
    assize trust my-evals\n  \
    assize trust --list\n  \
    assize trust my-evals --revoke")]
pub(crate) struct TrustArgs {
    /// Folder to trust [default: .].
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// List the trusted folders.
    #[arg(long, conflicts_with_all = ["folder", "revoke"])]
    pub(crate) list: bool,
    /// Trust the folder no longer.
    #[arg(long)]
    pub(crate) revoke: bool,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
