//! Weight sets of an index, found by name.

/// Error: the scorecard does not have this weight set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WeightSetError {
    /// The index has other weight sets.
    #[error("there is no weight set `{wanted}`; there are: {known}")]
    NoSuchSet {
        /// The requested name.
        wanted: String,
        /// Names of the weight sets.
        known: String,
    },
    /// The index has no weight sets, or there is no index.
    #[error("the scorecard has no index with weight sets")]
    NoSets,
}

/// Returns the position of a weight set in the list of the index.
///
/// # Errors
/// If there is no set with this name.
pub fn find_weight_set(names: &[&str], wanted: &str) -> Result<usize, WeightSetError> {
    if names.is_empty() {
        return Err(WeightSetError::NoSets);
    }

    let at = names.iter().position(|name| *name == wanted);
    at.ok_or_else(|| WeightSetError::NoSuchSet { wanted: wanted.to_owned(), known: names.join(", ") })
}
