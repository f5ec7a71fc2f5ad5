//! `assize lsp`.

use assize_engine::Exit;

use crate::args::LspArgs;
use crate::context::Context;
use crate::failure::Failure;

pub(crate) fn execute(args: &LspArgs, context: &Context) -> Result<Exit, Failure> {
    let LspArgs { root, stdio: _ } = args;
    assize_lsp::serve(&context.process.load_options(root)).map_err(|error| error.to_string())?;
    Ok(Exit::Passed)
}
