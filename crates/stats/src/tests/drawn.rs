//! Samples with different probabilities, and estimates from them with the help of a judge.

use crate::{
    ConfidenceLevel, Interval, SeededRandom, UndefinedReason,
    correction::{DrawnLabel, prediction_powered_drawn, prediction_powered_within},
    sampling::{inclusion_probabilities, systematic_draw},
};

use super::{assert_near, uniform};

const L: ConfidenceLevel = ConfidenceLevel::P95;
const UNIT: (f64, f64) = (0.0, 1.0);

const PEOPLE: [f64; 10] = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0];
const JUDGE: [f64; 10] = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0];
const DRAWN: [f64; 10] = [0.5, 0.5, 0.25, 0.25, 0.5, 0.125, 0.25, 0.5, 0.125, 0.25];

fn labels() -> Vec<DrawnLabel> {
    let one = |at: usize| DrawnLabel { human: PEOPLE[at], judge: JUDGE[at], probability: DRAWN[at] };
    (0..10).map(one).collect()
}

/// The labelled cases and thirty others.
fn everywhere() -> Vec<f64> {
    let others = (0..30).map(|at| f64::from(u8::from(at < 21)));
    JUDGE.into_iter().chain(others).collect()
}

#[test]
fn weighted_estimates_are_those_of_other_implementations() {
    let places: Vec<usize> = (0..10).collect();
    let found = prediction_powered_drawn(&labels(), &places, &everywhere(), UNIT, L).unwrap();
    // R 4.2, survey 4.1-1: svymean(~y, svydesign(ids = ~1, probs = ~p)), 0.85 with a standard error of 0.0953065230366.
    assert_near(found.human.mean, 0.85, 1e-12);
    // ppi-python 0.2.3: ppi_mean_pointestimate(y, f, all, lam = 1, w = 1/p).
    assert_near(found.plain.mean, 0.825, 1e-12);
    // From survey's variances of y and f, 0.00908333 and 0.02411111, their covariance 0.00538889, and the
    // variance of the mean of the judge over 40 cases, 27/40 * 13/40 / 40.
    let (human, judge, both) = (0.009_083_333_333_33, 0.024_111_111_111_11, 0.005_388_888_888_89);
    let everywhere_else: f64 = 0.675 * 0.325 / 40.0;
    let shrunk = both / f64::sqrt(human * judge) * 10.0 / 18.0;
    assert_near(found.gain.unwrap(), 1.0 / (1.0 - shrunk * shrunk * judge / (judge + everywhere_else)), 1e-9);
    assert_near(found.weight, shrunk * f64::sqrt(human / judge) * judge / (judge + everywhere_else), 1e-9);
    assert_near(found.plain.se, f64::sqrt(human + judge - 2.0 * both + everywhere_else), 1e-9);

    // The same in clusters of two: svydesign(ids = ~c), 0.0795495128835.
    let pairs: Vec<usize> = (0..10).map(|at| at / 2).collect();
    let judged = prediction_powered_drawn(&labels(), &pairs, &JUDGE, UNIT, L).unwrap();
    let blind: Vec<DrawnLabel> =
        labels().into_iter().map(|label| DrawnLabel { judge: 0.0, ..label }).collect();
    let alone = prediction_powered_drawn(&blind, &pairs, &JUDGE, UNIT, L).unwrap();
    assert_near(judged.human.mean, 0.85, 1e-12);
    let variance: f64 = 0.079_549_512_883_5 * 0.079_549_512_883_5;
    let spread: f64 = JUDGE.iter().map(|f| (f - 0.6_f64).powi(2)).sum::<f64>() / 100.0;
    assert_near(alone.plain.se, f64::sqrt(variance + spread), 1e-9);
}

#[test]
fn equal_probabilities_are_a_random_sample() {
    let equal: Vec<DrawnLabel> =
        labels().into_iter().map(|label| DrawnLabel { probability: 0.25, ..label }).collect();
    let places: Vec<usize> = (0..10).collect();
    let found = prediction_powered_drawn(&equal, &places, &everywhere(), UNIT, L).unwrap();
    let plain =
        prediction_powered_within::<usize>(&PEOPLE, &JUDGE, &everywhere()[10..], None, UNIT, L).unwrap();
    assert_near(found.human.mean, plain.human.mean, 1e-12);
    // One estimate uses the judge's mean over all cases, the other one over cases without a label.
    assert_near(found.tuned.mean, plain.tuned.mean, 0.02);
    assert!((found.tuned.interval.width() / plain.tuned.interval.width() - 1.0).abs() < 0.2);

    // A factor common to all probabilities changes nothing.
    let halved: Vec<DrawnLabel> = labels()
        .into_iter()
        .map(|label| DrawnLabel { probability: label.probability / 2.0, ..label })
        .collect();
    let (one, other) = (
        prediction_powered_drawn(&labels(), &places, &everywhere(), UNIT, L).unwrap(),
        prediction_powered_drawn(&halved, &places, &everywhere(), UNIT, L).unwrap(),
    );
    assert_near(one.tuned.mean, other.tuned.mean, 1e-12);
    assert_near(one.tuned.interval.low, other.tuned.interval.low, 1e-12);
}

