//! Pass rates and their intervals.

use crate::{
    ConfidenceLevel, IntervalMethod, RateInterval, UndefinedReason, posterior_mean, proportion,
    proportion_by, zero_failures,
};
use proptest::prelude::*;

use super::{assert_near, cases};

const EVERY: [RateInterval; 8] = [
    RateInterval::Wilson,
    RateInterval::WilsonContinuity,
    RateInterval::ClopperPearson,
    RateInterval::AgrestiCoull,
    RateInterval::Jeffreys,
    RateInterval::BetaPosterior,
    RateInterval::Wald,
    RateInterval::Blaker,
];

#[test]
fn published_intervals_of_eight_of_ten() {
    // statsmodels 0.15 and scipy 1.17.
    let table = [
        (0.490_162_471_5, 0.943_317_848_5),
        (0.442_181_424_3, 0.964_573_056_3),
        (0.443_904_537_7, 0.974_789_273_7),
        (0.479_367_590_6, 0.954_112_729_5),
        (0.497_225_503_6, 0.955_940_586_4),
        (0.482_244_147_6, 0.939_782_265_8),
        (0.552_081_987_1, 1.0),
        // Binomial sums of scipy, the ends by bisection.
        (0.444_447_086_1, 0.963_228_562_1),
    ];
    for (kind, (low, high)) in EVERY.into_iter().zip(table) {
        let interval = proportion_by(kind, 8, 10, ConfidenceLevel::P95).interval.unwrap();
        assert_near(interval.low, low, 1e-9);
        assert_near(interval.high, high, 1e-9);
    }
    assert_eq!(posterior_mean(0, 10), Ok(1.0 / 12.0));
}

#[test]
fn exact_intervals_at_both_ends() {
    // Clopper-Pearson: statsmodels 0.15.0, proportion_confint with method='beta'. Blaker: ends by bisection
    // of the acceptability of Blaker (2000) with scipy 1.17.1's binom; 3 of 10 is the example in the manual
    // of R's BlakerCI 1.0-6.
    #[rustfmt::skip]
    let table = [
        (0, 10, [0.0, 0.308_497_107_819, 0.0, 0.282_934_707_786]),
        (1, 10, [0.002_528_578_544, 0.445_016_117_028, 0.005_116_196_892, 0.444_447_086_062]),
        (3, 10, [0.066_739_511_369, 0.652_452_850_060, 0.087_264_433_914, 0.619_410_658_913]),
        (8, 10, [0.443_904_537_692, 0.974_789_273_673, 0.444_447_086_062, 0.963_228_562_113]),
        (10, 10, [0.691_502_892_181, 1.0, 0.717_065_292_214, 1.0]),
        (29, 30, [0.827_830_544_367, 0.999_156_429_073, 0.837_380_595_671, 0.998_291_684_356]),
        (97, 100, [0.914_823_947_026, 0.993_770_028_462, 0.918_403_039_017, 0.991_774_170_892]),
        (150, 300, [0.441_997_720_808, 0.558_002_279_192, 0.443_163_532_428, 0.556_836_467_572]),
        (0, 1, [0.0, 0.975, 0.0, 0.95]),
        (1, 2, [0.012_579_117_093, 0.987_420_882_907, 0.025_320_565_519, 0.974_679_434_481]),
    ];
    for (passed, n, [low, high, blaker_low, blaker_high]) in table {
        for (kind, low, high) in
            [(RateInterval::ClopperPearson, low, high), (RateInterval::Blaker, blaker_low, blaker_high)]
        {
            let found = proportion_by(kind, passed, n, ConfidenceLevel::P95).interval.unwrap();
            assert_near(found.low, low, 1e-9);
            assert_near(found.high, high, 1e-9);
        }
    }
}

#[test]
fn thirty_passes_leave_room_for_a_tenth_of_failures() {
    let bound = zero_failures(30, ConfidenceLevel::P95).unwrap();
    assert_near(bound.exact, 0.095_033_852_855_304, 1e-12);
    assert_eq!(bound.rule_of_three, 0.1);
    assert_eq!(zero_failures(0, ConfidenceLevel::P95), Err(UndefinedReason::NoValues));
    assert_eq!(zero_failures(1, ConfidenceLevel::P95).unwrap().rule_of_three, 1.0);
    // The same bound is the upper end of a two-sided 90 % interval.
    let level = ConfidenceLevel::new(0.9).unwrap();
    let high = proportion_by(RateInterval::ClopperPearson, 0, 30, level).interval.unwrap().high;
    assert_near(high, bound.exact, 1e-12);
}

