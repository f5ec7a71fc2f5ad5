//! Weight sets of an index, found by name.

/// Weight set that a scorecard does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WeightSetError {
    /// The index has others.
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

/// Returns the place of a weight set in the list of the index.
///
/// # Errors
/// If there is no set of this name.
pub fn find_weight_set(names: &[&str], wanted: &str) -> Result<usize, WeightSetError> {
    if names.is_empty() {
        return Err(WeightSetError::NoSets);
    }

    let at = names.iter().position(|name| *name == wanted);
    at.ok_or_else(|| WeightSetError::NoSuchSet { wanted: wanted.to_owned(), known: names.join(", ") })
}
