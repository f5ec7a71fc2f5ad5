//! Errors of targets.

use std::time::Duration;

use assize_llm::{AskError, ErrorKind};
use assize_process::ProcessError;
use assize_rubric::{Cost, Tokens};

use crate::TargetAnswer;

/// Number of stderr bytes that an error keeps, from the end.
pub(crate) const STDERR_TAIL: usize = 2000;

/// Why a target gave no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct TargetError {
    /// Kind of failure.
    pub kind: TargetErrorKind,
    /// Message for a person: the cause, and a possible fix.
    pub message: Box<str>,
    /// End of a command's stderr; at most 2000 bytes.
    pub stderr: Option<Box<str>>,
    /// Number of attempts.
    pub attempts: u32,
    /// Tokens spent on the attempts.
    pub tokens: Tokens,
    /// Cost of the attempts.
    pub cost: Cost,
    /// Wall-clock time of the attempts, if it was measured.
    pub duration: Option<Duration>,
}

impl TargetError {
    /// Creates an error after one attempt, with no further details.
    pub fn new(kind: TargetErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into().into_boxed_str(),
            stderr: None,
            attempts: 1,
            tokens: Tokens::default(),
            cost: Cost::UNKNOWN,
            duration: None,
        }
    }

    /// Creates an error from before the first request to the target: it has no attempt.
    pub fn without_attempt(kind: TargetErrorKind, message: impl Into<String>) -> Self {
        Self { attempts: 0, ..Self::new(kind, message) }
    }

    /// The error for an answer without anything to grade. It has the cost of the answer.
    pub fn blank_answer(answer: &TargetAnswer) -> Self {
        Self {
            attempts: answer.attempts,
            tokens: answer.tokens,
            cost: answer.cost.unwrap_or(Cost::UNKNOWN),
            duration: Some(answer.duration),
            ..Self::new(TargetErrorKind::NoAnswer, "the target gave an empty answer")
        }
    }
}

/// Kinds of failures of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TargetErrorKind {
    /// The time limit was reached.
    Timeout,
    /// The connection failed or broke.
    Connection,
    /// The command could not be started.
    NotStarted,
    /// The command failed: exit code other than 0, or a signal.
    Failed,
    /// The target succeeded, but there is no complete answer: it is empty, was cut off, withheld or refused, or the
    /// output file was not written.
    NoAnswer,
    /// The answer is larger than the limit.
    TooLarge,
    /// The answer is not in the form that it claims.
    Malformed,
    /// The input can't be passed to this target.
    BadInput,
    /// The health check of the target failed.
    Unhealthy,
    /// The recording has no answer for this input.
    NotRecorded,
    /// The caller cancelled the request.
    Cancelled,
    /// A temporary file could not be written or read.
    Io,
    /// The model server failed or refused. Its timeouts and broken connections are separate kinds.
    Model(ErrorKind),
}

impl TargetErrorKind {
    /// Returns true if an unchanged retry may help.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::Timeout | Self::Connection)
    }

    /// Returns the stable name used in stored results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::NotStarted => "not_started",
            Self::Failed => "failed",
            Self::NoAnswer => "no_answer",
            Self::TooLarge => "too_large",
            Self::Malformed => "malformed",
            Self::BadInput => "bad_input",
            Self::Unhealthy => "unhealthy",
            Self::NotRecorded => "not_recorded",
            Self::Cancelled => "cancelled",
            Self::Io => "io",
            Self::Model(kind) => kind.name(),
        }
    }
}

impl From<AskError> for TargetError {
    fn from(error: AskError) -> Self {
        let kind = match error.kind {
            ErrorKind::Timeout => TargetErrorKind::Timeout,
            ErrorKind::Connection => TargetErrorKind::Connection,
            ErrorKind::Cancelled => TargetErrorKind::Cancelled,
            other => TargetErrorKind::Model(other),
        };

        let usage = error.total_usage();
        Self {
            attempts: error.attempts,
            tokens: Tokens { input: usage.input, cached: usage.cached, output: usage.output },
            ..Self::new(kind, error.to_string())
        }
    }
}

impl From<ProcessError> for TargetError {
    fn from(error: ProcessError) -> Self {
        let kind = match &error {
            ProcessError::Timeout { .. } => TargetErrorKind::Timeout,
            ProcessError::Cancelled { .. } => TargetErrorKind::Cancelled,
            ProcessError::NulByte { .. } | ProcessError::TooLong { .. } => TargetErrorKind::BadInput,
            _ => TargetErrorKind::NotStarted,
        };

        let advice = match &error {
            ProcessError::TooLong { .. } => {
                ". Pass the prompt in a file: use {PROMPT_FILE} instead of {PROMPT}"
            }
            _ => "",
        };

        let stderr = error.partial().map(|partial| partial.stderr.tail(STDERR_TAIL).into_owned());
        Self {
            stderr: stderr.filter(|text| !text.is_empty()).map(String::into_boxed_str),
            duration: error.partial().map(|partial| partial.duration),
            ..Self::new(kind, format!("the command returned no answer: {error}{advice}"))
        }
    }
}
