//! Paired comparison of two systems that pass or fail the same cases.

use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    distribution::{chi_squared_upper, normal_critical_value},
    proportion::{MAX_BETA_COUNT, zero_failures},
    special_functions::{beta_quantile, fair_coin_tail},
    undefined::{check_finite, check_lengths},
};

/// Counts of the four outcomes of paired verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PairedVerdicts {
    /// Both passed.
    pub both: u64,
    /// Only the first passed.
    pub only_first: u64,
    /// Only the second passed.
    pub only_second: u64,
    /// Neither passed.
    pub neither: u64,
}

/// Result of the exact test that two sides are equally likely.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FairCoinTest {
    /// Two-sided exact probability of a split at least this uneven. 1 without observations.
    pub p: f64,
    /// Mid-p value: `p` minus half of the probability of the observed split. It is less conservative, and
    /// closer to its nominal level.
    pub p_mid: f64,
}

/// McNemar's test and the difference of the two pass rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct McNemarTest {
    /// Number of pairs.
    pub n: u64,
    /// First pass rate minus second.
    pub difference: Result<f64, UndefinedReason>,
    /// Interval of the difference, within -1 to 1, with a positive width even when no pair differs.
    pub interval: Result<Interval, UndefinedReason>,
    /// Exact two-sided p. 1 if no pair differs.
    pub p_exact: f64,
    /// Exact mid-p. 1 if no pair differs.
    pub p_mid: f64,
    /// `(b - c)^2 / (b + c)`.
    pub chi2: Result<f64, UndefinedReason>,
    /// p value of [`chi2`](Self::chi2), one degree of freedom.
    pub p_chi2: Result<f64, UndefinedReason>,
    /// `(|b - c| - 1)^2 / (b + c)`, with continuity correction.
    pub chi2_corrected: Result<f64, UndefinedReason>,
    /// p value of the corrected chi-squared.
    pub p_chi2_corrected: Result<f64, UndefinedReason>,
}

impl PairedVerdicts {
    /// Counts the pairs of two lists of verdicts.
    pub fn from_verdicts(first: &[bool], second: &[bool]) -> Result<Self, UndefinedReason> {
        check_lengths(first.len(), second.len())?;

        let mut pairs = Self::default();
        for verdicts in first.iter().zip(second) {
            match verdicts {
                (true, true) => pairs.both += 1,
                (true, false) => pairs.only_first += 1,
                (false, true) => pairs.only_second += 1,
                (false, false) => pairs.neither += 1,
            }
        }

        Ok(pairs)
    }

    /// Returns the number of pairs.
    pub const fn n(self) -> u64 {
        self.both
            .saturating_add(self.only_first)
            .saturating_add(self.only_second)
            .saturating_add(self.neither)
    }

    /// Tests whether the two pass rates differ. If pairs move only one way, the difference is at most the
    /// share of pairs that do, so the interval extends at least to the exact bound on that share. If no pair
    /// differs, it is [`none_differ`].
    ///
    /// Sources: Q. McNemar, Psychometrika 12 (1947), 153-157; mid-p: M. Fagerland, S. Lydersen and P. Laake,
    /// BMC Medical Research Methodology 13:91 (2013); continuity correction: A. Edwards, Psychometrika 13
    /// (1948); interval: the Wald interval after adding one pair to each kind of disagreement, D. Bonett and
    /// R. Price, Journal of Educational and Behavioral Statistics 37 (2012), 479-488.
    pub fn mcnemar(self, level: ConfidenceLevel) -> McNemarTest {
        let (b, c, n) = (self.only_first as f64, self.only_second as f64, self.n() as f64);
        let coin = fair_coin(self.only_first, self.only_second);
        let apart = b - c;
        let over = |top: f64| {
            if b + c == 0.0 { Err(UndefinedReason::NothingDiffers) } else { check_finite(top / (b + c)) }
        };
        let chi2 = over(apart * apart);
        let chi2_corrected = over((apart.abs() - 1.0).powi(2));
        let empty = self.n() == 0;

        McNemarTest {
            n: self.n(),
            difference: if empty { Err(UndefinedReason::NoValues) } else { Ok(apart / n) },
            interval: if empty { Err(UndefinedReason::NoValues) } else { self.difference_interval(level) },
            p_exact: coin.p,
            p_mid: coin.p_mid,
            chi2,
            p_chi2: chi2.map(chi_squared_upper),
            chi2_corrected,
            p_chi2_corrected: chi2_corrected.map(chi_squared_upper),
        }
    }
}

