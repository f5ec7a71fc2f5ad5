//! Means and t intervals.

use crate::{ConfidenceLevel, IntervalMethod, MeanAccumulator, MeanEstimate, UndefinedReason};
use proptest::prelude::*;

use super::near;

fn mean_of(values: &[f64]) -> MeanEstimate {
    values.iter().copied().collect::<MeanAccumulator>().mean(ConfidenceLevel::P95)
}

#[test]
fn three_values_by_hand() {
    // Mean 2, sd 1, se 1/sqrt(3); the tabulated t for 2 degrees of freedom is 4.302652729911275.
    let mean = mean_of(&[1.0, 2.0, 3.0]);
    assert_eq!((mean.n, mean.mean, mean.sd), (3, Ok(2.0), Ok(1.0)));
    let interval = mean.interval.expect("three values");
    let reach = 4.302_652_729_911_275 / 3f64.sqrt();
    assert!(near(interval.low, 2.0 - reach, 1e-9) && near(interval.high, 2.0 + reach, 1e-9), "{interval:?}");
    assert_eq!((interval.level, interval.method), (ConfidenceLevel::P95, IntervalMethod::StudentT));
}

#[test]
fn tabulated_quantiles_are_met_for_few_and_for_many_values() {
    // Two-sided 95 % quantiles of t, by degrees of freedom.
    let table = [
        (1u64, 12.706_204_736_432_095),
        (4, 2.776_445_105_197_799),
        (9, 2.262_157_162_854_099),
        (30, 2.042_272_456_301_238),
        (120, 1.979_930_405_052_777),
        (1_000, 1.962_339_080_826_408),
        (1_001, 1.962_336_705_280_879),
    ];
    for (freedom, quantile) in table {
        // Values with a mean of 0, so that the upper end divided by the standard error is the quantile.
        let half = freedom.div_ceil(2);
        let mut accumulator = MeanAccumulator::new();
        for _ in 0..half {
            accumulator.extend([1.0, -1.0]);
        }
        if accumulator.n() == freedom {
            accumulator.push(0.0);
        }
        assert_eq!(accumulator.n(), freedom + 1);
        let mean = accumulator.mean(ConfidenceLevel::P95);
        let found = mean.interval.expect("several values").high / mean.se.expect("several values");
        assert!(near(found, quantile, 1e-9), "{freedom}: {found}");
    }
}

#[test]
fn a_hundred_thousand_values_come_close_to_the_normal_quantile() {
    let mean = (0..100_000)
        .map(|index| f64::from(index % 2))
        .collect::<MeanAccumulator>()
        .mean(ConfidenceLevel::P95);
    assert_eq!(mean.mean, Ok(0.5));
    let found = (mean.interval.expect("many values").high - 0.5) / mean.se.expect("many values");
    // First terms of the expansion of t around the normal quantile z: z + (z^3 + z) / 4 df.
    let z = 1.959_963_984_540_054f64;
    assert!(near(found, z + (z.powi(3) + z) / (4.0 * 99_999.0), 1e-9), "{found}");
}

#[test]
fn no_values_and_one_value_say_why_there_is_no_interval() {
    let none = mean_of(&[]);
    assert_eq!((none.mean, none.interval), (Err(UndefinedReason::NoValues), Err(UndefinedReason::NoValues)));
    let one = mean_of(&[0.8]);
    assert_eq!((one.n, one.mean), (1, Ok(0.8)));
    assert_eq!((one.sd, one.se), (Err(UndefinedReason::OneValue), Err(UndefinedReason::OneValue)));
    assert_eq!(one.interval, Err(UndefinedReason::OneValue));
    assert!(!one.is_constant());
}

#[test]
fn values_without_spread_are_said_to_be_constant() {
    let same = mean_of(&[0.7; 50]);
    assert!(same.is_constant());
    let interval = same.interval.expect("fifty values");
    assert_eq!((interval.low, interval.high), (0.7, 0.7));
    assert!(!mean_of(&[0.7, 0.7, 0.700_000_1]).is_constant());
}

#[test]
fn what_is_not_a_number_never_comes_out_as_one() {
    for values in [[f64::NAN, 1.0, 2.0], [1.0, f64::INFINITY, 2.0], [f64::MAX, -f64::MAX, f64::MAX]] {
        let mean = mean_of(&values);
        assert_eq!(mean.interval, Err(UndefinedReason::NotFinite), "{values:?}");
        assert_eq!(mean.n, 3);
    }
}

#[test]
fn a_small_spread_around_a_large_mean_survives() {
    let mean = mean_of(&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]);
    assert_eq!(mean.mean, Ok(1e9 + 10.0));
    assert!(near(mean.sd.expect("four values"), 30f64.sqrt(), 1e-12));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn figures_are_those_of_the_textbook(values in prop::collection::vec(0.0..=1.0, 2..60)) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let sd = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        let found = mean_of(&values);
        prop_assert!(near(found.mean.expect("values"), mean, 1e-12));
        prop_assert!(near(found.sd.expect("values"), sd, 1e-9));
        prop_assert!(near(found.se.expect("values"), sd / n.sqrt(), 1e-9));
        let interval = found.interval.expect("values");
        prop_assert!(near(f64::midpoint(interval.low, interval.high), mean, 1e-9));
    }

    #[test]
    fn parts_merge_into_the_whole(
        values in prop::collection::vec(-10.0..=10.0, 0..60), cut in any::<prop::sample::Index>(),
    ) {
        let (left, right) = values.split_at(cut.index(values.len() + 1));
        let mut merged: MeanAccumulator = left.iter().copied().collect();
        merged.merge(right.iter().copied().collect());
        let (merged, whole) = (merged.mean(ConfidenceLevel::P95), mean_of(&values));
        prop_assert_eq!(merged.n, whole.n);
        for (a, b) in [(merged.mean, whole.mean), (merged.sd, whole.sd), (merged.se, whole.se)] {
            let same = match (a, b) {
                (Ok(a), Ok(b)) => near(a, b, 1e-9),
                (a, b) => a == b,
            };
            prop_assert!(same, "{a:?} {b:?}");
        }
    }

    #[test]
    fn more_confidence_is_wider(
        values in prop::collection::vec(0.0..=1.0, 2..20), a in 0.01..0.99, b in 0.01..0.99,
    ) {
        let accumulator: MeanAccumulator = values.into_iter().collect();
        let width = |level: f64| {
            let interval = accumulator.mean(ConfidenceLevel::new(level).expect("in range")).interval.expect("values");
            interval.high - interval.low
        };
        prop_assert!(width(f64::min(a, b)) <= width(f64::max(a, b)) + 1e-9);
    }
}
