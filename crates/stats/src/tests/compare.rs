//! Paired and unpaired comparisons.

use crate::{
    ConfidenceLevel, IntervalMethod, SeededRandom, UndefinedReason,
    compare::{
        DifferenceInterval, PairedVerdicts, ZeroRule, fair_coin, paired_mean, rate_difference, sign_flip,
        sign_flip_clustered, signed_rank,
    },
};
use proptest::prelude::*;

use super::{assert_near, cases, near};

fn flip(differences: &[f64]) -> f64 {
    sign_flip(differences, 20_000, &mut SeededRandom::new(1)).unwrap().p
}

#[test]
fn mcnemar_of_textbook_counts() {
    // Exact binomial sums by hand: 2 (1 + 12 + 66) / 4096; mid-p is smaller by C(12, 2) / 4096.
    let found =
        PairedVerdicts { both: 30, only_first: 10, only_second: 2, neither: 8 }.mcnemar(ConfidenceLevel::P95);
    assert_near(found.p_exact, 158.0 / 4096.0, 1e-14);
    assert_near(found.p_mid, 92.0 / 4096.0, 1e-14);
    assert_near(found.chi2.unwrap(), 64.0 / 12.0, 1e-14);
    assert_near(found.chi2_corrected.unwrap(), 49.0 / 12.0, 1e-14);
    assert_near(found.difference.unwrap(), 0.16, 1e-14);
    let interval = found.interval.unwrap();
    // (11 - 3) / 52 +- z sqrt((14/52 - (8/52)^2) / 52).
    assert_near(interval.low, 0.019_158_708_611_6, 1e-9);
    assert_near(interval.high, 0.288_533_599_080_8, 1e-9);
}

#[test]
fn a_million_pairs_are_exact_and_far_tails_do_not_vanish() {
    let near_middle = fair_coin(500_500, 499_500);
    // z = 1000 / sqrt(1e6) = 1; with continuity correction 0.999.
    assert_near(near_middle.p, 0.317_794, 1e-5);
    // The far tail is 2^-1000000 times a sum that cannot be represented: 0, not NaN.
    assert_eq!(fair_coin(1_000_000, 0).p, 0.0);
    let far = fair_coin(503_000, 497_000);
    // The two-sided normal tail at 5.999, with a relative tolerance.
    assert!((far.p / 1.985e-9 - 1.0).abs() < 0.01, "{}", far.p);
    assert_near(fair_coin(1, 60).p, 62.0 / 2f64.powi(60), 1e-18);
}

/// Lowest share of samples whose interval contains the difference, if a share of the pairs differs and all of
/// them move one way.
fn one_way_coverage(n: u64, share: f64) -> f64 {
    let mut chance = (1.0 - share).powi(n as i32);
    let mut covered = 0.0;
    for rises in 0..=n {
        let pairs = PairedVerdicts { both: 0, only_first: rises, only_second: 0, neither: n - rises };
        let interval = pairs.mcnemar(ConfidenceLevel::P95).interval.unwrap();
        if interval.low <= share && share <= interval.high {
            covered += chance;
        }
        chance *= (n - rises) as f64 / (rises + 1) as f64 * share / (1.0 - share);
    }
    covered
}

#[test]
fn pairs_that_all_move_one_way_are_covered_as_often_as_promised() {
    // Bonett and Price's interval alone covers 92.5 % at a share of 0.31 with 12 pairs.
    for n in [6, 12, 30, 100] {
        let lowest = (1..400).map(|step| one_way_coverage(n, f64::from(step) / 800.0)).fold(1.0, f64::min);
        assert!(lowest >= 0.937, "{n}: {lowest}");
    }

    let one =
        PairedVerdicts { both: 5, only_first: 1, only_second: 0, neither: 6 }.mcnemar(ConfidenceLevel::P95);
    let interval = one.interval.unwrap();
    assert_eq!(interval.method, IntervalMethod::BonettPriceExact);
    // scipy 1.17.1, beta.ppf(0.95, 2, 11); the lower end is (2 - 1) / 14 - z sqrt((3/14 - 1/14^2) / 14).
    assert_near(interval.high, 0.338_680_668_4, 1e-9);
    assert_near(interval.low, -0.168_149_997_2, 1e-9);
}

