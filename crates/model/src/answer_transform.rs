//! Changes of answers before they are graded.

use super::AuthorCode;

/// Code that changes answers before they are graded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerTransform {
    /// Code, called with the answer and its context.
    pub code: AuthorCode,
    /// Target whose answers it changes; all targets if absent.
    pub target: Option<String>,
}
