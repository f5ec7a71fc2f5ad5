//! Intervals that stay within the range of their quantity and always have a width.
//!
//! Reference values without another source were computed with scipy 1.17.1, numpy 2.4.6 and statsmodels
//! 0.15.0 from the published formulas: `brentq` for the ends, `stats.t.ppf`, `stats.beta.ppf` and two million
//! draws of `numpy.random.dirichlet`.

use crate::{
    ConfidenceLevel, DifferenceReach, Interval, SeededRandom, UndefinedReason, bounded_difference,
    bounded_mean, bounded_mean_clustered, clustered_mean,
    correction::prediction_powered_within,
    expanded_level,
    judge_quality::{ConfusionTable, DrawnTables, area_interval, kendall_tau_b, spearman},
    power::PowerDesign,
};
use proptest::prelude::*;

use crate::tests::{assert_near, cases, uniform};

const LEVEL: ConfidenceLevel = ConfidenceLevel::P95;
const UNIT: (f64, f64) = (0.0, 1.0);

#[track_caller]
fn assert_ends(found: Interval, low: f64, high: f64, tolerance: f64) {
    assert_near(found.low, low, tolerance);
    assert_near(found.high, high, tolerance);
}

#[test]
fn values_that_lie_close_together_leave_room_for_rare_ones_at_an_end() {
    // If one in twenty such scores is zero, 6 of 10 samples of ten miss it; the true mean is then 0.75.
    let close = [0.8, 0.8, 0.8, 0.8, 0.75, 0.8, 0.8, 0.75, 0.8, 0.8];
    let found = bounded_mean(&close, (0.0, 1.0), ConfidenceLevel::P95).unwrap();
    let interval = found.interval.unwrap();
    assert_near(found.effective_n, 250.0, 1e-9);
    // Blaker's lower end of 10 of 10, 0.717065, times the mean, plus half of the distance that Wilson's has
    // from the spread alone.
    assert!(interval.low > 0.717_065 * 0.79 && interval.low < 0.717_065 * 0.79 + 0.02, "{interval:?}");
    assert!(interval.width() < 0.27, "{interval:?}");
    assert_eq!(interval.method.name(), "Wilson or Blaker");
    let thirty: Vec<f64> = (0..30).map(|at| if at % 5 == 0 { 0.75 } else { 0.8 }).collect();
    let interval = bounded_mean(&thirty, UNIT, LEVEL).unwrap().interval.unwrap();
    assert!(interval.low > 0.893 * 0.79 && interval.low < 0.893 * 0.79 + 0.01, "{interval:?}");
    // Mirrored, it is the upper end.
    let mirrored = close.map(|value| 1.0 - value);
    let mirrored = bounded_mean(&mirrored, UNIT, LEVEL).unwrap().interval.unwrap();
    assert_near(1.0 - mirrored.high, bounded_mean(&close, UNIT, LEVEL).unwrap().interval.unwrap().low, 1e-9);

    // Scores with an ordinary spread are not affected.
    let usual = [0.3, 0.9, 0.5, 0.7, 0.6, 0.8, 1.0, 0.4, 0.7, 0.8];
    let found = bounded_mean(&usual, (0.0, 1.0), ConfidenceLevel::P95).unwrap();
    let variance = usual.iter().map(|value| (value - 0.67_f64).powi(2)).sum::<f64>() / 9.0;
    assert_near(found.effective_n, 0.67 * 0.33 / (variance / 10.0), 1e-9);
    assert_eq!(found.interval.unwrap().method.name(), "Wilson, effective n");
}

