//! The tree of a scorecard in the form stored with a run.

use std::collections::HashMap;

use assize_model::{BenchmarkApplicability, EvaluatorType, Scorecard, ScorecardPart, ScoringScale};
use assize_rubric::{Criticality, Weight};
use assize_store::{ScorecardInfo, ScorecardNodeInfo, ScorecardPartKind, ScorecardScale, ScorecardWeightSet};

/// Describes the tree of a scorecard for the cases whose indices `takes` accepts. `set` is the index of a
/// weight set of the scorecard's index.
pub fn describe_scorecard(
    scorecard: &Scorecard,
    set: Option<usize>,
    takes: impl Fn(usize) -> bool,
) -> ScorecardInfo {
    let mut planned = vec![(0u64, 0u64); scorecard.benchmarks.len()];
    for (_, case) in scorecard.cases.iter().enumerate().filter(|(at, _)| takes(*at)) {
        for (benchmark, (cases, asked)) in planned.iter_mut().enumerate() {
            let applies = scorecard.applies(benchmark, case);
            *cases += u64::from(applies != BenchmarkApplicability::No);
            *asked += u64::from(applies == BenchmarkApplicability::AskJudge);
        }
    }

    let mut nodes: Vec<ScorecardNodeInfo> = Vec::new();
    // The ancestors of the next part, topmost first.
    let mut above: Vec<usize> = Vec::new();
    for row in scorecard.inventory(set) {
        above.truncate(row.depth);
        let benchmark = match row.part {
            ScorecardPart::Benchmark(at) => Some(at),
            ScorecardPart::Index | ScorecardPart::Rubric(_) => None,
        };
        let (cases, cases_asked) = benchmark.map_or((0, 0), |at| planned[at]);
        let benchmark = benchmark.map(|at| &scorecard.benchmarks[at]);
        let parent = above.last().copied();

        above.push(nodes.len());
        nodes.push(ScorecardNodeInfo {
            code: row.code.to_string(),
            label: row.label,
            kind: match row.part {
                ScorecardPart::Index => ScorecardPartKind::Index,
                ScorecardPart::Rubric(_) => ScorecardPartKind::Rubric,
                ScorecardPart::Benchmark(_) => ScorecardPartKind::Benchmark,
            },
            parent,
            weight: row.weight.unwrap_or(Weight::ONE),
            threshold: row.threshold,
            aggregation: row.aggregation,
            criticality: row.criticality,
            hard_gate: row.hard_gate,
            optional: row.part == ScorecardPart::Index
                && scorecard.index.as_ref().is_some_and(|index| index.optional),
            raters: benchmark.and_then(|benchmark| benchmark.raters),
            scale: benchmark.and_then(|benchmark| benchmark.scale.as_ref().map(stored_scale)),
            evaluator: row.evaluator.map(|evaluator| EvaluatorType::name(evaluator).to_owned()),
            cases,
            cases_asked,
        });
    }

    count_group_cases(scorecard, &mut nodes, &takes);
    let index = scorecard.index.as_ref();
    let sets = index.map(|index| {
        let codes = || index.components.iter().map(|at| scorecard.rubrics[*at].code.to_string());
        let sets = index.weight_sets.iter().map(|set| ScorecardWeightSet {
            name: set.name.clone(),
            weights: codes().zip(set.weights.iter().copied()).collect(),
        });
        sets.collect()
    });

    let active = index.and_then(|index| index.weight_sets.get(set.unwrap_or(index.active)));
    ScorecardInfo {
        name: scorecard.name.clone(),
        weight_set: active.map(|set| set.name.clone()),
        weight_sets: sets.unwrap_or_default(),
        nodes,
    }
}

/// Counts the cases of each index and rubric, each case once. Improvement signals are not counted.
fn count_group_cases(scorecard: &Scorecard, nodes: &mut [ScorecardNodeInfo], takes: impl Fn(usize) -> bool) {
    let places: HashMap<&str, usize> =
        nodes.iter().enumerate().map(|(place, node)| (node.code.as_str(), place)).collect();
    let leaves: Vec<Option<usize>> =
        scorecard.benchmarks.iter().map(|benchmark| places.get(&*benchmark.code).copied()).collect();

    let parents: Vec<Option<usize>> = nodes.iter().map(|node| node.parent).collect();
    let mut counts = vec![0; nodes.len()];
    let mut counted_for = vec![usize::MAX; nodes.len()];
    for (at, case) in scorecard.cases.iter().enumerate().filter(|(at, _)| takes(*at)) {
        for (benchmark, leaf) in leaves.iter().enumerate() {
            let is_signal = scorecard.benchmarks[benchmark].criticality == Criticality::ImprovementSignal;
            if is_signal || scorecard.applies(benchmark, case) == BenchmarkApplicability::No {
                continue;
            }
            let above = leaf.and_then(|leaf| parents[leaf]);
            for place in std::iter::successors(above, |place| parents[*place]) {
                if counted_for[place] == at {
                    break;
                }
                counted_for[place] = at;
                counts[place] += 1;
            }
        }
    }

    for (node, count) in nodes.iter_mut().zip(counts) {
        if node.kind != ScorecardPartKind::Benchmark {
            node.cases = count;
        }
    }
}

fn stored_scale(scale: &ScoringScale) -> ScorecardScale {
    let ScoringScale { min, max, formula, .. } = scale;
    ScorecardScale { min: *min, max: *max, formula: formula.to_string() }
}
