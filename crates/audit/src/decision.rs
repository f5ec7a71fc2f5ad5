//! Stored decision, reduced to the parts that audits compare.

use assize_rubric::{CriterionScale, Decision as JudgeDecision, Outcome};

/// Decision as a position on the scale of its criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScaleDecision {
    /// A step of the scale: 0 for unmet and 1 for met, or the index of the band of a score.
    Step {
        /// The step.
        at: usize,
        /// The highest step.
        top: usize,
    },
    /// The criterion does not apply.
    NotApplicable,
    /// There is no decision.
    Ungraded,
}

impl ScaleDecision {
    /// Returns the position of a decision on the scale of its criterion; ungraded for the decision of a
    /// grader as a whole.
    pub fn from_row(decision: &JudgeDecision) -> Self {
        let scale = decision.criterion().map(|criterion| &criterion.scale);
        match (decision.outcome(), scale) {
            (Outcome::Met, _) => Self::Step { at: 1, top: 1 },
            (Outcome::Unmet, _) => Self::Step { at: 0, top: 1 },
            (Outcome::NotApplicable, _) => Self::NotApplicable,
            (Outcome::Scored(score), Some(CriterionScale::Bands(bands))) => {
                let bands = bands.as_slice();
                bands
                    .iter()
                    .position(|band| (band.low..=band.high).contains(&score))
                    .map_or(Self::Ungraded, |at| Self::Step { at, top: bands.len().saturating_sub(1) })
            }
            _ => Self::Ungraded,
        }
    }
}
