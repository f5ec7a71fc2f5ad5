//! Ratings of units by any number of raters, some missing.

use super::Scale;
use crate::{Undefined, undefined::all_finite};

/// The ratings that each unit got. Which rater gave them does not matter here, only how many there are
/// and what they say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ratings {
    values: Vec<f64>,
    /// Where the ratings of each unit end in `values`.
    ends: Vec<usize>,
}

impl Ratings {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a unit with the ratings it got; a missing one is simply not there.
    pub fn push(&mut self, ratings: impl IntoIterator<Item = f64>) {
        self.values.extend(ratings.into_iter().map(|rating| rating + 0.0));
        self.ends.push(self.values.len());
    }

    /// From rows of units with a cell per rater, empty where a rating is missing.
    pub fn of<'r>(rows: impl IntoIterator<Item = &'r [Option<f64>]>) -> Self {
        let mut ratings = Self::new();
        for row in rows {
            ratings.push(row.iter().copied().flatten());
        }
        ratings
    }

    /// How many units there are, rated or not.
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no units.
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The ratings of one unit; none if there is no such unit.
    pub fn unit(&self, index: usize) -> &[f64] {
        let Some(&end) = self.ends.get(index) else { return &[] };
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.values[start..end]
    }

    /// The ratings of each unit in turn.
    pub fn units(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.len()).map(|index| self.unit(index))
    }

    /// These units only, some more than once: a resample.
    pub fn select(&self, units: &[usize]) -> Self {
        let mut chosen = Self::new();
        for &index in units {
            chosen.push(self.unit(index).iter().copied());
        }
        chosen
    }

    /// Every rating.
    pub(crate) fn values(&self) -> Result<&[f64], Undefined> {
        all_finite(&self.values)?;
        Ok(&self.values)
    }

    /// How often each unit got each answer of a scale.
    pub(crate) fn counts(&self, scale: &Scale) -> Result<Vec<Vec<f64>>, Undefined> {
        self.units()
            .map(|unit| {
                let mut counts = vec![0.0; scale.len()];
                for &rating in unit {
                    counts[scale.position(rating)?] += 1.0;
                }
                Ok(counts)
            })
            .collect()
    }
}
