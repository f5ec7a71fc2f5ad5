//! A scorecard as a list of its nodes, parents first.

use std::sync::Arc;

use assize_rubric::{Criticality, ScorecardAggregation, UnitInterval, Weight};

use super::{BenchmarkApplicability, EvaluatorType, RubricChildren, Scorecard};

/// Node of a scorecard, as an index into one of its lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScorecardPart {
    /// The index.
    Index,
    /// A rubric.
    Rubric(usize),
    /// A benchmark.
    Benchmark(usize),
}

/// One row of a scorecard's inventory.
#[derive(Debug, Clone, PartialEq)]
pub struct InventoryRow {
    /// Number of levels above it.
    pub depth: usize,
    /// Node of the row.
    pub part: ScorecardPart,
    /// Code.
    pub code: Arc<str>,
    /// Display name.
    pub label: Option<String>,
    /// Weight among its siblings; `None` for a root.
    pub weight: Option<Weight>,
    /// Pass threshold.
    pub threshold: UnitInterval,
    /// Aggregation of the scores below, for an index or rubric.
    pub aggregation: Option<ScorecardAggregation>,
    /// Consequence of missing the threshold, for a benchmark.
    pub criticality: Option<Criticality>,
    /// True if failing it blocks every level above.
    pub hard_gate: bool,
    /// Kind of evaluator, for a benchmark.
    pub evaluator: Option<EvaluatorType>,
    /// Number of benchmarks at or below it.
    pub benchmarks: usize,
    /// Number of cases to which at least one benchmark at or below this node applies, by list or tags.
    pub cases: usize,
    /// Number of further cases for which the judge decides whether a benchmark at or below it applies.
    pub cases_to_ask: usize,
}

impl Scorecard {
    fn roots(&self) -> Vec<ScorecardPart> {
        let below_index =
            |rubric: &usize| self.index.as_ref().is_some_and(|index| index.components.contains(rubric));
        let others = self.tops.iter().filter(|top| !below_index(top)).map(|top| ScorecardPart::Rubric(*top));
        self.index.iter().map(|_| ScorecardPart::Index).chain(others).collect()
    }

    /// Returns the children of a node, with their weights.
    fn children(&self, part: ScorecardPart, set: Option<usize>) -> Vec<(ScorecardPart, Weight)> {
        match part {
            ScorecardPart::Benchmark(_) => Vec::new(),
            ScorecardPart::Rubric(rubric) => match &self.rubrics[rubric].parts {
                RubricChildren::Benchmarks(list) => list
                    .iter()
                    .map(|&at| (ScorecardPart::Benchmark(at), self.benchmarks[at].weight))
                    .collect(),
                RubricChildren::Rubrics(list) => {
                    list.iter().map(|&at| (ScorecardPart::Rubric(at), self.rubrics[at].weight)).collect()
                }
            },
            ScorecardPart::Index => {
                let Some(index) = &self.index else { return Vec::new() };
                let weights = index.weight_sets.get(set.unwrap_or(index.active));
                let weight = |place: usize| {
                    weights.and_then(|set| set.weights.get(place)).copied().unwrap_or(Weight::ONE)
                };
                let listed = index.components.iter().enumerate();

                listed.map(|(place, &at)| (ScorecardPart::Rubric(at), weight(place))).collect()
            }
        }
    }

    fn build_row(&self, part: ScorecardPart, depth: usize, weight: Option<Weight>) -> InventoryRow {
        let blank = InventoryRow {
            depth,
            part,
            code: Arc::from(self.name.as_str()),
            label: None,
            weight,
            threshold: UnitInterval::ZERO,
            aggregation: None,
            criticality: None,
            hard_gate: false,
            evaluator: None,
            benchmarks: 0,
            cases: 0,
            cases_to_ask: 0,
        };
        match part {
            ScorecardPart::Index => match &self.index {
                None => blank,
                Some(index) => InventoryRow {
                    code: Arc::clone(&index.code),
                    label: index.label.clone(),
                    threshold: index.threshold,
                    aggregation: Some(index.aggregation),
                    ..blank
                },
            },
            ScorecardPart::Rubric(at) => {
                let rubric = &self.rubrics[at];
                InventoryRow {
                    code: Arc::clone(&rubric.code),
                    label: Some(rubric.label.clone()),
                    threshold: rubric.threshold,
                    aggregation: Some(rubric.aggregation),
                    hard_gate: rubric.hard_gate,
                    ..blank
                }
            }
            ScorecardPart::Benchmark(at) => {
                let benchmark = &self.benchmarks[at];
                InventoryRow {
                    code: Arc::clone(&benchmark.code),
                    label: benchmark.label.clone(),
                    threshold: benchmark.threshold,
                    criticality: Some(benchmark.criticality),
                    hard_gate: benchmark.criticality == Criticality::HardGate,
                    evaluator: Some(benchmark.evaluator),
                    benchmarks: 1,
                    ..blank
                }
            }
        }
    }

    /// Returns every node of the scorecard, parents before children, with the number of benchmarks and cases
    /// below it.
    pub fn inventory(&self, set: Option<usize>) -> Vec<InventoryRow> {
        let mut rows: Vec<InventoryRow> = Vec::new();
        let mut parents: Vec<Option<usize>> = Vec::new();
        let mut waiting: Vec<(ScorecardPart, Option<Weight>, usize, Option<usize>)> =
            self.roots().into_iter().rev().map(|root| (root, None, 0, None)).collect();
        while let Some((part, weight, depth, parent)) = waiting.pop() {
            let at = rows.len();
            rows.push(self.build_row(part, depth, weight));
            parents.push(parent);
            let below = self.children(part, set).into_iter().rev();
            waiting.extend(below.map(|(child, weight)| (child, Some(weight), depth + 1, Some(at))));
        }

        for at in (0..rows.len()).rev() {
            if let Some(parent) = parents[at] {
                rows[parent].benchmarks += rows[at].benchmarks;
            }
        }

        let leaves: Vec<(usize, usize)> = rows
            .iter()
            .enumerate()
            .filter_map(|(at, row)| match row.part {
                ScorecardPart::Benchmark(benchmark) => Some((at, benchmark)),
                _ => None,
            })
            .collect();

        let mut found = vec![BenchmarkApplicability::No; rows.len()];
        for case in &self.cases {
            found.fill(BenchmarkApplicability::No);

            for &(at, benchmark) in &leaves {
                found[at] = self.applies(benchmark, case);
            }

            for at in (0..rows.len()).rev() {
                match found[at] {
                    BenchmarkApplicability::Yes => rows[at].cases += 1,
                    BenchmarkApplicability::AskJudge => rows[at].cases_to_ask += 1,
                    BenchmarkApplicability::No => continue,
                }
                if let Some(parent) = parents[at]
                    && found[parent] != BenchmarkApplicability::Yes
                {
                    found[parent] = found[at];
                }
            }
        }

        rows
    }
}
