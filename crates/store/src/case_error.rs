//! The error of a case: where it happened and of what kind it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reason a case has no answer or could not be graded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaseError {
    /// Stage of the failure: `load`, `workspace`, `target`, `grade`, `teardown`, or `dependency` when a case it
    /// depends on did not pass.
    pub stage: CaseStage,
    /// Kind of the failure, such as `timeout`.
    pub kind: CaseErrorKind,
    /// Description of the failure.
    pub message: String,
}

impl CaseError {
    /// Tells if nothing more may be asked: the run is ending, or must not buy anything.
    pub const fn ends_all(&self) -> bool {
        matches!(self.kind, CaseErrorKind::Cancelled | CaseErrorKind::NotCached)
    }
}

assize_rubric::named_enum! {
    /// The stage at which a case failed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum CaseStage {
        /// Reading the case.
        Load = "load",
        /// Getting the workspace ready.
        Workspace = "workspace",
        /// Getting the answer.
        Target = "target",
        /// Grading the answer.
        Grade = "grade",
        /// Giving the workspace back.
        Teardown = "teardown",
        /// Another case, which it depends on, did not pass.
        Dependency = "dependency",
    }
}

assize_rubric::named_enum! {
    /// The kind of failure of a case.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum CaseErrorKind {
        /// Every process that worked on it ended before it had a result.
        Abandoned = "abandoned",
        /// The server did not accept the API key.
        Authentication = "authentication",
        /// The input can't be handed to the target.
        BadInput = "bad_input",
        /// The answer that came with the case can't be used.
        BadOutput = "bad_output",
        /// The server did not accept the request.
        BadRequest = "bad_request",
        /// It was given up because the run ends.
        Cancelled = "cancelled",
        /// The changes in a workspace could not be found out.
        Changes = "changes",
        /// The connection could not be made or broke.
        Connection = "connection",
        /// The server will not process the content.
        ContentRefused = "content_refused",
        /// The request is longer than the model can read.
        ContextLength = "context_length",
        /// A case that it depends on failed, and it fails with it.
        DependencyFailed = "dependency_failed",
        /// The target failed.
        Failed = "failed",
        /// A command that sets a workspace up or cleans it failed.
        Hook = "hook",
        /// A defect of this program.
        Internal = "internal",
        /// A file could not be read or written.
        Io = "io",
        /// The answer claims a form that it does not keep.
        Malformed = "malformed",
        /// The server's reply can't be read.
        MalformedReply = "malformed_reply",
        /// The target ended well without an answer.
        NoAnswer = "no_answer",
        /// The model gives no log-probabilities.
        NoLogprobs = "no_logprobs",
        /// There is no such target.
        NoTarget = "no_target",
        /// The answer is not in the cache, and nothing may be bought.
        NotCached = "not_cached",
        /// The server does not know the model or address.
        NotFound = "not_found",
        /// The recording holds no answer.
        NotRecorded = "not_recorded",
        /// The command could not be started.
        NotStarted = "not_started",
        /// The server is overloaded.
        Overloaded = "overloaded",
        /// The server does not allow it.
        PermissionDenied = "permission_denied",
        /// The server is limiting requests.
        RateLimited = "rate_limited",
        /// A repository of a workspace can't be used.
        Repository = "repository",
        /// A workspace could not be put back.
        Reset = "reset",
        /// The server failed.
        Server = "server",
        /// A case that it depends on did not pass, so it is not run.
        Skipped = "skipped",
        /// The template of a workspace can't be used.
        Template = "template",
        /// The time limit was reached.
        Timeout = "timeout",
        /// The answer is larger than the limit.
        TooLarge = "too_large",
        /// The target was found not to be there before it was asked.
        Unhealthy = "unhealthy",
    }
}
