//! Why there is no answer to judge.

use std::time::Duration;

use assize_llm::{AskError, ErrorKind};
use assize_process::ProcessError;
use assize_rubric::{Cost, Tokens};

/// How much of a command's stderr an error keeps, in bytes from the end.
pub(crate) const STDERR_TAIL: usize = 2000;

/// A target that gave no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct TargetError {
    /// What went wrong, coarsely.
    pub kind: TargetErrorKind,
    /// What went wrong and what may be done about it, for a person.
    pub message: Box<str>,
    /// The end of what a command wrote to stderr; at most 2000 bytes.
    pub stderr: Option<Box<str>>,
    /// How often the target was asked.
    pub attempts: u32,
    /// Tokens spent all the same.
    pub tokens: Tokens,
    /// Cost of those attempts.
    pub cost: Cost,
    /// Wall-clock time spent, where it was measured.
    pub duration: Option<Duration>,
}

impl TargetError {
    /// An error of this kind after one attempt, with nothing else known.
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
}

/// The coarse reasons for which there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TargetErrorKind {
    /// The time limit was reached.
    Timeout,
    /// The connection could not be made or broke.
    Connection,
    /// The command could not be started.
    NotStarted,
    /// The command ended with a failure: exit code not 0, or a signal.
    Failed,
    /// The target ended well but there is no answer: the output file was never written, or the model wrote
    /// nothing visible before its limit.
    NoAnswer,
    /// The answer is larger than the limit, so only a part of it could be judged.
    TooLarge,
    /// The answer claims a form that it does not keep.
    Malformed,
    /// The input can't be handed to this target.
    BadInput,
    /// The target was found not to be there before it was asked.
    Unhealthy,
    /// The recording holds no answer to this.
    NotRecorded,
    /// Given up by the caller.
    Cancelled,
    /// A temporary file could not be written or read.
    Io,
    /// The model's server failed or refused; its timeouts and broken connections are kinds of their own.
    Model(ErrorKind),
}

impl TargetErrorKind {
    /// Whether asking again as it is may help.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::Timeout | Self::Connection)
    }

    /// The stable name used in stored results.
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
            Self::Model(kind) => kind.as_str(),
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
                ". Hand the prompt over in a file: write {PROMPT_FILE} instead of {PROMPT}"
            }
            _ => "",
        };
        let stderr = error.partial().map(|partial| partial.stderr.tail(STDERR_TAIL).into_owned());
        Self {
            stderr: stderr.filter(|text| !text.is_empty()).map(String::into_boxed_str),
            duration: error.partial().map(|partial| partial.duration),
            ..Self::new(kind, format!("the command gave no answer: {error}{advice}"))
        }
    }
}
