//! Failures of commands.

use assize_engine::{EngineError, ExitStatus};
use assize_store::StoreError;

/// Failure of a command, with its exit code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CommandFailure {
    /// Message for the user.
    pub(crate) message: String,
    /// Exit code of the program.
    pub(crate) exit: ExitStatus,
}

impl From<EngineError> for CommandFailure {
    fn from(error: EngineError) -> Self {
        Self { message: error.to_string(), exit: error.exit }
    }
}

impl From<StoreError> for CommandFailure {
    fn from(error: StoreError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<String> for CommandFailure {
    fn from(message: String) -> Self {
        Self { message, exit: ExitStatus::Invalid }
    }
}

impl From<&str> for CommandFailure {
    fn from(message: &str) -> Self {
        Self::from(message.to_owned())
    }
}
