//! Pass rates and Wilson intervals.

use assize_stats::{Level, Method, Undefined, proportion};
use proptest::prelude::*;

#[test]
fn half_of_four_by_hand() {
    // With p = 1/2 the interval is symmetric: 1/2 +- z / (2 sqrt(n + z^2)).
    let z = 1.959_963_984_540_054;
    let reach = z / (2.0 * (4.0f64 + z * z).sqrt());
    let rate = proportion(2, 4, Level::P95);
    assert_eq!((rate.successes, rate.n, rate.rate), (2, 4, Ok(0.5)));
    let interval = rate.interval.expect("four trials");
    assert!((interval.low - (0.5 - reach)).abs() < 1e-12 && (interval.high - (0.5 + reach)).abs() < 1e-12);
    assert_eq!((interval.level, interval.method), (Level::P95, Method::Wilson));
}

#[test]
fn all_and_none_keep_a_width_and_exact_ends() {
    // At the ends the inner bound is z^2 / (n + z^2) away from the outer one.
    let square = 1.959_963_984_540_054f64.powi(2);
    let none = proportion(0, 20, Level::P95).interval.expect("twenty trials");
    assert_eq!(none.low, 0.0);
    assert!((none.high - square / (20.0 + square)).abs() < 1e-12);
    let all = proportion(20, 20, Level::P95).interval.expect("twenty trials");
    assert_eq!(all.high, 1.0);
    assert!((all.low - 20.0 / (20.0 + square)).abs() < 1e-12);
}

#[test]
fn impossible_counts_say_why() {
    let none = proportion(0, 0, Level::P95);
    assert_eq!((none.rate, none.interval), (Err(Undefined::NoValues), Err(Undefined::NoValues)));
    assert_eq!(proportion(3, 2, Level::P95).interval, Err(Undefined::MoreSuccessesThanTrials));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn the_interval_holds_the_rate_and_stays_in_range(
        (n, successes) in prop_oneof![1u64..2_000, 1u64..=u64::MAX].prop_flat_map(|n| (Just(n), 0..=n)),
        level in 0.01..0.999,
    ) {
        let found = proportion(successes, n, Level::new(level).expect("in range"));
        let (rate, interval) = (found.rate.expect("trials"), found.interval.expect("trials"));
        prop_assert!(0.0 <= interval.low && interval.low <= rate + 1e-12);
        prop_assert!(rate - 1e-12 <= interval.high && interval.high <= 1.0);
    }

    #[test]
    fn failures_mirror_successes((n, successes) in (1u64..500).prop_flat_map(|n| (Just(n), 0..=n))) {
        let passed = proportion(successes, n, Level::P95).interval.expect("trials");
        let failed = proportion(n - successes, n, Level::P95).interval.expect("trials");
        prop_assert!((passed.low - (1.0 - failed.high)).abs() < 1e-12);
        prop_assert!((passed.high - (1.0 - failed.low)).abs() < 1e-12);
    }
}
