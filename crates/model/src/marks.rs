//! Exact ranges in files, for diagnostics and edits.

use std::path::Path;

use super::FilePosition;

/// A byte range of a file, in a form that does not need the source text.
///
/// Offsets count from the beginning of line `first_line`, which is 1 for files that are read as a whole and the
/// line of the case for a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourceMark {
    /// Position at which it begins.
    pub place: FilePosition,
    /// Line where the offsets begin, counted from 1.
    pub first_line: usize,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl SourceMark {
    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        self.place.path()
    }
}

/// Ranges of the parts of a criterion. Absent parts have no mark.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CriterionMarks {
    /// Beginning of the criterion: its text, or the first key of its map.
    pub head: Option<SourceMark>,
    /// Value of `id`.
    pub id: Option<SourceMark>,
    /// Text of the criterion.
    pub text: Option<SourceMark>,
    /// Key and value of `weight`.
    pub weight: Option<SourceMark>,
    /// Key and value of `required`.
    pub required: Option<SourceMark>,
    /// Key and value of `min_score` or `required_min_score`.
    pub minimum: Option<SourceMark>,
    /// Texts of the score ranges, in the order of the ranges.
    pub bands: Vec<SourceMark>,
}

/// Ranges of some parts of a case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CaseMarks {
    /// Value of `id`.
    pub id: Option<SourceMark>,
    /// Text of the expected outcome.
    pub expected_outcome: Option<SourceMark>,
    /// Value of `threshold`.
    pub threshold: Option<SourceMark>,
}
