//! `assize view`: stored runs in a browser.

use assize_engine::{ExitStatus, runs};
use assize_view::{ViewOptions, ViewServer};

use super::page_server::{serve_pages, server_options};
use crate::args::ViewArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;

pub(crate) fn execute(args: &ViewArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let named: Result<Vec<_>, _> =
        args.runs.iter().map(|name| runs::find_run(name, &context.process)).collect();
    let options = ViewOptions { runs: named?, ..server_options(&args.server, context)? };
    // Report a folder that is not a run here, not on a page.
    for folder in &options.runs {
        folder.info()?;
    }

    serve_pages(&args.server, context, ViewServer::bind(options, context.process.clone()))?;
    Ok(ExitStatus::Passed)
}