#[test]
fn means_have_wilsons_interval_on_their_effective_number() {
    // The interval of `proportion` for 8 of 10.
    let verdicts = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0];
    let rate = bounded_mean(&verdicts, UNIT, LEVEL).unwrap();
    assert_ends(rate.interval.unwrap(), 0.444_447, 0.963_229, 1e-6);

    let scores = bounded_mean(&[0.2, 0.4, 0.6, 0.8, 1.0], UNIT, LEVEL).unwrap();
    assert_near(scores.effective_n, 12.0, 1e-12);
    assert_ends(scores.interval.unwrap(), 0.252_016_327_948_860_6, 0.869_757_629_877_359_6, 1e-9);

    // The scale of the scores does not matter.
    let points = bounded_mean(&[2.0, 4.0, 6.0, 8.0, 10.0], (0.0, 10.0), LEVEL).unwrap();
    assert_ends(points.interval.unwrap(), 2.520_163_279_488_606, 8.697_576_298_773_596, 1e-9);

    let values = [0.9, 0.8, 1.0, 0.2, 0.3, 0.5, 0.7, 0.6, 0.1, 0.65];
    let clustered = bounded_mean_clustered(&values, &[0, 0, 0, 1, 1, 2, 3, 3, 4, 5], UNIT, LEVEL).unwrap();
    assert_near(clustered.effective_n, 10.539_609_167_006_53, 1e-12);
    assert_ends(clustered.interval.unwrap(), 0.220_462_225_640_741, 0.866_172_975_224_863, 1e-9);
}

/// Calls `see` with each way in which clusters of these sizes pass or fail as a whole: the values, their clusters, and
/// the numbers of `large` and of single clusters that pass.
fn whole_clusters(large: &[usize], single: usize, mut see: impl FnMut(&[f64], &[usize], usize, usize)) {
    for passing in 0..1_usize << large.len() {
        for ones in 0..=single {
            let (mut values, mut clusters) = (Vec::new(), Vec::new());
            for (at, size) in large.iter().enumerate() {
                values.extend(std::iter::repeat_n(f64::from(u8::from(passing >> at & 1 == 1)), *size));
                clusters.extend(std::iter::repeat_n(at, *size));
            }
            for at in 0..single {
                values.push(f64::from(u8::from(at < ones)));
                clusters.push(large.len() + at);
            }
            see(&values, &clusters, passing.count_ones() as usize, ones);
        }
    }
}

/// Returns the lowest coverage over rates, and its rate, for the mean of `n` values of three kinds: one is
/// rare, and among the two others the first has the share `share`.
fn least_coverage(rare: f64, (common, other): (f64, f64), share: f64, n: usize) -> (f64, f64) {
    let rates: Vec<f64> = (0..200).map(|at| (f64::from(at) + 0.5) / 200.0).collect();
    let mut covered = vec![0.0; rates.len()];
    for rares in 0..=n {
        for commons in 0..=n - rares {
            let others = n - rares - commons;
            let mut values = vec![rare; rares];
            values.extend(std::iter::repeat_n(common, commons));
            values.extend(std::iter::repeat_n(other, others));
            let found = bounded_mean(&values, UNIT, LEVEL).unwrap().interval.unwrap();
            assert!(found.low >= 0.0 && found.high <= 1.0 && found.width() > 0.0, "{values:?}: {found:?}");

            let split =
                ways(n - rares, commons) * share.powf(commons as f64) * (1.0 - share).powf(others as f64);
            for (rate, covered) in rates.iter().zip(&mut covered) {
                let mean = rate * rare + (1.0 - rate) * (share * common + (1.0 - share) * other);
                if (found.low - 1e-12..=found.high + 1e-12).contains(&mean) {
                    let (of_rare, rest) = (rate.powf(rares as f64), (1.0 - rate).powf((n - rares) as f64));
                    *covered += ways(n, rares) * of_rare * rest * split;
                }
            }
        }
    }
    covered
        .into_iter()
        .zip(rates)
        .fold((1.0, 0.0), |least, found| if found.0 < least.0 { found } else { least })
}

