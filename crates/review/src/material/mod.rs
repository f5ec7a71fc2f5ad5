//! Review items made from stored runs and scorecards.

mod scorecard;
mod suite;

use crate::{ReviewItem, ReviewSection, ReviewSectionKind};

pub use scorecard::{part_sections, scorecard_case_items, scorecard_items, scorecard_run_items};
pub use suite::{suite_case_items, suite_run_items};

/// Items that can be reviewed, in the order of the files.
#[derive(Debug, Clone, Default)]
pub struct ReviewMaterial {
    /// Items to label.
    pub items: Vec<ReviewItem>,
    /// Items that can only be decided by name.
    pub others: Vec<ReviewItem>,
    /// Number of items that are excluded because the question or the case has changed since the run.
    pub outdated: usize,
}

/// Returns the first characters of a hash of a question's texts: enough to detect a change.
fn version(texts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    const SHOWN: usize = 12;

    let mut hash = blake3::Hasher::new();
    for text in texts {
        let text = text.as_ref();
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }

    let mut hex = hash.finalize().to_hex().to_string();
    hex.truncate(SHOWN);

    hex
}

fn add_section(sections: &mut Vec<ReviewSection>, about: ReviewSectionKind, title: &str, text: String) {
    if !text.trim().is_empty() {
        sections.push(ReviewSection { about, title: title.to_owned(), text });
    }
}
