//! Errors of commands.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::CapturedStream;

/// The output of a command up to the moment it was stopped.
#[derive(Debug, Clone, Default)]
pub struct PartialProcessOutput {
    /// First bytes of standard output so far.
    pub stdout: CapturedStream,
    /// Last bytes of standard error so far.
    pub stderr: CapturedStream,
    /// Wall-clock time it ran.
    pub duration: Duration,
}

/// A command could not be started or was stopped.
///
/// A program that exits with a failure is not an error.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The argument list is empty, or its first word is.
    #[error("the command is empty: the first word must be a program")]
    Empty,
    /// The user has not allowed programs.
    #[error(
        "`{program}` was not started: programs that files name run only with `--allow-code`, or in a folder that you \
         trust (`assize trust`)"
    )]
    NoConsent {
        /// Program, as it was written.
        program: String,
    },
    /// There is no such program.
    #[error("`{program}` was not found{}", not_found_hint(*.looked_in_path, *.file_exists))]
    NotFound {
        /// Program, as it was written.
        program: String,
        /// True if it has no slash and was looked up in `PATH`.
        looked_in_path: bool,
        /// True if the file exists, which means that the interpreter in its first line is missing.
        file_exists: bool,
    },
    /// The program is not executable.
    #[error("`{program}` can't be run: permission denied (is it an executable file?)")]
    PermissionDenied {
        /// Program, as it was written.
        program: String,
    },
    /// The working directory can't be entered.
    #[error("the working directory {} does not exist or can't be entered: {source}", .path.display())]
    WorkingDirectory {
        /// Requested directory.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// An argument or a variable contains a NUL byte, which can't be passed to a program.
    #[error("{place} holds a NUL byte, which can't be passed to a program")]
    NulByte {
        /// Name of the argument or variable.
        place: String,
    },
    /// The arguments and environment are too large for the system.
    #[error(
        "the arguments of `{program}` are too long for the system ({bytes} bytes with the environment; one \
         argument may often hold 128 KiB at most)"
    )]
    TooLong {
        /// Program, as it was written.
        program: String,
        /// Size of all arguments and variables.
        bytes: usize,
    },
    /// The time limit was reached and the process group was ended.
    #[error("stopped after the time limit of {} s", .limit.as_secs_f64())]
    Timeout {
        /// The limit.
        limit: Duration,
        /// Output until then.
        partial: Box<PartialProcessOutput>,
    },
    /// The caller cancelled the command and the process group was ended.
    #[error("cancelled")]
    Cancelled {
        /// Output until then.
        partial: Box<PartialProcessOutput>,
    },
    /// Another error of the system.
    #[error("could not {doing} `{program}`: {source}")]
    Io {
        /// Operation: "start", "wait for".
        doing: &'static str,
        /// Program, as it was written.
        program: String,
        /// Error of the system.
        source: io::Error,
    },
}

impl ProcessError {
    /// Returns the output before the command was stopped, if it was started.
    pub fn partial(&self) -> Option<&PartialProcessOutput> {
        match self {
            Self::Timeout { partial, .. } | Self::Cancelled { partial } => Some(partial),
            _ => None,
        }
    }
}

fn not_found_hint(looked_in_path: bool, file_exists: bool) -> &'static str {
    match (looked_in_path, file_exists) {
        (_, true) => ": the file is there, but the interpreter named in its first line (#!) is not",
        (true, false) => " in the folders of PATH; install it, or write the path to it",
        (false, false) => ": there is no such file",
    }
}
