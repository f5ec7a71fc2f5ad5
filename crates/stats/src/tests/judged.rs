//! Verdicts, scores and probabilities compared with the truth.

use crate::{
    ConfidenceLevel, UndefinedReason,
    judge_quality::{
        Alignment, AnnotatedItem, AnnotatorComparison, ConfusionTable, IsotonicFit, area_under_curve,
        average_precision, bonett_wright, brier, compare_with_annotators, fisher_z, kendall_tau_b,
        kendall_tau_c, log_loss, partial_correlation, pearson, reliability_table, spearman,
    },
};
use proptest::prelude::*;

use super::{assert_near, cases, near};

fn counts(true_pass: u64, false_fail: u64, false_pass: u64, true_fail: u64) -> ConfusionTable {
    ConfusionTable { true_pass, false_pass, false_fail, true_fail }
}

#[test]
fn a_textbook_confusion() {
    let found = counts(20, 5, 10, 15);
    assert_eq!(found.n(), 50);
    assert_near(found.accuracy(ConfidenceLevel::P95).rate.unwrap(), 0.7, 1e-15);
    assert_near(found.sensitivity(ConfidenceLevel::P95).rate.unwrap(), 0.8, 1e-15);
    assert_near(found.specificity(ConfidenceLevel::P95).rate.unwrap(), 0.6, 1e-15);
    assert_near(found.precision(ConfidenceLevel::P95).rate.unwrap(), 2.0 / 3.0, 1e-15);
    assert_near(found.macro_f1().unwrap(), f64::midpoint(8.0 / 11.0, 2.0 / 3.0), 1e-15);
    assert_near(found.matthews().unwrap(), 0.408_248_290_463_863, 1e-12);
    assert_near(found.kappa(ConfidenceLevel::P95).unwrap().kappa.unwrap(), 0.4, 1e-15);
    assert_near(found.bias().unwrap(), 0.1, 1e-15);
}

/// Items whose annotators follow rules that other languages can follow: verdicts, or scores from 0 to 10.
fn annotated(is_scored: bool) -> Vec<AnnotatedItem<usize>> {
    let number = |flag: bool| f64::from(u8::from(flag));
    let one = |i: usize| {
        let value = |wrong: bool, error: usize| {
            if is_scored {
                ((i * 5 % 11 + error) as f64 - 1.0).clamp(0.0, 10.0)
            } else {
                number((i * 5 % 7 < 4) != wrong)
            }
        };
        let person =
            |j: usize| value((i * (j + 2) + j).is_multiple_of(6 + 2 * j), (i * (j + 3) + j) % (3 + j));
        AnnotatedItem {
            cluster: i,
            judge: value(i % 12 == 1, i % 3),
            people: (0..4).filter(|j| !(i + j).is_multiple_of(5)).map(|j| (j, person(j))).collect(),
        }
    };
    (0..48).map(one).collect()
}

#[test]
fn a_judge_is_compared_with_annotators_as_the_authors_do() {
    // After the authors' procedure, with scipy 1.17: ttest_1samp(person - judge, epsilon, alternative = 'less').
    let close = |found: &AnnotatorComparison, expected: (usize, f64, f64, f64)| {
        assert_eq!(found.items, expected.0);
        assert_near(found.judge, expected.1, 1e-12);
        assert_near(found.person, expected.2, 1e-12);
        assert_near(found.p.unwrap(), expected.3, 1e-9);
    };
    let verdicts = compare_with_annotators(&annotated(false), Alignment::Equal, 0.15);
    assert_eq!(verdicts.len(), 4);
    close(&verdicts[0], (38, 36.0 / 38.0, 31.0 / 38.0, 0.000_396_079_719_431_664_66));
    close(&verdicts[1], (39, 36.0 / 39.0, 38.0 / 39.0, 0.030_869_545_314_245_04));
    close(&verdicts[3], (38, 35.0 / 38.0, 1.0, 0.058_745_207_587_822_47));
    let scores = compare_with_annotators(&annotated(true), Alignment::Distance, 0.15);
    close(&scores[0], (38, 1.0, 13.0 / 38.0, 8.705_910_113_570_124e-13));
    close(&scores[1], (39, 24.0 / 39.0, 35.0 / 39.0, 0.894_971_414_813_166));
    close(&scores[2], (39, 27.0 / 39.0, 29.0 / 39.0, 0.210_888_853_191_490_2));
}