/// Lowest share of samples whose interval contains the rate, over rates just beside each end, where it is
/// lowest.
fn lowest_coverage(kind: RateInterval, n: u64, level: ConfidenceLevel) -> f64 {
    let intervals: Vec<_> = (0..=n).map(|k| proportion_by(kind, k, n, level).interval.unwrap()).collect();
    let coverage = |truth: f64| {
        let mut chance = (1.0 - truth).powi(n as i32);
        let mut covered = 0.0;
        for (k, interval) in intervals.iter().enumerate() {
            if interval.low <= truth && truth <= interval.high {
                covered += chance;
            }
            chance *= (n - k as u64) as f64 / (k + 1) as f64 * truth / (1.0 - truth);
        }
        covered
    };
    let beside = |end: f64| [end - 1e-9, end + 1e-9];
    let ends = intervals.iter().flat_map(|found| [beside(found.low), beside(found.high)]).flatten();
    ends.filter(|rate| (0.001..=0.999).contains(rate)).map(coverage).fold(1.0, f64::min)
}

#[test]
fn exact_intervals_cover_every_rate_as_often_as_they_promise() {
    for n in (1..=40).chain([60, 100]) {
        for kind in [RateInterval::Blaker, RateInterval::ClopperPearson] {
            let found = lowest_coverage(kind, n, ConfidenceLevel::P95);
            assert!(found >= 0.95 - 1e-8, "{kind:?}, {n}: {found}");
        }
    }
    let level = ConfidenceLevel::new(0.9).unwrap();
    assert!(lowest_coverage(RateInterval::Blaker, 12, level) >= 0.9 - 1e-8);
    // Some rates between two counts are missed by Wilson's interval.
    assert!(lowest_coverage(RateInterval::Wilson, 10, ConfidenceLevel::P95) < 0.86);
}

#[test]
fn pass_rates_are_no_wider_than_what_the_promise_takes() {
    let interval = |kind, k, n| proportion_by(kind, k, n, ConfidenceLevel::P95).interval.unwrap();
    for n in 1..=60 {
        let mut before = interval(RateInterval::Blaker, 0, n);
        for k in 0..=n {
            let found = proportion(k, n, ConfidenceLevel::P95).interval.unwrap();
            let widest = interval(RateInterval::ClopperPearson, k, n);
            assert!(found.low >= widest.low - 1e-12 && found.high <= widest.high + 1e-12, "{k} of {n}");
            assert!(found.low >= before.low && found.high >= before.high, "{k} of {n} after one less");
            let rate = k as f64 / n as f64;
            assert!(found.low <= rate && rate <= found.high && found.width() > 0.0, "{k} of {n}: {found:?}");
            before = found;
        }
    }
    let many = proportion(900_000, 2_000_000, ConfidenceLevel::P95).interval.unwrap();
    assert_eq!(
        (interval(RateInterval::Blaker, 8, 10).method, many.method),
        (IntervalMethod::Blaker, IntervalMethod::Wilson)
    );
}

#[test]
fn exact_and_approximate_intervals_meet_with_many_cases() {
    let interval_by = |kind| proportion_by(kind, 412_345, 1_000_000, ConfidenceLevel::P95).interval.unwrap();
    let wilson = interval_by(RateInterval::Wilson);
    for kind in EVERY {
        let interval = interval_by(kind);
        assert!((interval.low - wilson.low).abs() < 1e-6, "{interval:?}");
        assert!((interval.high - wilson.high).abs() < 1e-6, "{interval:?}");
    }
}

#[test]
fn counts_too_large_for_the_beta_distribution_are_refused() {
    let found = proportion_by(RateInterval::ClopperPearson, 5, u64::MAX, ConfidenceLevel::P95);
    assert_eq!(found.interval, Err(UndefinedReason::TooLarge));
}

