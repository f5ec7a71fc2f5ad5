//! Confidence intervals, their levels and methods.

use std::fmt;

use crate::{UndefinedReason, undefined::check_finite};

/// The confidence level of a two-sided interval, above 0 and below 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct ConfidenceLevel(f64);

/// An error for a confidence level that is not between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a confidence level lies above 0 and below 1, such as 0.95; found {0}")]
pub struct ConfidenceLevelError(pub f64);

impl ConfidenceLevel {
    /// 95 %, the usual one.
    pub const P95: Self = Self(0.95);

    /// Creates a level, which must be above 0 and below 1.
    pub fn new(level: f64) -> Result<Self, ConfidenceLevelError> {
        if level > 0.0 && level < 1.0 { Ok(Self(level)) } else { Err(ConfidenceLevelError(level)) }
    }

    /// Returns the level as a share: 0.95 for 95 %.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Returns the probability outside a two-sided interval: 0.05 at 95 %.
    pub(crate) fn alpha(self) -> f64 {
        1.0 - self.0
    }

    /// Returns the probability below the lower end of a two-sided interval: 0.025 at 95 %.
    pub(crate) fn tail(self) -> f64 {
        self.alpha() / 2.0
    }
}

impl Default for ConfidenceLevel {
    fn default() -> Self {
        Self::P95
    }
}

/// Method with which an interval was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IntervalMethod {
    /// Student's t around a mean.
    StudentT,
    /// The normal approximation.
    Normal,
    /// Student's t with one degree of freedom less than there are clusters, around a clustered error.
    ClusterT,
    /// Wilson's score interval for a proportion.
    Wilson,
    /// Wilson's score interval with a continuity correction.
    WilsonContinuity,
    /// The exact binomial interval of Blaker.
    Blaker,
    /// The exact binomial interval of Clopper and Pearson.
    ClopperPearson,
    /// Agresti and Coull's adjusted normal interval.
    AgrestiCoull,
    /// Equal tails of the posterior under Jeffreys' prior.
    Jeffreys,
    /// Equal tails of the posterior under a uniform prior.
    BetaPosterior,
    /// The plain normal approximation for proportions.
    Wald,
    /// Newcombe's square-and-add of two Wilson intervals.
    Newcombe,
    /// Agresti and Caffo's adjusted difference of proportions.
    AgrestiCaffo,
    /// Bonett and Price's adjusted paired difference of proportions.
    BonettPrice,
    /// Bonett and Price's, extended to the exact bound on the share of pairs that rise or fall if that is
    /// further out.
    BonettPriceExact,
    /// Exact bound on the share of pairs that differ, if none of them does.
    NoneDiffer,
    /// Percentiles of bootstrap resamples.
    Percentile,
    /// Bias-corrected and accelerated bootstrap.
    Bca,
    /// Fisher's z transformation of a correlation.
    FisherZ,
    /// Bonett and Wright's interval for Spearman's correlation.
    BonettWright,
    /// DeLong's interval for an area under the curve.
    DeLong,
    /// The adjusted plug-in interval around a Rogan-Gladen estimate.
    LeePlugIn,
    /// Prediction-powered inference, normal approximation.
    PredictionPowered,
    /// Wilson's score interval on the effective number of values.
    WilsonEffective,
    /// Wilson's on the effective number, extended at either end to Gaffke's bound, with less weight at the
    /// ends of the range, if that is further out.
    WilsonGaffke,
    /// Either of the two above, extended at either end to Blaker's bound on the share of one of two values if
    /// that is further out.
    WilsonBlaker,
    /// Wilson's intervals on the effective numbers of rises and of falls, combined.
    WilsonRisesFalls,
    /// Prediction-powered inference: Wilson's interval on the labels and the information added by the judge.
    WilsonPowered,
    /// Equal tails of values drawn around the counts.
    Posterior,
    /// Newcombe's score interval of an area under the curve.
    NewcombeArea,
    /// Fisher's z transformation of a correlation, with the clustered error of its influence values.
    RobustZ,
    /// Confidence sequence by betting, which is valid at all times at once.
    Betting,
    /// Empirical Bayes, whose coverage holds on average over groups.
    EmpiricalBayes,
}

impl IntervalMethod {
    /// Returns the name used in records and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::StudentT => "Student-t",
            Self::Normal => "normal",
            Self::ClusterT => "cluster-robust t",
            Self::Wilson => "Wilson",
            Self::WilsonContinuity => "Wilson with continuity correction",
            Self::Blaker => "Blaker",
            Self::ClopperPearson => "Clopper-Pearson",
            Self::AgrestiCoull => "Agresti-Coull",
            Self::Jeffreys => "Jeffreys",
            Self::BetaPosterior => "uniform-prior posterior",
            Self::Wald => "Wald",
            Self::Newcombe => "Newcombe",
            Self::AgrestiCaffo => "Agresti-Caffo",
            Self::BonettPrice => "Bonett-Price",
            Self::BonettPriceExact => "Bonett-Price or exact bound",
            Self::NoneDiffer => "exact bound on the share of pairs that differ",
            Self::Percentile => "percentile bootstrap",
            Self::Bca => "BCa bootstrap",
            Self::FisherZ => "Fisher z",
            Self::BonettWright => "Bonett-Wright",
            Self::DeLong => "DeLong",
            Self::LeePlugIn => "Rogan-Gladen, adjusted plug-in",
            Self::PredictionPowered => "prediction-powered",
            Self::WilsonEffective => "Wilson, effective n",
            Self::WilsonGaffke => "Wilson or Gaffke",
            Self::WilsonBlaker => "Wilson or Blaker",
            Self::WilsonRisesFalls => "Wilson, paired",
            Self::WilsonPowered => "prediction-powered, Wilson",
            Self::Posterior => "posterior",
            Self::NewcombeArea => "Newcombe, area",
            Self::RobustZ => "Fisher z, robust",
            Self::Betting => "confidence sequence, betting",
            Self::EmpiricalBayes => "empirical Bayes",
        }
    }
}

impl fmt::Display for IntervalMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A two-sided confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end, in the unit of the estimate.
    pub low: f64,
    /// Upper end, in the unit of the estimate.
    pub high: f64,
    /// Confidence level.
    pub level: ConfidenceLevel,
    /// Method with which it was computed.
    pub method: IntervalMethod,
}

impl Interval {
    /// Creates `centre +- reach`; fails unless both ends are finite.
    pub(crate) fn symmetric_around(
        centre: f64,
        reach: f64,
        level: ConfidenceLevel,
        method: IntervalMethod,
    ) -> Result<Self, UndefinedReason> {
        Ok(Self { low: check_finite(centre - reach)?, high: check_finite(centre + reach)?, level, method })
    }

    /// Returns the part of the interval within `low` to `high`.
    pub fn clip(self, low: f64, high: f64) -> Self {
        Self { low: self.low.clamp(low, high), high: self.high.clamp(low, high), ..self }
    }

    /// Returns the upper end minus the lower end.
    pub fn width(self) -> f64 {
        self.high - self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_lie_strictly_between_zero_and_one() {
        for wrong in [0.0, 1.0, -0.1, 95.0, f64::NAN, f64::INFINITY] {
            assert!(ConfidenceLevel::new(wrong).is_err(), "{wrong}");
        }
        assert_eq!(ConfidenceLevel::new(0.95), Ok(ConfidenceLevel::default()));
    }
}