#[test]
fn rare_values_beside_nearly_equal_ones_are_covered_at_every_rate() {
    // A rare value, two values close to each other, and the share of the first of these two.
    let kinds = [
        (0.0, (0.999, 1.0), 0.5),
        (1.0, (0.001, 0.0), 0.5),
        (0.0, (0.999, 1.0), 0.1),
        (0.0, (0.95, 1.0), 0.5),
        (0.0, (0.8, 1.0), 0.5),
        (0.0, (0.6, 0.9), 0.5),
        (0.0, (0.75, 0.8), 0.2),
        (0.0, (0.3, 0.35), 0.5),
        (0.0, (0.1, 0.15), 0.5),
        (0.2, (0.999, 1.0), 0.5),
    ];
    for (rare, near, share) in kinds {
        for n in [5, 10, 20] {
            let (least, rate) = least_coverage(rare, near, share, n);
            assert!(least >= 0.93, "{n} of {rare} and {near:?}: {least} at a rate of {rate}");
        }
    }
    // Two values within the range.
    for (rare, near) in [(0.05, 0.95), (0.2, 0.8), (0.5, 1.0)] {
        for n in [5, 10, 30] {
            let (least, rate) = least_coverage(rare, (near, near), 1.0, n);
            assert!(least >= 0.93, "{n} of {rare} and {near}: {least} at a rate of {rate}");
        }
    }
}

#[test]
fn a_score_just_below_one_changes_little() {
    let ends = |values: &[f64]| {
        let found = bounded_mean(values, UNIT, LEVEL).unwrap().interval.unwrap();
        (found.low, found.high)
    };
    for zeros in 0..=5 {
        let mut verdicts = vec![1.0; 10];
        verdicts[..zeros].fill(0.0);
        let exact = ends(&verdicts);
        for near in [0.999, 0.999_999] {
            verdicts[9] = near;
            let (low, high) = ends(&verdicts);
            assert!(low <= exact.0 + 3e-4 && low > exact.0 - 0.04, "{zeros}, {near}: {low} beside {exact:?}");
            assert!(
                high > exact.1 - 1e-3 && high < exact.1 + 0.03,
                "{zeros}, {near}: {high} beside {exact:?}"
            );
        }
    }
}

fn ways(total: usize, taken: usize) -> f64 {
    (0..taken).map(|at| (total - at) as f64 / (taken - at) as f64).product()
}

#[test]
fn a_large_cluster_beside_small_ones_is_covered() {
    for (large, single) in
        [(&[50][..], 20), (&[20], 19), (&[20], 40), (&[15, 8, 5, 3, 2, 2], 6), (&[5, 5, 5], 5)]
    {
        let rates: Vec<f64> = (1..20).map(|at| f64::from(at) / 20.0).collect();
        let mut covered = vec![0.0; rates.len()];
        whole_clusters(large, single, |values, clusters, passing, ones| {
            let found = bounded_mean_clustered(values, clusters, UNIT, LEVEL).unwrap().interval.unwrap();
            for (rate, covered) in rates.iter().zip(&mut covered) {
                if (found.low - 1e-12..=found.high + 1e-12).contains(rate) {
                    let (pass, all) = ((passing + ones) as f64, (large.len() + single) as f64);
                    *covered += ways(single, ones) * rate.powf(pass) * (1.0 - rate).powf(all - pass);
                }
            }
        });
        let least = covered.iter().copied().fold(1.0, f64::min);
        assert!(least > 0.95, "{large:?} and {single}: {least}");
    }
}

#[test]
fn one_lucky_cluster_is_no_difference() {
    // Every cluster rises or falls, with equal probability.
    for (large, single) in [(&[50][..], 20), (&[20], 19), (&[15, 8, 5, 3, 2, 2], 6)] {
        let mut wrong = 0.0;
        whole_clusters(large, single, |values, clusters, _, ones| {
            let differences: Vec<f64> = values.iter().map(|value| 2.0 * value - 1.0).collect();
            let found = bounded_difference(&differences, clusters, DifferenceReach::symmetric(1.0)).unwrap();
            if found.p().unwrap() <= 0.05 {
                wrong += ways(single, ones) * 0.5_f64.powf((large.len() + single) as f64);
            }
        });
        assert!(wrong <= 0.055, "{large:?} and {single}: {wrong}");
    }
}

