//! Outcome of reading an input, with the details that distinguish inputs.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Maximum number of characters of a message that are compared.
const MAX_CHARS: usize = 60;

/// The messages that an input led to. Without instrumentation, they are the closest thing to coverage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOutcome {
    /// Hashes of the messages.
    pub(crate) messages: Vec<u64>,
}

impl ReadOutcome {
    /// Adds a message. Digits, and everything from the first quotation mark, colon or parenthesis, are ignored,
    /// since they may come from the input.
    pub(crate) fn add(&mut self, message: &str) {
        let mut hasher = DefaultHasher::new();
        let words = message.split(['`', '"', '\'', ':', '(']).next().unwrap_or_default();
        for c in words.chars().take(MAX_CHARS).filter(|c| !c.is_ascii_digit()) {
            c.hash(&mut hasher);
        }

        self.messages.push(hasher.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_reader_says_counts() {
        let outcome = |message: &str| {
            let mut outcome = ReadOutcome::default();
            outcome.add(message);
            outcome
        };
        assert_eq!(outcome("unknown key 3 `a`"), outcome("unknown key 17 `bc` of a map"));
        assert_ne!(outcome("unknown key `a`"), outcome("missing key `a`"));
    }
}
