//! A confidence sequence for the mean of bounded values: intervals that contain the mean at all times at
//! once.

use crate::{ConfidenceLevel, Interval, IntervalMethod, UndefinedReason};

/// Number of candidate means from one end of the range to the other, minus 1.
const STEPS: usize = 1_000;

/// Maximum share of the capital that a bet may lose at once.
const TRUNCATION: f64 = 0.5;

/// Confidence sequence for the mean of values within a range. It bets against each possible mean, and the capital grows
/// if that mean is not the true one. All intervals together contain the mean with the level's probability. So the
/// interval may be checked after every value, and a decision can be made as soon as it is clear.
///
/// The bets are the predictable plug-in `sqrt(2 ln(2/alpha) / (v t ln(t + 1)))` with the variance v of earlier values,
/// and at most half of the capital. Half of it is bet on a higher and half on a lower mean. Source: I. Waudby-Smith and
/// A. Ramdas, Journal of the Royal Statistical Society B 86 (2024), 1-27, theorem 3.
#[derive(Debug, Clone)]
pub struct BettingSequence {
    range: (f64, f64),
    level: ConfidenceLevel,
    /// Logarithms of the capital on a higher and on a lower mean, for each candidate mean.
    capital: Vec<(f64, f64)>,
    /// Steps of the lower and the upper end so far.
    ends: (usize, usize),
    n: usize,
    sum: f64,
    squares: f64,
}

impl BettingSequence {
    /// Creates a sequence without values. Values must be between `range.0` and `range.1`.
    pub fn new(range: (f64, f64), level: ConfidenceLevel) -> Result<Self, UndefinedReason> {
        let width = range.1 - range.0;
        if !width.is_finite() || width <= 0.0 {
            return Err(UndefinedReason::OutOfRange);
        }
        let capital = vec![(0.0, 0.0); STEPS + 1];
        Ok(Self { range, level, capital, ends: (0, STEPS), n: 0, sum: 0.0, squares: 0.0 })
    }

    /// Adds a value and returns the interval of the mean.
    pub fn add(&mut self, value: f64) -> Result<Interval, UndefinedReason> {
        let x = (value - self.range.0) / (self.range.1 - self.range.0);
        if !(-1e-9..=1.0 + 1e-9).contains(&x) {
            return Err(UndefinedReason::OutOfRange);
        }
        let x = x.clamp(0.0, 1.0);

        // The bet is made before the value is used.
        let t = self.n as f64 + 1.0;
        let variance = (0.25 + self.squares) / t;
        let bet = (2.0 * (2.0 / self.level.alpha()).ln() / (variance * t * (t + 1.0).ln())).sqrt();
        let limit = (2.0 / self.level.alpha()).ln();
        for step in self.ends.0..=self.ends.1 {
            let mean = step as f64 / STEPS as f64;
            let (higher, lower) = (bet.min(TRUNCATION / mean), bet.min(TRUNCATION / (1.0 - mean)));
            let capital = &mut self.capital[step];
            // At an end of the range the truncation is infinite and the difference may be 0.
            capital.0 += (higher * (x - mean)).ln_1p();
            capital.1 += (-lower * (x - mean)).ln_1p();
        }
        let is_out = |capital: (f64, f64)| capital.0.max(capital.1) > limit;
        while self.ends.0 < self.ends.1 && is_out(self.capital[self.ends.0]) {
            self.ends.0 += 1;
        }
        while self.ends.1 > self.ends.0 && is_out(self.capital[self.ends.1]) {
            self.ends.1 -= 1;
        }

        self.n += 1;
        self.sum += x;
        let mean = (0.5 + self.sum) / (t + 1.0);
        self.squares += (x - mean).powi(2);
        Ok(self.interval())
    }

    /// The interval so far. It is one step, a thousandth of the range, wider on either side than the means
    /// that are not ruled out.
    pub fn interval(&self) -> Interval {
        let place = |step: usize| self.range.0 + (self.range.1 - self.range.0) * step as f64 / STEPS as f64;
        Interval {
            low: place(self.ends.0.saturating_sub(1)),
            high: place((self.ends.1 + 1).min(STEPS)),
            level: self.level,
            method: IntervalMethod::Betting,
        }
    }

    /// Number of values.
    pub const fn n(&self) -> usize {
        self.n
    }

    /// Mean of the values.
    pub fn mean(&self) -> Result<f64, UndefinedReason> {
        if self.n == 0 {
            return Err(UndefinedReason::NoValues);
        }
        Ok(self.range.0 + (self.range.1 - self.range.0) * self.sum / self.n as f64)
    }
}