impl PairedVerdicts {
    /// Returns the interval of the difference; undefined without pairs.
    fn difference_interval(self, level: ConfidenceLevel) -> Result<Interval, UndefinedReason> {
        let n = self.n();
        if self.only_first == 0 && self.only_second == 0 {
            return none_differ(n, level);
        }

        let found = bonett_price_interval(self.only_first as f64, self.only_second as f64, n as f64, level)?;
        let bound = |count: u64, other: u64| match other {
            0 if n <= MAX_BETA_COUNT => share_bound(count, n, level),
            _ => -1.0,
        };
        let low = found.low.min(-bound(self.only_second, self.only_first));
        let high = found.high.max(bound(self.only_first, self.only_second));
        let is_extended = low < found.low || high > found.high;
        let method = if is_extended { IntervalMethod::BonettPriceExact } else { found.method };

        Ok(Interval { low, high, method, ..found })
    }
}

/// One-sided exact upper bound of a share. Source: C. Clopper and E. Pearson, Biometrika 26 (1934), 404-413.
fn share_bound(count: u64, n: u64, level: ConfidenceLevel) -> f64 {
    if count == n {
        return 1.0;
    }
    1.0 - beta_quantile(level.alpha(), (n - count) as f64, count as f64 + 1.0)
}

/// Returns the interval of a mean paired difference if none of n pairs (or clusters) differs: plus and minus
/// `1 - (1 - level)^(1/n)`, times 1, the largest possible difference of a pair. For a mean difference of u, a share of
/// at least u of the pairs must differ, and n pairs contain none of these with a probability of at most `(1 - u)^n`.
/// The difference is on one side of 0, so the error is not halved.
pub fn none_differ(n: u64, level: ConfidenceLevel) -> Result<Interval, UndefinedReason> {
    let most = zero_failures(n, level)?.exact;
    Ok(Interval { low: -most, high: most, level, method: IntervalMethod::NoneDiffer })
}

fn bonett_price_interval(
    b: f64,
    c: f64,
    n: f64,
    level: ConfidenceLevel,
) -> Result<Interval, UndefinedReason> {
    let (first, second) = ((b + 1.0) / (n + 2.0), (c + 1.0) / (n + 2.0));
    let apart = first - second;
    let variance = (first + second - apart * apart) / (n + 2.0);
    let reach = normal_critical_value(level)? * variance.max(0.0).sqrt();
    Ok(Interval::symmetric_around(apart, reach, level, IntervalMethod::BonettPrice)?.clip(-1.0, 1.0))
}

/// The exact binomial test of two equally likely sides: `min(1, 2 P(X <= min(heads, tails)))`. Also tests
/// position bias among decisive answers. Source: R. A. Fisher, The Design of Experiments (1935); the sign
/// test.
pub fn fair_coin(heads: u64, tails: u64) -> FairCoinTest {
    let n = heads.saturating_add(tails);
    if n == 0 {
        return FairCoinTest { p: 1.0, p_mid: 1.0 };
    }
    if heads == tails {
        return FairCoinTest { p: 1.0, p_mid: 1.0 };
    }

    let (tail, point) = fair_coin_tail(heads.min(tails), n);
    FairCoinTest { p: (2.0 * tail).min(1.0), p_mid: (2.0 * tail - point).clamp(0.0, 1.0) }
}
