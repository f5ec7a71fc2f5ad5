//! `assize lsp`.

use std::path::PathBuf;

/// Serve an editor.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Editors start this command themselves; docs/editor.md describes how to configure them.\n\n\
    Examples:\n  assize lsp"
)]
pub(crate) struct LspArgs {
    /// Also let files read from this folder; repeatable.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) root: Vec<PathBuf>,
    /// Accepted for editors that pass it; standard input and output are always used.
    #[arg(long, hide = true)]
    pub(crate) stdio: bool,
}
