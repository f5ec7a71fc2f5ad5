//! `assize lsp`.

use assize_engine::ExitStatus;

use crate::args::LspArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;

pub(crate) fn execute(args: &LspArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let LspArgs { root, stdio: _ } = args;
    assize_lsp::serve(&context.process.load_options(root)).map_err(|error| error.to_string())?;
    Ok(ExitStatus::Passed)
}
