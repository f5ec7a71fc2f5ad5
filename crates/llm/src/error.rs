//! Errors of calls: one type, whose kind determines how callers and users react.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::token_counts::TokenCounts;
use crate::transport::TransportError;

/// A call without an answer. It holds no secret: messages are redacted before they get here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskError {
    /// Kind of failure.
    pub kind: ErrorKind,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// The server's or the network's message, at most about 300 characters.
    pub message: String,
    /// Advice for the user.
    pub advice: Option<Box<str>>,
    /// The pause that the server asked for. If the request was not sent because the server failed before, the
    /// time until it is tried again.
    pub retry_after: Option<Duration>,
    /// The server's name for the last exchange.
    pub request_id: Option<Box<str>>,
    /// Requests sent; 0 if nothing left this machine.
    pub attempts: u32,
    /// Tokens that the last answer reported although it was unusable.
    pub usage: Option<Box<TokenCounts>>,
    /// Every attempt, the last included, oldest first.
    pub failed: Vec<FailedAttempt>,
}

impl AskError {
    /// An error of this kind with nothing else known.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            status: None,
            message: message.into(),
            advice: None,
            retry_after: None,
            request_id: None,
            attempts: 0,
            usage: None,
            failed: Vec::new(),
        }
    }

    /// The error of a question that was given up before it was answered.
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "stopped before an answer came")
    }

    /// Tokens of all attempts that reported some.
    pub fn total_usage(&self) -> TokenCounts {
        self.failed.iter().fold(TokenCounts::default(), |sum, attempt| sum + attempt.usage)
    }
}

impl From<&TransportError> for AskError {
    fn from(error: &TransportError) -> Self {
        let kind = match error {
            TransportError::Timeout(_) => ErrorKind::Timeout,
            TransportError::Connect(_) | TransportError::Broken(_) => ErrorKind::Connection,
            TransportError::TooLarge(_) => ErrorKind::MalformedReply,
            // Trying again cannot help. No other kind says that the fault is on this machine.
            TransportError::Unusable(_) => ErrorKind::BadRequest,
        };

        Self::new(kind, error.to_string())
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.phrase())?;

        match (self.status, self.attempts) {
            (Some(status), 0 | 1) => write!(f, " (HTTP {status})")?,
            (Some(status), n) => write!(f, " (HTTP {status}, {n} attempts)")?,
            (None, 0 | 1) => {}
            (None, n) => write!(f, " ({n} attempts)")?,
        }

        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        if let Some(advice) = &self.advice {
            let stop = if self.message.ends_with(['.', '!', '?']) { "" } else { "." };
            write!(f, "{stop} {advice}")?;
        }

        Ok(())
    }
}

impl std::error::Error for AskError {}

assize_rubric::named_enum! {
    /// The coarse reasons why a question gets no answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum ErrorKind {
        /// The account sends more than it may.
        RateLimited = "rate_limited",
        /// The server has more work than it can do.
        Overloaded = "overloaded",
        /// No whole answer within the time limit.
        Timeout = "timeout",
        /// The connection could not be made or broke.
        Connection = "connection",
        /// The server failed.
        Server = "server",
        /// The key is missing or wrong.
        Authentication = "authentication",
        /// The key is right but may not do this: no access, no credit.
        PermissionDenied = "permission_denied",
        /// The server does not accept the request.
        BadRequest = "bad_request",
        /// No such model or no such address.
        NotFound = "not_found",
        /// The request is longer than the model can read.
        ContextLength = "context_length",
        /// The server will not process this content.
        ContentRefused = "content_refused",
        /// The answer is not in the server's own format.
        MalformedReply = "malformed_reply",
        /// The caller gave it up.
        Cancelled = "cancelled",
        /// Only cached replies may be used, and there is none.
        NotCached = "not_cached",
        /// The question needs log-probabilities, and the model does not return any.
        NoLogprobs = "no_logprobs",
    }
}

impl ErrorKind {
    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::RateLimited
                | Self::Overloaded
                | Self::Timeout
                | Self::Connection
                | Self::Server
                | Self::MalformedReply
        )
    }

    /// Description for people. It contains nothing that a server said.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::RateLimited => "the model server is limiting requests",
            Self::Overloaded => "the model server is overloaded",
            Self::Timeout => "the model server did not answer in time",
            Self::Connection => "no connection to the model server",
            Self::Server => "the model server failed",
            Self::Authentication => "the model server did not accept the API key",
            Self::PermissionDenied => "the model server does not allow this",
            Self::BadRequest => "the model server did not accept the request",
            Self::NotFound => "the model server does not know this model or address",
            Self::ContextLength => "the request exceeds the model's context window",
            Self::ContentRefused => "the model server refused this content",
            Self::MalformedReply => "the model server sent an invalid response",
            Self::Cancelled => "the request was cancelled",
            Self::NotCached => "not in the cache",
            Self::NoLogprobs => "the model returns no log-probabilities",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A request that got no usable answer, kept so that its cost and its wait are not forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedAttempt {
    /// Kind of failure.
    pub kind: ErrorKind,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// The pause that followed; zero if the next request went out at once or there was none.
    pub waited: Duration,
    /// Tokens the answer reported although it was unusable.
    pub usage: TokenCounts,
    /// True if the request reached a server, as far as is known. Records without this field count as true.
    #[serde(default = "yes")]
    pub sent: bool,
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_says_what_happened_and_what_to_do() {
        let mut error = AskError::new(ErrorKind::Authentication, "Incorrect key");
        error.status = Some(401);
        error.attempts = 1;
        error.advice = Some("The key comes from OPENAI_API_KEY.".into());
        assert_eq!(
            error.to_string(),
            "the model server did not accept the API key (HTTP 401): Incorrect key. \
             The key comes from OPENAI_API_KEY."
        );
    }

    #[test]
    fn only_passing_faults_are_retryable() {
        assert!(ErrorKind::RateLimited.is_retryable());
        assert!(ErrorKind::MalformedReply.is_retryable());
        assert!(!ErrorKind::Authentication.is_retryable());
        assert!(!ErrorKind::ContextLength.is_retryable());
        assert!(!ErrorKind::Cancelled.is_retryable());
    }
}
