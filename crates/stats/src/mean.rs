//! Mean of a sample, its spread and its standard error.

use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    distribution::{normal_critical_value, student_critical_value},
    undefined::check_finite,
};

/// Running count, mean and spread in constant memory; the values are not kept.
///
/// The updates are Welford's (B. P. Welford, Technometrics 4(3), 1962); merging two accumulators is by Chan,
/// Golub and LeVeque (COMPSTAT 1982). Neither subtracts large sums from each other, so a small spread around
/// a large mean is not lost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeanAccumulator {
    n: u64,
    mean: f64,
    /// Sum of squared distances from the mean.
    squares: f64,
}

/// Mean of a sample and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanEstimate {
    /// Number of values.
    pub n: u64,
    /// The arithmetic mean.
    pub mean: Result<f64, UndefinedReason>,
    /// Sample standard deviation, `sqrt(sum((x - mean)^2) / (n - 1))`. Exactly 0 if all values are equal. The
    /// interval then has no width: the sample shows no spread, which does not mean that there is none.
    pub sd: Result<f64, UndefinedReason>,
    /// Standard error of the mean, `sd / sqrt(n)`.
    pub se: Result<f64, UndefinedReason>,
    /// `mean +- t se`, t being the quantile of Student's distribution with n - 1 degrees of freedom. Not
    /// clipped to 0 and 1, the range of scores.
    pub interval: Result<Interval, UndefinedReason>,
}

impl MeanEstimate {
    /// Returns true if all values are equal, so that the interval has no width.
    pub fn is_constant(&self) -> bool {
        self.sd == Ok(0.0)
    }

    /// Returns `mean +- z se`, z being the normal quantile: the limit of the t interval for many values. It
    /// is too narrow for few values. Source: the central limit theorem; Miller, arXiv 2411.00640, equation 2.
    pub fn normal_interval(&self, level: ConfidenceLevel) -> Result<Interval, UndefinedReason> {
        Interval::symmetric_around(
            self.mean?,
            normal_critical_value(level)? * self.se?,
            level,
            IntervalMethod::Normal,
        )
    }
}

impl MeanAccumulator {
    /// Creates an empty accumulator.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value. After a NaN or an infinity, everything except the count is undefined.
    pub fn push(&mut self, value: f64) {
        self.n += 1;
        let before = value - self.mean;
        self.mean += before / self.n as f64;
        self.squares += before * (value - self.mean);
    }

    /// Adds all values of another accumulator.
    pub fn merge(&mut self, other: Self) {
        if self.n == 0 {
            *self = other;
        } else if other.n > 0 {
            let (own, others) = (self.n as f64, other.n as f64);
            let apart = other.mean - self.mean;
            self.n += other.n;
            self.mean += apart * (others / (own + others));
            self.squares += other.squares + apart * apart * (own * others / (own + others));
        }
    }

    /// Returns the number of values.
    pub const fn n(&self) -> u64 {
        self.n
    }

    /// Returns the mean, its standard error and its interval. Source for the use of the t interval on
    /// evaluation scores: E. Miller, "Adding Error Bars to Evals", arXiv 2411.00640, section 2.
    pub fn mean(&self, level: ConfidenceLevel) -> MeanEstimate {
        let n = self.n as f64;
        let mean = if self.n == 0 { Err(UndefinedReason::NoValues) } else { check_finite(self.mean) };
        let sd = match (mean, self.n) {
            (Err(reason), _) => Err(reason),
            (Ok(_), 1) => Err(UndefinedReason::OneValue),
            (Ok(_), _) => check_finite((self.squares / (n - 1.0)).sqrt()),
        };
        let se = sd.map(|sd| sd / n.sqrt());
        let interval = mean.and_then(|mean| {
            let reach = se? * student_critical_value(n - 1.0, level)?;
            Interval::symmetric_around(mean, reach, level, IntervalMethod::StudentT)
        });

        MeanEstimate { n: self.n, mean, sd, se, interval }
    }
}

impl Extend<f64> for MeanAccumulator {
    fn extend<T: IntoIterator<Item = f64>>(&mut self, values: T) {
        for value in values {
            self.push(value);
        }
    }
}

impl FromIterator<f64> for MeanAccumulator {
    fn from_iter<T: IntoIterator<Item = f64>>(values: T) -> Self {
        let mut accumulator = Self::new();
        accumulator.extend(values);
        accumulator
    }
}
