//! Compact hash of a question.

/// Hash of a question. As bytes, a set of them takes a third of the memory that their texts would take.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum QuestionKey {
    /// The bytes of 32 hexadecimal digits.
    Digest([u8; 16]),
    /// Any other text, such as other programs may write.
    Other(Box<str>),
}

impl QuestionKey {
    /// Creates the key for a hash in its textual form.
    pub(crate) fn new(hash: &str) -> Self {
        // Only one spelling of a number is accepted as a digest, or two different texts would have one key.
        let is_digest =
            hash.len() == 32 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        match u128::from_str_radix(hash, 16) {
            Ok(number) if is_digest => Self::Digest(number.to_be_bytes()),
            _ => Self::Other(hash.into()),
        }
    }

    /// Returns sixteen bytes that no other key has.
    pub(crate) fn digest(&self) -> [u8; 16] {
        match self {
            Self::Digest(digest) => *digest,
            Self::Other(text) => {
                let mut digest = [0; 16];
                digest.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
                digest
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_hashes_have_different_keys() {
        let hash = "00ff00ff00ff00ff00ff00ff00ff00ff";
        assert!(matches!(QuestionKey::new(hash), QuestionKey::Digest([0, 255, ..])));
        assert_eq!(size_of::<QuestionKey>(), 24);
        let others = [&hash.to_uppercase(), &hash[2..], "+0ff00ff00ff00ff00ff00ff00ff00ff", ""];
        for other in others {
            let key = QuestionKey::new(other);
            assert_eq!(key, QuestionKey::Other(other.into()));
            assert_ne!(key.digest(), QuestionKey::new(hash).digest());
        }
    }
}