#[test]
fn half_of_four_by_hand() {
    // With p = 1/2 the interval is symmetric: 1/2 +- z / (2 sqrt(n + z^2)).
    let z = 1.959_963_984_540_054;
    let reach = z / (2.0 * (4.0f64 + z * z).sqrt());
    let rate = proportion_by(RateInterval::Wilson, 2, 4, ConfidenceLevel::P95);
    assert_eq!((rate.successes, rate.n, rate.rate), (2, 4, Ok(0.5)));
    let interval = rate.interval.expect("four trials");
    assert!((interval.low - (0.5 - reach)).abs() < 1e-12 && (interval.high - (0.5 + reach)).abs() < 1e-12);
    assert_eq!((interval.level, interval.method), (ConfidenceLevel::P95, IntervalMethod::Wilson));
}

#[test]
fn all_and_none_keep_a_width_and_exact_ends() {
    // At the ends, the inner bound of Wilson's interval is z^2 / (n + z^2) away from the outer one.
    let square = 1.959_963_984_540_054f64.powi(2);
    for kind in [RateInterval::Wilson, RateInterval::Blaker] {
        let interval_of =
            |passed| proportion_by(kind, passed, 20, ConfidenceLevel::P95).interval.expect("twenty trials");
        let (none, all) = (interval_of(0), interval_of(20));
        assert_eq!((none.low, all.high), (0.0, 1.0));
        assert!((none.high - (1.0 - all.low)).abs() < 1e-12, "{kind:?}");
        assert!((none.high - square / (20.0 + square)).abs() < 0.02, "{kind:?}: {none:?}");
    }
    let wilson =
        proportion_by(RateInterval::Wilson, 0, 20, ConfidenceLevel::P95).interval.expect("twenty trials");
    assert!((wilson.high - square / (20.0 + square)).abs() < 1e-12);
}

#[test]
fn impossible_counts_say_why() {
    let none = proportion(0, 0, ConfidenceLevel::P95);
    assert_eq!((none.rate, none.interval), (Err(UndefinedReason::NoValues), Err(UndefinedReason::NoValues)));
    assert_eq!(
        proportion(3, 2, ConfidenceLevel::P95).interval,
        Err(UndefinedReason::MoreSuccessesThanTrials)
    );
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn every_interval_stays_in_range_and_mirrors(
        (n, successes) in (1u64..3_000).prop_flat_map(|n| (Just(n), 0..=n)),
        which in 0usize..8, level in 0.01..0.999,
    ) {
        let level = ConfidenceLevel::new(level).unwrap();
        let passed = proportion_by(EVERY[which], successes, n, level).interval.unwrap();
        let failed = proportion_by(EVERY[which], n - successes, n, level).interval.unwrap();
        prop_assert!(0.0 <= passed.low && passed.low <= passed.high && passed.high <= 1.0);
        prop_assert!((passed.low - (1.0 - failed.high)).abs() < 1e-10, "{passed:?} {failed:?}");
    }

    #[test]
    fn the_interval_holds_the_rate_and_stays_in_range(
        (n, successes) in prop_oneof![1u64..2_000, 1u64..=u64::MAX].prop_flat_map(|n| (Just(n), 0..=n)),
        level in 0.01..0.999,
    ) {
        let found = proportion(successes, n, ConfidenceLevel::new(level).expect("in range"));
        let (rate, interval) = (found.rate.expect("trials"), found.interval.expect("trials"));
        prop_assert!(0.0 <= interval.low && interval.low <= rate + 1e-12);
        prop_assert!(rate - 1e-12 <= interval.high && interval.high <= 1.0);
    }

    #[test]
    fn failures_mirror_successes((n, successes) in (1u64..500).prop_flat_map(|n| (Just(n), 0..=n))) {
        let passed = proportion(successes, n, ConfidenceLevel::P95).interval.expect("trials");
        let failed = proportion(n - successes, n, ConfidenceLevel::P95).interval.expect("trials");
        prop_assert!((passed.low - (1.0 - failed.high)).abs() < 1e-12);
        prop_assert!((passed.high - (1.0 - failed.low)).abs() < 1e-12);
    }
}
