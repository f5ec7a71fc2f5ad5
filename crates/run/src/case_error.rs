//! Kinds of failures in the form that records store.

use assize_llm::ErrorKind;
use assize_store::CaseErrorKind;
use assize_targets::TargetErrorKind;

/// The kind of a target's failure, as records store it.
pub(crate) const fn target_error_kind(kind: TargetErrorKind) -> CaseErrorKind {
    match kind {
        TargetErrorKind::Timeout => CaseErrorKind::Timeout,
        TargetErrorKind::Connection => CaseErrorKind::Connection,
        TargetErrorKind::NotStarted => CaseErrorKind::NotStarted,
        TargetErrorKind::Failed => CaseErrorKind::Failed,
        TargetErrorKind::NoAnswer => CaseErrorKind::NoAnswer,
        TargetErrorKind::TooLarge => CaseErrorKind::TooLarge,
        TargetErrorKind::Malformed => CaseErrorKind::Malformed,
        TargetErrorKind::BadInput => CaseErrorKind::BadInput,
        TargetErrorKind::Unhealthy => CaseErrorKind::Unhealthy,
        TargetErrorKind::NotRecorded => CaseErrorKind::NotRecorded,
        TargetErrorKind::Cancelled => CaseErrorKind::Cancelled,
        TargetErrorKind::Io => CaseErrorKind::Io,
        TargetErrorKind::Model(kind) => model_error_kind(kind),
    }
}

const fn model_error_kind(kind: ErrorKind) -> CaseErrorKind {
    match kind {
        ErrorKind::RateLimited => CaseErrorKind::RateLimited,
        ErrorKind::Overloaded => CaseErrorKind::Overloaded,
        ErrorKind::Timeout => CaseErrorKind::Timeout,
        ErrorKind::Connection => CaseErrorKind::Connection,
        ErrorKind::Server => CaseErrorKind::Server,
        ErrorKind::Authentication => CaseErrorKind::Authentication,
        ErrorKind::PermissionDenied => CaseErrorKind::PermissionDenied,
        ErrorKind::BadRequest => CaseErrorKind::BadRequest,
        ErrorKind::NotFound => CaseErrorKind::NotFound,
        ErrorKind::ContextLength => CaseErrorKind::ContextLength,
        ErrorKind::ContentRefused => CaseErrorKind::ContentRefused,
        ErrorKind::MalformedReply => CaseErrorKind::MalformedReply,
        ErrorKind::Cancelled => CaseErrorKind::Cancelled,
        ErrorKind::NotCached => CaseErrorKind::NotCached,
        ErrorKind::NoLogprobs => CaseErrorKind::NoLogprobs,
    }
}