#[test]
fn a_judge_that_always_ties_with_a_person_is_not_certain_to_replace_them() {
    let items: Vec<AnnotatedItem<usize>> = (0..30)
        .map(|cluster| AnnotatedItem { cluster, judge: 1.0, people: vec![(0, 1.0), (1, 1.0), (2, 1.0)] })
        .collect();
    let found = compare_with_annotators(&items, Alignment::Equal, 0.2);
    assert_near(found[0].p.unwrap(), 0.8_f64.powi(30), 1e-12);
    let two = compare_with_annotators(&items[..1], Alignment::Equal, 0.2);
    assert!(two[0].p.is_err(), "one item has no spread");
    assert!(compare_with_annotators::<usize>(&[], Alignment::Equal, 0.2).is_empty());
}

#[test]
fn one_class_leaves_figures_undefined_and_not_zero() {
    let passes = counts(1, 0, 0, 0);
    assert_eq!(passes.balanced_accuracy(), Err(UndefinedReason::OneClass));
    assert_eq!(passes.matthews(), Err(UndefinedReason::OneClass));
    assert_eq!(passes.f1_fail(), Err(UndefinedReason::EmptyClass));
    assert_eq!(
        (passes.macro_f1(), passes.macro_precision(), passes.macro_recall()),
        (Ok(1.0), Ok(1.0), Ok(1.0))
    );
    assert_eq!(passes.specificity(ConfidenceLevel::P95).rate, Err(UndefinedReason::NoValues));
    let never_passes = counts(0, 5, 0, 15);
    assert_eq!(never_passes.precision(ConfidenceLevel::P95).rate, Err(UndefinedReason::NoValues));
    assert_eq!((never_passes.f1(), never_passes.macro_precision()), (Ok(0.0), Ok(0.375)));
    let none = ConfusionTable::default();
    assert_eq!(
        (none.macro_f1(), none.matthews(), none.bias()),
        (Err(UndefinedReason::NoValues), Err(UndefinedReason::NoValues), Err(UndefinedReason::NoValues))
    );
}

#[test]
fn correlations_of_a_small_example() {
    let (x, y) = ([1.0, 2.0, 3.0, 4.0, 5.0], [5.0, 6.0, 7.0, 8.0, 7.0]);
    assert_near(pearson(&x, &y).unwrap(), 0.832_050_294_337_844, 1e-12);
    assert_near(spearman(&x, &y).unwrap(), 0.820_782_681_668_123, 1e-12);
    assert_near(kendall_tau_b(&x, &y).unwrap(), 0.737_864_787_372_622, 1e-12);
    assert_near(kendall_tau_c(&x, &y).unwrap(), 0.746_666_666_666_667, 1e-12);
    let interval = bonett_wright(0.6, 50, ConfidenceLevel::P95).unwrap();
    assert_near(interval.low, 0.364_955_493_374_162, 1e-12);
    assert_near(fisher_z(0.6, 50, ConfidenceLevel::P95).unwrap().high, 0.752_648_862_320_527, 1e-12);
    // If two lists have only z in common, nothing remains after controlling for z.
    let (z, noise, other) = ([1.0, 2.0, 3.0, 4.0], [1.0, -1.0, -1.0, 1.0], [1.0, -3.0, 3.0, -1.0]);
    let add = |list: [f64; 4]| -> Vec<f64> { z.iter().zip(list).map(|(z, e)| z + e).collect() };
    assert_near(partial_correlation(&add(noise), &add(other), &z).unwrap(), 0.0, 1e-12);
}

#[test]
fn correlations_without_an_answer_say_why() {
    assert_eq!(pearson(&[1.0, 1.0], &[1.0, 2.0]), Err(UndefinedReason::NoSpread));
    assert_eq!(spearman(&[1.0], &[2.0]), Err(UndefinedReason::OneValue));
    assert_eq!(kendall_tau_b(&[], &[]), Err(UndefinedReason::NoValues));
    assert_eq!(kendall_tau_c(&[1.0, 2.0], &[1.0]), Err(UndefinedReason::UnequalLengths));
    assert_eq!(pearson(&[1.0, f64::NAN], &[1.0, 2.0]), Err(UndefinedReason::NotFinite));
    assert_eq!(fisher_z(0.5, 3, ConfidenceLevel::P95), Err(UndefinedReason::TooFew));
    assert_eq!(fisher_z(1.0, 30, ConfidenceLevel::P95), Err(UndefinedReason::NoSpread));
    assert_eq!(bonett_wright(1.5, 30, ConfidenceLevel::P95), Err(UndefinedReason::OutOfRange));
}

