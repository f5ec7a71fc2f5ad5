//! The environment of the process, read once: variables, working folder, terminal, clock.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::render::JsonDiagnostic;
use assize_engine::{ProcessContext, is_secret_name};
use assize_files::MAX_FILE_BYTES;
use assize_llm::FILE_VARIABLES;
use assize_report::ReportStyle;
use clap::ValueEnum;
use parking_lot::Mutex;

use crate::failure::CommandFailure;

/// Start of the year 9999, so that durations can be added to the time without overflow.
const LATEST_TIME: jiff::Timestamp = jiff::Timestamp::constant(253_370_764_800, 0);

/// Shortest secret that is redacted; shorter values occur in other texts by chance.
const SHORTEST_SECRET: usize = 8;

/// Variable that allows files to run programs, if it is 1.
const ALLOW_CODE: &str = "ASSIZE_ALLOW_CODE";

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

/// The process of a command, and the style of its output. No other code in the program reads these from the operating
/// system.
#[derive(Clone)]
pub(crate) struct CliContext {
    /// Environment, folders, clock and stop signal.
    pub(crate) process: ProcessContext,
    /// Words of the command line, without the program name.
    pub(crate) command_line: Vec<String>,
    /// Style of results on stdout.
    pub(crate) stdout: ReportStyle,
    /// Style of messages on stderr.
    pub(crate) stderr: ReportStyle,
    /// True if progress may redraw its line.
    pub(crate) live_progress: bool,
    /// Diagnostics printed so far, for the JSON document of a failure.
    pub(crate) printed: Arc<Mutex<Vec<JsonDiagnostic>>>,
}

impl CliContext {
    /// Reads the environment. Variables from `env_file` do not override variables that are set. Without
    /// `env_file`, reads `.env` in the working folder, or else in the folder of the project.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
    pub(crate) fn read(
        color: ColorChoice,
        env_file: Option<&Path>,
        project: Option<&Path>,
    ) -> Result<Self, CommandFailure> {
        let working_folder =
            std::env::current_dir().map_err(|error| format!("can't find the working folder: {error}"))?;
        // Values that are not Unicode can't be sent to a server or written into a text; only child processes
        // inherit them.
        let mut variables: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        // Only this function may set it.
        variables.remove(FILE_VARIABLES);
        // A file of variables may be part of a project, which can't give itself consent.
        let allows_programs = variables.get(ALLOW_CODE).is_some_and(|value| value == "1");
        let trust_file = data_folder(&variables).map(|folder| folder.join("assize/trusted-folders.json"));
        let found = [Some(working_folder.as_path()), project].into_iter().flatten();
        let found = found.map(|folder| folder.join(".env")).find(|path| path.is_file());
        let file_variables = read_env_file(env_file, found.as_deref(), &mut variables)?;

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
                .map_or(ReportStyle::UNLIMITED, |width: usize| width.clamp(40, 140));
            ReportStyle { color, width, unicode: !dumb }
        };

        let stdout = style(&console::Term::stdout(), std::io::stdout().is_terminal());
        let stderr = style(&console::Term::stderr(), std::io::stderr().is_terminal());
        let ci = variables.get("CI").is_some_and(|value| !value.is_empty() && value != "false");
        let dumb = variables.get("TERM").is_none_or(|value| value == "dumb");
        let live_progress = std::io::stderr().is_terminal() && !ci && !dumb;
        let process = ProcessContext::new(working_folder, std::env::temp_dir(), now)
            .with_paths_as_written()
            .with_variables(variables)
            .with_file_variables(&file_variables)
            .with_consent(allows_programs, trust_file);

        let words = std::env::args_os().skip(1);
        let command_line = words.map(|word| word.to_string_lossy().into_owned()).collect();

        Ok(Self { process, command_line, stdout, stderr, live_progress, printed: Arc::default() })
    }

    /// A variable of the environment or of the `.env` file.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.process.variable(name)
    }
}