#[test]
fn equal_values_have_a_width_and_one_value_says_why_not() {
    let all = bounded_mean(&[1.0; 10], UNIT, LEVEL).unwrap().interval.unwrap();
    assert_near(all.low, 0.717_065, 1e-6);
    assert_near(all.high, 1.0, 1e-15);
    let dust = bounded_mean(&[0.3, 0.1 + 0.2, 0.3], UNIT, LEVEL).unwrap().interval.unwrap();
    assert!(dust.width() > 0.5, "{dust:?}");

    let none = |values: &[f64]| bounded_mean(values, UNIT, LEVEL).and_then(|found| found.interval);
    assert_eq!(none(&[]), Err(UndefinedReason::NoValues));
    assert_eq!(none(&[0.4]), Err(UndefinedReason::OneValue));
    assert_eq!(none(&[0.4, 1.2]), Err(UndefinedReason::OutOfRange));
    let one = bounded_mean_clustered(&[0.4, 0.5], &[1, 1], UNIT, LEVEL).unwrap();
    assert_eq!(one.interval, Err(UndefinedReason::OneCluster));
}

#[test]
fn differences_have_the_interval_of_rises_and_falls() {
    let differences = [0.1, -0.2, 0.3, 0.4, 0.05, 0.0, -0.05, 0.2];
    let names: Vec<usize> = (0..differences.len()).collect();
    let found = bounded_difference(&differences, &names, DifferenceReach::symmetric(1.0)).unwrap();
    assert_ends(found.interval(LEVEL).unwrap(), -0.073_917_263_820_315_7, 0.287_544_518_485_559_3, 1e-9);
    assert_near(found.p().unwrap(), 0.194_828_025_793_921_7, 1e-9);

    // Twenty small rises may hide a rare fall; four hundred can't hide one that large.
    let p = |n: usize| {
        let names: Vec<usize> = (0..n).collect();
        bounded_difference(&vec![0.05; n], &names, DifferenceReach::symmetric(1.0)).unwrap().p().unwrap()
    };
    assert!(p(20) > 0.05 && p(400) < 0.05, "{} {}", p(20), p(400));
    let one = bounded_difference(&[0.5], &[0], DifferenceReach::symmetric(1.0)).unwrap();
    assert_eq!(
        (one.interval(LEVEL), one.p()),
        (Err(UndefinedReason::OneValue), Err(UndefinedReason::OneValue))
    );
}

#[test]
fn drawn_tables_are_those_of_the_dirichlet_distribution() {
    let counts = [(20, 0), (10, 1), (5, 2), (15, 3)];
    let mut tables = Vec::new();
    for (count, cell) in counts {
        for _ in 0..count {
            let at = |place: u32| u64::from(place == cell);
            tables.push(ConfusionTable {
                true_pass: at(0),
                false_pass: at(1),
                false_fail: at(2),
                true_fail: at(3),
            });
        }
    }

    let drawn = DrawnTables::draw(&tables, 40_000, &mut SeededRandom::new(3)).unwrap();
    // The outer ends of Beta(35.5, 15.5) and Beta(36, 16).
    let accuracy = drawn.interval(0.7, LEVEL, |table| table.accuracy(LEVEL).rate).unwrap();
    assert_ends(accuracy, 0.561_711, 0.813_123, 0.006);
    let kappa = drawn.interval(0.4, LEVEL, |table| table.kappa(LEVEL).and_then(|kappa| kappa.kappa)).unwrap();
    assert_ends(kappa, 0.130_574, 0.618_108, 0.01);
}

#[test]
fn two_lucky_pairs_are_no_agreement() {
    let met = ConfusionTable { true_pass: 1, ..ConfusionTable::default() };
    let unmet = ConfusionTable { true_fail: 1, ..ConfusionTable::default() };
    let drawn = DrawnTables::draw(&[met, unmet], 20_000, &mut SeededRandom::new(3)).unwrap();
    let kappa = drawn.interval(1.0, LEVEL, |table| table.kappa(LEVEL).and_then(|kappa| kappa.kappa)).unwrap();
    assert_ends(kappa, -0.230_742, 1.0, 0.02);
    let single = DrawnTables::draw(&[met], 100, &mut SeededRandom::new(3));
    assert_eq!(single.err(), Some(UndefinedReason::OneCluster));
}

