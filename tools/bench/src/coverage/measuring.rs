//! Data about criteria, labels, suites and runs that are observed repeatedly.

use assize_stats::{
    ConfidenceLevel, Interval, IntervalMethod, SeededRandom,
    correction::{DrawnLabel, prediction_powered_drawn},
    items::{graded_response_model, item_rest_correlation},
    sampling::{inclusion_probabilities, systematic_draw},
};

use super::CoverageCell;
use super::draw::{chance, judged, list, normal, number, uniform};

const LEVEL: ConfidenceLevel = ConfidenceLevel::P95;

/// Number of cases that the judge decided.
const JUDGED: usize = 1_000;

/// Slope and difficulty of the other criteria.
const OTHERS: [(f64, f64); 7] =
    [(1.2, -1.5), (1.2, -1.0), (1.2, -0.5), (1.2, 0.0), (1.2, 0.5), (1.2, -1.0), (1.2, -2.0)];

/// Methods for correlations between a criterion and the rest.
const REST: &[&str] = &["wider of Fisher z and robust"];
/// Methods for labels drawn with different probabilities.
const DRAWN: &[&str] = &["PPI, weighted, Wilson", "weighted people alone, Wilson"];

pub(super) fn cells() -> Vec<CoverageCell> {
    let cell = |what, truth, methods, hundreds, draw| CoverageCell { what, truth, methods, hundreds, draw };
    vec![
        // True correlations, from 20 million simulated answers.
        cell("item and rest, easy item", 0.2486, REST, 20, |n, random| item_rest((1.0, -2.2), n, random)),
        cell("item and rest, steep item", 0.3941, REST, 20, |n, random| item_rest((2.0, -1.5), n, random)),
        cell("item and rest, unrelated item", 0.0, REST, 20, |n, random| item_rest((0.0, -2.2), n, random)),
        cell("slope of a score of 4 steps", GRADED.0, &["cross-product, normal"], 4, |n, random| {
            graded(n, random)[..1].to_vec()
        }),
        cell("difficulty of its first step", GRADED.1[0], &["Fieller"], 4, |n, random| {
            graded(n, random)[1..].to_vec()
        }),
        cell("labels by strata, truth 0.8", 0.8, DRAWN, 20, |n, random| {
            drawn_labels(0.8, (0.9, 0.85), n, random)
        }),
        cell("labels by strata, truth 0.98", 0.98, DRAWN, 20, |n, random| {
            drawn_labels(0.98, (0.9, 0.85), n, random)
        }),
        cell("the same, a better judge", 0.98, DRAWN, 20, |n, random| {
            drawn_labels(0.98, (0.98, 0.95), n, random)
        }),
    ]
}

fn item_rest(item: (f64, f64), n: usize, random: &mut SeededRandom) -> Vec<Option<Interval>> {
    let answers = list(n, random, |random| {
        let ability = normal(random);
        let met = |(slope, difficulty): &(f64, f64), random: &mut SeededRandom| {
            number(chance(1.0 / (1.0 + (-slope * (ability - difficulty)).exp()), random))
        };
        std::iter::once(&item).chain(&OTHERS).map(|curve| Some(met(curve, random))).collect::<Vec<_>>()
    });
    let places: Vec<usize> = (0..n).collect();
    vec![item_rest_correlation(&answers, &places, 0, LEVEL).interval.ok()]
}

/// Slope and difficulties of a score of four steps.
const GRADED: (f64, [f64; 3]) = (1.5, [-1.0, 0.0, 1.0]);

/// Intervals of the slope and of the first difficulty of a score, beside the other criteria.
fn graded(n: usize, random: &mut SeededRandom) -> [Option<Interval>; 2] {
    let answers = list(n, random, |random| {
        let (ability, place) = (normal(random), uniform(random));
        let reaches = |slope: f64, difficulty: f64| 1.0 / (1.0 + (-slope * (ability - difficulty)).exp());
        let own = GRADED.1.into_iter().filter(|difficulty| place < reaches(GRADED.0, *difficulty)).count();
        let others = OTHERS
            .iter()
            .map(|(slope, difficulty)| usize::from(chance(reaches(*slope, *difficulty), random)));
        std::iter::once(own).chain(others).map(Some).collect::<Vec<_>>()
    });
    let Ok(model) = graded_response_model(&answers) else { return [None, None] };
    let curve = &model.curves[0];
    let (slope, error) = (curve.discrimination, 1.96 * curve.discrimination_se);
    let slope =
        Interval { low: slope - error, high: slope + error, level: LEVEL, method: IntervalMethod::Normal };
    [Some(slope), curve.difficulties(LEVEL).ok().map(|steps| steps[0].1)]
}

/// Labels drawn with probabilities inversely proportional to the square root of the number of cases with the same
/// decision of the judge.
fn drawn_labels(truth: f64, judge: (f64, f64), n: usize, random: &mut SeededRandom) -> Vec<Option<Interval>> {
    let cases = list(JUDGED, random, |random| judged(truth, judge, random));
    let all: Vec<f64> = cases.iter().map(|(_, judge)| number(*judge)).collect();
    let passed = all.iter().sum::<f64>();
    let size = |judge: &f64| if *judge == 1.0 { passed } else { JUDGED as f64 - passed };
    let sizes: Vec<f64> = all.iter().map(|judge| 1.0 / size(judge).sqrt()).collect();
    let Ok(probabilities) = inclusion_probabilities(&sizes, n) else { return vec![None, None] };
    let labels: Vec<DrawnLabel> = systematic_draw(&probabilities, random)
        .into_iter()
        .map(|at| DrawnLabel { human: number(cases[at].0), judge: all[at], probability: probabilities[at] })
        .collect();
    let places: Vec<usize> = (0..labels.len()).collect();
    match prediction_powered_drawn(&labels, &places, &all, (0.0, 1.0), LEVEL) {
        Ok(found) => vec![Some(found.tuned.interval), Some(found.human.interval)],
        Err(_) => vec![None, None],
    }
}