/// The folder for the user's data, by the convention of the system.
fn data_folder(variables: &BTreeMap<String, String>) -> Option<PathBuf> {
    let absolute = |name: &str| variables.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        return absolute("LOCALAPPDATA");
    }
    let of_home = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
    absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(of_home)))
}

/// Width of a terminal, for output before the command line is parsed; `None` if it is not a terminal.
#[expect(clippy::disallowed_methods, reason = "the environment is not read yet")]
pub(crate) fn terminal_columns(terminal: &console::Term) -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok().and_then(|value| value.parse().ok());
    columns.or_else(|| terminal.size_checked().map(|(_, width)| width.into()))
}

/// The current time. A clock outside the supported range counts as the nearest valid time.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
fn now() -> jiff::Timestamp {
    nearest_timestamp(std::time::SystemTime::now())
}

fn nearest_timestamp(time: std::time::SystemTime) -> jiff::Timestamp {
    let nearest = if time < std::time::UNIX_EPOCH { jiff::Timestamp::MIN } else { LATEST_TIME };
    jiff::Timestamp::try_from(time).unwrap_or(nearest).min(LATEST_TIME)
}

/// Reads a file of variables. Returns the names of untrusted variables: variables from a file that the program found,
/// and that the user did not name.
fn read_env_file(
    env_file: Option<&Path>,
    found_file: Option<&Path>,
    variables: &mut BTreeMap<String, String>,
) -> Result<Vec<String>, CommandFailure> {
    let Some(path) = env_file.or(found_file) else { return Ok(Vec::new()) };

    let failed = |error: &dyn std::fmt::Display| format!("can't read `{}`: {error}", path.display());
    let bytes = assize_files::read_bytes(path, MAX_FILE_BYTES).map_err(|error| failed(&error))?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let text = String::from_utf8_lossy(bytes);
    let environment = variables.clone();
    let mut found = Vec::new();
    for (index, entry) in dotenvy::from_read_iter(bytes).enumerate() {
        // The parser's own message would quote the line, which may contain a key.
        let (name, value) = entry.map_err(|_| {
            format!("`{}`: entry {} is not of the form NAME=value", path.display(), index + 1)
        })?;
        if variables.get(&name).is_some_and(|value| !value.trim().is_empty()) {
            continue;
        }

        // A file can refer to other variables like a shell script, so it may contain secrets indirectly.
        let taken = environment.iter().find(|(name, secret)| {
            is_secret_name(name)
                && secret.len() >= SHORTEST_SECRET
                && value.contains(*secret)
                && !text.contains(*secret)
        });
        match taken {
            Some((secret, whole)) if env_file.is_none() && value != *whole => {
                return Err(format!(
                    "`{}`: {name} contains the value of {secret}, a secret of the environment; to allow it, name the file with --env-file",
                    path.display()
                )
                .into());
            }
            Some(_) => {}
            None => found.push(name.clone()),
        }

        variables.insert(name, value);
    }

    Ok(if env_file.is_none() { found } else { Vec::new() })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn clocks_that_stand_beyond_the_calendar_stand_at_its_end() {
        for seconds in [253_402_300_800, 400_000_000_000, 4_000_000_000_000_000] {
            let now = nearest_timestamp(UNIX_EPOCH + Duration::from_secs(seconds));
            assert_eq!(now, LATEST_TIME);
            assert!(
                now.checked_add(jiff::SignedDuration::from_hours(24 * 300)).is_ok(),
                "there is room behind it"
            );
        }

        let before_1970 = nearest_timestamp(UNIX_EPOCH - Duration::from_hours(24 * 365));
        assert_eq!(before_1970.to_string(), "1969-01-01T00:00:00Z");
        assert_eq!(nearest_timestamp(UNIX_EPOCH), jiff::Timestamp::UNIX_EPOCH);
    }
}
