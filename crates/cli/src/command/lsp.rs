//! `assize lsp`.

use super::eval::load_options;
use crate::args::LspArgs;
use crate::context::Context;
use crate::exit::Exit;

pub(crate) fn execute(args: &LspArgs, context: &Context) -> Result<Exit, String> {
    let LspArgs { root, stdio: _ } = args;
    assize_lsp::serve(&load_options(root, context)).map_err(|error| error.to_string())?;
    Ok(Exit::Passed)
}
