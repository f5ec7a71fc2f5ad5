//! Events of drafting and reviewing.

/// Something that was finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthorEvent {
    /// The draft for a case came back, or failed.
    CaseDrafted {
        /// Cases that are done.
        done: usize,
        /// Cases to draft for.
        total: usize,
    },
    /// The review of a rubric came back, or failed.
    RubricReviewed {
        /// Rubrics that are done.
        done: usize,
        /// Rubrics to review.
        total: usize,
    },
}
