//! Exact stretches of files, for whoever points into them or rewrites them.

use std::path::Path;

use super::Place;

/// A stretch of a file, byte for byte, in a form that outlives the source text.
///
/// Offsets count from the beginning of line `first_line`, which is 1 for files that are read as a
/// whole and the line of the case for a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mark {
    /// The place where it begins.
    pub place: Place,
    /// Line from which the offsets count, from 1.
    pub first_line: usize,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Mark {
    /// The file.
    pub fn path(&self) -> &Path {
        self.place.path()
    }
}

/// Where the parts of a criterion are written. What is not written has no mark.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CriterionMarks {
    /// The criterion: its text, or the first key of its map.
    pub head: Option<Mark>,
    /// `id`: the value.
    pub id: Option<Mark>,
    /// The text.
    pub text: Option<Mark>,
    /// `weight`: key and value.
    pub weight: Option<Mark>,
    /// `required`: key and value.
    pub required: Option<Mark>,
    /// `min_score` or `required_min_score`: key and value.
    pub minimum: Option<Mark>,
    /// The texts of the score ranges, in the order of the ranges.
    pub bands: Vec<Mark>,
}

/// Where some parts of a case are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CaseMarks {
    /// `id`: the value.
    pub id: Option<Mark>,
    /// The text of the expected outcome.
    pub expected_outcome: Option<Mark>,
    /// `threshold`: the value.
    pub threshold: Option<Mark>,
}
