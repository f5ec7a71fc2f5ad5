//! Total probability that the judge's tokens gave to scores.

use super::item::CalibrationItem;
use super::material::MIN_CAPTURED_MASS;

/// Summary of the captured mass of decisions that were read from the probabilities of scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CapturedMass {
    /// Number of such decisions.
    pub decisions: usize,
    /// Number of decisions with a mass below one half, which count as ungraded.
    pub refused: usize,
    /// Median mass, 0 to 1.
    pub median: f64,
    /// Lowest mass.
    pub lowest: f64,
}

impl CapturedMass {
    /// Summarises the items; `None` if no decision was read from probabilities.
    pub(crate) fn of_items(items: &[CalibrationItem]) -> Option<Self> {
        let mut masses: Vec<f64> =
            items.iter().filter_map(|item| item.judge.as_ref()?.captured_mass).collect();
        masses.sort_by(f64::total_cmp);
        let lowest = *masses.first()?;
        let middle = masses.len() / 2;
        let median =
            if masses.len() % 2 == 1 { masses[middle] } else { masses[middle - 1].midpoint(masses[middle]) };

        Some(Self {
            decisions: masses.len(),
            refused: masses
                .iter()
                .filter(|mass| **mass < MIN_CAPTURED_MASS - assize_rubric::TOLERANCE)
                .count(),
            median,
            lowest,
        })
    }
}