#[test]
fn areas_have_newcombes_interval() {
    let area = |scores: &[f64], outcomes: &[bool]| {
        let names: Vec<usize> = (0..scores.len()).collect();
        area_interval(scores, outcomes, &names, LEVEL).unwrap()
    };
    let found = area(&[0.9, 0.6, 0.35, 0.1], &[true, false, true, false]);
    assert_ends(found, 0.227_187_470_703_131_3, 0.966_781_569_845_539_4, 1e-9);
    // Full separation of 3 and 7 cases.
    let separated: Vec<f64> = (0..10).map(f64::from).collect();
    let outcomes: Vec<bool> = (0..10).map(|at| at >= 7).collect();
    assert_ends(area(&separated, &outcomes), 0.600_108_247_581_271_6, 1.0, 1e-9);

    // Duplicate scores within a cluster add no information.
    let twice: Vec<f64> = separated.iter().flat_map(|score| [*score, *score]).collect();
    let came: Vec<bool> = outcomes.iter().flat_map(|came| [*came, *came]).collect();
    let names: Vec<usize> = (0..20).map(|at| at / 2).collect();
    assert_ends(area_interval(&twice, &came, &names, LEVEL).unwrap(), 0.600_108, 1.0, 1e-6);
}

#[test]
fn labels_and_a_judge_are_never_worse_than_the_labels() {
    let people = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0];
    let judge = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    let rest: Vec<f64> = (0..20).map(|at| f64::from(u8::from(at < 14))).collect();
    let found = prediction_powered_within::<u8>(&people, &judge, &rest, None, UNIT, LEVEL).unwrap();
    assert_near(found.weight, 0.179_093_567_251_462, 1e-9);
    assert_near(found.gain.unwrap(), 1.043_610_934_520_025_3, 1e-9);
    assert_near(found.tuned.mean, 0.638_432_017_543_859_6, 1e-9);
    // Wilson's ends are 0.321597 and 0.868021 here, and 0.305742 and 0.863156 for the labels, whose own ends
    // differ from these.
    let alone = crate::proportion(5, 8, LEVEL).interval.unwrap();
    assert_eq!((found.human.interval.low, found.human.interval.high), (alone.low, alone.high));
    let (below, above) =
        ((0.625 - alone.low) / (0.625 - 0.305_742_394), (alone.high - 0.625) / (0.863_155_714 - 0.625));
    let low = found.tuned.mean - (found.tuned.mean - 0.321_596_718) * below;
    let high = found.tuned.mean + (0.868_021_084 - found.tuned.mean) * above;
    assert_ends(found.tuned.interval, low, high, 1e-7);
    assert!(found.tuned.interval.width() < alone.width());

    // A judge that always says the opposite leaves the labels' interval unchanged.
    let opposite: Vec<f64> = people.iter().map(|met| 1.0 - met).collect();
    let found = prediction_powered_within::<u8>(&people, &opposite, &rest, None, UNIT, LEVEL).unwrap();
    assert_ends(found.tuned.interval, alone.low, alone.high, 1e-12);

    // If the labels have no spread, the judge does not count: ten met have the interval of 10 of 10.
    let judge = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0];
    let found = prediction_powered_within::<u8>(&[1.0; 10], &judge, &rest, None, UNIT, LEVEL).unwrap();
    assert_near(found.weight, 0.0, 1e-15);
    assert_ends(found.tuned.interval, 0.717_065, 1.0, 1e-6);
}

