//! Variance components of crossed facets.

use crate::{ConfidenceLevel, UndefinedReason, repeats::crossed_variance};

use super::{assert_near, uniform};

const L: ConfidenceLevel = ConfidenceLevel::P95;

/// Scores of six cases by three judges, twice each; ordered by repeat, case and judge.
const SCORES: [f64; 36] = [
    0.9, 0.7, 0.8, 0.4, 0.1, 0.5, 0.6, 0.6, 0.4, 1.0, 0.6, 0.9, 0.2, 0.0, 0.3, 0.7, 0.3, 0.8, //
    0.8, 0.6, 0.9, 0.5, 0.2, 0.3, 0.7, 0.4, 0.5, 0.9, 0.8, 1.0, 0.1, 0.1, 0.2, 0.8, 0.4, 0.6,
];

fn facets(n: usize) -> [Vec<usize>; 3] {
    let levels = |level: fn(usize) -> usize| (0..n).map(level).collect();
    [levels(|at| at / 3 % 6), levels(|at| at % 3), levels(|at| at / 18)]
}

#[test]
fn components_are_those_of_other_implementations() {
    let [cases, judges, prompts] = facets(36);
    let found = crossed_variance(&SCORES, &[cases.clone(), judges.clone()]).unwrap();
    // R 4.2, lme4 1.1-31 (REML, which equals ANOVA for a complete table): y ~ 1 + (1|c) + (1|j) + (1|c:j).
    assert_near(found.components[&1], 0.070_666_6, 1e-6);
    assert_near(found.components[&2], 0.014_833_3, 1e-6);
    assert_near(found.components[&3], 0.002_388_89, 1e-6);
    assert_near(found.repeats.unwrap(), 0.008_333_33, 1e-6);
    assert_near(found.mean, 0.544_444_444_444, 1e-9);
    // Mean squares of R's aov: cases .43711, judges .19111, both .01311, rest .00833.
    assert_near(found.components[&1], (0.437_111_111_1 - 0.013_111_111_1) / 6.0, 1e-9);
    assert!(!found.negative);
    // The component that the three judges share remains for any number of cases.
    let variance = 0.070_666_667 / 6.0 + 0.014_833_333 / 3.0 + 0.002_388_889 / 18.0 + 0.008_333_333 / 36.0;
    assert_near(found.error_variance(&[6, 3], 2, 0), variance, 1e-8);
    assert_near(found.error_variance(&[6, 3], 2, 2), variance - 0.014_833_333 / 3.0, 1e-8);

    // Repeats as prompts: R's mean squares of c, j, r, c:j, c:r, j:r, c:j:r are .437111, .191111, 0, .013111,
    // .002, .003333, .013333.
    let found = crossed_variance(&SCORES, &[cases, judges, prompts]).unwrap();
    assert_near(found.components[&7], 0.013_333_333_3, 1e-9);
    assert_near(found.components[&1], (0.437_111_111 - 0.013_111_111 - 0.002 + 0.013_333_333) / 6.0, 1e-8);
    assert_near(
        found.components[&2],
        (0.191_111_111 - 0.013_111_111 - 0.003_333_333 + 0.013_333_333) / 12.0,
        1e-8,
    );
    assert!(found.negative && found.components[&5] == 0.0 && found.repeats.is_none());
}

#[test]
fn the_cheapest_design_reaches_its_width() {
    let [cases, judges, _] = facets(36);
    let found = crossed_variance(&SCORES, &[cases, judges]).unwrap();
    let design = found.cheapest_design(0.1, L, 1.0, 10_000, 0).unwrap();
    assert!(design.error * 1.96 <= 0.1 + 1e-9, "{design:?}");
    // No neighbouring design with fewer calls is enough.
    for judges in 1..=10 {
        for repeats in 1..=10 {
            for cases in 2..200 {
                let calls = (cases * judges * repeats + cases) as f64;
                let error = found.error_variance(&[cases, judges], repeats, 0).sqrt();
                assert!(
                    calls >= design.calls || error * 1.96 > 0.1,
                    "{cases} {judges} {repeats}: {calls}, {design:?}"
                );
            }
        }
    }
    // Ten judges leave an error of sqrt(.0148/10) for any number of cases.
    assert_eq!(found.cheapest_design(0.07, L, 1.0, 10_000, 0), Err(UndefinedReason::Unreachable));
    assert!(found.cheapest_design(0.07, L, 1.0, 10_000, 2).is_ok(), "the same judges on both sides");
}

#[test]
fn missing_values_bias_nothing() {
    let mut state = 5;
    let mut sums = [0.0; 4];
    for _ in 0..400 {
        let mut draw =
            |variance: f64| ((0..12).map(|_| uniform(&mut state)).sum::<f64>() - 6.0) * variance.sqrt();
        let cases: Vec<f64> = (0..20).map(|_| draw(0.05)).collect();
        let judges: Vec<f64> = (0..6).map(|_| draw(0.02)).collect();
        let both: Vec<f64> = (0..120).map(|_| draw(0.01)).collect();
        let (mut values, mut facets_by_value) = (Vec::new(), vec![Vec::new(), Vec::new()]);
        for cell in 0..120 {
            // A third of the cells is missing, and some have two values.
            for _ in 0..[1, 2, 0][cell * 7 % 3] + usize::from(cell % 5 == 0) {
                values.push(cases[cell % 20] + judges[cell / 20] + both[cell] + draw(0.03));
                facets_by_value[0].push(cell % 20);
                facets_by_value[1].push(cell / 20);
            }
        }
        let found = crossed_variance(&values, &facets_by_value).unwrap();
        for (sum, part) in sums.iter_mut().zip([
            found.components[&1],
            found.components[&2],
            found.components[&3],
            found.repeats.unwrap(),
        ]) {
            *sum += part / 400.0;
        }
    }
    for (mean, truth) in sums.into_iter().zip([0.05, 0.02, 0.01, 0.03]) {
        assert!((mean - truth).abs() < 0.12 * truth, "{mean}, truly {truth}");
    }
}

#[test]
fn single_levels_and_lone_values_are_undefined() {
    let [cases, judges, _] = facets(36);
    let one = vec![0; 36];
    assert_eq!(crossed_variance(&SCORES, &[cases.clone(), one]), Err(UndefinedReason::OneValue));
    assert_eq!(
        crossed_variance(&SCORES, &[cases, judges[1..].to_vec()]),
        Err(UndefinedReason::UnequalLengths)
    );
    assert_eq!(crossed_variance(&[], &[Vec::new()]), Err(UndefinedReason::NoValues));
    // If each case has one judge, cases and judges can't be distinguished.
    let apart = crossed_variance(&[0.1, 0.5, 0.9], &[vec![0, 1, 2], vec![0, 1, 2]]);
    assert_eq!(apart, Err(UndefinedReason::TooFew));
}
