//! `assize serve`: grading over HTTP.

use assize_engine::ExitStatus;
use assize_serve::{ClientKey, GradingServer, GradingServerError, KeyFile};

use crate::args::{KeyAction, ServeArgs, ServeCommand};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::{output, runtime, stop_signal};

pub(crate) fn execute(args: &ServeArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    if let Some(ServeCommand::Key { action }) = &args.command {
        return change_keys(action, context);
    }

    let engine = context.engine(args.quiet);
    let (run, options) = (args.run_options(), args.options());
    let quiet = args.quiet;
    runtime::block_on::<_, CommandFailure>(async move {
        let log = move |message: &str| {
            if !quiet {
                output::print_message(&format!("{message}\n"));
            }
        };
        let server = GradingServer::bind(&engine, run, options, log).await?;

        stop_signal::note_for_second(
            "Samples in flight were not answered; what they cost may have been charged",
        );
        // Watch for signals before printing the address, because a script that reads it may end the server at once.
        let mut stop = Box::pin(stop_signal::interrupted());
        tokio::select! {
            biased;
            () = &mut stop => return Ok(()),
            () = std::future::ready(()) => {}
        }

        if !quiet {
            let who =
                if server.is_open() { "programs on this machine need no key" } else { "clients need a key" };
            let rubrics = match server.rubrics().len() {
                0 => "no named rubrics".to_owned(),
                1 => "1 named rubric".to_owned(),
                count => format!("{count} named rubrics"),
            };
            output::print_message(&format!("{rubrics}; {who}. Ctrl-C ends it.\n"));
        }
        output::print(&format!("{}\n", server.url()));

        server.serve(stop).await?;
        Ok(())
    })?;

    Ok(ExitStatus::Passed)
}

fn change_keys(action: &KeyAction, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let process = &context.process;
    match action {
        KeyAction::New { name, keys, operator, quotas } => {
            let created = process.now().to_string();
            let add = if *operator { KeyFile::add_operator } else { KeyFile::add };
            let key = add(&process.resolve(keys), name, quotas.quotas(), created)?;
            output::print(&format!("{key}\n"));
            output::print_message(&format!(
                "This key is shown once; `{}` stores its hash. Clients send it as `Authorization: Bearer KEY`.\n",
                keys.display()
            ));
        }
        KeyAction::List { keys } => {
            for key in KeyFile::read(&process.resolve(keys))?.keys {
                output::print(&format!("{}\n", describe(&key)));
            }
        }
        KeyAction::Remove { name, keys } => KeyFile::remove(&process.resolve(keys), name)?,
    }

    Ok(ExitStatus::Passed)
}

/// A line about a key, without the key itself.
fn describe(key: &ClientKey) -> String {
    let quotas = key.quotas;
    let limits: Vec<String> = [
        quotas.requests_per_minute.map(|count| format!("{count} requests a minute")),
        quotas.samples_in_flight.map(|count| format!("{count} samples in flight")),
        quotas.budget_usd.map(|usd| format!("${usd}")),
    ]
    .into_iter()
    .flatten()
    .collect();

    let limits = if limits.is_empty() { "no limits".to_owned() } else { limits.join(", ") };
    let role = if key.operator { ", operator" } else { "" };
    format!("{}  {limits}{role}", key.name)
}

impl From<GradingServerError> for CommandFailure {
    fn from(error: GradingServerError) -> Self {
        match error {
            GradingServerError::Engine(error) => error.into(),
            other => other.to_string().into(),
        }
    }
}
