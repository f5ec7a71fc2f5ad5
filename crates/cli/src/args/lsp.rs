//! `assize lsp`.

use std::path::PathBuf;

/// Serve an editor.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Editors start this by themselves; how to tell them is in docs/editor.md.\n\nExamples:\n  assize lsp"
)]
pub(crate) struct LspArgs {
    /// Folder that eval files may read from, beside their own repository; may be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Taken for editors that add it; standard input and output are used in any case.
    #[arg(long, hide = true)]
    pub(crate) stdio: bool,
}
