//! Errors of the engine, each with a kind, a message and an exit code.

use assize_analysis::ScorecardTreeError;
use assize_model::CaseLoadError;
use assize_run::{ItemError, JudgeError};
use assize_store::StoreError;

use assize_analysis::ExitStatus;

/// Category of an [`EngineError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EngineErrorKind {
    /// Options that contradict each other, have no effect, or name a missing file, run or target.
    Usage,
    /// Input files with problems; the diagnostics were reported as events.
    InvalidFile,
    /// A run that can't be carried out as planned: a missing target, a judge that can't decide, a denied warning.
    Unrunnable,
    /// A file or a run folder that can't be read.
    Unreadable,
    /// A file, a run folder or the reply cache that can't be written.
    Storage,
    /// A budget that can't be kept, or that is used up.
    Budget,
    /// A failure of the process itself.
    Internal,
}

/// Failure of an operation of the engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", option_hint.as_ref().map_or_else(String::new, |hint| format!(", or {hint}")))]
pub struct EngineError {
    /// Category.
    pub kind: EngineErrorKind,
    /// The problem and how to fix it.
    pub message: String,
    /// Hint about an option of the command line: a clause that follows the message after "or". Callers without
    /// options omit it.
    pub option_hint: Option<String>,
    /// Exit code of a program that ends because of this error.
    pub exit: ExitStatus,
}

impl EngineError {
    /// Creates an error of this kind with the exit code of invalid input.
    pub fn new(kind: EngineErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), option_hint: None, exit: ExitStatus::Invalid }
    }

    /// Adds a hint about an option of the command line.
    pub(crate) fn with_option_hint(self, hint: impl Into<String>) -> Self {
        Self { option_hint: Some(hint.into()), ..self }
    }

    /// Creates an error about options.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(EngineErrorKind::Usage, message)
    }

    /// An error about files whose diagnostics were reported.
    pub(crate) fn invalid_file(message: impl Into<String>) -> Self {
        Self::new(EngineErrorKind::InvalidFile, message)
    }

    /// Error about a run that can't be carried out.
    pub(crate) fn unrunnable(message: impl Into<String>) -> Self {
        Self::new(EngineErrorKind::Unrunnable, message)
    }

    /// Error of the program itself, with the position in its source. No input should lead here.
    #[track_caller]
    pub fn internal(message: impl std::fmt::Display) -> Self {
        let at = std::panic::Location::caller();
        let text = format!("internal error, please report it: {message} ({}:{})", at.file(), at.line());
        Self::new(EngineErrorKind::Internal, text)
    }

    /// Error about a file that can't be read.
    pub(crate) fn unreadable(message: impl Into<String>) -> Self {
        Self::new(EngineErrorKind::Unreadable, message)
    }

    /// Error about something that can't be written.
    pub(crate) fn storage(message: impl Into<String>) -> Self {
        Self::new(EngineErrorKind::Storage, message)
    }

    /// Error about a budget.
    pub(crate) fn budget(message: impl Into<String>) -> Self {
        Self::new(EngineErrorKind::Budget, message)
    }
}

impl From<ScorecardTreeError> for EngineError {
    fn from(error: ScorecardTreeError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        let kind = match &error {
            StoreError::Io { action, .. } if *action == "read" || *action == "open" => {
                EngineErrorKind::Unreadable
            }
            StoreError::Damaged { .. }
            | StoreError::RowsLost { .. }
            | StoreError::NotARun { .. }
            | StoreError::Version { .. } => EngineErrorKind::Unreadable,
            StoreError::Occupied { .. } => EngineErrorKind::Usage,
            _ => EngineErrorKind::Storage,
        };

        Self::new(kind, error.to_string())
    }
}

impl From<CaseLoadError> for EngineError {
    fn from(error: CaseLoadError) -> Self {
        Self::unreadable(error.to_string())
    }
}

impl From<ItemError> for EngineError {
    fn from(error: ItemError) -> Self {
        Self::unreadable(error.to_string())
    }
}

impl From<JudgeError> for EngineError {
    fn from(error: JudgeError) -> Self {
        Self::unrunnable(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn store_errors_keep_their_kind_and_their_exit_code() {
        let path = PathBuf::from("runs/x");
        let io =
            |action| StoreError::Io { action, path: path.clone(), source: std::io::Error::other("full") };
        let kind = |error: StoreError| EngineError::from(error).kind;

        assert_eq!(kind(StoreError::NotARun { path: path.clone() }), EngineErrorKind::Unreadable);
        assert_eq!(kind(StoreError::Occupied { path: path.clone() }), EngineErrorKind::Usage);
        assert_eq!(kind(io("read")), EngineErrorKind::Unreadable);
        assert_eq!(kind(io("write")), EngineErrorKind::Storage);
        assert_eq!(EngineError::from(io("write")).exit.code(), 2);
    }
}
