//! Ratings of units by any number of raters, some missing.

use super::RatingScale;
use crate::{UndefinedReason, undefined::check_all_finite};

/// Ratings of each unit. The raters are anonymous: only the number and the values of the ratings matter here.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnitRatings {
    values: Vec<f64>,
    /// End of each unit's ratings in `values`.
    ends: Vec<usize>,
}

impl UnitRatings {
    /// Creates an empty set of ratings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a unit with its ratings, without the missing ones.
    pub fn push(&mut self, ratings: impl IntoIterator<Item = f64>) {
        self.values.extend(ratings.into_iter().map(|rating| rating + 0.0));
        self.ends.push(self.values.len());
    }

    /// Builds ratings from rows of units with one cell per rater, `None` for a missing rating.
    pub fn from_rows<'r>(rows: impl IntoIterator<Item = &'r [Option<f64>]>) -> Self {
        let mut ratings = Self::new();
        for row in rows {
            ratings.push(row.iter().copied().flatten());
        }
        ratings
    }

    /// Returns the number of units, rated or not.
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no units.
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the ratings of one unit, or an empty slice if there is no such unit.
    pub fn unit(&self, index: usize) -> &[f64] {
        let Some(&end) = self.ends.get(index) else { return &[] };
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.values[start..end]
    }

    /// Iterates over the ratings of each unit.
    pub fn units(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.len()).map(|index| self.unit(index))
    }

    /// Returns a resample: the given units only, in that order, possibly repeated.
    pub fn select(&self, units: &[usize]) -> Self {
        let mut chosen = Self::new();
        for &index in units {
            chosen.push(self.unit(index).iter().copied());
        }
        chosen
    }

    /// Returns all ratings, or an error if one is not finite.
    pub(crate) fn values(&self) -> Result<&[f64], UndefinedReason> {
        check_all_finite(&self.values)?;
        Ok(&self.values)
    }

    /// Counts how often each unit got each answer of a scale.
    pub(crate) fn counts(&self, scale: &RatingScale) -> Result<Vec<Vec<f64>>, UndefinedReason> {
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
