//! Pass rates and Wilson intervals.

use assize_stats::{
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
    RateInterval::WilsonMidP,
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
        // Binomial sums in Python, solved by bisection.
        (0.480_490_336_9, 0.965_001_699_2),
    ];
    for (kind, (low, high)) in EVERY.into_iter().zip(table) {
        let interval = proportion_by(kind, 8, 10, ConfidenceLevel::P95).interval.unwrap();
        assert_near(interval.low, low, 1e-9);
        assert_near(interval.high, high, 1e-9);
    }
    assert_eq!(posterior_mean(0, 10), Ok(1.0 / 12.0));
}

#[test]
fn exact_and_mid_p_intervals_at_both_ends() {
    // Clopper-Pearson and Wilson: statsmodels 0.15.0, proportion_confint with method='beta' and 'wilson'. Mid-p, which
    // neither has: the roots of scipy 1.17.1's binom.sf(k, n, p) + binom.pmf(k, n, p) / 2 = 0.025, by brentq. The last
    // pair is the wider of Wilson and mid-p at either end.
    #[rustfmt::skip]
    let table = [
        (0, 10, [0.0, 0.308_497_107_819, 0.0, 0.277_532_799_863]),
        (1, 10, [0.002_528_578_544, 0.445_016_117_028, 0.005_001_475_282, 0.404_150_026_795]),
        (8, 10, [0.443_904_537_692, 0.974_789_273_673, 0.480_490_336_883, 0.965_001_699_202]),
        (10, 10, [0.691_502_892_181, 1.0, 0.722_467_200_137, 1.0]),
        (29, 30, [0.827_830_544_367, 0.999_156_429_073, 0.833_296_090_086, 0.998_332_720_034]),
        (97, 100, [0.914_823_947_026, 0.993_770_028_462, 0.915_480_635_709, 0.992_313_416_014]),
        (150, 300, [0.441_997_720_808, 0.558_002_279_192, 0.443_554_685_974, 0.556_445_314_026]),
        (0, 1, [0.0, 0.975, 0.0, 0.95]),
        (1, 2, [0.012_579_117_093, 0.987_420_882_907, 0.025, 0.975]),
    ];
    for (passed, n, [low, high, mid_low, mid_high]) in table {
        for (kind, low, high) in
            [(RateInterval::ClopperPearson, low, high), (RateInterval::WilsonMidP, mid_low, mid_high)]
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
    // The same bound as the upper end of a two-sided 90 % interval.
    let level = ConfidenceLevel::new(0.9).unwrap();
    let high = proportion_by(RateInterval::ClopperPearson, 0, 30, level).interval.unwrap().high;
    assert_near(high, bound.exact, 1e-12);
}

#[test]
fn exact_intervals_cover_as_often_as_they_promise() {
    let n = 20u64;
    for step in 1..100 {
        let truth = f64::from(step) / 100.0;
        let mut covered = 0.0;
        let mut chance = (1.0 - truth).powi(n as i32);
        for k in 0..=n {
            let interval =
                proportion_by(RateInterval::ClopperPearson, k, n, ConfidenceLevel::P95).interval.unwrap();
            if interval.low <= truth && truth <= interval.high {
                covered += chance;
            }
            chance *= (n - k) as f64 / (k + 1) as f64 * truth / (1.0 - truth);
        }
        assert!(covered >= 0.95, "{truth}: {covered}");
    }
}

/// Lowest share of draws that an interval holds, over rates from 0.002 to 0.998.
fn lowest_coverage(kind: RateInterval, n: u64) -> f64 {
    let intervals: Vec<_> =
        (0..=n).map(|k| proportion_by(kind, k, n, ConfidenceLevel::P95).interval.unwrap()).collect();
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
    (1..500).map(|step| coverage(f64::from(step) / 500.0)).fold(1.0, f64::min)
}

#[test]
fn pass_rates_are_covered_at_every_rate_and_not_only_on_average() {
    for n in [2, 3, 5, 10, 30, 100] {
        let found = lowest_coverage(RateInterval::WilsonMidP, n);
        assert!(found >= 0.926, "{n}: {found}");
    }
    // The rates between two counts that Wilson's own interval misses.
    assert!(lowest_coverage(RateInterval::Wilson, 10) < 0.86);
    let extended = proportion(8, 10, ConfidenceLevel::P95).interval.unwrap();
    let same = proportion(10, 10, ConfidenceLevel::P95).interval.unwrap();
    assert_eq!((extended.method, same.method), (IntervalMethod::WilsonMidP, IntervalMethod::Wilson));
}

#[test]
fn exact_and_approximate_intervals_meet_with_many_cases() {
    let of = |kind| proportion_by(kind, 412_345, 1_000_000, ConfidenceLevel::P95).interval.unwrap();
    let wilson = of(RateInterval::Wilson);
    for kind in EVERY {
        let interval = of(kind);
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
    // At the ends the inner bound is z^2 / (n + z^2) away from the outer one.
    let square = 1.959_963_984_540_054f64.powi(2);
    let none = proportion(0, 20, ConfidenceLevel::P95).interval.expect("twenty trials");
    assert_eq!(none.low, 0.0);
    assert!((none.high - square / (20.0 + square)).abs() < 1e-12);
    let all = proportion(20, 20, ConfidenceLevel::P95).interval.expect("twenty trials");
    assert_eq!(all.high, 1.0);
    assert!((all.low - 20.0 / (20.0 + square)).abs() < 1e-12);
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
