//! Scoring a million criteria: with the crate, and with the plainest possible loops.

use assize_rubric::{
    Criterion, Gate, Outcome, Rubric, RubricScore, UnitInterval, VerdictThresholds, Weight, score_rubric,
};
use divan::{Bencher, black_box, counter::ItemsCount};

fn main() {
    divan::main();
}

const CRITERIA: usize = 1_000_000;

/// How the million is divided: one large rubric, or a thousand of ordinary size.
const RUBRICS: [usize; 2] = [1, 1_000];

fn lines() -> VerdictThresholds {
    VerdictThresholds::with_optional_borderline(
        UnitInterval::new(0.8).expect("in range"),
        UnitInterval::new(0.6).ok(),
    )
}

/// A rubric with uneven weights and a gate on every tenth criterion, and outcomes that are unmet for a fifth of the
/// criteria.
fn judged(criteria: usize) -> (Rubric, Vec<Outcome>) {
    let list = (0..criteria)
        .map(|index| {
            let mut criterion = Criterion::checklist(format!("c{index}"), "does something");
            criterion.weight = Weight::new(1.0 + (index % 7) as f64 / 3.0).expect("finite");
            criterion.gate = (index % 10 == 0).then_some(Gate::Met);
            criterion
        })
        .collect();
    let outcomes =
        (0..criteria).map(|index| if index % 5 == 1 { Outcome::Unmet } else { Outcome::Met }).collect();
    (Rubric::new(list).expect("sound"), outcomes)
}

fn million(rubrics: usize) -> Vec<(Rubric, Vec<Outcome>)> {
    (0..rubrics).map(|_| judged(CRITERIA / rubrics)).collect()
}

#[divan::bench(args = RUBRICS)]
fn score(bencher: Bencher<'_, '_>, rubrics: usize) {
    let (all, lines) = (million(rubrics), lines());
    bencher.counter(ItemsCount::new(CRITERIA)).bench_local(|| {
        for (rubric, outcomes) in &all {
            let score: RubricScore =
                score_rubric(black_box(rubric), black_box(outcomes), lines).expect("fits");
            black_box(score);
        }
    });
}

/// The same rubrics and outcomes with plain sums: no gates, no bounds, no compensation.
#[divan::bench(args = RUBRICS)]
fn naive_same_data(bencher: Bencher<'_, '_>, rubrics: usize) {
    let all = million(rubrics);
    bencher.counter(ItemsCount::new(CRITERIA)).bench_local(|| {
        for (rubric, outcomes) in &all {
            let (mut earned, mut total) = (0.0, 0.0);
            for (criterion, outcome) in black_box(rubric).criteria().iter().zip(black_box(outcomes)) {
                if let Some(value) = outcome.value() {
                    earned += criterion.weight.get() * value;
                    total += criterion.weight.get();
                }
            }
            black_box(earned / total);
        }
    });
}

/// Only two sums over adjacent pairs of numbers.
#[divan::bench(args = RUBRICS)]
fn naive_pairs(bencher: Bencher<'_, '_>, rubrics: usize) {
    let all: Vec<Vec<(f64, f64)>> = million(rubrics)
        .iter()
        .map(|(rubric, outcomes)| {
            let values = outcomes.iter().map(|outcome| outcome.value().unwrap_or(0.0));
            rubric.criteria().iter().map(|criterion| criterion.weight.get()).zip(values).collect()
        })
        .collect();
    bencher.counter(ItemsCount::new(CRITERIA)).bench_local(|| {
        for pairs in &all {
            let (mut earned, mut total) = (0.0, 0.0);
            for (weight, value) in black_box(pairs) {
                earned += weight * value;
                total += weight;
            }
            black_box(earned / total);
        }
    });
}
