//! Why a command gave no result.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::Captured;

/// What a command had done when it was stopped.
#[derive(Debug, Clone, Default)]
pub struct Partial {
    /// The first bytes of its standard output so far.
    pub stdout: Captured,
    /// The last bytes of its standard error so far.
    pub stderr: Captured,
    /// Wall-clock time it ran.
    pub duration: Duration,
}

/// A command could not be started or was stopped.
///
/// A program that ran and exited with a failure is not among these.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The argument list is empty or its first word is.
    #[error("the command is empty: the first word must be a program")]
    Empty,
    /// No such program.
    #[error("`{program}` was not found{}", hint(*.looked_in_path, *.file_exists))]
    NotFound {
        /// The program as it was written.
        program: String,
        /// It has no slash, so it was looked for in the folders of `PATH`.
        looked_in_path: bool,
        /// The file is there, so the interpreter its first line names is what is missing.
        file_exists: bool,
    },
    /// The program may not be run.
    #[error("`{program}` may not be run: permission denied (is it a file with the executable bit set?)")]
    PermissionDenied {
        /// The program as it was written.
        program: String,
    },
    /// The working directory is not a directory that can be entered.
    #[error("the working directory {} is not there or can't be entered: {source}", .path.display())]
    WorkingDirectory {
        /// The directory asked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An argument or a variable holds a NUL byte, which no program can receive there.
    #[error("{place} holds a NUL byte, which can't be passed to a program")]
    NulByte {
        /// Which argument or variable.
        place: String,
    },
    /// The system refused the arguments and environment for their size.
    #[error(
        "the arguments of `{program}` are too long for the system ({bytes} bytes with the environment; one \
         argument may often hold 128 KiB at most)"
    )]
    TooLong {
        /// The program as it was written.
        program: String,
        /// Size of all arguments and variables.
        bytes: usize,
    },
    /// The time limit was reached; the process group was ended.
    #[error("stopped after the time limit of {} s", .limit.as_secs_f64())]
    Timeout {
        /// The limit.
        limit: Duration,
        /// What it had written.
        partial: Box<Partial>,
    },
    /// The caller cancelled the command; the process group was ended.
    #[error("cancelled")]
    Cancelled {
        /// What it had written.
        partial: Box<Partial>,
    },
    /// The system failed in another way.
    #[error("could not {doing} `{program}`: {source}")]
    Io {
        /// What was being done: "start", "wait for".
        doing: &'static str,
        /// The program as it was written.
        program: String,
        /// What the system said.
        source: io::Error,
    },
}

impl ProcessError {
    /// What the command had written before it was stopped, where it ran at all.
    pub fn partial(&self) -> Option<&Partial> {
        match self {
            Self::Timeout { partial, .. } | Self::Cancelled { partial } => Some(partial),
            _ => None,
        }
    }
}

fn hint(looked_in_path: bool, file_exists: bool) -> &'static str {
    match (looked_in_path, file_exists) {
        (_, true) => ": the file is there, but the interpreter named in its first line (#!) is not",
        (true, false) => " in the folders of PATH; install it, or write the path to it",
        (false, false) => ": there is no such file",
    }
}
