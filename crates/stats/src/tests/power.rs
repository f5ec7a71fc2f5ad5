//! Sample sizes.

use crate::{
    ConfidenceLevel, Interval, McNemarVariant, PlannedMean, SeededRandom, UndefinedReason,
    bounded_mean_clustered,
    compare::PairedVerdicts,
    power::{
        PairedNoise, PowerDesign, design_effect, inflate_for_clusters, least_cases, mean_half_width,
        mean_precision, rate_half_width, rate_precision, round_up_cases,
    },
    proportion,
};
use proptest::prelude::*;
use rand_core::RngCore;

use super::{assert_near, cases, near};

const EXACT: PairedNoise =
    PairedNoise { between: 1.0 / 9.0, first: 0.0, first_repeats: 1, second: 0.0, second_repeats: 1 };

#[test]
fn published_sample_sizes() {
    let promise = PowerDesign::default();
    assert_eq!(promise.paired_cases(EXACT, 0.03).map(round_up_cases), Ok(969.0));
    let noisy = PairedNoise { first: 1.0 / 6.0, second: 1.0 / 6.0, ..EXACT };
    assert_eq!(promise.paired_cases(noisy, 0.03).map(round_up_cases), Ok(3876.0));
    let repeated = PairedNoise { first_repeats: 10, second_repeats: 10, ..noisy };
    assert_eq!(promise.paired_cases(repeated, 0.03).map(round_up_cases), Ok(1260.0));
    assert_near(promise.paired_difference(noisy, 198).unwrap(), 0.132_733_327_873_994, 1e-12);
    assert_near(promise.rates_cases(0.8, 0.7).unwrap(), 290.408_550_170_916, 1e-9);
    assert_near(promise.rates_cases_by_h(0.8, 0.7).unwrap(), 291.688_668_317_563, 1e-9);
    assert_near(promise.paired_t_cases(0.3).unwrap(), 89.149_364_720_458, 1e-8);
    assert_near(promise.mcnemar_pairs(0.2, 0.1).unwrap(), 154.598_569_560_211, 1e-12);
}

#[test]
fn what_cannot_be_reached_says_so() {
    let promise = PowerDesign::default();
    assert_eq!(promise.paired_cases(EXACT, 0.0), Err(UndefinedReason::Unreachable));
    assert_eq!(promise.rates_cases(0.5, 0.5), Err(UndefinedReason::Unreachable));
    assert_eq!(promise.rates_cases_by_h(0.5, 1.5), Err(UndefinedReason::OutOfRange));
    assert_eq!(promise.paired_t_cases(0.0), Err(UndefinedReason::Unreachable));
    assert_eq!(promise.paired_t_cases(f64::NAN), Err(UndefinedReason::NotFinite));
    assert_eq!(promise.paired_t_cases(1e-9), Err(UndefinedReason::Unreachable));
    assert_eq!(promise.mcnemar_pairs(0.1, 0.2), Err(UndefinedReason::OutOfRange));
    assert_eq!(promise.mcnemar_pairs(0.1, 0.0), Err(UndefinedReason::Unreachable));
    assert_eq!(promise.mcnemar_difference(3, 0.2), Err(UndefinedReason::Undetectable));
    assert_eq!(promise.paired_difference(EXACT, 0), Err(UndefinedReason::NoValues));
    let unrepeated = PairedNoise { first_repeats: 0, ..EXACT };
    assert_eq!(promise.paired_cases(unrepeated, 0.1), Err(UndefinedReason::NoValues));
    assert_eq!(promise.paired_t_cases(50.0), Ok(2.0));
    assert!(PowerDesign::new(0.05, 0.05).is_err() && PowerDesign::new(0.0, 0.8).is_err());
    assert!(PowerDesign::new(0.05, f64::NAN).is_err());
}

#[test]
fn clusters_cost_cases() {
    assert_eq!(design_effect(11.0, 0.2), Ok(3.0));
    assert_eq!(inflate_for_clusters(100.0, 3.0), Ok(300.0));
    assert_eq!(design_effect(0.0, 0.2), Err(UndefinedReason::OutOfRange));
    assert_eq!(inflate_for_clusters(100.0, 0.0), Err(UndefinedReason::OutOfRange));
}