#[test]
fn probabilities_by_hand() {
    let (p, came) = ([0.9, 0.6, 0.35, 0.1], [true, false, true, false]);
    assert_near(brier(&p, &came).unwrap(), (0.01 + 0.36 + 0.4225 + 0.01) / 4.0, 1e-15);
    let loss = -(0.9f64.ln() + 0.4f64.ln() + 0.35f64.ln() + 0.9f64.ln()) / 4.0;
    assert_near(log_loss(&p, &came).unwrap(), loss, 1e-15);
    // Of four pairs of a positive and a negative case, one is in the wrong order.
    assert_eq!(area_under_curve(&p, &came, ConfidenceLevel::P95).unwrap().area, 0.75);
    // Precision 1 at the first half of the recall, 2/3 at the second.
    assert_near(average_precision(&p, &came).unwrap(), 0.5 + 0.5 * 2.0 / 3.0, 1e-15);
    let table = reliability_table(&p, &came, 10).unwrap();
    assert_near(table.expected_error, (0.1 + 0.6 + 0.65 + 0.1) / 4.0, 1e-15);
    assert_near(table.largest_error, 0.65, 1e-15);
    assert_eq!(table.bins.iter().map(|bin| bin.n).sum::<u64>(), 4);
    assert_eq!(table.bins[0].observed, Err(UndefinedReason::NoValues));
    // The edges: 1 belongs to the last bin.
    let edges = reliability_table(&[0.0, 1.0], &[false, true], 10).unwrap();
    assert_eq!((edges.bins[0].n, edges.bins[9].n, edges.expected_error), (1, 1, 0.0));
}

#[test]
fn probabilities_without_an_answer_say_why() {
    assert_eq!(
        area_under_curve(&[0.1, 0.9], &[true, true], ConfidenceLevel::P95),
        Err(UndefinedReason::OneClass)
    );
    assert_eq!(average_precision(&[0.1], &[false]), Err(UndefinedReason::OneClass));
    assert_eq!(brier(&[1.1], &[true]), Err(UndefinedReason::OutOfRange));
    assert_eq!(brier(&[], &[]), Err(UndefinedReason::NoValues));
    assert_eq!(reliability_table(&[0.5], &[true], 0), Err(UndefinedReason::OutOfRange));
    assert!(log_loss(&[0.0], &[true]).unwrap() < 37.0);
    assert_eq!(
        area_under_curve(&[0.5; 4], &[true, false, true, false], ConfidenceLevel::P95).unwrap().area,
        0.5
    );
}

