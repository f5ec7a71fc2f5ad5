//! Arguments of commands that this build does not have.

use std::ffi::OsString;

/// Accepts any words, because the command only says that this build lacks it.
#[derive(Debug, clap::Args)]
#[command(
    disable_help_flag = true,
    after_help = "This build of Assize does not have the command. Build it with `--features full`, as released programs are."
)]
pub(crate) struct MissingArgs {
    /// Parsed and ignored.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    words: Vec<OsString>,
}