#[test]
fn with_many_cases_the_t_test_is_normal() {
    let found = PowerDesign::default().paired_t_cases(0.01).unwrap();
    let normal = ((1.959_963_984_540_054 + 0.841_621_233_572_914) / 0.01f64).powi(2);
    // Student's t needs z^2 / 2 = 1.92 cases more; rejections on the wrong side save a fraction of one.
    assert!((1.6..1.92).contains(&(found - normal)), "{found} {normal}");
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn cases_and_differences_undo_each_other(n in 20u64..5_000, discordant in 0.05..0.9) {
        let promise = PowerDesign::default();
        let shown = promise.paired_difference(EXACT, n).unwrap();
        prop_assert!(near(promise.paired_cases(EXACT, shown).unwrap(), n as f64, 1e-9));
        if let Ok(shown) = promise.mcnemar_difference(n, discordant) {
            prop_assert!(near(promise.mcnemar_pairs(discordant, shown).unwrap(), n as f64, 1e-6));
        }
    }

    #[test]
    fn planned_intervals_are_as_wide_as_planned(rate in 0.0..=1.0, width in 0.01..0.2) {
        let n = round_up_cases(rate_precision(rate, width, ConfidenceLevel::P95).unwrap());
        let interval = proportion((rate * n).round() as u64, n as u64, ConfidenceLevel::P95).interval.unwrap();
        // With few cases, an integer number of passes can't match the rate.
        prop_assert!(n < 100.0 || (interval.width() / 2.0 - width).abs() < 0.004, "{n} {interval:?}");
        prop_assert!(mean_precision(0.5, width, ConfidenceLevel::P95).unwrap() > 0.0);
    }

    #[test]
    fn larger_effects_need_fewer_cases(effect in 0.05..1.5) {
        let promise = PowerDesign::default();
        prop_assert!(promise.paired_t_cases(effect).unwrap() > promise.paired_t_cases(effect * 1.2).unwrap() - 1e-9);
    }
}

#[test]
fn what_pairs_show_at_best_is_connors_formula_with_nothing_the_other_way() {
    let promise = PowerDesign::default();
    for n in [10, 100, 1_000, 100_000] {
        let least = promise.mcnemar_one_way_difference(n).unwrap();
        assert!(
            (promise.mcnemar_pairs(least, least).unwrap() - n as f64).abs() < 1e-4 * n as f64,
            "{n}: {least}"
        );
        // A larger share of differing pairs only makes the same difference harder to detect.
        assert!(promise.mcnemar_pairs((2.0 * least).min(1.0), least).unwrap() > n as f64);
    }
    assert_eq!(promise.mcnemar_one_way_difference(0), Err(UndefinedReason::NoValues));
    assert_eq!(promise.mcnemar_one_way_difference(3), Err(UndefinedReason::Undetectable));
}

#[test]
fn the_reach_of_a_mean_is_the_precision_turned_around() {
    for (sd, half) in [(0.3, 0.05), (1.0, 0.2), (0.01, 0.001)] {
        let n = mean_precision(sd, half, ConfidenceLevel::P95).unwrap();
        let reach = mean_half_width(sd, n.ceil() as u64, ConfidenceLevel::P95).unwrap();
        assert!(reach <= half && reach > half * 0.99, "{reach} {half}");
    }
    assert_eq!(mean_half_width(0.3, 0, ConfidenceLevel::P95), Err(UndefinedReason::NoValues));
    assert_eq!(mean_half_width(f64::NAN, 5, ConfidenceLevel::P95), Err(UndefinedReason::OutOfRange));
}

/// Probability that McNemar's exact test is significant, over all numbers of pairs that go either way.
fn counted_power(n: u64, discordant: f64, difference: f64) -> f64 {
    let (first, second) = (f64::midpoint(discordant, difference), f64::midpoint(discordant, -difference));
    let factorial = |n: u64| (1..=n).map(|k| k as f64).product::<f64>();
    let mut power = 0.0;
    for only_first in 0..=n {
        for only_second in 0..=n - only_first {
            let rest = n - only_first - only_second;
            let pairs = PairedVerdicts { both: rest, only_first, only_second, neither: 0 };
            if pairs.mcnemar(ConfidenceLevel::P95).p_exact <= 0.05 {
                power += factorial(n) / (factorial(only_first) * factorial(only_second) * factorial(rest))
                    * first.powi(only_first as i32)
                    * second.powi(only_second as i32)
                    * (1.0 - discordant).powi(rest as i32);
            }
        }
    }

    power
}

#[test]
fn the_exact_power_is_that_of_all_outcomes() {
    let promise = PowerDesign::default();
    for (n, discordant, difference) in
        [(6, 1.0, 1.0), (12, 0.6, 0.4), (25, 0.4, -0.3), (40, 0.3, 0.2), (40, 0.05, 0.05), (5, 0.9, 0.9)]
    {
        let found = promise.mcnemar_variant_power(McNemarVariant::Exact, n, discordant, difference).unwrap();
        assert_near(found, counted_power(n, discordant, f64::abs(difference)), 1e-10);
    }
}