#[test]
fn no_discordant_pair_is_no_evidence() {
    let found =
        PairedVerdicts { both: 5, only_first: 0, only_second: 0, neither: 5 }.mcnemar(ConfidenceLevel::P95);
    assert_eq!((found.p_exact, found.p_mid, found.chi2), (1.0, 1.0, Err(UndefinedReason::NothingDiffers)));
    let interval = found.interval.unwrap();
    // 1 - 0.05^(1/10).
    assert_near(interval.high, 0.258_865_550_5, 1e-9);
    assert_near(interval.low, -interval.high, 1e-15);
    let nothing = PairedVerdicts::default().mcnemar(ConfidenceLevel::P95);
    assert_eq!(
        (nothing.difference, nothing.interval),
        (Err(UndefinedReason::NoValues), Err(UndefinedReason::NoValues))
    );
}

#[test]
fn exact_and_mid_p_values_of_discordant_pairs() {
    // statsmodels 0.15.0, mcnemar(exact=True); mid-p, which it does not have, by scipy 1.17.1: 2 binom.cdf(k
    // - 1) + binom.pmf(k) of the rarer direction.
    for (b, c, p, mid) in [
        (10, 2, 0.038_574_218_75, 0.022_460_937_5),
        (25, 9, 0.009_041_185_490_787_03, 0.005_988_120_567_053_56),
        (59, 53, 0.636_799_771_614_233, 0.572_656_475_793_948),
        (0, 6, 0.031_25, 0.015_625),
        (1, 0, 1.0, 0.5),
        (7, 7, 1.0, 1.0),
        (3, 40, 3.021_341_399_289_67e-9, 1.618_332_134_967_2e-9),
    ] {
        let found = fair_coin(b, c);
        assert!((found.p - p).abs() < 1e-12 * p.max(1e-3), "{b}, {c}: {}", found.p);
        assert!((found.p_mid - mid).abs() < 1e-12 * mid.max(1e-3), "{b}, {c}: {}", found.p_mid);
    }
}

#[test]
fn sums_that_are_equal_on_paper_are_equal() {
    // 0.1 + 0.2 and 0.3 are the same sum here: 4 of 8 arrangements are as far from 0.
    assert_eq!(flip(&[0.1, 0.2, -0.3]), 1.0);
    assert_eq!(flip(&[0.1, 0.2, 0.3]), 0.25);
    assert_eq!(flip(&[0.5]), 1.0);
    assert_eq!(flip(&[0.0; 4]), 1.0);
    let found = sign_flip(&[0.0; 4], 1, &mut SeededRandom::new(1)).unwrap();
    assert_eq!((found.arrangements, found.smallest_p()), (16.0, 0.125));
}

#[test]
fn sign_flips_of_verdicts_are_the_exact_mcnemar_test() {
    for (heads, tails) in [(10u64, 2u64), (7, 7), (20, 9), (0, 6), (25, 7)] {
        let mut differences = vec![1.0; heads as usize];
        differences.extend(vec![-1.0; tails as usize]);
        differences.extend([0.0; 5]);
        assert_near(flip(&differences), fair_coin(heads, tails).p, 1e-12);
    }
}

#[test]
fn drawn_arrangements_agree_with_the_exact_test() {
    let mut differences = vec![1.0; 30];
    differences.extend(vec![-1.0; 15]);
    let found = sign_flip(&differences, 40_000, &mut SeededRandom::new(9)).unwrap();
    assert_eq!(found.drawn, Some(40_000));
    let exact = fair_coin(30, 15).p;
    assert!((found.p - exact).abs() < 5.0 * (exact / 40_000.0).sqrt(), "{} {exact}", found.p);
    assert!(sign_flip(&[1.0; 60], 9, &mut SeededRandom::new(9)).unwrap().p >= 0.1);
}

