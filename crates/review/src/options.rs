//! Settings of a review.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use assize_rubric::LabelSplit;

use crate::{ReviewLabelMetadata, ReviewOrder};

/// Settings of a review: its items and the metadata of its labels.
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
    /// Number of reviewers who have to decide an item. By default it is the number that the benchmark asks
    /// for, or 1.
    pub raters: Option<NonZeroUsize>,
    /// True if a named person decides the items on which reviewers disagree.
    pub adjudicate: bool,
    /// True if the questions are about the first failure of each case.
    pub traces: bool,
    /// Permitted use of the labels, if the reviewer set it.
    pub split: Option<LabelSplit>,
    /// Folder of the labels, if it is not the default one.
    pub labels: Option<PathBuf>,
    /// Folders outside their own repository that eval files may read from.
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