#[test]
fn mid_p_has_a_power_of_its_own() {
    let promise = PowerDesign::default();
    // All splits of all numbers of differing pairs, with the p value of the test itself.
    let (n, discordant, difference) = (40u64, 0.3, 0.2);
    let first = 0.5 * (1.0 + difference / discordant);
    let choose = |n: u64, k: u64| (0..k).fold(1.0, |product, at| product * (n - at) as f64 / (at + 1) as f64);
    let mut expected = 0.0;
    for differing in 0..=n {
        let weight = choose(n, differing)
            * f64::powi(discordant, differing as i32)
            * f64::powi(1.0 - discordant, (n - differing) as i32);
        for better in 0..=differing {
            let pairs = PairedVerdicts {
                both: n - differing,
                only_first: better,
                only_second: differing - better,
                neither: 0,
            };
            if pairs.mcnemar(ConfidenceLevel::P95).p_mid <= 0.05 {
                let worse = differing - better;
                let split = f64::powi(first, better as i32) * f64::powi(1.0 - first, worse as i32);
                expected += weight * choose(differing, better) * split;
            }
        }
    }
    let mid_p = McNemarVariant::MidP;
    assert_near(promise.mcnemar_variant_power(mid_p, n, discordant, difference).unwrap(), expected, 1e-10);

    let pairs = promise.mcnemar_variant_pairs(mid_p, discordant, difference).unwrap();
    let power = |n: f64| promise.mcnemar_variant_power(mid_p, n as u64, discordant, difference).unwrap();
    assert!(power(pairs) >= 0.8 && power(pairs - 1.0) < 0.8, "{pairs}");
    assert!(pairs < promise.mcnemar_variant_pairs(McNemarVariant::Exact, discordant, difference).unwrap());
    let shown = promise.mcnemar_variant_difference(mid_p, 300, discordant).unwrap();
    assert!(
        shown < promise.mcnemar_variant_difference(McNemarVariant::Exact, 300, discordant).unwrap(),
        "{shown}"
    );
}

#[test]
fn exact_numbers_of_pairs_have_the_power() {
    let promise = PowerDesign::default();
    for (discordant, difference) in [(0.2, 0.1), (0.1, 0.1), (0.4, 0.2), (0.3, 0.12)] {
        let pairs = promise.mcnemar_variant_pairs(McNemarVariant::Exact, discordant, difference).unwrap();
        let power = |n: f64| {
            promise.mcnemar_variant_power(McNemarVariant::Exact, n as u64, discordant, difference).unwrap()
        };
        assert!(power(pairs) >= 0.8 && power(pairs - 1.0) < 0.8, "{discordant} {difference}: {pairs}");
        assert!(pairs >= promise.mcnemar_pairs(discordant, difference).unwrap().floor());

        let shown =
            promise.mcnemar_variant_difference(McNemarVariant::Exact, pairs as u64, discordant).unwrap();
        assert!(shown <= difference && shown > 0.9 * difference, "{shown} for {difference}");
    }

    let one_way = promise.mcnemar_variant_one_way_difference(McNemarVariant::Exact, 100).unwrap();
    assert!(
        (promise.mcnemar_variant_power(McNemarVariant::Exact, 100, one_way, one_way).unwrap() - 0.8).abs()
            < 1e-6
    );

    // Five pairs can't be significant with any results.
    assert_eq!(
        promise.mcnemar_variant_difference(McNemarVariant::Exact, 5, 1.0),
        Err(UndefinedReason::Undetectable)
    );
    assert_eq!(
        promise.mcnemar_variant_difference(McNemarVariant::Exact, 0, 0.5),
        Err(UndefinedReason::NoValues)
    );
    assert_eq!(
        promise.mcnemar_variant_power(McNemarVariant::Exact, 10, 0.1, 0.2),
        Err(UndefinedReason::OutOfRange)
    );
    // Beyond a thousand pairs, Connor's formula is used.
    assert_eq!(
        promise.mcnemar_variant_pairs(McNemarVariant::Exact, 0.2, 0.01),
        promise.mcnemar_pairs(0.2, 0.01)
    );
    assert_eq!(
        promise.mcnemar_variant_difference(McNemarVariant::Exact, 5_000, 0.2),
        promise.mcnemar_difference(5_000, 0.2)
    );
}

/// Half-widths of the intervals of many data sets drawn by `draw`, ascending.
fn half_widths(sets: usize, mut draw: impl FnMut(&mut SeededRandom) -> Interval) -> Vec<f64> {
    let mut random = SeededRandom::new(7);
    let mut widths: Vec<f64> = (0..sets).map(|_| draw(&mut random).width() / 2.0).collect();
    widths.sort_by(f64::total_cmp);
    widths
}

fn uniform(random: &mut SeededRandom) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

