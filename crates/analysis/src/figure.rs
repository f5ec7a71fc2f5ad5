//! A figure with what it takes to trust it.

use assize_stats::{Interval, Level, SeededRandom, Undefined, bootstrap};

/// A figure: what it is, its interval, how many things it rests on, and what it says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// Its name in records: `kappa`.
    pub id: &'static str,
    /// Its name for people: `Cohen's kappa`.
    pub name: &'static str,
    /// Its value, or why it has none.
    pub value: Result<f64, Undefined>,
    /// Its interval, or why it has none.
    pub interval: Result<Interval, Undefined>,
    /// How many things it rests on.
    pub n: u64,
    /// What they are, such as `pairs` or `items`.
    pub of: &'static str,
    /// What may be concluded from it, in one sentence.
    pub says: &'static str,
}

/// How intervals without a formula are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resampling {
    /// How many resamples.
    pub resamples: usize,
    /// Where the random numbers start: the same seed gives the same intervals.
    pub seed: u64,
    /// The confidence level of every interval.
    pub level: Level,
}

impl Default for Resampling {
    fn default() -> Self {
        Self { resamples: 2_000, seed: 1, level: Level::P95 }
    }
}

/// Of this many resamples, one may leave a figure undefined. With more, the rest is no fair picture of its
/// spread.
const UNDEFINED_ONE_IN: usize = 20;

impl Resampling {
    /// The percentile bootstrap interval of a figure over units drawn with replacement.
    pub(crate) fn interval(
        &self,
        units: usize,
        figure: impl FnMut(&[usize]) -> Result<f64, Undefined>,
    ) -> Result<Interval, Undefined> {
        let mut random = SeededRandom::new(self.seed);
        let found = bootstrap(units, self.resamples, self.level, &mut random, figure)?;
        if found.undefined * UNDEFINED_ONE_IN > self.resamples {
            return Err(Undefined::TooFew);
        }
        // Resamples that all agree show that the sample has no spread, not that the figure is certain.
        if found.percentile.width() > 0.0 { Ok(found.percentile) } else { Err(Undefined::NoSpread) }
    }
}
