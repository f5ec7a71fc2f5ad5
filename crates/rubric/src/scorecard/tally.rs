//! Number and mean score of the cases of a benchmark.

use crate::UnitInterval;
use crate::sum::CompensatedSum;

/// How cases without a result count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MissingPolicy {
    /// Counts as unknown: the levels above are incomplete and can't pass.
    #[default]
    Incomplete,
    /// As a score of 0.
    Zero,
    /// As a case that does not apply.
    Skip,
}

crate::named_variants!(MissingPolicy { Incomplete = "incomplete", Zero = "zero", Skip = "skip" });

/// The cases of one benchmark: how many have a score, and how many should have one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CaseTally {
    scored: u64,
    total: f64,
    missing: u64,
}

impl CaseTally {
    /// No case applies.
    pub const NOT_APPLICABLE: Self = Self { scored: 0, total: 0.0, missing: 0 };

    /// Counts the scores of the applicable cases; `missing` is the number of applicable cases without one.
    pub fn new(scores: impl IntoIterator<Item = UnitInterval>, missing: u64) -> Self {
        let (mut scored, mut total) = (0, CompensatedSum::default());
        for score in scores {
            scored += 1;
            total.add(score.get());
        }

        Self { scored, total: total.get(), missing }
    }

    /// Number of cases with a score.
    pub const fn scored(&self) -> u64 {
        self.scored
    }

    /// Number of cases that should have a score and have none.
    pub const fn missing(&self) -> u64 {
        self.missing
    }

    /// Applies the policy to the missing results.
    pub(super) fn apply_policy(self, policy: MissingPolicy) -> Self {
        match policy {
            MissingPolicy::Incomplete => self,
            MissingPolicy::Zero => Self { scored: self.scored + self.missing, missing: 0, ..self },
            MissingPolicy::Skip => Self { missing: 0, ..self },
        }
    }

    /// Returns the lowest and the highest possible mean; `None` if no case applies. A missing case may have any score
    /// from 0 to 1, or not apply, in which case the mean is between these bounds.
    pub(super) fn bounds(&self) -> Option<(f64, f64)> {
        let all = (self.scored + self.missing) as f64;
        let at = |total: f64| (total / all).clamp(0.0, 1.0);
        (all > 0.0).then(|| (at(self.total), at(self.total + self.missing as f64)))
    }

    /// Returns the share of applicable cases that have a score; `None` if no case applies.
    pub(super) fn coverage(&self) -> Option<f64> {
        let all = self.scored + self.missing;
        (all > 0).then(|| self.scored as f64 / all as f64)
    }
}
