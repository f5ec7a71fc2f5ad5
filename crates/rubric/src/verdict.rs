//! Verdicts and the thresholds between them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{UnitInterval, at_least};

crate::named_enum! {
    /// Verdict of a case or grader.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
    )]
    pub enum Verdict {
        /// The score reaches the pass threshold, and no gate failed.
        Pass = "pass",
        /// The score is between the borderline and pass thresholds, and no gate failed.
        Borderline = "borderline",
        /// The score is below the thresholds, or a gate failed.
        Fail = "fail",
        /// Ungraded criteria could change the verdict.
        #[default]
        Incomplete = "incomplete",
    }
}

impl Verdict {
    /// Returns true if a case with this verdict passed; `None` if that is undecided.
    pub const fn passed(self) -> Option<bool> {
        match self {
            Self::Pass => Some(true),
            Self::Borderline | Self::Fail => Some(false),
            Self::Incomplete => None,
        }
    }

    /// Swaps pass and fail. Borderline and incomplete stay unchanged.
    pub const fn negate(self) -> Self {
        match self {
            Self::Pass => Self::Fail,
            Self::Fail => Self::Pass,
            Self::Borderline | Self::Incomplete => self,
        }
    }

    /// Returns the verdict of a case that ended in an error, which can't pass.
    #[must_use]
    pub const fn after_error(self) -> Self {
        match self {
            Self::Pass | Self::Borderline => Self::Incomplete,
            Self::Fail | Self::Incomplete => self,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Score thresholds that separate verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Lines")]
pub struct VerdictThresholds {
    pass: UnitInterval,
    borderline: Option<UnitInterval>,
}

/// Error for a borderline threshold above the pass threshold.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("the borderline threshold {borderline} is above the pass threshold {pass}")]
pub struct ThresholdOrderError {
    /// The requested pass threshold.
    pub pass: f64,
    /// The requested borderline threshold.
    pub borderline: f64,
}

impl VerdictThresholds {
    /// Default pass threshold.
    pub const DEFAULT_PASS: f64 = 0.8;
    /// Default borderline threshold of the `evalcases` format.
    pub const DEFAULT_BORDERLINE: f64 = 0.6;

    /// Creates thresholds: a score passes from `pass`, and is borderline from `borderline`.
    pub fn new(pass: UnitInterval, borderline: Option<UnitInterval>) -> Result<Self, ThresholdOrderError> {
        match borderline {
            Some(line) if line > pass => {
                Err(ThresholdOrderError { pass: pass.get(), borderline: line.get() })
            }
            _ => Ok(Self { pass, borderline }),
        }
    }

    /// Like [`VerdictThresholds::new`], but ignores a borderline threshold above the pass threshold. This
    /// happens to a default borderline threshold if the pass threshold was lowered.
    pub fn with_optional_borderline(pass: UnitInterval, borderline: Option<UnitInterval>) -> Self {
        Self { pass, borderline: borderline.filter(|line| *line <= pass) }
    }

    /// Returns the pass threshold.
    pub const fn pass(self) -> UnitInterval {
        self.pass
    }

    /// Returns the borderline threshold, if there is one.
    pub const fn borderline(self) -> Option<UnitInterval> {
        self.borderline
    }

    /// Returns the verdict on a known score if no gate failed.
    pub fn verdict(self, score: f64) -> Verdict {
        if at_least(score, self.pass.get()) {
            Verdict::Pass
        } else if self.borderline.is_some_and(|line| at_least(score, line.get())) {
            Verdict::Borderline
        } else {
            Verdict::Fail
        }
    }

    /// Returns the verdict on a score that is known within bounds, with the state of the gates.
    ///
    /// A failed gate is a fail. Otherwise there is a verdict only if every score within the bounds and every
    /// state of the open gates leads to it.
    pub(crate) fn verdict_within(self, bounds: Option<(f64, f64)>, gates: CombinedGateState) -> Verdict {
        if gates == CombinedGateState::Failed {
            return Verdict::Fail;
        }

        let Some((low, high)) = bounds else { return Verdict::Incomplete };
        let best = self.verdict(high);
        if best == Verdict::Fail {
            return Verdict::Fail;
        }

        if gates == CombinedGateState::Open || self.verdict(low) != best { Verdict::Incomplete } else { best }
    }
}

/// Returns the bounds that a verdict may depend on: `None` if no criterion with weight was judged. In that case,
/// possibly no criterion applies, which is not a pass even with a pass threshold of 0.
pub(crate) fn decidable_bounds(bounds: Option<(f64, f64)>, coverage: Option<f64>) -> Option<(f64, f64)> {
    bounds.filter(|_| coverage != Some(0.0))
}

/// Combined state of all gates of a rubric or a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CombinedGateState {
    /// None failed and none is open.
    Hold,
    /// None failed; at least one is still open.
    Open,
    /// At least one failed.
    Failed,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(value: f64) -> UnitInterval {
        UnitInterval::new(value).expect("in range")
    }

    #[test]
    fn lines_divide_scores() {
        let thresholds = VerdictThresholds::new(unit(0.8), Some(unit(0.6))).expect("in order");
        assert_eq!(thresholds.verdict(0.8), Verdict::Pass);
        assert_eq!(thresholds.verdict(0.1 + 0.7), Verdict::Pass);
        assert_eq!(thresholds.verdict(0.799), Verdict::Borderline);
        assert_eq!(thresholds.verdict(0.6), Verdict::Borderline);
        assert_eq!(thresholds.verdict(0.59), Verdict::Fail);
        let strict = VerdictThresholds::new(unit(0.8), None).expect("in order");
        assert_eq!(strict.verdict(0.79), Verdict::Fail);
    }

    #[test]
    fn a_lowered_pass_line_never_makes_a_passing_score_fail() {
        assert!(VerdictThresholds::new(unit(0.5), Some(unit(0.6))).is_err());
        assert_eq!(
            VerdictThresholds::with_optional_borderline(unit(0.5), Some(unit(0.6))).verdict(0.55),
            Verdict::Pass
        );
    }

    #[test]
    fn a_verdict_needs_every_completion_to_agree() {
        let thresholds = VerdictThresholds::new(unit(0.8), Some(unit(0.6))).expect("in order");
        assert_eq!(thresholds.verdict_within(Some((0.85, 0.95)), CombinedGateState::Hold), Verdict::Pass);
        assert_eq!(
            thresholds.verdict_within(Some((0.85, 0.95)), CombinedGateState::Open),
            Verdict::Incomplete
        );
        assert_eq!(
            thresholds.verdict_within(Some((0.75, 0.95)), CombinedGateState::Hold),
            Verdict::Incomplete
        );
        assert_eq!(thresholds.verdict_within(Some((0.1, 0.5)), CombinedGateState::Open), Verdict::Fail);
        assert_eq!(thresholds.verdict_within(Some((0.9, 1.0)), CombinedGateState::Failed), Verdict::Fail);
        assert_eq!(thresholds.verdict_within(None, CombinedGateState::Hold), Verdict::Incomplete);
    }
}
