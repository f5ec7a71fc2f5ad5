//! Order within groups, and rescaled scores.
//!
//! Reference values were computed with scipy 1.17, numpy 2.4 and scikit-learn 1.9 from the tables below.

use crate::{
    ConfidenceLevel, UndefinedReason,
    judge_quality::{
        PlattFit, choose_threshold, conformal_radius, correlations_within, kendall_tau_b, pairwise_accuracy,
        pearson, spearman,
    },
};

use super::assert_near;

/// Scores of people and of a judge for five answers to each of six cases; people score all answers to the
/// fourth case equally.
const PEOPLE: [f64; 30] = [
    4., 1., 4., 4., 1., 1., 1., 2., 3., 2., 1., 5., 3., 5., 5., 4., 4., 4., 4., 4., 5., 5., 4., 4., 1., 3.,
    4., 1., 2., 1.,
];
const JUDGE: [f64; 30] = [
    4.66, -0.99, 3.62, 4.49, 2.97, 0.95, 0.04, 3.66, 3.4, 1.1, 1.67, 3.7, 1.24, 6.87, 6.03, 0.73, 3.05, 3.96,
    1.28, 4.04, 3.06, 6.91, 4.19, 5.83, -0.81, 4.18, 3.77, 2.24, 0.85, 2.45,
];

fn groups() -> Vec<Vec<usize>> {
    (0..6).map(|case| (case * 5..case * 5 + 5).collect()).collect()
}

#[test]
fn correlations_within_cases_leave_out_cases_without_spread() {
    let mean = |figure: fn(&[f64], &[f64]) -> Result<f64, UndefinedReason>| {
        let found = correlations_within(&JUDGE, &PEOPLE, &groups(), figure).unwrap();
        assert_eq!(found[3], Err(UndefinedReason::NoSpread));
        found.iter().flatten().sum::<f64>() / 5.0
    };
    assert_near(mean(spearman), 0.706_110_596_258_604_7, 1e-12);
    assert_near(mean(kendall_tau_b), 0.561_294_545_735_082_5, 1e-12);
    assert_near(mean(pearson), 0.761_416_158_210_065_1, 1e-12);
    let outside = correlations_within(&JUDGE, &PEOPLE, &[vec![30]], pearson);
    assert_eq!(outside, Err(UndefinedReason::OutOfRange));
}

#[test]
fn ties_of_a_judge_of_fine_scores_are_calibrated() {
    let found = pairwise_accuracy(&JUDGE, &PEOPLE, &groups()).unwrap();
    let mean = |groups: &[(usize, f64)]| {
        groups.iter().map(|(_, accuracy)| accuracy).sum::<f64>() / groups.len() as f64
    };
    // Computed in numpy by comparing all pairs with every epsilon that occurs as a difference.
    assert_near(found.epsilon, 1.04, 1e-9);
    assert_near(mean(&found.groups), 0.65, 1e-12);

    // If people never tie, no epsilon above 0 is worth it.
    let found = pairwise_accuracy(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0], &[vec![0, 1, 2]]).unwrap();
    assert_eq!((found.epsilon, mean(&found.groups)), (0.0, 1.0));
    // If people always tie, the largest epsilon agrees with them.
    let found = pairwise_accuracy(&[1.0, 2.0, 4.0], &[1.0; 3], &[vec![0, 1, 2], Vec::new()]).unwrap();
    assert_eq!((found.epsilon, found.groups), (3.0, vec![(0, 1.0)]));
    assert_eq!(pairwise_accuracy(&[1.0], &[1.0], &[vec![0]]), Err(UndefinedReason::TooFew));
}

const SCORES: [f64; 14] = [0.05, 0.1, 0.15, 0.2, 0.3, 0.35, 0.4, 0.55, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95];
const MET: [bool; 14] =
    [false, false, false, true, false, false, true, false, true, true, true, false, true, true];

#[test]
fn a_logistic_curve_is_that_of_maximum_likelihood() {
    let found = PlattFit::fit(&SCORES, &MET).unwrap();
    // From scikit-learn's sigmoid calibration, and a minimum found by scipy.
    assert_near(found.slope, -3.137_810, 2e-6);
    assert_near(found.offset, 1.520_644, 2e-6);
    assert!(found.predict(0.9) > found.predict(0.1));
    // Classes that the scores separate still have a finite fit.
    let apart = PlattFit::fit(&[0.0, 0.1, 0.9, 1.0], &[false, false, true, true]).unwrap();
    assert!(apart.predict(1.0) < 0.9 && apart.predict(0.0) > 0.1, "{apart:?}");
    let same = PlattFit::fit(&[0.5; 4], &[false, true, true, true]).unwrap();
    assert!((same.predict(0.5) - 0.683).abs() < 0.01, "{same:?}");
    assert_eq!(PlattFit::fit(&[0.5], &[true]), Err(UndefinedReason::OneClass));
    assert_eq!(PlattFit::fit(&[], &[]), Err(UndefinedReason::NoValues));
    let wide = PlattFit::fit(&[-1e8, 1e8, 0.0], &[false, true, true]);
    assert!(wide.is_ok_and(|fit| fit.predict(0.0).is_finite()));
}

#[test]
fn a_threshold_lies_between_the_scores_that_it_tells_apart() {
    let found = choose_threshold(&SCORES, &MET).unwrap();
    // From 0.4 up, six of seven are met; below, five of seven are unmet. 0.6 would be as good the other way
    // round.
    assert_near(found.threshold, 0.375, 1e-12);
    assert_near(found.balanced_accuracy, f64::midpoint(6.0 / 7.0, 5.0 / 7.0), 1e-12);
    // No threshold is better than chance, so everything is met.
    let none = choose_threshold(&[0.1, 0.9], &[true, false]).unwrap();
    assert_eq!((none.threshold, none.balanced_accuracy), (0.1, 0.5));
    assert_eq!(choose_threshold(&[0.1], &[true]), Err(UndefinedReason::OneClass));
}

#[test]
fn a_conformal_radius_counts_the_next_value_too() {
    let level = ConfidenceLevel::new(0.9).unwrap();
    let residuals: Vec<f64> =
        (1..=9).map(|at| f64::from(at) * if at % 2 == 0 { 1.0 } else { -1.0 }).collect();
    assert_eq!(conformal_radius(&residuals, level), Ok(9.0));
    assert_eq!(conformal_radius(&residuals[..8], level), Err(UndefinedReason::TooFew));
    let many: Vec<f64> = (1..=99).map(f64::from).collect();
    assert_eq!(conformal_radius(&many, level), Ok(90.0));
    assert_eq!(conformal_radius(&[], level), Err(UndefinedReason::NoValues));
}