#[test]
fn the_search_near_wilsons_number_finds_what_doubling_finds() {
    let level = ConfidenceLevel::P95;
    for rate in [0.02, 0.05, 0.2, 0.5, 0.625, 0.8, 0.95, 0.98] {
        for half in [0.3, 0.1, 0.05, 0.03] {
            let doubled = least_cases(half, 1, |n| rate_half_width(rate, n, level)).unwrap();
            let near = rate_precision(rate, half, level).unwrap();
            // For few cases, the width does not decrease with every case, so two searches may end at neighbouring
            // numbers.
            assert!((near - doubled).abs() <= 1.0, "{rate} to {half}: {near} and {doubled}");
        }
    }
}

#[test]
fn rates_of_planned_cases_have_intervals_of_the_width_that_was_wanted() {
    for rate in [0.02, 0.05, 0.2, 0.5, 0.8, 0.95, 0.98] {
        for half in [0.1, 0.05, 0.03] {
            let n = rate_precision(rate, half, ConfidenceLevel::P95).unwrap() as u64;
            let widths = half_widths(400, |random| {
                let passed = (0..n).filter(|_| uniform(random) < rate).count();
                proportion(passed as u64, n, ConfidenceLevel::P95).interval.unwrap()
            });
            let mean = widths.iter().sum::<f64>() / 400.0;
            let variance = n as f64 * rate * (1.0 - rate);
            // The width at a small number of passes varies by half of itself: four standard errors of 400.
            let slack = 0.01 + 0.1 / variance.max(0.5);
            assert!((mean / half - 1.0).abs() < slack, "{rate} to {half}: {mean} over {n}");
            // With few passes, one more or less is a visible step of the median.
            let middle = widths[200];
            assert!(
                variance < 4.0 || (middle / half - 1.0).abs() < 0.06,
                "{rate} to {half}: {middle} over {n}"
            );
        }
    }
}

#[test]
fn means_of_planned_cases_have_intervals_of_the_width_that_was_wanted() {
    type Draw = fn(&mut SeededRandom) -> f64;
    let kinds: [(&str, Draw); 6] = [
        ("even", uniform),
        ("mostly high", |random| uniform(random).powf(0.2)),
        ("k of 5 at 0.9", |random| (0..5).filter(|_| uniform(random) < 0.9).count() as f64 / 5.0),
        ("close together", |random| 0.75 + 0.1 * uniform(random)),
        ("0.8 or 0.75, and 1 in 20 is 0", |random| match uniform(random) {
            share if share < 0.05 => 0.0,
            share if share < 0.5 => 0.75,
            _ => 0.8,
        }),
        ("three answers at 0.02, averaged", |random| {
            (0..3).filter(|_| uniform(random) < 0.02).count() as f64 / 3.0
        }),
    ];
    for (kind, draw) in kinds {
        for (size, half) in [(1, 0.05), (1, 0.02), (4, 0.05), (4, 0.02)] {
            let mut random = SeededRandom::new(3);
            // The values of a cluster have half of their deviation in common.
            let cluster = |random: &mut SeededRandom| {
                let shared = draw(random);
                let value =
                    |random: &mut SeededRandom| if uniform(random) < 0.5 { shared } else { draw(random) };
                (0..size).map(|_| value(random)).collect::<Vec<f64>>()
            };
            let run: Vec<f64> = (0..400).flat_map(|_| cluster(&mut random)).collect();
            let names: Vec<usize> = (0..run.len()).map(|at| at / size).collect();
            let plan = PlannedMean::new(&run, &names, ConfidenceLevel::P95).unwrap();
            let n = plan.cases(half, ConfidenceLevel::P95).unwrap();
            let clusters = (n / size as f64).ceil() as usize;

            // More runs from the distribution of this run's clusters, because the plan knows nothing else.
            let widths = half_widths(200, |random| {
                let values: Vec<f64> = (0..clusters)
                    .flat_map(|_| {
                        let at = (uniform(random) * 400.0) as usize * size;
                        run[at..at + size].to_vec()
                    })
                    .collect();
                let names: Vec<usize> = (0..values.len()).map(|at| at / size).collect();
                bounded_mean_clustered(&values, &names, (0.0, 1.0), ConfidenceLevel::P95)
                    .unwrap()
                    .interval
                    .unwrap()
            });
            // A few clusters hold one or two of the rare values, or none, and each of these moves the end
            // that depends on them.
            let slack = match clusters {
                ..=25 => 0.16,
                26..=50 => 0.08,
                _ => 0.06,
            };
            let found = widths[100];
            assert!((found / half - 1.0).abs() < slack, "{kind}, {size}, to {half}: {found} over {clusters}");
        }
    }
}
