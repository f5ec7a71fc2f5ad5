//! A server of pages: its options, its address, the browser, and the end of it.

use std::path::Path;
use std::process::{Command, Stdio};

use assize_view::{TlsIdentity, ViewError, ViewOptions, ViewServer};

use crate::args::ServerArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::{output, runtime, stop_signal};

/// Variable with the token. On the command line, other users could see it.
const TOKEN_VARIABLE: &str = "ASSIZE_VIEW_TOKEN";

/// Options of a server, without runs.
pub(super) fn server_options(args: &ServerArgs, context: &CliContext) -> Result<ViewOptions, CommandFailure> {
    let read = |path: &Path| {
        assize_files::read_bytes(path, assize_files::MAX_FILE_BYTES)
            .map_err(|error| CommandFailure::from(format!("{}: {error}", path.display())))
    };
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => {
            Some(TlsIdentity { certificate: read(certificate)?, key: read(key)? })
        }
        _ => None,
    };

    Ok(ViewOptions {
        host: args.host,
        port: args.port,
        token: context.variable(TOKEN_VARIABLE).filter(|token| !token.is_empty()),
        names: args.name.clone(),
        tls,
        behind_proxy: args.behind_proxy,
        runs: Vec::new(),
    })
}

/// Prints the addresses of a server, opens the address if there is only one, and serves until Ctrl-C.
pub(super) fn serve_pages(
    args: &ServerArgs,
    context: &CliContext,
    bind: impl Future<Output = Result<ViewServer, ViewError>>,
) -> Result<(), CommandFailure> {
    runtime::block_on::<_, CommandFailure>(async move {
        let server = bind.await?;

        stop_signal::note_for_second("Saved labels and decisions are kept");
        // Watch for signals before printing the address, because a script that reads it may end the server at once.
        let mut stop = Box::pin(stop_signal::interrupted());
        tokio::select! {
            biased;
            () = &mut stop => return Ok(()),
            () = std::future::ready(()) => {}
        }

        if server.has_moved() {
            output::print_message(&format!("port taken; listening on {}\n", server.address().port()));
        }

        let reviews = server.review_urls();
        let urls = match reviews.as_slice() {
            [] => vec![server.url()],
            [(_, url)] => vec![url.clone()],
            several => {
                let width = several.iter().map(|(who, _)| who.chars().count()).max().unwrap_or_default();
                let line = |(who, url): &(String, String)| {
                    format!("{:<width$}  {url}", assize_report::escape_unsafe(who))
                };
                several.iter().map(line).collect()
            }
        };
        for url in &urls {
            output::print(&format!("{url}\n"));
        }
        output::print_message("Ctrl-C ends it.\n");

        if let [url] = urls.as_slice()
            && !args.no_open
            && has_screen(context)
            && !open_browser(url)
        {
            output::print_message("no browser could be opened; open the address above\n");
        }

        server.serve(stop).await?;
        Ok(())
    })
}

impl From<ViewError> for CommandFailure {
    fn from(error: ViewError) -> Self {
        error.to_string().into()
    }
}

/// Returns false if there is no screen for a browser.
fn has_screen(context: &CliContext) -> bool {
    let is_set = |name: &str| context.variable(name).is_some_and(|value| !value.is_empty());
    !cfg!(all(unix, not(target_os = "macos"))) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

/// Opens an address in the user's browser. Returns false if no browser could be started.
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
