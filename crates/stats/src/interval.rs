//! Confidence intervals and what belongs to them.

use std::fmt;

/// The confidence level of a two-sided interval, above 0 and below 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Level(f64);

/// A confidence level that is not between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a confidence level lies above 0 and below 1, such as 0.95; found {0}")]
pub struct LevelError(pub f64);

impl Level {
    /// 95 %, the usual one.
    pub const P95: Self = Self(0.95);

    /// Accepts what lies above 0 and below 1.
    pub fn new(level: f64) -> Result<Self, LevelError> {
        if level > 0.0 && level < 1.0 { Ok(Self(level)) } else { Err(LevelError(level)) }
    }

    /// The level as a share: 0.95 for 95 %.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The probability below the upper end of a two-sided interval: 0.975 at 95 %.
    pub(crate) fn upper_tail_start(self) -> f64 {
        0.5 + self.0 / 2.0
    }
}

impl Default for Level {
    fn default() -> Self {
        Self::P95
    }
}

/// How an interval was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Student's t around a mean.
    StudentT,
    /// Wilson's score interval for a proportion.
    Wilson,
}

impl Method {
    /// The name used in records and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::StudentT => "Student-t",
            Self::Wilson => "Wilson",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A two-sided confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end, in the unit of the figure.
    pub low: f64,
    /// Upper end, in the unit of the figure.
    pub high: f64,
    /// Its confidence level.
    pub level: Level,
    /// How it was computed.
    pub method: Method,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_lie_strictly_between_zero_and_one() {
        for wrong in [0.0, 1.0, -0.1, 95.0, f64::NAN, f64::INFINITY] {
            assert!(Level::new(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Level::new(0.95), Ok(Level::default()));
    }
}
