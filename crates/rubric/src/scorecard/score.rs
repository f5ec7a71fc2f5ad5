//! Scores and statuses of all nodes, computed from the cases of the benchmarks.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CaseTally, Criticality, MissingPolicy, ScoreTree, ScorecardNodeId, ScorecardNodeKind};
use crate::sum::{CompensatedSum, weight_scale};
use crate::{ScorecardAggregation, at_least};

/// Status of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeStatus {
    /// The score reaches the threshold and no gate below failed.
    Pass,
    /// The score is below the threshold.
    Fail,
    /// A hard gate below failed, so the node can't pass, whatever its score.
    Blocked,
    /// Results are missing, or a hard gate has no case, so it can't pass.
    Incomplete,
    /// No node below applies.
    NotApplicable,
}

crate::named_variants!(NodeStatus {
    Pass = "pass", Fail = "fail", Blocked = "blocked", Incomplete = "incomplete",
    NotApplicable = "not applicable",
});

impl fmt::Display for NodeStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Score and status of one node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeScore {
    /// Lowest and highest possible score, 0 to 1; equal if nothing is missing. `None` if nothing below
    /// applies or, in a weighted average, if no part that applies has weight. A failed gate does not change
    /// the score.
    pub bounds: Option<(f64, f64)>,
    /// The status.
    pub status: NodeStatus,
    /// True if this node is a hard gate that failed by its own score.
    pub gate_failed: bool,
    /// Hard gates that failed below this node.
    pub gates_failed_below: usize,
    /// Number of hard gates without any case, at or below this node.
    pub untested_gates: usize,
    /// Share of the node's weight that is covered by results, 0 to 1. Cases without a result, and nodes that
    /// apply to no case, are not covered.
    pub tested_share: f64,
    /// Sum of the weights of the children that count.
    pub weight: f64,
    /// The part of `weight` that belongs to children with a score. The rest was redistributed among these.
    pub covered_weight: f64,
    /// Weighted share of the applicable cases that have a result, 0 to 1; `None` if nothing applies.
    pub coverage: Option<f64>,
    /// Number of benchmarks that count, at or below this node, with missing results.
    pub open: usize,
    /// Number of cases with a score, at or below this node. For a group, the numbers of its benchmarks are
    /// added up, unless [`ScorecardScores::with_distinct_cases`] provides the number of distinct cases.
    pub scored: u64,
    /// Number of cases that should have a score and have none, at or below this node. Counted like `scored`.
    pub missing: u64,
}

impl NodeScore {
    /// The score; `None` if missing results could change it. A blocked node has the score that it would have
    /// without the gate.
    pub fn score(&self) -> Option<f64> {
        self.bounds.filter(|(low, high)| low == high).map(|(low, _)| low)
    }
}

/// Cases of the benchmarks at or below a node, each counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DistinctCases {
    /// Number of cases with all their results.
    pub complete: u64,
    /// Number of cases with some of their results.
    pub partial: u64,
    /// Number of cases without any of their results.
    pub open: u64,
}

/// Scores of a whole scorecard.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorecardScores<'c> {
    pub(super) card: &'c ScoreTree,
    pub(super) nodes: Vec<NodeScore>,
}

/// Scores every node of a scorecard. `tally` returns the cases of each benchmark.
///
/// A benchmark scores the mean of its cases. A group scores `sum(w s) / sum(w)`, or the lowest or highest
/// score, of the children that have one; improvement signals are reported but not counted. A node passes if
/// its score reaches its threshold (within [`TOLERANCE`](crate::TOLERANCE)), no hard gate below it failed, no
/// result below it is missing, and no hard gate is without a case. Time and memory grow with the number of
/// nodes, not with the depth.
pub fn score_card(
    card: &ScoreTree,
    tally: impl Fn(ScorecardNodeId) -> CaseTally,
    missing: MissingPolicy,
) -> ScorecardScores<'_> {
    let mut nodes: Vec<Option<NodeScore>> = vec![None; card.nodes.len()];
    for index in (0..card.nodes.len()).rev() {
        let score = match card.nodes[index].kind {
            ScorecardNodeKind::Benchmark { criticality } => {
                score_benchmark(card, index, criticality, tally(ScorecardNodeId(index)), missing)
            }
            ScorecardNodeKind::Group { aggregation, hard_gate } => {
                score_group(card, index, aggregation, hard_gate, &nodes)
            }
        };
        nodes[index] = Some(score);
    }

    ScorecardScores { card, nodes: nodes.into_iter().flatten().collect() }
}

