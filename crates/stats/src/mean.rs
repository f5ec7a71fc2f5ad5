//! The mean of a sample, how widely it is spread, and how far the mean can be trusted.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::{Interval, Level, Method, Undefined};

/// Takes values one at a time and forgets them: count, mean and spread in constant memory.
///
/// The updates are Welford's (B. P. Welford, Technometrics 4(3), 1962); merging two accumulators is
/// by Chan, Golub and LeVeque (COMPSTAT 1982). Neither subtracts large sums from each other, so a
/// small spread around a large mean survives.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Accumulator {
    n: u64,
    mean: f64,
    /// Sum of squared distances from the mean.
    squares: f64,
}

/// The mean of a sample and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// How many values there are.
    pub n: u64,
    /// The arithmetic mean.
    pub mean: Result<f64, Undefined>,
    /// Sample standard deviation, `sqrt(sum((x - mean)^2) / (n - 1))`. Exactly 0 if all values are
    /// the same, in which case the interval has no width: the sample shows no spread, which does not
    /// mean that there is none.
    pub sd: Result<f64, Undefined>,
    /// Standard error of the mean, `sd / sqrt(n)`.
    pub se: Result<f64, Undefined>,
    /// `mean +- t se`, t being the quantile of Student's distribution with n - 1 degrees of freedom.
    /// Not cut off at 0 or 1, where scores end.
    pub interval: Result<Interval, Undefined>,
}

impl Mean {
    /// Whether all values are the same, so that the interval has no width.
    pub fn is_constant(&self) -> bool {
        self.sd == Ok(0.0)
    }
}

impl Accumulator {
    /// Nothing taken yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a value. A NaN or an infinity makes every figure but the count undefined.
    pub fn push(&mut self, value: f64) {
        self.n += 1;
        let before = value - self.mean;
        self.mean += before / self.n as f64;
        self.squares += before * (value - self.mean);
    }

    /// Takes everything another accumulator took.
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

    /// How many values were taken.
    pub const fn n(&self) -> u64 {
        self.n
    }

    /// The mean, its standard error and its interval. Source for the use of the t interval on
    /// evaluation scores: E. Miller, "Adding Error Bars to Evals", arXiv 2411.00640, section 2.
    pub fn mean(&self, level: Level) -> Mean {
        let n = self.n as f64;
        let finite = |figure: f64| if figure.is_finite() { Ok(figure) } else { Err(Undefined::NotFinite) };
        let mean = if self.n == 0 { Err(Undefined::NoValues) } else { finite(self.mean) };
        let sd = match (mean, self.n) {
            (Err(reason), _) => Err(reason),
            (Ok(_), 1) => Err(Undefined::OneValue),
            (Ok(_), _) => finite((self.squares / (n - 1.0)).sqrt()),
        };
        let se = sd.map(|sd| sd / n.sqrt());
        let interval = match (mean, se) {
            (Ok(mean), Ok(se)) => student_t(n - 1.0, level).and_then(|t| {
                Ok(Interval {
                    low: finite(mean - t * se)?,
                    high: finite(mean + t * se)?,
                    level,
                    method: Method::StudentT,
                })
            }),
            (Err(reason), _) | (_, Err(reason)) => Err(reason),
        };
        Mean { n: self.n, mean, sd, se, interval }
    }
}

impl Extend<f64> for Accumulator {
    fn extend<T: IntoIterator<Item = f64>>(&mut self, values: T) {
        for value in values {
            self.push(value);
        }
    }
}

impl FromIterator<f64> for Accumulator {
    fn from_iter<T: IntoIterator<Item = f64>>(values: T) -> Self {
        let mut accumulator = Self::new();
        accumulator.extend(values);
        accumulator
    }
}

/// Degrees of freedom above which [`expansion`] is more exact than an inverted distribution function:
/// inverting loses digits as the degrees grow (an error of 1e-5 at 100,000), the expansion gains them.
const MANY: f64 = 1_000.0;

/// The quantile of Student's t that bounds a two-sided interval.
fn student_t(freedom: f64, level: Level) -> Result<f64, Undefined> {
    let probability = level.upper_tail_start();
    let quantile = if freedom > MANY {
        Some(expansion(Normal::standard().inverse_cdf(probability), freedom))
    } else {
        StudentsT::new(0.0, 1.0, freedom).ok().map(|distribution| distribution.inverse_cdf(probability))
    };
    quantile.filter(|quantile| quantile.is_finite()).ok_or(Undefined::NotFinite)
}

/// The quantile of Student's t from the normal quantile `z`, as a series in 1 / degrees of freedom.
/// Source: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 26.7.5.
fn expansion(z: f64, freedom: f64) -> f64 {
    let square = z * z;
    // The polynomials of the series, each divided by z, in powers of z squared.
    let first = (square + 1.0) / 4.0;
    let second = ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    let fourth =
        ((((79.0 * square + 776.0) * square + 1482.0) * square - 1920.0) * square - 945.0) / 92_160.0;
    let share = 1.0 / freedom;
    z * (1.0 + share * (first + share * (second + share * (third + share * fourth))))
}
