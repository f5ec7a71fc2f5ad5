//! The world outside, read once: environment, working folder, terminal, time.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;

use assize_engine::ProcessContext;
use assize_report::ReportStyle;
use clap::ValueEnum;

/// When to colour output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Process of a command, and the looks of its output. Nothing else in the program asks the operating system for them.
#[derive(Clone)]
pub(crate) struct CliContext {
    /// Environment, folders, clock and stop signal.
    pub(crate) process: ProcessContext,
    /// Style of results on stdout.
    pub(crate) stdout: ReportStyle,
    /// Style of messages on stderr.
    pub(crate) stderr: ReportStyle,
    /// True if progress may redraw its line.
    pub(crate) live_progress: bool,
}

impl CliContext {
    /// Reads the surroundings. `env_file` is read into the variables without overriding any that is
    /// set; without it, `.env` in the working folder is, if there is one.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
    pub(crate) fn read(color: ColorChoice, env_file: Option<&Path>) -> Result<Self, String> {
        let working_folder =
            std::env::current_dir().map_err(|error| format!("can't tell the working folder: {error}"))?;
        // Values that are not Unicode can't be sent to a server or written into a text; they stay
        // with the processes that inherit them.
        let mut variables: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        read_env_file(&working_folder, env_file, &mut variables)?;

        let style = |term: &console::Term, is_terminal: bool| {
            let ci = variables.get("CI").is_some_and(|value| !value.is_empty() && value != "false");
            let no_color = variables.get("NO_COLOR").is_some_and(|value| !value.is_empty());
            let forced = variables
                .get("FORCE_COLOR")
                .or_else(|| variables.get("CLICOLOR_FORCE"))
                .is_some_and(|value| !value.is_empty() && value != "0");
            let dumb = variables.get("TERM").is_some_and(|value| value == "dumb");
            let color = match color {
                ColorChoice::Always => true,
                ColorChoice::Never => false,
                ColorChoice::Auto => !no_color && (forced || (is_terminal && !ci && !dumb)),
            };

            let width = variables
                .get("COLUMNS")
                .and_then(|value| value.parse().ok())
                .or_else(|| is_terminal.then(|| usize::from(term.size().1)))
                .unwrap_or(100);
            ReportStyle { color, width: width.clamp(40, 140), unicode: !dumb }
        };

        let stdout = style(&console::Term::stdout(), std::io::stdout().is_terminal());
        let stderr = style(&console::Term::stderr(), std::io::stderr().is_terminal());
        let ci = variables.get("CI").is_some_and(|value| !value.is_empty() && value != "false");
        let dumb = variables.get("TERM").is_none_or(|value| value == "dumb");
        let live_progress = std::io::stderr().is_terminal() && !ci && !dumb;
        let process = ProcessContext::new(working_folder, std::env::temp_dir(), jiff::Timestamp::now)
            .with_variables(variables)
            .with_stop_signal(|| Box::pin(interrupted()));

        Ok(Self { process, stdout, stderr, live_progress })
    }

    /// A variable of the environment or the `.env` file.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.process.variable(name)
    }
}

/// Waits for an interrupt or a request to terminate.
async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};

        let Ok(mut terminate) = signal(SignalKind::terminate()) else { return };
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    let _ = tokio::signal::ctrl_c().await;
}

fn read_env_file(
    working_folder: &Path,
    env_file: Option<&Path>,
    variables: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    let path = match env_file {
        Some(path) => path.to_path_buf(),
        None => working_folder.join(".env"),
    };
    if env_file.is_none() && !path.is_file() {
        return Ok(());
    }

    let entries = dotenvy::from_path_iter(&path)
        .map_err(|error| format!("can't read `{}`: {error}", path.display()))?;
    for (index, entry) in entries.enumerate() {
        // The parser's own message would quote the line, which may hold a key.
        let (name, value) = entry.map_err(|_| {
            format!("`{}`: entry {} is not of the form NAME=value", path.display(), index + 1)
        })?;
        variables.entry(name).or_insert(value);
    }

    Ok(())
}