fn score_benchmark(
    card: &ScoreTree,
    index: usize,
    criticality: Criticality,
    known: CaseTally,
    missing: MissingPolicy,
) -> NodeScore {
    let line = card.nodes[index].line.get();
    let tally = known.apply_policy(missing);
    let bounds = tally.bounds();
    let open = usize::from(tally.missing() > 0);
    let untested_gates = usize::from(criticality == Criticality::HardGate && bounds.is_none());
    let status = node_status(bounds, line, open + untested_gates, 0);
    // Missing results are not covered, regardless of the score they count as.
    let coverage = known.coverage();

    NodeScore {
        bounds,
        status,
        gate_failed: criticality == Criticality::HardGate && status == NodeStatus::Fail,
        gates_failed_below: 0,
        untested_gates,
        tested_share: coverage.unwrap_or(0.0),
        weight: 1.0,
        covered_weight: if bounds.is_some() { 1.0 } else { 0.0 },
        coverage,
        open: if card.is_counted(index) { open } else { 0 },
        scored: tally.scored(),
        missing: tally.missing(),
    }
}

fn score_group(
    card: &ScoreTree,
    index: usize,
    aggregation: ScorecardAggregation,
    hard_gate: bool,
    nodes: &[Option<NodeScore>],
) -> NodeScore {
    let children = || card.children[index].iter().filter_map(|&child| Some((child, nodes[child].as_ref()?)));
    let counting = || children().filter(|(child, _)| card.is_counted(*child));
    let weight_of = |child: usize| card.nodes[child].weight.get();
    let unit = weight_scale(counting().map(|(child, _)| weight_of(child)));
    let (mut weight, mut covered) = (CompensatedSum::default(), CompensatedSum::default());
    let (mut judged, mut applicable) = (CompensatedSum::default(), CompensatedSum::default());
    let mut plain = (0.0, 0.0);
    let (mut tested, mut plain_tested, mut children_count) = (CompensatedSum::default(), 0.0, 0.0_f64);
    for (child, score) in counting() {
        let share = weight_of(child) / unit;
        weight.add(share);
        tested.add(share * score.tested_share);
        plain_tested += score.tested_share;
        children_count += 1.0;

        if score.bounds.is_some() {
            covered.add(share);
        }

        if let Some(coverage) = score.coverage {
            applicable.add(share);
            judged.add(share * coverage);
            plain = (plain.0 + coverage, plain.1 + 1.0);
        }
    }

    let coverage = if applicable.get() > 0.0 {
        Some((judged.get() / applicable.get()).clamp(0.0, 1.0))
    } else {
        (plain.1 > 0.0).then(|| plain.0 / plain.1)
    };

    let tested_share = if weight.get() > 0.0 {
        (tested.get() / weight.get()).clamp(0.0, 1.0)
    } else {
        plain_tested / children_count.max(1.0)
    };

    let side = |pick: fn((f64, f64)) -> f64| {
        let scores =
            counting().filter_map(|(child, score)| Some((weight_of(child) / unit, pick(score.bounds?))));
        aggregate_scores(aggregation, scores)
    };
    let bounds = side(|(low, _)| low).zip(side(|(_, high)| high));
    let gates_failed_below =
        children().map(|(_, score)| usize::from(score.gate_failed) + score.gates_failed_below).sum();
    let open = counting().map(|(_, score)| score.open).sum();
    let untested_gates = usize::from(hard_gate && bounds.is_none())
        + children().map(|(_, score)| score.untested_gates).sum::<usize>();
    let own_line = card.nodes[index].line.get();
    let below_line = bounds.is_some_and(|(_, high)| !at_least(high, own_line));

    NodeScore {
        bounds,
        status: node_status(bounds, own_line, open + untested_gates, gates_failed_below),
        gate_failed: hard_gate && below_line,
        gates_failed_below,
        untested_gates,
        tested_share,
        weight: weight.get() * unit,
        covered_weight: covered.get() * unit,
        coverage,
        open,
        scored: children().map(|(_, score)| score.scored).sum(),
        missing: children().map(|(_, score)| score.missing).sum(),
    }
}

/// Aggregates weighted scores into one.
fn aggregate_scores(
    aggregation: ScorecardAggregation,
    scores: impl Iterator<Item = (f64, f64)>,
) -> Option<f64> {
    match aggregation {
        ScorecardAggregation::Minimum => scores.map(|(_, score)| score).reduce(f64::min),
        ScorecardAggregation::Maximum => scores.map(|(_, score)| score).reduce(f64::max),
        ScorecardAggregation::WeightedAverage => {
            let (mut weights, mut total) = (CompensatedSum::default(), CompensatedSum::default());
            let (mut lowest, mut highest) = (1.0_f64, 0.0_f64);
            for (weight, score) in scores.filter(|(weight, _)| *weight > 0.0) {
                weights.add(weight);
                total.add(weight * score);
                (lowest, highest) = (lowest.min(score), highest.max(score));
            }

            // A mean is between its values; rounding must not move it beyond them.
            (weights.get() > 0.0).then(|| (total.get() / weights.get()).clamp(lowest, highest))
        }
    }
}

