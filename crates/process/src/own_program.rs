//! Programs that are started without the user's consent, because no file names them.

use std::ffi::OsString;

use crate::{Environment, ProcessCommand, ProcessError, ProcessLimits, ProcessOutput, ProgramConsent};

/// A program that is started for our own purposes. A file can't choose it, only some of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnProgram {
    /// Makes workspaces from repositories.
    Git,
}

impl OwnProgram {
    const fn name(self) -> &'static str {
        match self {
            Self::Git => "git",
        }
    }

    /// Runs the program to its end or to its limits, as [`ProcessCommand::run`] does.
    ///
    /// # Errors
    /// If it can't be started, or is stopped.
    pub async fn run(
        self,
        arguments: impl IntoIterator<Item = OsString>,
        env: Environment,
        limits: ProcessLimits,
    ) -> Result<ProcessOutput, ProcessError> {
        let words = std::iter::once(OsString::from(self.name())).chain(arguments);
        ProcessCommand::argv(words, env).with_limits(limits).run(Some(ProgramConsent::of_user())).await
    }
}
