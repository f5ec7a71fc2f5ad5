//! Result of a command that ran to its end.

use std::fmt;
use std::process::ExitStatus;
use std::time::Duration;

use crate::CapturedStream;

/// Exit status of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessExit {
    /// Exit code; 0 means success by convention.
    Code(i32),
    /// Number of the signal that ended it.
    Signal(i32),
}

impl ProcessExit {
    /// Returns true if the exit code is 0.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }

    pub(crate) fn from_status(status: ExitStatus) -> Self {
        #[cfg(unix)]
        {
            use std::os::unix::process::ExitStatusExt;
            if let Some(signal) = status.signal() {
                return Self::Signal(signal);
            }
        }
        Self::Code(status.code().unwrap_or(-1))
    }
}

impl fmt::Display for ProcessExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(number) => write!(f, "ended by signal {number}{}", signal_name(*number)),
        }
    }
}

/// Returns the names of signals whose numbers POSIX fixes; others differ between systems.
fn signal_name(number: i32) -> &'static str {
    match number {
        1 => " (hang-up)",
        2 => " (interrupt)",
        6 => " (abort)",
        9 => " (kill)",
        14 => " (alarm)",
        15 => " (terminate)",
        _ => "",
    }
}

/// Result of a command that ended within its limits.
#[derive(Debug, Clone)]
pub struct ProcessOutput {
    /// Exit status of the program.
    pub exit: ProcessExit,
    /// First bytes of standard output.
    pub stdout: CapturedStream,
    /// Last bytes of standard error, where programs write the reason of a failure.
    pub stderr: CapturedStream,
    /// Wall-clock time from just before the start until the program exited.
    pub duration: Duration,
    /// True if other processes of its group were still running when the program exited, and were ended.
    pub left_processes: bool,
}
