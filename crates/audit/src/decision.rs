//! Stored decision, reduced to what is compared.

use assize_rubric::Scale;
use assize_store::JudgementRow;

/// Decision as a position on the scale of its criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
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

impl Decision {
    /// Reads the decision of a row.
    pub fn of(row: &JudgementRow) -> Self {
        match (&*row.outcome, &row.criterion.scale, row.raw_score) {
            ("met", _, _) => Self::Step { at: 1, top: 1 },
            ("unmet", _, _) => Self::Step { at: 0, top: 1 },
            ("not_applicable", _, _) => Self::NotApplicable,
            ("scored", Scale::Bands(bands), Some(score)) => {
                let bands = bands.as_slice();
                bands
                    .iter()
                    .position(|band| (band.low.get()..=band.high.get()).contains(&score))
                    .map_or(Self::Ungraded, |at| Self::Step { at, top: bands.len().saturating_sub(1) })
            }
            _ => Self::Ungraded,
        }
    }
}
