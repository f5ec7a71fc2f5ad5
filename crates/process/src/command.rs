//! The description of a command: what to run, where, with what, and within which limits.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use crate::Environment;

/// The shell that scripts are given to. POSIX puts it here on every system that matters.
#[cfg(unix)]
const SHELL: &str = "/bin/sh";
#[cfg(not(unix))]
const SHELL: &str = "sh";

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A program and its arguments; no shell sees them.
    Argv(Vec<OsString>),
    /// A script for `sh -c`, with the values of `$1`, `$2` and so on.
    Shell {
        /// The script text.
        script: String,
        /// The positional parameters; they are data, the shell never reads them as script.
        parameters: Vec<OsString>,
    },
}

/// The limits a command runs within.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock limit; `None` waits as long as it takes.
    pub timeout: Option<Duration>,
    /// Bytes of standard output that are kept, from the beginning. The rest is read and dropped.
    pub stdout_cap: usize,
    /// Bytes of standard error that are kept, from the end.
    pub stderr_cap: usize,
    /// Time between asking the process group to end (TERM) and ending it (KILL).
    pub grace: Duration,
    /// How long to go on reading after the program has exited while another process holds its pipes open.
    pub linger: Duration,
}

impl Default for Limits {
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

/// A command ready to be run, as often as wanted.
#[derive(Debug, Clone)]
pub struct Command {
    /// What to run.
    pub program: Program,
    /// The working directory; `None` is the directory of this process.
    pub cwd: Option<PathBuf>,
    /// Every variable the command sees.
    pub env: Environment,
    /// Bytes for its standard input; `None` is an empty input.
    pub stdin: Option<Vec<u8>>,
    /// Time and output limits.
    pub limits: Limits,
}

impl Command {
    /// A program with its arguments, run without a shell.
    pub fn argv<A: Into<OsString>>(words: impl IntoIterator<Item = A>, env: Environment) -> Self {
        Self::new(Program::Argv(words.into_iter().map(Into::into).collect()), env)
    }

    /// A script run by `sh -c`. Values belong into `parameters` or through [`quote`](crate::quote), never
    /// straight into the script.
    pub fn shell(script: impl Into<String>, env: Environment) -> Self {
        Self::new(Program::Shell { script: script.into(), parameters: Vec::new() }, env)
    }

    fn new(program: Program, env: Environment) -> Self {
        Self { program, cwd: None, env, stdin: None, limits: Limits::default() }
    }

    /// This command run in `folder`.
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = Some(folder.into());
        self
    }

    /// This command with `bytes` on its standard input.
    pub fn with_stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// This command with a wall-clock limit.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = Some(timeout);
        self
    }

    /// This command with other limits.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The words handed to the system: program first.
    pub(crate) fn words(&self) -> Vec<&OsStr> {
        match &self.program {
            Program::Argv(words) => words.iter().map(OsString::as_os_str).collect(),
            Program::Shell { script, parameters } => [SHELL, "-c", script, "sh"]
                .into_iter()
                .map(OsStr::new)
                .chain(parameters.iter().map(OsString::as_os_str))
                .collect(),
        }
    }
}
