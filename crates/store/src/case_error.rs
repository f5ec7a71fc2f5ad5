//! The error of a case: its stage and its kind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reason why a case has no answer or could not be graded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaseError {
    /// Stage of the failure: `load`, `workspace`, `target`, `grade`, `teardown`, or `dependency` if a case it depends
    /// on did not pass.
    pub stage: CaseStage,
    /// Kind of the failure, such as `timeout`.
    pub kind: CaseErrorKind,
    /// Description of the failure.
    pub message: String,
}

impl CaseError {
    /// Returns true if no further calls may be made: the run is ending, or may use only cached replies.
    pub const fn ends_all(&self) -> bool {
        matches!(self.kind, CaseErrorKind::Cancelled | CaseErrorKind::NotCached)
    }
}

assize_rubric::named_enum! {
    /// Stage at which a case failed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum CaseStage {
        /// Reading the case.
        Load = "load",
        /// Preparing the workspace.
        Workspace = "workspace",
        /// Getting the answer.
        Target = "target",
        /// Grading the answer.
        Grade = "grade",
        /// Releasing the workspace.
        Teardown = "teardown",
        /// A case that it depends on did not pass.
        Dependency = "dependency",
    }
}

assize_rubric::named_enum! {
    /// Kind of failure of a case.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum CaseErrorKind {
        /// Every process that ran the case ended before it had a result.
        Abandoned = "abandoned",
        /// The server did not accept the API key.
        Authentication = "authentication",
        /// The input can't be passed to the target.
        BadInput = "bad_input",
        /// The answer that came with the case can't be used.
        BadOutput = "bad_output",
        /// The server did not accept the request.
        BadRequest = "bad_request",
        /// The case was canceled because the run ended.
        Cancelled = "cancelled",
        /// The file changes in the workspace could not be determined.
        Changes = "changes",
        /// The connection failed.
        Connection = "connection",
        /// The server refused the content.
        ContentRefused = "content_refused",
        /// The request exceeds the model's context window.
        ContextLength = "context_length",
        /// A case that it depends on failed, so it fails too.
        DependencyFailed = "dependency_failed",
        /// The target failed.
        Failed = "failed",
        /// A setup or cleanup command of the workspace failed, or an extension of the suite.
        Hook = "hook",
        /// Internal error.
        Internal = "internal",
        /// A file could not be read or written.
        Io = "io",
        /// The answer does not have its declared format.
        Malformed = "malformed",
        /// The server's reply can't be read.
        MalformedReply = "malformed_reply",
        /// The target succeeded but gave no answer.
        NoAnswer = "no_answer",
        /// The model does not provide log-probabilities.
        NoLogprobs = "no_logprobs",
        /// The target does not exist.
        NoTarget = "no_target",
        /// The answer is not in the cache, and the run uses only cached replies.
        NotCached = "not_cached",
        /// The server does not know the model or address.
        NotFound = "not_found",
        /// The recording has no answer.
        NotRecorded = "not_recorded",
        /// The command could not be started.
        NotStarted = "not_started",
        /// The server is overloaded.
        Overloaded = "overloaded",
        /// The server denied access.
        PermissionDenied = "permission_denied",
        /// The server limits the rate of requests.
        RateLimited = "rate_limited",
        /// A repository of the workspace could not be checked out.
        Repository = "repository",
        /// The workspace could not be reset.
        Reset = "reset",
        /// The server returned an error.
        Server = "server",
        /// A case that it depends on did not pass, so it was skipped.
        Skipped = "skipped",
        /// The workspace template can't be used.
        Template = "template",
        /// The time limit was exceeded.
        Timeout = "timeout",
        /// The answer exceeds the size limit.
        TooLarge = "too_large",
        /// The health check of the target failed.
        Unhealthy = "unhealthy",
    }
}