#[test]
fn falling_neighbours_are_pooled() {
    let fitted =
        IsotonicFit::fit(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[0.1, 0.4, 0.3, 0.6, 0.5, 0.9], None).unwrap();
    let values: Vec<f64> = fitted.points().iter().map(|point| point.1).collect();
    for (found, expected) in values.iter().zip([0.1, 0.35, 0.35, 0.55, 0.55, 0.9]) {
        assert_near(*found, expected, 1e-12);
    }
    assert_near(fitted.predict(3.5).unwrap(), 0.45, 1e-12);
    assert_eq!((fitted.predict(-9.0), fitted.predict(9.0)), (Ok(0.1), Ok(0.9)));
    // Cases with the same score are averaged by weight; cases without weight don't count.
    let weighted = IsotonicFit::fit(&[1.0, 1.0, 0.0], &[0.0, 1.0, 5.0], Some(&[1.0, 3.0, 0.0])).unwrap();
    assert_eq!(weighted.points(), [(1.0, 0.75)]);
    assert_eq!(IsotonicFit::fit(&[], &[], None), Err(UndefinedReason::NoValues));
    assert_eq!(IsotonicFit::fit(&[1.0], &[1.0], Some(&[-1.0])), Err(UndefinedReason::OutOfRange));
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn matthews_is_pearson_of_zeros_and_ones(verdicts in prop::collection::vec((any::<bool>(), any::<bool>()), 0..40)) {
        let (judge, truth): (Vec<bool>, Vec<bool>) = verdicts.into_iter().unzip();
        let found = ConfusionTable::from_verdicts(&judge, &truth).unwrap();
        let number = |flags: &[bool]| flags.iter().map(|&flag| f64::from(flag)).collect::<Vec<f64>>();
        match (found.matthews(), pearson(&number(&judge), &number(&truth))) {
            (Ok(one), Ok(two)) => prop_assert!(near(one, two, 1e-12)),
            (one, two) => prop_assert!(one.is_err() && two.is_err()),
        }
        let mirror = found.mirrored();
        prop_assert_eq!(found.f1(), mirror.f1_fail());
        for (one, two) in [
            (found.matthews(), mirror.matthews()),
            (found.balanced_accuracy(), mirror.balanced_accuracy()),
        ] {
            prop_assert!(one == two || near(one.unwrap(), two.unwrap(), 1e-12));
        }
    }

    #[test]
    fn tau_counts_every_pair(rows in prop::collection::vec((0i8..6, 0i8..6), 2..40)) {
        let (x, y): (Vec<f64>, Vec<f64>) =
            rows.iter().map(|&(x, y)| (f64::from(x), f64::from(y))).unzip();
        let (mut surplus, mut untied_x, mut untied_y) = (0.0, 0.0f64, 0.0f64);
        for i in 0..x.len() {
            for j in 0..i {
                let (a, b) = ((x[i] - x[j]).signum() * f64::from(x[i] != x[j]), (y[i] - y[j]).signum() * f64::from(y[i] != y[j]));
                surplus += a * b;
                untied_x += a * a;
                untied_y += b * b;
            }
        }
        match kendall_tau_b(&x, &y) {
            Ok(tau) => prop_assert!(near(tau, surplus / (untied_x * untied_y).sqrt(), 1e-12)),
            Err(reason) => prop_assert_eq!(reason, UndefinedReason::NoSpread),
        }
    }

    #[test]
    fn correlations_are_symmetric_and_bounded(rows in prop::collection::vec((-9.0..9.0, -9.0..9.0), 2..40)) {
        let (x, y): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
        let down: Vec<f64> = y.iter().map(|value| -value).collect();
        for correlation in [pearson, spearman, kendall_tau_b] {
            if let Ok(found) = correlation(&x, &y) {
                prop_assert!((-1.0..=1.0).contains(&found));
                prop_assert!(near(found, correlation(&y, &x).unwrap(), 1e-12));
                prop_assert!(near(found, -correlation(&x, &down).unwrap(), 1e-12));
            }
        }
        let bent: Vec<f64> = x.iter().map(|value| value.exp()).collect();
        prop_assert_eq!(spearman(&x, &y), spearman(&bent, &y));
    }

    #[test]
    fn the_area_counts_every_pair(rows in prop::collection::vec((0u8..8, any::<bool>()), 1..40)) {
        let (scores, came): (Vec<f64>, Vec<bool>) =
            rows.iter().map(|&(score, came)| (f64::from(score), came)).unzip();
        let (mut sum, mut pairs) = (0.0, 0.0);
        for (i, &positive) in came.iter().enumerate() {
            for (j, &other) in came.iter().enumerate() {
                if positive && !other {
                    pairs += 1.0;
                    sum += if scores[i] > scores[j] { 1.0 } else if scores[i] == scores[j] { 0.5 } else { 0.0 };
                }
            }
        }
        match area_under_curve(&scores, &came, ConfidenceLevel::P95) {
            Ok(found) => {
                prop_assert!(near(found.area, sum / pairs, 1e-12));
                if let Ok(interval) = found.interval {
                    prop_assert!(0.0 <= interval.low && interval.high <= 1.0);
                }
            }
            Err(reason) => prop_assert_eq!(reason, UndefinedReason::OneClass),
        }
    }

    #[test]
    fn fitted_scales_rise_and_keep_the_mean(rows in prop::collection::vec((0u8..9, 0.0..1.0), 1..40)) {
        let (x, y): (Vec<f64>, Vec<f64>) = rows.iter().map(|&(x, y)| (f64::from(x), y)).unzip();
        let fitted = IsotonicFit::fit(&x, &y, None).unwrap();
        prop_assert!(fitted.points().windows(2).all(|pair| pair[0].1 <= pair[1].1));
        let again: Vec<f64> = x.iter().map(|&x| fitted.predict(x).unwrap()).collect();
        prop_assert!(near(again.iter().sum::<f64>(), y.iter().sum::<f64>(), 1e-9));
        let twice = IsotonicFit::fit(&x, &again, None).unwrap();
        for (one, two) in fitted.points().iter().zip(twice.points()) {
            prop_assert!(near(one.1, two.1, 1e-9));
        }
    }
}
