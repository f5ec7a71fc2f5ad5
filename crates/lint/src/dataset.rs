//! Recognition of datasets.

use std::path::Path;

/// Returns true if a path names a dataset.
pub(crate) fn is_dataset(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl"))
}
