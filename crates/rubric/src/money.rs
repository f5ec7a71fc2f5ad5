//! Sums of money: exact, with unknown parts kept separate.

use std::fmt;
use std::ops::{Add, AddAssign};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// US dollars, at least 0, exact to a millionth of a millionth. List prices are per million tokens and have
/// at most six decimals, so a token's price is an integer number of picodollars, and sums of prices are never
/// rounded.
///
/// Serialised as a number of dollars, which keeps every digit of sums up to a thousand dollars. Sums saturate
/// at 18 million dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Usd(u64);

impl Usd {
    /// Zero dollars.
    pub const ZERO: Self = Self(0);

    const PICO_PER_DOLLAR: f64 = 1e12;

    /// Creates a sum from picodollars.
    pub const fn from_pico(pico: u64) -> Self {
        Self(pico)
    }

    /// Returns the sum in picodollars.
    pub const fn as_pico(self) -> u64 {
        self.0
    }

    /// Rounds dollars to the nearest picodollar; `None` if the number is negative, not finite or too large to
    /// store.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "the range is checked before the cast"
    )]
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let pico = (dollars * Self::PICO_PER_DOLLAR).round();
        // The bound is inclusive, so that the largest sum that can be stored can also be read back.
        (0.0..=u64::MAX as f64).contains(&pico).then_some(Self(pico as u64))
    }

    /// Returns the sum in dollars, correctly rounded, for people and for records.
    #[expect(clippy::cast_precision_loss, reason = "a sum is shown with fewer digits than a double has")]
    pub fn as_dollars(self) -> f64 {
        self.0 as f64 / Self::PICO_PER_DOLLAR
    }

    /// Subtracts `other`; zero if `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Usd {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Formats the number of dollars with all its decimals, such as `0.0125`.
impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_dollars())
    }
}

/// A number in files, as it is written there.
impl JsonSchema for Usd {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Usd".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "number", "minimum": 0, "description": "US dollars" })
    }
}

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_dollars())
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        Self::from_dollars(dollars)
            .ok_or_else(|| serde::de::Error::custom(format!("{dollars} is not an amount of money")))
    }
}

/// Cost of model calls: the known part, and the number of calls whose cost is not fully known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    known: Usd,
    unpriced_calls: u64,
}

impl Cost {
    /// A known cost of zero.
    pub const ZERO: Self = Self { known: Usd::ZERO, unpriced_calls: 0 };

    /// One call of unknown cost.
    pub const UNKNOWN: Self = Self::unpriced(1);

    /// A cost that is fully known.
    pub const fn from_known(known: Usd) -> Self {
        Self { known, unpriced_calls: 0 }
    }

    /// This many calls of unknown cost.
    pub const fn unpriced(calls: u64) -> Self {
        Self { known: Usd::ZERO, unpriced_calls: calls }
    }

    /// The whole cost; `None` if a part is unknown.
    pub fn total(self) -> Option<Usd> {
        (self.unpriced_calls == 0).then_some(self.known)
    }

    /// The known part: a lower bound of the cost.
    pub const fn lower_bound(self) -> Usd {
        self.known
    }

    /// Number of calls whose cost is not fully known.
    pub const fn unpriced_calls(self) -> u64 {
        self.unpriced_calls
    }

    /// The known part of a partly unknown cost; `None` if all of it is known.
    pub fn to_partial(self) -> Option<PartialCost> {
        let Self { known, unpriced_calls } = self;
        (unpriced_calls > 0).then_some(PartialCost { at_least_usd: known, unpriced_calls })
    }

    /// Rebuilds a cost from the two fields of a record. Older records don't have the second field, and mark
    /// an unknown cost only by leaving the first one empty.
    pub fn from_parts(whole: Option<Usd>, partial: Option<PartialCost>) -> Self {
        match (whole, partial) {
            (Some(known), _) => Self::from_known(known),
            (None, Some(PartialCost { at_least_usd: known, unpriced_calls })) => {
                Self { known, unpriced_calls: unpriced_calls.max(1) }
            }
            (None, None) => Self::UNKNOWN,
        }
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            known: self.known + other.known,
            unpriced_calls: self.unpriced_calls.saturating_add(other.unpriced_calls),
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Known part of the cost, if the cost is not fully known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartialCost {
    /// Known part in US dollars, a lower bound of the cost.
    pub at_least_usd: Usd,
    /// Number of calls whose cost is unknown.
    pub unpriced_calls: u64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sums_are_exact_where_floats_are_not() {
        let dime = Usd::from_dollars(0.1).unwrap();
        let fifth = Usd::from_dollars(0.2).unwrap();
        assert_eq!(dime + fifth, Usd::from_dollars(0.3).unwrap());
        // At a price of 0.075 dollars per million tokens, a million tokens.
        let token = Usd::from_pico(75_000);
        let sum = (0..1_000_000).fold(Usd::ZERO, |sum, _| sum + token);
        assert_eq!(sum, Usd::from_dollars(0.075).unwrap());
    }

    #[test]
    fn the_largest_sum_is_read_again() {
        let most = Usd::from_pico(u64::MAX) + Usd::from_pico(1);
        let text = serde_json::to_string(&most).unwrap();
        assert_eq!(serde_json::from_str::<Usd>(&text).unwrap(), most);
    }

    #[test]
    fn what_is_no_money_is_refused() {
        for wrong in [-0.01, f64::NAN, f64::INFINITY, 1e9] {
            assert_eq!(Usd::from_dollars(wrong), None, "{wrong}");
        }
        assert!(serde_json::from_str::<Usd>("-1").is_err());
    }

    #[test]
    fn a_part_that_is_unknown_makes_a_lower_bound() {
        let cost = Cost::from_known(Usd::from_pico(7)) + Cost::UNKNOWN + Cost::unpriced(2);
        assert_eq!(cost.total(), None);
        assert_eq!(cost.lower_bound(), Usd::from_pico(7));
        let partial = cost.to_partial().unwrap();
        assert_eq!(partial.unpriced_calls, 3);
        assert_eq!(Cost::from_parts(None, Some(partial)), cost);
        assert_eq!(Cost::from_parts(None, None), Cost::UNKNOWN);
    }

    proptest! {
        #[test]
        fn records_keep_every_picodollar(pico in 0u64..1_000_000_000_000_000) {
            let usd = Usd::from_pico(pico);
            let text = serde_json::to_string(&usd).unwrap();
            prop_assert_eq!(serde_json::from_str::<Usd>(&text).unwrap(), usd);
        }

        #[test]
        fn the_order_of_a_sum_changes_nothing(mut parts in prop::collection::vec(0u64..1 << 40, 0..50)) {
            let sum = |parts: &[u64]| parts.iter().fold(Usd::ZERO, |sum, part| sum + Usd::from_pico(*part));
            let before = sum(&parts);
            parts.reverse();
            prop_assert_eq!(sum(&parts), before);
        }
    }
}
