//! Token counts as servers report them.

use std::ops::Add;

use serde::{Deserialize, Serialize};

/// Token counts. `None` means that the server did not report the number, which is not the same as 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCounts {
    /// Tokens read, cached ones included.
    pub input: Option<u64>,
    /// The part of `input` that came from the provider's prompt cache.
    pub cached: Option<u64>,
    /// Tokens written, hidden reasoning included.
    pub output: Option<u64>,
}

impl TokenCounts {
    /// Drops counts that no request can have, because no model reads or writes that many tokens. Such a number
    /// is as good as unknown, and would spoil every sum. Cached tokens are at most those read.
    pub(crate) fn plausible(self) -> Self {
        let plausible = |count: Option<u64>| count.filter(|count| *count <= 100_000_000);
        let input = plausible(self.input);
        let cached = plausible(self.cached).map(|cached| input.map_or(cached, |input| cached.min(input)));

        Self { input, cached, output: plausible(self.output) }
    }

    /// Whether nothing was reported.
    pub fn is_unknown(self) -> bool {
        self == Self::default()
    }
}

impl Add for TokenCounts {
    type Output = Self;

    /// Sums field by field. If one side is unknown, the other one is kept.
    fn add(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (known, None) | (None, known) => known,
        };
        Self {
            input: sum(self.input, other.input),
            cached: sum(self.cached, other.cached),
            output: sum(self.output, other.output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_and_zero_usage_stay_different() {
        let unknown = TokenCounts::default();
        let zero = TokenCounts { input: Some(0), cached: None, output: Some(3) };
        assert_eq!(unknown + unknown, unknown);
        assert_eq!(unknown + zero, zero);
        assert_eq!(zero + zero, TokenCounts { input: Some(0), cached: None, output: Some(6) });
        assert!(!zero.is_unknown());
        assert_eq!(zero.plausible(), zero);
        let absurd = TokenCounts { input: Some(u64::MAX), cached: Some(7), output: Some(1 << 60) };
        assert_eq!(absurd.plausible(), TokenCounts { cached: Some(7), ..unknown });
    }

    #[test]
    fn no_more_tokens_are_cached_than_were_read() {
        let counts = |cached| TokenCounts { input: Some(5), cached: Some(cached), output: None };
        assert_eq!(counts(500).plausible(), counts(5));
        assert_eq!(counts(3).plausible(), counts(3));
    }
}
