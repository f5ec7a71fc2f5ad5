//! Commands that this build does not have. Each says so in place of running.

use crate::failure::CommandFailure;

/// The failure of a command or an option that this build lacks.
pub(crate) fn failure(what: &str) -> CommandFailure {
    format!(
        "this build of Assize has no `{what}`; released programs have it, and so has a build with `--features full` \
         (`cargo install --path crates/cli --locked --features full`)"
    )
    .into()
}

macro_rules! missing {
    ($(#[$cfg:meta] $name:ident, $command:literal;)*) => {$(
        #[$cfg]
        pub(crate) mod $name {
            use assize_engine::ExitStatus;

            use crate::context::CliContext;
            use crate::failure::CommandFailure;

            /// Fails: this build lacks the command.
            pub(crate) fn execute<T>(_: &T, _: &CliContext) -> Result<ExitStatus, CommandFailure> {
                Err(super::failure($command))
            }
        }
    )*};
}

missing! {
    #[cfg(not(feature = "cluster"))] cluster, "worker";
    #[cfg(not(feature = "lsp"))] lsp, "lsp";
    #[cfg(not(feature = "mcp"))] mcp, "mcp";
    #[cfg(not(feature = "serve"))] serve, "serve";
}