/// Differences of eight clusters of three, with this mean.
fn clustered_differences(mean: f64) -> (Vec<f64>, Vec<usize>) {
    let of_cluster = [-0.06, 0.08, 0.02, -0.08, 0.04, -0.04, 0.07, -0.03];
    let within = [0.02, -0.01, -0.01];
    (0..24).map(|at| (mean + of_cluster[at / 3] + within[at % 3], at / 3)).unzip()
}

#[test]
fn what_is_detectable_is_shown_by_the_test_itself() {
    let design = PowerDesign::default();
    let reach = DifferenceReach { fall: 0.8, rise: 0.7 };
    let at = |mean: f64| {
        let (differences, clusters) = clustered_differences(mean);
        let se = clustered_mean(&differences, &clusters, LEVEL).unwrap().se_cr1.unwrap();
        (bounded_difference(&differences, &clusters, reach).unwrap(), se)
    };

    let (found, se) = at(-0.04);
    let detectable = found.detectable(se, design).unwrap();
    let interval = found.interval(LEVEL).unwrap();
    // t with seven degrees of freedom: 2.364624 and 0.896030.
    assert!(detectable >= (2.364_624 + 0.896_030) * se, "{detectable} beside {se}");
    assert!(detectable >= (interval.high - found.difference).max(found.difference - interval.low));
    // The unlucky fifth of samples falls short of the truth by 0.896 errors, and is still significant.
    assert!(at(-detectable).0.p().unwrap() < 0.05 && at(detectable).0.p().unwrap() < 0.05);
    assert!(at(0.896 * se - detectable).0.p().unwrap() <= 0.05);
    // The difference that normal quantiles promise is not significant.
    assert!(at(-2.8 * se).0.p().unwrap() > 0.05);

    // With this factor times as many clusters with the same differences, the interval excludes 0.
    let factor = found.factor_to_detect(se, design).unwrap();
    let times = factor.ceil() as usize;
    let (differences, clusters) = clustered_differences(-0.04);
    let more: Vec<f64> = differences.repeat(times);
    let ids: Vec<usize> = (0..times).flat_map(|turn| clusters.iter().map(move |id| turn * 8 + id)).collect();
    assert!(bounded_difference(&more, &ids, reach).unwrap().p().unwrap() < 0.05, "{factor}");
    assert!(factor > 2.0, "{factor}");
}

#[test]
fn nothing_is_detectable_in_two_clusters() {
    let found =
        bounded_difference(&[0.1, 0.2, 0.15, 0.1], &[0, 0, 1, 1], DifferenceReach::symmetric(1.0)).unwrap();
    let design = PowerDesign::default();
    assert_eq!(found.detectable(0.02, design), Err(UndefinedReason::Unreachable));
    let alone = bounded_difference(&[0.1, 0.2], &[0, 0], DifferenceReach::symmetric(1.0)).unwrap();
    assert_eq!(alone.detectable(0.02, design), Err(UndefinedReason::OneValue));
    assert_eq!(alone.factor_to_detect(0.02, design), Err(UndefinedReason::OneValue));
}

#[test]
fn few_units_move_the_percentiles_outwards() {
    assert_near(expanded_level(LEVEL, 10).unwrap().get(), 0.982_898_721_951_187_2, 1e-9);
    assert!(expanded_level(LEVEL, 10_000).unwrap().get() < 0.9502);
    assert_eq!(expanded_level(LEVEL, 1), Err(UndefinedReason::OneValue));
}

#[test]
fn scores_equal_on_paper_are_tied() {
    let x = [0.3, 0.1 + 0.2, 0.7, 0.9];
    let exact = [0.3, 0.3, 0.7, 0.9];
    let y = [1.0, 2.0, 3.0, 4.0];
    assert_eq!(spearman(&x, &y), spearman(&exact, &y));
    assert_eq!(kendall_tau_b(&x, &y), kendall_tau_b(&exact, &y));
    // Small numbers are not rounding noise relative to other small numbers.
    let small = y.map(|value| value * 1e-12);
    assert_near(spearman(&small, &y).unwrap(), 1.0, 1e-12);
}

