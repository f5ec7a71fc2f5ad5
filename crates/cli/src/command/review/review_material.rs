//! Items to review, and the version of what they were made from.

use std::path::PathBuf;

use assize_review::ReviewItem;

/// Items to review, and the default place of their labels.
pub(super) struct ReviewMaterial {
    /// Items that are asked about.
    pub(super) items: Vec<ReviewItem>,
    /// Items that are only decided by name.
    pub(super) others: Vec<ReviewItem>,
    /// Items that can't be asked about, since the question or the case is another now than in the run.
    pub(super) outdated: usize,
    pub(super) labels: Option<PathBuf>,
}

/// The first characters of the hash of a question's words: enough to see that they changed.
pub(super) fn version(texts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
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