#[test]
fn whole_clusters_are_flipped() {
    // Two clusters that both favour the first: 2 of 4 arrangements.
    let found =
        sign_flip_clustered(&[1.0, 1.0, 1.0, 1.0], &["a", "a", "b", "b"], 9, &mut SeededRandom::new(1));
    assert_eq!(found.unwrap().p, 0.5);
    assert_eq!(found.unwrap().mean, 1.0);
}

#[test]
fn signed_ranks_by_hand() {
    let found = signed_rank(&[0.1, -0.2, 0.3, 0.4, 0.05], ZeroRule::Drop, false).unwrap();
    assert_eq!((found.positive, found.negative, found.statistic), (12.0, 3.0, 3.0));
    assert_eq!(found.p_exact, Ok(0.3125));
    let none = signed_rank(&[0.0, 0.0], ZeroRule::Drop, false).unwrap();
    assert_eq!((none.p_exact, none.p_normal), (Ok(1.0), Err(UndefinedReason::NothingDiffers)));
    // scipy 1.17, zeros dropped and kept.
    let zeros = [0.0, 0.0, 1.0, -1.0, 2.0, 3.0, 0.0, 4.0];
    let p = |rule| signed_rank(&zeros, rule, false).unwrap().p_normal.unwrap();
    assert_near(p(ZeroRule::Drop), 0.104_059_234_528_928, 1e-12);
    assert_near(p(ZeroRule::Pratt), 0.127_132_266_280_216, 1e-12);
    let split = signed_rank(&zeros, ZeroRule::Split, false).unwrap();
    assert_eq!(split.positive + split.negative, 36.0);
}

#[test]
fn the_paired_t_test_of_a_small_sample() {
    // scipy 1.17, ttest_rel.
    let (a, b) = ([0.9, 0.4, 0.7, 0.8, 0.6, 1.0], [0.7, 0.5, 0.5, 0.8, 0.2, 0.9]);
    let found = paired_mean(&a, &b, ConfidenceLevel::P95).unwrap();
    assert_near(found.t.unwrap(), 1.865_009_616_480_628, 1e-10);
    assert_near(found.p.unwrap(), 0.121_188_084_499_385, 1e-10);
    assert!(found.se_unpaired.unwrap() > found.se.unwrap());
    let same = paired_mean(&a, &a, ConfidenceLevel::P95).unwrap();
    assert_eq!((same.difference, same.p, same.t), (0.0, Ok(1.0), Err(UndefinedReason::NoSpread)));
    let shifted = paired_mean(&[1.0, 1.0], &[0.0, 0.0], ConfidenceLevel::P95).unwrap();
    assert_eq!(shifted.p, Err(UndefinedReason::NoSpread));
    assert_eq!(paired_mean(&[1.0], &[0.0], ConfidenceLevel::P95).unwrap().p, Err(UndefinedReason::OneValue));
    assert_eq!(paired_mean(&[], &[], ConfidenceLevel::P95), Err(UndefinedReason::NoValues));
}

