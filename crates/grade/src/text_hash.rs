//! Hashes of texts that can't run into each other.

/// Returns a hasher that holds these texts, each with its length.
pub(crate) fn text_hasher(texts: &[&str]) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    hasher
}
