//! Bootstrap intervals.

use crate::{
    ConfidenceLevel, SeededRandom, UndefinedReason, acceleration, bootstrap, bootstrap_clustered_mean,
    bootstrap_mean, bootstrap_mean_exhaustive, leave_one_out,
};
use proptest::prelude::*;

use super::{assert_near, cases};

#[test]
fn all_resamples_of_three() {
    // The means 0, 1/3, 2/3 and 1 occur 1, 6, 12 and 8 times.
    let found = bootstrap_mean_exhaustive(&[0.0, 1.0, 1.0], ConfidenceLevel::P95).unwrap();
    assert_eq!(found.resamples, 27);
    assert_near(found.se, (2.0f64 / 27.0).sqrt(), 1e-12);
    assert_near(found.percentile.low, 0.65 / 3.0, 1e-12);
    assert_eq!(found.percentile.high, 1.0);
}

#[test]
fn random_resamples_converge_to_all_of_them() {
    let values = [0.0, 0.1, 0.4, 0.9];
    let all = bootstrap_mean_exhaustive(&values, ConfidenceLevel::P95).unwrap();
    let some = bootstrap_mean(&values, 200_000, ConfidenceLevel::P95, &mut SeededRandom::new(3)).unwrap();
    assert_near(some.se, all.se, 2e-3);
    assert_near(some.percentile.low, all.percentile.low, 5e-3);
    assert_near(some.percentile.high, all.percentile.high, 5e-3);
    let (some, all) = (some.bca.unwrap(), all.bca.unwrap());
    assert_near(some.low, all.low, 0.03);
    assert_near(some.high, all.high, 0.03);
}

#[test]
fn acceleration_by_hand() {
    // For a mean it is the skewness of the values divided by 6 sqrt(n). 0, 0, 3 have m = 1 and sums of powers
    // of deviations 6 and 6, so 6 / (6 * 6^1.5).
    assert_near(acceleration(&[0.0, 0.0, 3.0]).unwrap(), 6f64.powf(-1.5), 1e-12);
    assert_eq!(leave_one_out(&[1.0, 2.0, 3.0]), Ok(vec![2.5, 2.0, 1.5]));
    assert_eq!(leave_one_out(&[1.0]), Err(UndefinedReason::OneValue));
}

#[test]
fn the_seed_is_all_that_matters() {
    let values: Vec<f64> = (0..50).map(|index| f64::from(index % 7)).collect();
    let of = |seed| bootstrap_mean(&values, 500, ConfidenceLevel::P95, &mut SeededRandom::new(seed));
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn any_figure_of_units_is_resampled_like_the_mean() {
    let values: Vec<f64> = (0..40).map(|index| f64::from(index * index % 11)).collect();
    let plain = bootstrap_mean(&values, 400, ConfidenceLevel::P95, &mut SeededRandom::new(5)).unwrap();
    let mean = |units: &[usize]| Ok(units.iter().map(|&unit| values[unit]).sum::<f64>() / units.len() as f64);
    let general =
        bootstrap(values.len(), 400, ConfidenceLevel::P95, &mut SeededRandom::new(5), mean).unwrap();
    assert_near(general.se, plain.se, 1e-12);
    assert_near(general.bca.unwrap().low, plain.bca.unwrap().low, 1e-9);
    let clusters: Vec<usize> = (0..40).collect();
    let clustered =
        bootstrap_clustered_mean(&values, &clusters, 400, ConfidenceLevel::P95, &mut SeededRandom::new(5))
            .unwrap();
    assert_near(clustered.se, plain.se, 1e-12);
}

#[test]
fn resamples_without_a_figure_are_counted_and_left_out() {
    let values = [0.0, 0.0, 0.0, 1.0];
    // Undefined unless the one unit that differs is drawn.
    let figure = |units: &[usize]| {
        if units.iter().any(|&unit| values[unit] == 1.0) {
            Ok(units.len() as f64)
        } else {
            Err(UndefinedReason::NoSpread)
        }
    };
    let found = bootstrap(4, 1_000, ConfidenceLevel::P95, &mut SeededRandom::new(1), figure).unwrap();
    assert_eq!(found.resamples + found.undefined, 1_000);
    // About (3/4)^4 of them.
    assert!((250..380).contains(&found.undefined), "{}", found.undefined);
}

#[test]
fn what_has_no_answer_says_why() {
    let of = |values: &[f64]| bootstrap_mean(values, 10, ConfidenceLevel::P95, &mut SeededRandom::new(1));
    assert_eq!(of(&[]), Err(UndefinedReason::NoValues));
    assert_eq!(of(&[1.0]), Err(UndefinedReason::OneValue));
    assert_eq!(of(&[1.0, f64::NAN]), Err(UndefinedReason::NotFinite));
    let same = of(&[0.7; 9]).unwrap();
    assert!(same.is_constant());
    assert_eq!(same.bca, Err(UndefinedReason::NoSpread));
    assert_eq!(
        bootstrap_mean(&[0.0, 1.0], 0, ConfidenceLevel::P95, &mut SeededRandom::new(1)),
        Err(UndefinedReason::NoValues)
    );
    assert_eq!(
        bootstrap_clustered_mean(&[0.0, 1.0], &[1, 1], 10, ConfidenceLevel::P95, &mut SeededRandom::new(1)),
        Err(UndefinedReason::OneCluster)
    );
    assert_eq!(bootstrap_mean_exhaustive(&[0.0; 8], ConfidenceLevel::P95), Err(UndefinedReason::TooLarge));
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn intervals_lie_within_the_values(
        values in prop::collection::vec(0.0..1.0, 2..20), seed in any::<u64>(), level in 0.5..0.99,
    ) {
        let level = ConfidenceLevel::new(level).unwrap();
        let found = bootstrap_mean(&values, 200, level, &mut SeededRandom::new(seed)).unwrap();
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min) - 1e-12;
        let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max) + 1e-12;
        for interval in std::iter::once(found.percentile).chain(found.bca.ok()) {
            prop_assert!(lowest <= interval.low && interval.low <= interval.high && interval.high <= highest);
        }
    }
}
