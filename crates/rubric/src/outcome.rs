//! Outcomes of criteria.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CriterionScale, FractionalScore, RawScore};

/// Outcome of one criterion on one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Checklist: the answer meets the criterion.
    Met,
    /// Checklist: the answer does not meet the criterion.
    Unmet,
    /// Score range: the judge's score.
    Scored(RawScore),
    /// Score range: a mean of several scores that is not an integer.
    Averaged(FractionalScore),
    /// The criterion does not apply to this case, and is excluded from the arithmetic.
    NotApplicable,
    /// The judge gave no usable decision. This is never a zero and never a pass.
    Ungraded,
}

crate::named_enum! {
    /// Outcome without its score.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum OutcomeKind {
        /// The answer meets the criterion.
        Met = "met",
        /// The answer does not meet the criterion.
        Unmet = "unmet",
        /// The criterion has a score.
        Scored = "scored",
        /// The criterion does not apply.
        NotApplicable = "not_applicable",
        /// The judge gave no usable decision.
        Ungraded = "ungraded",
    }
}

impl Outcome {
    /// Returns the value on the scale from 0 to 1; `None` if nothing was decided or the criterion does not apply.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Met => Some(1.0),
            Self::Unmet => Some(0.0),
            Self::Scored(raw) => Some(raw.value()),
            Self::Averaged(points) => Some(points.value()),
            Self::NotApplicable | Self::Ungraded => None,
        }
    }

    /// Returns the raw score, if there is one.
    pub const fn raw_score(self) -> Option<RawScore> {
        match self {
            Self::Scored(raw) => Some(raw),
            _ => None,
        }
    }

    /// Returns the score from 0 to 10, possibly fractional, if there is one.
    pub fn points(self) -> Option<f64> {
        match self {
            Self::Scored(raw) => Some(f64::from(raw.get())),
            Self::Averaged(points) => Some(points.get()),
            _ => None,
        }
    }

    /// Creates the outcome with this score: a raw score if it is an integer.
    pub fn from_points(points: FractionalScore) -> Self {
        points.to_raw_score().map_or(Self::Averaged(points), Self::Scored)
    }

    /// Returns the outcome without its score.
    pub const fn kind(self) -> OutcomeKind {
        match self {
            Self::Met => OutcomeKind::Met,
            Self::Unmet => OutcomeKind::Unmet,
            Self::Scored(_) | Self::Averaged(_) => OutcomeKind::Scored,
            Self::NotApplicable => OutcomeKind::NotApplicable,
            Self::Ungraded => OutcomeKind::Ungraded,
        }
    }

    /// Returns the word used in records and output.
    pub const fn name(self) -> &'static str {
        self.kind().name()
    }

    /// Creates an outcome from its kind and the judge's raw score, or `points` if there is no raw score;
    /// `None` if they contradict each other.
    pub fn from_parts(kind: OutcomeKind, raw_score: Option<u8>, points: Option<f64>) -> Option<Self> {
        match (kind, raw_score) {
            (OutcomeKind::Met, None) => Some(Self::Met),
            (OutcomeKind::Unmet, None) => Some(Self::Unmet),
            (OutcomeKind::Scored, Some(raw)) => RawScore::new(raw).ok().map(Self::Scored),
            (OutcomeKind::Scored, None) => FractionalScore::new(points?).ok().map(Self::from_points),
            (OutcomeKind::NotApplicable, None) => Some(Self::NotApplicable),
            (OutcomeKind::Ungraded, None) => Some(Self::Ungraded),
            _ => None,
        }
    }

    /// Returns true if a criterion on this scale can have this outcome.
    pub const fn fits_scale(self, scale: &CriterionScale) -> bool {
        match self {
            Self::Met | Self::Unmet => matches!(scale, CriterionScale::Checklist),
            Self::Scored(_) | Self::Averaged(_) => matches!(scale, CriterionScale::Bands(_)),
            Self::NotApplicable | Self::Ungraded => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_parts_go_there_and_back() {
        let seven = RawScore::new(7).expect("in range");
        for outcome in
            [Outcome::Met, Outcome::Unmet, Outcome::Scored(seven), Outcome::NotApplicable, Outcome::Ungraded]
        {
            let raw = outcome.raw_score().map(RawScore::get);
            assert_eq!(Outcome::from_parts(outcome.kind(), raw, None), Some(outcome));
            let word = format!("\"{}\"", outcome.name());
            assert_eq!(serde_json::from_str::<OutcomeKind>(&word).expect("a word"), outcome.kind());
        }
        assert_eq!(Outcome::from_parts(OutcomeKind::Scored, None, None), None);
        assert_eq!(Outcome::from_parts(OutcomeKind::Scored, Some(11), None), None);
        assert_eq!(Outcome::from_parts(OutcomeKind::Met, Some(1), None), None);
    }
}