/// Returns the status of a node; `open` is the number of benchmarks with missing results and of gates without a case.
fn node_status(bounds: Option<(f64, f64)>, line: f64, open: usize, gates_failed: usize) -> NodeStatus {
    match bounds {
        _ if gates_failed > 0 => NodeStatus::Blocked,
        Some((_, high)) if !at_least(high, line) => NodeStatus::Fail,
        _ if open > 0 => NodeStatus::Incomplete,
        Some((low, _)) if at_least(low, line) => NodeStatus::Pass,
        Some(_) => NodeStatus::Fail,
        None => NodeStatus::NotApplicable,
    }
}

impl<'c> ScorecardScores<'c> {
    /// The tree that was scored.
    pub const fn card(&self) -> &'c ScoreTree {
        self.card
    }

    /// Returns the score of a node; `None` for an id of another tree.
    pub fn node(&self, id: ScorecardNodeId) -> Option<&NodeScore> {
        self.nodes.get(id.0)
    }

    /// Counts each case of a group once: as scored only if it has all its results, otherwise as missing.
    /// `missing` is the policy with which the scores were computed.
    #[must_use]
    pub fn with_distinct_cases(
        mut self,
        missing: MissingPolicy,
        cases: impl Fn(ScorecardNodeId) -> Option<DistinctCases>,
    ) -> Self {
        for (index, score) in self.nodes.iter_mut().enumerate() {
            if matches!(self.card.nodes[index].kind, ScorecardNodeKind::Benchmark { .. }) {
                continue;
            }
            let Some(DistinctCases { complete, partial, open }) = cases(ScorecardNodeId(index)) else {
                continue;
            };
            (score.scored, score.missing) = match missing {
                MissingPolicy::Incomplete => (complete, partial + open),
                MissingPolicy::Zero => (complete + partial + open, 0),
                MissingPolicy::Skip => (complete + partial, 0),
            };
        }

        self
    }

    /// Makes a root that passes incomplete if a child that counts has no case: its weight would have been redistributed
    /// among the others without anyone having decided that.
    #[must_use]
    pub fn with_required_children(mut self) -> Self {
        if self.nodes[0].status == NodeStatus::Pass && !self.children_without_case().is_empty() {
            self.nodes[0].status = NodeStatus::Incomplete;
        }

        self
    }

    /// Returns the children of the root that count, have weight, and have no case.
    pub fn children_without_case(&self) -> Vec<ScorecardNodeId> {
        let counts = |child: &usize| {
            self.card.is_counted(*child)
                && self.card.nodes[*child].weight.get() > 0.0
                && self.nodes[*child].bounds.is_none()
        };
        self.card.children[0].iter().copied().filter(counts).map(ScorecardNodeId).collect()
    }

    /// Returns the score of the root.
    pub fn root(&self) -> &NodeScore {
        &self.nodes[0]
    }

    /// Returns the hard gates without any case at or below a node, in the order of the tree.
    pub fn untested_gates(&self, id: ScorecardNodeId) -> Vec<ScorecardNodeId> {
        let mut found = Vec::new();
        let mut waiting = vec![id.0];
        while let Some(index) = waiting.pop() {
            let Some(score) = self.nodes.get(index).filter(|score| score.untested_gates > 0) else {
                continue;
            };
            let children = &self.card.children[index];
            let below: usize = children.iter().map(|&child| self.nodes[child].untested_gates).sum();

            if score.untested_gates > below {
                found.push(ScorecardNodeId(index));
            }
            waiting.extend(children.iter().rev());
        }

        found
    }

    /// Returns the hard gates that failed below a node and block it, in the order of the tree.
    pub fn blockers(&self, id: ScorecardNodeId) -> Vec<ScorecardNodeId> {
        let mut found = Vec::new();
        let mut waiting = vec![(id.0, true)];
        while let Some((index, start)) = waiting.pop() {
            let Some(score) = self.nodes.get(index) else { continue };
            if score.gate_failed && !start {
                found.push(ScorecardNodeId(index));
            }
            if score.gates_failed_below > 0 {
                waiting.extend(self.card.children[index].iter().rev().map(|&child| (child, false)));
            }
        }

        found
    }
}
