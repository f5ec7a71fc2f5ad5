//! `assize completions` and `assize man`.

use std::path::PathBuf;

use clap_complete::Shell;

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize completions bash > ~/.local/share/bash-completion/completions/assize\n  \
    assize completions zsh > ~/.zfunc/_assize\n  \
    assize completions fish > ~/.config/fish/completions/assize.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell.
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// Print a man page, or write all of them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize man | man -l -\n  \
    assize man scorecard list | man -l -\n  \
    assize man --out ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Command whose page to print; none for `assize` itself.
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands to this folder.
    #[arg(long, short = 'o', value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
