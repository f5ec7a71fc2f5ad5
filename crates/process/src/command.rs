//! Description of a command: program, folder, environment, input and limits.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use crate::Environment;

/// Shell that runs scripts. POSIX installs it at this path on all relevant systems.
#[cfg(unix)]
const SHELL: &str = "/bin/sh";
#[cfg(not(unix))]
const SHELL: &str = "sh";

/// Program of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandProgram {
    /// A program and its arguments, run without a shell.
    Argv(Vec<OsString>),
    /// A script for `sh -c`, with the values of `$1`, `$2` and so on.
    Shell {
        /// The script text.
        script: String,
        /// Positional parameters; they are data and never parsed as script.
        parameters: Vec<OsString>,
    },
}

/// Limits on a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Wall-clock limit; `None` for no limit.
    pub timeout: Option<Duration>,
    /// Bytes of standard output that are kept, from the beginning. The rest is read and discarded.
    pub stdout_cap: usize,
    /// Bytes of standard error that are kept, from the end.
    pub stderr_cap: usize,
    /// Time between the request to end the process group (TERM) and its kill (KILL).
    pub grace: Duration,
    /// How long to continue reading after the program has exited, while another process holds its pipes open.
    pub linger: Duration,
}

impl ProcessLimits {
    /// The default limits, except for the time limit and the limit of standard output.
    pub fn new(timeout: Duration, stdout_cap: usize) -> Self {
        Self { timeout: Some(timeout), stdout_cap, ..Self::default() }
    }
}

impl Default for ProcessLimits {
    /// No time limit, 10 MiB of output, 1 MiB of errors, 2 s of grace, 1 s of lingering.
    fn default() -> Self {
        Self {
            timeout: None,
            stdout_cap: 10 * 1024 * 1024,
            stderr_cap: 1024 * 1024,
            grace: Duration::from_secs(2),
            linger: Duration::from_secs(1),
        }
    }
}

/// A command that can be run any number of times.
#[derive(Debug, Clone)]
pub struct ProcessCommand {
    /// Program to run.
    pub program: CommandProgram,
    /// Working directory; `None` for the directory of this process.
    pub cwd: Option<PathBuf>,
    /// Complete environment of the command.
    pub env: Environment,
    /// Bytes for standard input; `None` for an empty input.
    pub stdin: Option<Vec<u8>>,
    /// Time and output limits.
    pub limits: ProcessLimits,
}

impl ProcessCommand {
    /// Creates a command that runs a program without a shell.
    pub fn argv<A: Into<OsString>>(words: impl IntoIterator<Item = A>, env: Environment) -> Self {
        Self::new(CommandProgram::Argv(words.into_iter().map(Into::into).collect()), env)
    }

    /// Creates a command that runs a script with `sh -c`. Pass values through `parameters` or
    /// [`quote`](crate::quote), never directly in the script.
    pub fn shell(script: impl Into<String>, env: Environment) -> Self {
        Self::new(CommandProgram::Shell { script: script.into(), parameters: Vec::new() }, env)
    }

    /// Creates a command with the usual limits.
    pub fn new(program: CommandProgram, env: Environment) -> Self {
        Self { program, cwd: None, env, stdin: None, limits: ProcessLimits::default() }
    }

    /// Sets the working directory.
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = Some(folder.into());
        self
    }

    /// Sets the bytes for standard input.
    pub fn with_stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Sets the wall-clock limit.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = Some(timeout);
        self
    }

    /// Sets the limits.
    pub fn with_limits(mut self, limits: ProcessLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the argument vector: program first.
    pub(crate) fn words(&self) -> Vec<&OsStr> {
        match &self.program {
            CommandProgram::Argv(words) => words.iter().map(OsString::as_os_str).collect(),
            CommandProgram::Shell { script, parameters } => [SHELL, "-c", script, "sh"]
                .into_iter()
                .map(OsStr::new)
                .chain(parameters.iter().map(OsString::as_os_str))
                .collect(),
        }
    }
}
