//! Paired comparison of two systems that pass or fail the same cases.

use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    distribution::{chi_squared_upper, normal_critical_value},
    special_functions::fair_coin_tail,
    undefined::check_finite,
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
    /// Mid-p value: `p` with half of the observed split's own probability taken off; less conservative,
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
        if first.len() != second.len() {
            return Err(UndefinedReason::UnequalLengths);
        }

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

    /// Tests whether the two pass rates differ. Sources: Q. McNemar, Psychometrika 12 (1947), 153-157;
    /// mid-p: M. Fagerland, S. Lydersen and P. Laake, BMC Medical Research Methodology 13:91 (2013);
    /// continuity correction: A. Edwards, Psychometrika 13 (1948); interval: the Wald interval after
    /// adding one pair to each kind of disagreement, D. Bonett and R. Price, Journal of Educational and
    /// Behavioral Statistics 37 (2012), 479-488.
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
            interval: if empty {
                Err(UndefinedReason::NoValues)
            } else {
                bonett_price_interval(b, c, n, level)
            },
            p_exact: coin.p,
            p_mid: coin.p_mid,
            chi2,
            p_chi2: chi2.map(chi_squared_upper),
            chi2_corrected,
            p_chi2_corrected: chi2_corrected.map(chi_squared_upper),
        }
    }
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
