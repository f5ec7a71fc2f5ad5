//! `assize view`: stored runs in a browser.

use std::process::{Command, Stdio};

use assize_engine::{ExitStatus, runs};
use assize_view::{ViewError, ViewOptions, ViewServer};

use crate::args::ViewArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::{output, runtime, stop_signal};

/// Variable with the token, which would be seen by others on the command line.
const TOKEN: &str = "ASSIZE_VIEW_TOKEN";

pub(crate) fn execute(args: &ViewArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let named: Result<Vec<_>, _> =
        args.runs.iter().map(|name| runs::find_run(name, &context.process)).collect();
    let options = ViewOptions {
        host: args.host,
        port: args.port,
        token: context.variable(TOKEN).filter(|token| !token.is_empty()),
        names: args.name.clone(),
        runs: named?,
    };
    // What is no run is told here rather than on a page.
    for folder in &options.runs {
        folder.info()?;
    }

    let is_local = args.host.is_loopback();
    let process = context.process.clone();
    runtime::block_on::<_, CommandFailure>(async move {
        let server = ViewServer::bind(options, process).await?;
        let url = server.url();

        // Signals are watched before the address is known: whoever reads it may end the server at once.
        let mut stop = Box::pin(stop_signal::interrupted());
        tokio::select! {
            biased;
            () = &mut stop => return Ok(()),
            () = std::future::ready(()) => {}
        }

        if server.has_moved() {
            output::print_message(&format!("port taken; listening on {}\n", server.address().port()));
        }
        if !is_local {
            output::print_warning(
                "other machines can reach this server, and pages travel unencrypted: put a proxy with TLS before it",
                context,
            );
        }
        output::print(&format!("{url}\n"));
        output::print_message("Ctrl-C ends it.\n");

        if !args.no_open && has_screen(context) && !open_browser(&url) {
            output::print_message("no browser could be opened; open the address above\n");
        }

        server.serve(stop).await?;
        Ok(())
    })?;

    Ok(ExitStatus::Passed)
}

impl From<ViewError> for CommandFailure {
    fn from(error: ViewError) -> Self {
        error.to_string().into()
    }
}

/// Returns false where no browser has a screen to open on.
fn has_screen(context: &CliContext) -> bool {
    let is_set = |name: &str| context.variable(name).is_some_and(|value| !value.is_empty());
    !cfg!(all(unix, not(target_os = "macos"))) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

/// Opens an address in the user's browser. Returns false if nothing could be started.
fn open_browser(url: &str) -> bool {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };

    let started = Command::new(program)
        .args(arguments)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.is_ok()
}
