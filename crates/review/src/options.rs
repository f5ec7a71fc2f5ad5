//! Settings of a review.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use assize_rubric::LabelSplit;

use crate::{ReviewLabelMetadata, ReviewOrder};

/// Items of a review, and the marks of its labels.
#[derive(Debug, Clone, Default)]
pub struct ReviewOptions {
    /// Order of the items.
    pub order: ReviewOrder,
    /// Maximum number of items.
    pub limit: Option<usize>,
    /// Patterns of case ids; all cases if there are none.
    pub filter: Vec<String>,
    /// Criteria or benchmarks; all if there are none.
    pub criteria: Vec<String>,
    /// Number of reviewers who have to decide an item; that of the benchmark unless given, else 1.
    pub raters: Option<NonZeroUsize>,
    /// True if a named person decides where reviewers differ.
    pub adjudicate: bool,
    /// True if the first failure of each case is asked for.
    pub traces: bool,
    /// Permitted use of the labels, if the reviewer set it.
    pub split: Option<LabelSplit>,
    /// Folder of the labels, if it is not the usual one.
    pub labels: Option<PathBuf>,
    /// Folders that eval files may read from beside their own repository.
    pub roots: Vec<PathBuf>,
}

impl ReviewOptions {
    /// Returns the metadata of the labels that a reviewer gives.
    pub fn label_metadata(&self, who: &str) -> ReviewLabelMetadata {
        ReviewLabelMetadata {
            who: who.to_owned(),
            sampled: self.order.sampling(),
            split: self.split,
            adjudicates: self.adjudicate,
        }
    }
}
