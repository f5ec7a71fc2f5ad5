//! `assize mcp`.

use assize_engine::ExitStatus;
use assize_mcp::{McpError, McpServer};

use crate::args::McpArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::{runtime, stop_signal};

pub(crate) fn execute(args: &McpArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let server = McpServer::new(context.process.clone(), args.options())?;
    runtime::block_on(server.serve_stdio(stop_signal::interrupted()))?;

    Ok(ExitStatus::Passed)
}

impl From<McpError> for CommandFailure {
    fn from(error: McpError) -> Self {
        error.to_string().into()
    }
}