#[test]
fn draws_keep_to_their_probabilities() {
    // R 4.2, sampling-style rule by hand: 40 would have the probability 1.2, so it is certain and the others
    // share 2.
    assert_eq!(inclusion_probabilities(&[40.0, 20.0, 20.0, 20.0], 3).unwrap()[0], 1.0);
    let sizes = [9.0, 1.0, 2.0, 2.0, 3.0, 1.0];
    let probabilities = inclusion_probabilities(&sizes, 3).unwrap();
    let expected = [1.0, 2.0 / 9.0, 4.0 / 9.0, 4.0 / 9.0, 6.0 / 9.0, 2.0 / 9.0];
    for (found, expected) in probabilities.iter().zip(expected) {
        assert_near(*found, expected, 1e-12);
    }

    let mut random = SeededRandom::new(1);
    let mut counts = [0.0; 6];
    for _ in 0..9_000 {
        let drawn = systematic_draw(&probabilities, &mut random);
        assert_eq!(drawn.len(), 3);
        for at in drawn {
            counts[at] += 1.0;
        }
    }
    for (count, probability) in counts.iter().zip(expected) {
        // Five standard errors of a share of 9,000.
        assert!((count / 9_000.0 - probability).abs() < 0.026, "{count} of 9000, expected {probability}");
    }
    assert_eq!(inclusion_probabilities(&sizes, 9).unwrap(), [1.0; 6]);
    assert_eq!(inclusion_probabilities(&[1.0, 0.0], 1), Err(UndefinedReason::OutOfRange));
}

/// A hundred labels of a thousand cases with a given share of met ones. `size` returns the size of a case, given the
/// judge's decision and the number of cases with the same decision.
fn hundred_labels(
    state: &mut u64,
    seed: u64,
    share: f64,
    size: impl Fn(f64, f64) -> f64,
) -> (Vec<DrawnLabel>, Vec<f64>) {
    let cases: Vec<(f64, f64)> = (0..1_000)
        .map(|_| {
            let met = uniform(state) < share;
            let right = uniform(state) < if met { 0.9 } else { 0.85 };
            (f64::from(u8::from(met)), f64::from(u8::from(met == right)))
        })
        .collect();
    let all: Vec<f64> = cases.iter().map(|(_, judge)| *judge).collect();
    let passed = all.iter().sum::<f64>();
    let alike = |judge: f64| if judge == 1.0 { passed } else { 1_000.0 - passed };
    let sizes: Vec<f64> = all.iter().map(|judge| size(*judge, alike(*judge))).collect();
    let probabilities = inclusion_probabilities(&sizes, 100).unwrap();
    let drawn = systematic_draw(&probabilities, &mut SeededRandom::new(seed));
    let label =
        |at: usize| DrawnLabel { human: cases[at].0, judge: cases[at].1, probability: probabilities[at] };
    (drawn.into_iter().map(label).collect(), all)
}

#[test]
fn weighted_intervals_hold_the_truth_where_plain_ones_do_not() {
    let (mut weighted, mut plain, mut state) = (0, 0, 7);
    for seed in 0..300 {
        let by_root = |_: f64, alike: f64| 1.0 / alike.sqrt();
        let (labels, all) = hundred_labels(&mut state, seed, 0.95, by_root);
        let places: Vec<usize> = (0..labels.len()).collect();
        let holds = |labels: &[DrawnLabel]| {
            let found = prediction_powered_drawn(labels, &places, &all, UNIT, L).unwrap().human.interval;
            usize::from(found.low <= 0.95 && found.high >= 0.95)
        };
        weighted += holds(&labels);
        let equal: Vec<DrawnLabel> =
            labels.iter().map(|label| DrawnLabel { probability: 0.1, ..*label }).collect();
        plain += holds(&equal);
    }
    assert!(weighted >= 276 && plain < 200, "{weighted} of 300 with weights, {plain} without");
}

#[test]
fn a_few_heavy_labels_do_not_make_the_interval_narrow() {
    // Cases that the judge finds met are drawn a fifth as often: about five of a hundred labels have five
    // times the weight.
    let (mut people, mut tuned, mut state) = (0, 0, 11);
    let size = |judge: f64, _: f64| if judge == 1.0 { 0.2 } else { 1.0 };
    for seed in 0..300 {
        let (labels, all) = hundred_labels(&mut state, seed, 0.1, size);
        let places: Vec<usize> = (0..labels.len()).collect();
        let found = prediction_powered_drawn(&labels, &places, &all, UNIT, L).unwrap();
        let holds = |interval: Interval| usize::from(interval.low <= 0.1 && interval.high >= 0.1);
        people += holds(found.human.interval);
        tuned += holds(found.tuned.interval);
    }
    // Four standard errors below 95 %. With Kish's number of labels, people alone covered 87 %.
    assert!(people >= 270 && tuned >= 270, "{people} and {tuned} of 300");
}