#[test]
fn gwets_coefficient_of_a_table_is_that_of_its_ratings() {
    use crate::agreement::{AgreementWeights, ChanceAgreement, RatingScale, UnitRatings, coefficient};
    let table = ConfusionTable { true_pass: 20, false_pass: 10, false_fail: 5, true_fail: 15 };
    let mut ratings = UnitRatings::new();
    for (count, pair) in [(20, [1.0, 1.0]), (10, [1.0, 0.0]), (5, [0.0, 1.0]), (15, [0.0, 0.0])] {
        for _ in 0..count {
            ratings.push(pair);
        }
    }

    let found = coefficient(
        &ratings,
        &RatingScale::binary(),
        AgreementWeights::Identity,
        ChanceAgreement::Gwet,
        LEVEL,
    );
    assert_near(table.gwet().unwrap(), found.value.unwrap(), 1e-12);
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn intervals_stay_within_the_range_and_have_a_width(
        values in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0f64], 2..40),
        per in 1usize..4,
    ) {
        let names: Vec<usize> = (0..values.len()).map(|at| at / per).collect();
        let found = bounded_mean_clustered(&values, &names, UNIT, LEVEL).unwrap();
        if let Ok(interval) = found.interval {
            prop_assert!(interval.low >= 0.0 && interval.high <= 1.0 && interval.width() > 0.0);
            prop_assert!(interval.low <= found.mean + 1e-12 && interval.high >= found.mean - 1e-12);
        }

        // The p value and the interval agree, except for the minimum p value of so few differences.
        let differences: Vec<f64> = values.windows(2).map(|pair| pair[0] - pair[1]).collect();
        let names: Vec<usize> = (0..differences.len()).collect();
        let found = bounded_difference(&differences, &names, DifferenceReach::symmetric(1.0)).unwrap();
        if let (Ok(interval), Ok(p)) = (found.interval(LEVEL), found.p()) {
            prop_assert!(interval.low >= -1.0 && interval.high <= 1.0 && interval.width() > 0.0);
            let excludes = interval.low > 1e-9 || interval.high < -1e-9;
            let differing = differences.iter().filter(|difference| difference.abs() > 1e-9).count();
            let least = 0.5_f64.powf(differing as f64 - 1.0);
            prop_assert!(!excludes || p <= 0.05 + 1e-6 || (p - least).abs() < 1e-12, "{interval:?} {p}");
            prop_assert!(excludes || p >= 0.05 - 1e-6, "{interval:?} {p}");
        }
    }
}

#[test]
fn few_differences_that_all_rise_are_as_likely_as_coins_that_fall_alike() {
    // Scores of 0, 0.5 and 1 with the same distribution on both sides: the interval alone is wrong in 9 % of
    // samples.
    let mut state = 3;
    let mut wrong = 0;
    for _ in 0..2_000 {
        let mut scores = || -> Vec<f64> {
            (0..6)
                .map(|_| {
                    [0.0, 0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0][(uniform(&mut state) * 10.0) as usize]
                })
                .collect()
        };
        let (before, after) = (scores(), scores());
        let differences: Vec<f64> = before.iter().zip(&after).map(|(before, after)| after - before).collect();
        let names: Vec<usize> = (0..6).collect();
        let found =
            bounded_difference(&differences, &names, DifferenceReach::of_scores(&before, &after)).unwrap();
        let p = found.p().unwrap();
        let differing = differences.iter().filter(|difference| **difference != 0.0).count() as f64;
        assert!(p >= 0.5_f64.powf(differing - 1.0).min(1.0) - 1e-12, "{differences:?}: {p}");
        wrong += usize::from(p <= 0.05);
    }
    assert!(wrong <= 140, "{wrong} of 2000");

    let five = bounded_difference(&[1.0; 5], &[0, 1, 2, 3, 4], DifferenceReach::symmetric(1.0)).unwrap();
    assert_near(five.p().unwrap(), 0.0625, 1e-12);
    assert_eq!(five.detectable(0.1, PowerDesign::default()), Err(UndefinedReason::Unreachable));
}
