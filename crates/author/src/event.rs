//! Events of drafting and reviewing.

/// Something was finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthorEvent {
    /// The draft for a case arrived or failed.
    CaseDrafted {
        /// Number of finished cases.
        done: usize,
        /// Number of cases to draft for.
        total: usize,
    },
    /// The review of a rubric arrived or failed.
    RubricReviewed {
        /// Number of reviewed rubrics.
        done: usize,
        /// Number of rubrics to review.
        total: usize,
    },
}
