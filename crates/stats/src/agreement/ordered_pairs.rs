//! How two raters of the same unit agree, whoever they are: statistics of all ordered pairs of ratings of a unit.
//!
//! A unit of n ratings has n (n - 1) of them, so they are never listed: both sides have the same ratings, each as often as
//! there are others of its unit.

use super::UnitRatings;
use crate::{
    UndefinedReason,
    rank::{merge_ties, weighted_mid_ranks},
    undefined::{check_all_finite, check_finite},
};

/// The units with two ratings or more.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderedPairs {
    ratings: Vec<f64>,
    /// Number of ratings of each unit.
    sizes: Vec<usize>,
}

impl OrderedPairs {
    /// Takes the ratings of all units.
    ///
    /// # Errors
    /// If no unit has two ratings, or a rating is not finite.
    pub fn new(ratings: &UnitRatings) -> Result<Self, UndefinedReason> {
        let units: Vec<&[f64]> = ratings.units().filter(|unit| unit.len() > 1).collect();
        if units.is_empty() {
            return Err(UndefinedReason::NoValues);
        }
        let ratings = units.concat();
        check_all_finite(&ratings)?;
        Ok(Self { ratings, sizes: units.iter().map(|unit| unit.len()).collect() })
    }

    /// Number of pairs.
    pub fn count(&self) -> u64 {
        self.sizes.iter().map(|&size| size as u64 * (size as u64 - 1)).sum()
    }

    /// Pearson's correlation of the pairs; see [`pearson`](crate::judge_quality::pearson).
    ///
    /// # Errors
    /// If all ratings are the same.
    pub fn pearson(&self) -> Result<f64, UndefinedReason> {
        self.correlation(&merge_ties(&self.ratings))
    }

    /// Spearman's correlation of the pairs; see [`spearman`](crate::judge_quality::spearman).
    ///
    /// # Errors
    /// If all ratings are the same.
    pub fn spearman(&self) -> Result<f64, UndefinedReason> {
        let others = |&size: &usize| std::iter::repeat_n(size as f64 - 1.0, size);
        let others: Vec<f64> = self.sizes.iter().flat_map(others).collect();
        self.correlation(&weighted_mid_ranks(&self.ratings, &others))
    }

    /// Mean distance of the two ratings of a pair.
    ///
    /// # Errors
    /// If it is too large for a number.
    pub fn mean_distance(&self) -> Result<f64, UndefinedReason> {
        let sum: f64 = self
            .units(&self.ratings)
            .map(|unit| {
                let mut unit = unit.to_vec();
                unit.sort_by(f64::total_cmp);
                // Each rating is above those before it, and below those behind it.
                let above = |at: usize| 2.0 * at as f64 - (unit.len() as f64 - 1.0);
                2.0 * unit.iter().enumerate().map(|(at, rating)| above(at) * rating).sum::<f64>()
            })
            .sum();
        check_finite(sum / self.count() as f64)
    }

    /// Splits values, one for each rating, by their units.
    fn units<'v>(&self, values: &'v [f64]) -> impl Iterator<Item = &'v [f64]> {
        let mut rest = values;
        self.sizes.iter().map(move |size| {
            let (unit, after) = rest.split_at(*size);
            rest = after;
            unit
        })
    }

    fn correlation(&self, values: &[f64]) -> Result<f64, UndefinedReason> {
        let others = |unit: &[f64]| unit.len() as f64 - 1.0;
        let all: f64 = self.units(values).map(|unit| others(unit) * unit.iter().sum::<f64>()).sum();
        let mean = all / self.count() as f64;
        let (mut spread, mut together) = (0.0, 0.0);
        for unit in self.units(values) {
            let sum: f64 = unit.iter().map(|value| value - mean).sum();
            let squares: f64 = unit.iter().map(|value| (value - mean).powi(2)).sum();
            spread += others(unit) * squares;
            together += sum * sum - squares;
        }

        if values.iter().all(|value| *value == values[0]) || spread == 0.0 {
            return Err(UndefinedReason::NoSpread);
        }
        Ok(check_finite(together / spread)?.clamp(-1.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge_quality::{mean_absolute_error, pearson, spearman};

    #[test]
    fn figures_are_those_of_the_listed_pairs() {
        let units: [&[f64]; 5] =
            [&[1.0, 2.5, 2.5, 4.0], &[3.0], &[7.25, 1.0], &[], &[2.5, 2.5, 9.0, 0.5, 4.0]];
        let mut ratings = UnitRatings::new();
        let (mut one, mut other) = (Vec::new(), Vec::new());
        for unit in units {
            ratings.push(unit.iter().copied());
            for (at, a) in unit.iter().enumerate() {
                for (_, b) in unit.iter().enumerate().filter(|(place, _)| *place != at) {
                    one.push(*a);
                    other.push(*b);
                }
            }
        }
        let pairs = OrderedPairs::new(&ratings).unwrap();
        assert_eq!(pairs.count(), one.len() as u64);
        for (found, listed) in [
            (pairs.pearson(), pearson(&one, &other)),
            (pairs.spearman(), spearman(&one, &other)),
            (pairs.mean_distance(), mean_absolute_error(&one, &other)),
        ] {
            assert!((found.unwrap() - listed.unwrap()).abs() < 1e-12, "{found:?} {listed:?}");
        }
    }

    #[test]
    fn ratings_without_pairs_or_spread_have_no_correlation() {
        let of = |units: &[&[f64]]| {
            let mut ratings = UnitRatings::new();
            for unit in units {
                ratings.push(unit.iter().copied());
            }
            OrderedPairs::new(&ratings)
        };
        assert_eq!(of(&[&[1.0], &[]]), Err(UndefinedReason::NoValues));
        assert_eq!(of(&[&[1.0, f64::NAN]]), Err(UndefinedReason::NotFinite));
        let same = of(&[&[0.1, 0.1], &[0.1, 0.1, 0.1]]).unwrap();
        assert_eq!(same.pearson(), Err(UndefinedReason::NoSpread));
        assert_eq!(same.spearman(), Err(UndefinedReason::NoSpread));
        assert_eq!(same.mean_distance().map(f64::abs), Ok(0.0));
    }

    #[test]
    fn many_raters_of_one_unit_are_not_paired_one_by_one() {
        let mut ratings = UnitRatings::new();
        ratings.push((0..1_000_000).map(f64::from));
        let pairs = OrderedPairs::new(&ratings).unwrap();
        assert_eq!(pairs.count(), 999_999_000_000);
        assert!((pairs.pearson().unwrap() + 1e-6).abs() < 1e-9);
        assert!((pairs.mean_distance().unwrap() - 333_333.666).abs() < 0.01);
    }
}
