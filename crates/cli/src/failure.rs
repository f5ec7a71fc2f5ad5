//! Failures of commands.

use assize_engine::{EngineError, Exit};

/// Failure of a command, with the exit code it leads to.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Text for people.
    pub(crate) message: String,
    /// Exit code of the program.
    pub(crate) exit: Exit,
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self { message: error.message, exit: error.exit }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self { message, exit: Exit::Invalid }
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::from(message.to_owned())
    }
}
