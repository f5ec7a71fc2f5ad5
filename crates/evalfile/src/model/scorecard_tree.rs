//! A scorecard as a tree to score and as a list to print.

use std::sync::Arc;

use assize_rubric::{Aggregation, Card, CardError, CardKind, CardNode, Criticality, NodeId, Unit, Weight};

use super::{Applies, CardParts, EvaluatorType, Scorecard};

/// A node of a scorecard: a place in one of its lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CardPart {
    /// The index.
    Index,
    /// A rubric.
    Rubric(usize),
    /// A benchmark.
    Benchmark(usize),
}

/// One line of a scorecard's inventory.
#[derive(Debug, Clone, PartialEq)]
pub struct InventoryRow {
    /// Levels above it.
    pub depth: usize,
    /// What it is.
    pub part: CardPart,
    /// Its code.
    pub code: Arc<str>,
    /// Its name for people.
    pub label: Option<String>,
    /// Its weight among its siblings; `None` on top.
    pub weight: Option<Weight>,
    /// The score it must reach.
    pub threshold: Unit,
    /// Of an index or rubric: how the scores below become one.
    pub aggregation: Option<Aggregation>,
    /// Of a benchmark: what missing the threshold means.
    pub criticality: Option<Criticality>,
    /// Whether failing it blocks every level above.
    pub hard_gate: bool,
    /// Of a benchmark: who judges it.
    pub evaluator: Option<EvaluatorType>,
    /// Benchmarks at or below it.
    pub benchmarks: usize,
    /// Cases that apply by their list or tags to at least one benchmark at or below it.
    pub cases: usize,
    /// Cases for which the judge has to say whether a benchmark at or below it applies, beside those.
    pub cases_to_ask: usize,
}

impl Scorecard {
    /// The trees to score: one below the index, else one for each top rubric. Each node comes with
    /// the part it stands for, by its number. `set` picks a weight set of the index by its place.
    ///
    /// # Errors
    /// None for a scorecard that was loaded: its weights are in range and its parents are rubrics.
    pub fn cards(&self, set: Option<usize>) -> Result<Vec<(Card, Vec<CardPart>)>, CardError> {
        self.roots().into_iter().map(|root| self.card_below(root, set)).collect()
    }

    fn roots(&self) -> Vec<CardPart> {
        let below_index =
            |rubric: &usize| self.index.as_ref().is_some_and(|index| index.components.contains(rubric));
        let others = self.tops.iter().filter(|top| !below_index(top)).map(|top| CardPart::Rubric(*top));
        self.index.iter().map(|_| CardPart::Index).chain(others).collect()
    }

    fn card_below(&self, root: CardPart, set: Option<usize>) -> Result<(Card, Vec<CardPart>), CardError> {
        let mut card = Card::new(self.node(root, Weight::ONE));
        let mut parts = vec![root];
        let mut waiting: Vec<(CardPart, NodeId)> = vec![(root, card.root())];
        while let Some((part, id)) = waiting.pop() {
            for (child, weight) in self.children(part, set) {
                let below = card.add(id, self.node(child, weight))?;
                parts.push(child);
                if !matches!(child, CardPart::Benchmark(_)) {
                    waiting.push((child, below));
                }
            }
        }
        Ok((card, parts))
    }

    /// The parts directly below one, with their weights.
    fn children(&self, part: CardPart, set: Option<usize>) -> Vec<(CardPart, Weight)> {
        match part {
            CardPart::Benchmark(_) => Vec::new(),
            CardPart::Rubric(rubric) => match &self.rubrics[rubric].parts {
                CardParts::Benchmarks(list) => {
                    list.iter().map(|&at| (CardPart::Benchmark(at), self.benchmarks[at].weight)).collect()
                }
                CardParts::Rubrics(list) => {
                    list.iter().map(|&at| (CardPart::Rubric(at), self.rubrics[at].weight)).collect()
                }
            },
            CardPart::Index => {
                let Some(index) = &self.index else { return Vec::new() };
                let weights = index.weight_sets.get(set.unwrap_or(index.active));
                let weight = |place: usize| {
                    weights.and_then(|set| set.weights.get(place)).copied().unwrap_or(Weight::ONE)
                };
                let listed = index.components.iter().enumerate();
                listed.map(|(place, &at)| (CardPart::Rubric(at), weight(place))).collect()
            }
        }
    }

    fn node(&self, part: CardPart, weight: Weight) -> CardNode {
        let row = self.row(part, 0, None);
        let kind = match (row.aggregation, row.criticality) {
            (_, Some(criticality)) => CardKind::Benchmark { criticality },
            (aggregation, None) => {
                CardKind::Group { aggregation: aggregation.unwrap_or_default(), hard_gate: row.hard_gate }
            }
        };
        CardNode { code: row.code, weight, line: row.threshold, kind }
    }

    fn row(&self, part: CardPart, depth: usize, weight: Option<Weight>) -> InventoryRow {
        let blank = InventoryRow {
            depth,
            part,
            code: Arc::from(self.name.as_str()),
            label: None,
            weight,
            threshold: Unit::ZERO,
            aggregation: None,
            criticality: None,
            hard_gate: false,
            evaluator: None,
            benchmarks: 0,
            cases: 0,
            cases_to_ask: 0,
        };
        match part {
            CardPart::Index => match &self.index {
                None => blank,
                Some(index) => InventoryRow {
                    code: Arc::clone(&index.code),
                    label: index.label.clone(),
                    threshold: index.threshold,
                    aggregation: Some(index.aggregation),
                    ..blank
                },
            },
            CardPart::Rubric(at) => {
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
            CardPart::Benchmark(at) => {
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

    /// Every part of the scorecard, parents before children, with what is below it and how many
    /// cases it has.
    pub fn inventory(&self, set: Option<usize>) -> Vec<InventoryRow> {
        let mut rows: Vec<InventoryRow> = Vec::new();
        let mut parents: Vec<Option<usize>> = Vec::new();
        let mut waiting: Vec<(CardPart, Option<Weight>, usize, Option<usize>)> =
            self.roots().into_iter().rev().map(|root| (root, None, 0, None)).collect();
        while let Some((part, weight, depth, parent)) = waiting.pop() {
            let at = rows.len();
            rows.push(self.row(part, depth, weight));
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
                CardPart::Benchmark(benchmark) => Some((at, benchmark)),
                _ => None,
            })
            .collect();
        let mut found = vec![Applies::No; rows.len()];
        for case in &self.cases {
            found.fill(Applies::No);
            for &(at, benchmark) in &leaves {
                found[at] = self.applies(benchmark, case);
            }
            for at in (0..rows.len()).rev() {
                match found[at] {
                    Applies::Yes => rows[at].cases += 1,
                    Applies::AskJudge => rows[at].cases_to_ask += 1,
                    Applies::No => continue,
                }
                if let Some(parent) = parents[at]
                    && found[parent] != Applies::Yes
                {
                    found[parent] = found[at];
                }
            }
        }
        rows
    }
}
