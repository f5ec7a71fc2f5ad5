//! Validated numbers: weights, values from 0 to 1, and scores.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Error for a NaN or infinite number where a finite one is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a finite number")]
pub struct NotFiniteError;

/// Error for a number outside its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("outside {low} to {high}")]
pub struct OutOfRangeError {
    /// Smallest allowed value.
    pub low: i32,
    /// Largest allowed value.
    pub high: i32,
}

/// The conversions of a checked number that serde reads and writes as a plain one.
macro_rules! checked_numbers {
    ($($checked:ident($plain:ty, $error:ty)),*) => {$(
        impl TryFrom<$plain> for $checked {
            type Error = $error;

            fn try_from(value: $plain) -> Result<Self, $error> {
                Self::new(value)
            }
        }

        impl From<$checked> for $plain {
            fn from(checked: $checked) -> Self {
                checked.0
            }
        }
    )*};
}

checked_numbers!(Weight(f64, NotFiniteError), UnitInterval(f64, OutOfRangeError));
checked_numbers!(RawScore(u8, OutOfRangeError), FractionalScore(f64, OutOfRangeError));

/// Weight of a criterion or grader: any finite number. A negative weight is a penalty: meeting the criterion lowers the
/// score. A weight of 0 has no effect on the score, but the criterion can still be a gate.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64", into = "f64")]
pub struct Weight(f64);

impl Weight {
    /// The default weight: 1.
    pub const ONE: Self = Self(1.0);
    /// A weight that leaves the score unchanged.
    pub const ZERO: Self = Self(0.0);

    /// Creates a weight; fails unless the number is finite.
    pub fn new(value: f64) -> Result<Self, NotFiniteError> {
        // Adding zero turns -0.0 into 0.0, so that a weight can't be both zero and of negative sign.
        if value.is_finite() { Ok(Self(value + 0.0)) } else { Err(NotFiniteError) }
    }

    /// Returns the number.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Returns true if the weight is negative.
    pub fn is_penalty(self) -> bool {
        self.0 < 0.0
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self::ONE
    }
}

/// A number from 0 to 1 inclusive, such as a threshold or a normalized score.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64", into = "f64")]
#[schemars(rename = "Unit")]
pub struct UnitInterval(f64);

impl UnitInterval {
    /// 0.
    pub const ZERO: Self = Self(0.0);
    /// 1.
    pub const ONE: Self = Self(1.0);
    /// 0.5.
    pub const HALF: Self = Self(0.5);

    /// Creates a value; fails outside 0 to 1 and for NaN.
    pub fn new(value: f64) -> Result<Self, OutOfRangeError> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value + 0.0))
        } else {
            Err(OutOfRangeError { low: 0, high: 1 })
        }
    }

    /// Returns the number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// Raw score of a criterion with score ranges: a whole number from 0 to 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u8", into = "u8")]
pub struct RawScore(u8);

impl RawScore {
    /// The lowest score.
    pub const MIN: Self = Self(0);
    /// The highest score.
    pub const MAX: Self = Self(10);

    /// Creates a score; numbers above 10 are an error and not clamped.
    pub fn new(value: u8) -> Result<Self, OutOfRangeError> {
        if value <= 10 { Ok(Self(value)) } else { Err(OutOfRangeError { low: 0, high: 10 }) }
    }

    /// Returns the number, 0 to 10.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The score on the 0 to 1 scale: a tenth of it.
    pub fn value(self) -> f64 {
        f64::from(self.0) / 10.0
    }
}

/// A score from 0 to 10 that need not be an integer, such as a mean of several scores or an expected score.
/// No judge gives one directly.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64", into = "f64")]
pub struct FractionalScore(f64);

// Reflexive, because a number from 0 to 10 is never NaN.
impl Eq for FractionalScore {}

impl std::hash::Hash for FractionalScore {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl FractionalScore {
    /// Creates a score; fails outside 0 to 10 and for NaN.
    pub fn new(value: f64) -> Result<Self, OutOfRangeError> {
        if (0.0..=10.0).contains(&value) {
            Ok(Self(value + 0.0))
        } else {
            Err(OutOfRangeError { low: 0, high: 10 })
        }
    }

    /// Returns the number, 0 to 10.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The score on the 0 to 1 scale: a tenth of it.
    pub fn value(self) -> f64 {
        self.0 / 10.0
    }

    /// The integer score that this number equals up to rounding error; `None` if there is none.
    pub fn to_raw_score(self) -> Option<RawScore> {
        let nearest = self.0.round();
        // In range, because a number from 0 to 10 rounds to an integer from 0 to 10.
        ((self.0 - nearest).abs() <= crate::TOLERANCE).then_some(RawScore(nearest as u8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_refuse_what_is_not_a_number() {
        assert_eq!(Weight::new(f64::NAN), Err(NotFiniteError));
        assert_eq!(Weight::new(f64::INFINITY), Err(NotFiniteError));
        assert!(!Weight::new(-0.0).expect("finite").get().is_sign_negative());
        assert!(serde_json::from_str::<Weight>("-2.5").expect("finite").is_penalty());
    }

    #[test]
    fn units_and_raw_scores_hold_their_range() {
        assert!(UnitInterval::new(1.0).is_ok());
        assert!(UnitInterval::new(1.000_001).is_err());
        assert!(UnitInterval::new(f64::NAN).is_err());
        assert!(RawScore::new(11).is_err());
        assert!(FractionalScore::new(10.1).is_err() && FractionalScore::new(f64::NAN).is_err());
        assert_eq!(
            FractionalScore::new(7.000_000_000_1).expect("in range").to_raw_score(),
            RawScore::new(7).ok()
        );
        assert_eq!(FractionalScore::new(7.1).expect("in range").to_raw_score(), None);
        assert_eq!(RawScore::new(7).expect("in range").value(), 0.7);
    }
}