#[test]
fn the_difference_of_two_rates() {
    let of = |kind| rate_difference(kind, (45, 50), (38, 50), ConfidenceLevel::P95).unwrap().interval;
    assert_near(of(DifferenceInterval::Newcombe).low, -0.009_397_279_766_491, 1e-12);
    assert_near(of(DifferenceInterval::Wald).high, 0.284_666_055_642_44, 1e-12);
    let none = |kind| rate_difference(kind, (0, 10), (0, 10), ConfidenceLevel::P95).unwrap().interval.width();
    assert!(none(DifferenceInterval::Newcombe) > 0.5 && none(DifferenceInterval::AgrestiCaffo) > 0.4);
    assert_eq!(none(DifferenceInterval::Wald), 0.0);
    let empty = rate_difference(DifferenceInterval::Newcombe, (0, 0), (1, 2), ConfidenceLevel::P95);
    assert_eq!(empty, Err(UndefinedReason::NoValues));
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn exchanging_the_sides_changes_signs_only(
        a in prop::collection::vec(0.0..1.0, 2..12), seed in any::<u64>(),
    ) {
        let b: Vec<f64> = a.iter().enumerate().map(|(i, x)| (x * (i as f64 + 2.0)).fract()).collect();
        let (one, two) = (paired_mean(&a, &b, ConfidenceLevel::P95).unwrap(), paired_mean(&b, &a, ConfidenceLevel::P95).unwrap());
        prop_assert!(near(one.difference, -two.difference, 1e-12));
        if let (Ok(one), Ok(two)) = (one.p, two.p) {
            prop_assert!(near(one, two, 1e-9));
        }
        let apart: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        let back: Vec<f64> = apart.iter().map(|value| -value).collect();
        let of = |values: &[f64]| sign_flip(values, 10, &mut SeededRandom::new(seed)).unwrap();
        prop_assert_eq!(of(&apart).p, of(&back).p);
        let rank = |values: &[f64]| signed_rank(values, ZeroRule::Pratt, true).unwrap();
        prop_assert_eq!(rank(&apart).statistic, rank(&back).statistic);
        prop_assert_eq!(rank(&apart).p_exact, rank(&back).p_exact);
    }

    #[test]
    fn counting_halves_is_counting_everything(values in prop::collection::vec(-5i8..=5, 1..11)) {
        let values: Vec<f64> = values.into_iter().map(f64::from).collect();
        let observed: f64 = values.iter().sum();
        let (mut far, mut high) = (0u32, 0u32);
        for signs in 0u32..1 << values.len() {
            let signed = |(i, value): (usize, &f64)| if signs >> i & 1 == 0 { *value } else { -value };
            let sum: f64 = values.iter().enumerate().map(signed).sum();
            far += u32::from(sum.abs() >= observed.abs());
            high += u32::from(sum >= observed);
        }
        let all = f64::from(1u32 << values.len());
        let found = sign_flip(&values, 10, &mut SeededRandom::new(1)).unwrap();
        prop_assert!(near(found.p, f64::from(far) / all, 1e-12));
        prop_assert!(near(found.p_greater, f64::from(high) / all, 1e-12));
    }

    #[test]
    fn exact_and_approximate_tests_meet(ups in 150u64..400, downs in 150u64..400) {
        // The continuity correction of an even split would go past the middle.
        let ups = if ups == downs { ups + 1 } else { ups };
        let found = PairedVerdicts { both: 0, only_first: ups, only_second: downs, neither: 0 }.mcnemar(ConfidenceLevel::P95);
        prop_assert!((found.p_mid - found.p_chi2.unwrap()).abs() < 0.01);
        prop_assert!((found.p_exact - found.p_chi2_corrected.unwrap()).abs() < 0.01);
        prop_assert!(found.p_mid <= found.p_exact);
    }

    #[test]
    fn exact_and_approximate_ranks_meet(values in prop::collection::vec(-1.0..1.2, 60..120)) {
        let found = signed_rank(&values, ZeroRule::Drop, true).unwrap();
        prop_assert!((found.p_exact.unwrap() - found.p_normal.unwrap()).abs() < 0.01);
    }

    #[test]
    fn differences_of_rates_lie_within_their_intervals(
        (n1, k1) in (1u64..300).prop_flat_map(|n| (Just(n), 0..=n)),
        (n2, k2) in (1u64..300).prop_flat_map(|n| (Just(n), 0..=n)),
    ) {
        let of = |a, b| rate_difference(DifferenceInterval::Newcombe, a, b, ConfidenceLevel::P95).unwrap();
        let (one, two) = (of((k1, n1), (k2, n2)), of((k2, n2), (k1, n1)));
        prop_assert!(one.interval.low <= one.difference && one.difference <= one.interval.high);
        prop_assert!(one.interval.low >= -1.0 - 1e-12 && one.interval.high <= 1.0 + 1e-12);
        prop_assert!(near(one.interval.low, -two.interval.high, 1e-12));
    }
}
