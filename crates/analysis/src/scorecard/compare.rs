//! Comparison of two scorecard runs, node by node, over the cases that both have.

use std::collections::{BTreeMap, BTreeSet};

use assize_rubric::{
    BenchmarkState, CaseTally, MissingPolicy, NodeStatus, ScorecardNodeId, UnitInterval, score_card,
};
use assize_store::{ScorecardNodeInfo, ScorecardPartKind};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use super::measurement::measurement_changes;
use super::{BenchmarkCases, MeasurementChange, ScorecardRun, ScorecardTree, ScorecardTreeError};
use crate::claims::DIFFERENCE_TOLERANCE;
use crate::compare::{
    ComparisonOptions, MetricDifference, MetricUnit, PairSample, adjust_all, compare_metric,
};

/// Maximum number of parts of the cases that are left out one by one. With more cases, a part has several.
const MAX_PARTS: usize = 200;

/// Comparison of two scorecard runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorecardComparison {
    /// Number of cases in both.
    pub shared: usize,
    /// Number of cases only in the first, which are excluded.
    pub only_base: usize,
    /// Number of cases only in the second, which are excluded.
    pub only_candidate: usize,
    /// Nodes that both have, in the order of the second's tree.
    pub nodes: Vec<NodeDifference>,
    /// Codes of nodes that only the first has.
    pub gone: Vec<String>,
    /// The hard gates among these.
    pub gates_gone: Vec<String>,
    /// Codes of nodes that only the second has.
    pub new: Vec<String>,
    /// Codes of nodes whose weight, threshold or aggregation differs.
    pub changed: Vec<String>,
    /// Changes of the measurement of each part. If a part has any, its difference may not come from the
    /// answers.
    pub measured: Vec<MeasurementChange>,
    /// Top nodes of the second run, over all its cases.
    pub tops: Vec<(String, NodeSide)>,
}

/// A node that both runs have.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeDifference {
    /// Code of the node.
    pub code: String,
    /// Number of levels above it.
    pub depth: usize,
    /// Kind of the node.
    pub kind: ScorecardPartKind,
    /// True if it has no parent.
    pub is_top: bool,
    /// True if it was a hard gate in the first run and is not in the second.
    pub lost_gate: bool,
    /// Result in the first run, over the shared cases.
    pub base: NodeSide,
    /// Result in the second run, over the shared cases.
    pub candidate: NodeSide,
    /// Second score minus first; `None` if one of them has no score.
    pub difference: Option<f64>,
    /// The comparison over cases, with its interval and its conclusion. p values of top nodes are adjusted for their
    /// number.
    pub compared: MetricDifference,
}

/// Result of a node in one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeSide {
    /// The score, if it is known.
    pub score: Option<f64>,
    /// Lowest and highest possible score, if any part below applies.
    pub bounds: Option<(f64, f64)>,
    /// Status of the node.
    pub status: NodeStatus,
    /// True if it is a hard gate that failed by its own score.
    pub gate_failed: bool,
}

impl Serialize for NodeSide {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("score", &self.score)?;
        map.serialize_entry("score_low", &self.bounds.map(|(low, _)| low))?;
        map.serialize_entry("score_high", &self.bounds.map(|(_, high)| high))?;
        map.serialize_entry("verdict", &self.status)?;
        map.serialize_entry("gate_failed", &self.gate_failed)?;
        map.end()
    }
}

/// Compares two runs over the cases that both have, each under its own tree.
///
/// A node is compared like a metric of two runs: over the case scores of a benchmark, and for a node above over the
/// contribution of each case (its pseudo-value in a jackknife), so that a case that several benchmarks apply to counts
/// once.
///
/// # Errors
/// If a stored tree is damaged.
pub fn compare_scorecards(
    base: &ScorecardRun,
    candidate: &ScorecardRun,
    missing: MissingPolicy,
) -> Result<ScorecardComparison, ScorecardTreeError> {
    let ids = |run: &ScorecardRun| -> BTreeSet<String> {
        run.parts.iter().flat_map(|part| part.cases.iter().map(|(id, _)| id.to_owned())).collect()
    };
    let (base_ids, candidate_ids) = (ids(base), ids(candidate));
    let shared: Vec<String> = base_ids.intersection(&candidate_ids).cloned().collect();
    let (before, after) = (
        base.restrict_to(|id| candidate_ids.contains(id)),
        candidate.restrict_to(|id| base_ids.contains(id)),
    );
    let sides = (score_nodes(&before, missing)?, score_nodes(&after, missing)?);
    let order: BTreeMap<&str, usize> = shared.iter().enumerate().map(|(at, id)| (id.as_str(), at)).collect();
    let options = ComparisonOptions::default();
    let mut nodes: Vec<NodeDifference> = Vec::new();
    let (mut new, mut changed) = (Vec::new(), Vec::new());
    for (place, node) in after.info.nodes.iter().enumerate() {
        let Some(old) = before.index_of(&node.code).filter(|old| before.info.nodes[*old].kind == node.kind)
        else {
            new.push(node.code.clone());
            continue;
        };
        let was = &before.info.nodes[old];
        if !has_same_rules(was, node) {
            changed.push(node.code.clone());
        }

        let (base_side, candidate_side) = (sides.0[old], sides.1[place]);
        let difference = base_side.score.zip(candidate_side.score).map(|(base, candidate)| candidate - base);
        let pairs = if node.kind == ScorecardPartKind::Benchmark {
            Some(benchmark_pairs(&before.parts[old], &after.parts[place]))
        } else {
            let sides = CaseTree::new(&before, old, &order)?.zip(CaseTree::new(&after, place, &order)?);
            sides.and_then(|(before, after)| group_pairs(&before, &after, shared.len(), missing))
        };
        let compared = match pairs {
            Some(pairs) if difference.is_some() => {
                // A part of the cases may have several.
                let n = if node.kind == ScorecardPartKind::Benchmark { pairs.len() } else { shared.len() };
                MetricDifference { n, ..compare_metric(&pairs, MetricUnit::Score, &options) }
            }
            _ => MetricDifference::undefined(
                shared.len(),
                MetricUnit::Score,
                "a score depends on a single case",
                &options,
            ),
        };
        nodes.push(NodeDifference {
            code: node.code.clone(),
            depth: depth(&after, place),
            kind: node.kind,
            is_top: node.parent.is_none(),
            lost_gate: was.hard_gate && !node.hard_gate,
            base: base_side,
            candidate: candidate_side,
            difference,
            compared,
        });
    }

    // Conclusions are drawn about the top nodes; all others explain them.
    adjust_all(nodes.iter_mut().filter(|node| node.is_top).map(|node| &mut node.compared), &options);

    let gone = before.info.nodes.iter().filter(|node| after.index_of(&node.code).is_none());
    let whole = score_nodes(candidate, missing)?;
    let tops = candidate.info.nodes.iter().zip(whole).filter(|(node, _)| node.parent.is_none());
    Ok(ScorecardComparison {
        shared: shared.len(),
        only_base: base_ids.len() - shared.len(),
        only_candidate: candidate_ids.len() - shared.len(),
        nodes,
        gates_gone: gone.clone().filter(|node| node.hard_gate).map(|node| node.code.clone()).collect(),
        gone: gone.map(|node| node.code.clone()).collect(),
        new,
        changed,
        measured: measurement_changes(&before, &after),
        tops: tops.map(|(node, side)| (node.code.clone(), side)).collect(),
    })
}

/// Computes the score and status of each node of a run.
pub(super) fn score_nodes(
    run: &ScorecardRun,
    missing: MissingPolicy,
) -> Result<Vec<NodeSide>, ScorecardTreeError> {
    let mut sides =
        vec![
            NodeSide { score: None, bounds: None, status: NodeStatus::NotApplicable, gate_failed: false };
            run.info.nodes.len()
        ];
    for tree in ScorecardTree::build_all(&run.info, None)? {
        let scores = tree.scores(|place| run.tally(place), missing);
        for id in tree.card.ids() {
            if let (Some(score), Some(place)) = (scores.node(id), tree.places.get(id.index())) {
                sides[*place] = NodeSide {
                    score: score.score(),
                    bounds: score.bounds,
                    status: score.status,
                    gate_failed: score.gate_failed,
                };
            }
        }
    }

    Ok(sides)
}

/// Returns true if two versions of a node have the same weight, threshold, aggregation and gate.
pub(super) fn has_same_rules(a: &ScorecardNodeInfo, b: &ScorecardNodeInfo) -> bool {
    (a.weight, a.threshold, a.aggregation, a.criticality, a.hard_gate)
        == (b.weight, b.threshold, b.aggregation, b.criticality, b.hard_gate)
}

/// Returns the number of levels above a node.
pub(super) fn depth(run: &ScorecardRun, place: usize) -> usize {
    std::iter::successors(run.info.nodes[place].parent, |above| run.info.nodes[*above].parent).count()
}

/// The scores of a benchmark's cases that have one in both runs.
fn benchmark_pairs(base: &BenchmarkCases, candidate: &BenchmarkCases) -> PairSample {
    let mut pairs = PairSample::default();
    for (at, (id, after)) in (0..).zip(candidate.cases.iter()) {
        let before = base.cases.get(id).and_then(|case| case.score);
        if let Some((before, after)) = before.zip(after.score) {
            pairs.push(before.get(), after.get(), at);
        }
    }
    pairs
}

/// A tree, with the results of its benchmarks by the index of the case in the shared list.
struct CaseTree {
    tree: ScorecardTree,
    /// For each node of the tree and each shared case: its result.
    cases: Vec<Vec<Option<BenchmarkCaseScore>>>,
}

/// Result of a benchmark on a case.
#[derive(Clone, Copy)]
enum BenchmarkCaseScore {
    Score(UnitInterval),
    Missing,
}

impl CaseTree {
    fn new(
        run: &ScorecardRun,
        place: usize,
        order: &BTreeMap<&str, usize>,
    ) -> Result<Option<Self>, ScorecardTreeError> {
        let Some(tree) = ScorecardTree::build_subtree(&run.info, place)? else { return Ok(None) };
        let cases = tree.places.iter().map(|part| {
            let mut row = vec![None; order.len()];
            for (id, case) in run.parts[*part].cases.iter() {
                let score = match (case.score, case.finding.state) {
                    (Some(score), _) => Some(BenchmarkCaseScore::Score(score)),
                    (None, BenchmarkState::NotApplicable) => None,
                    (None, _) => Some(BenchmarkCaseScore::Missing),
                };
                if let Some(at) = order.get(id) {
                    row[*at] = score;
                }
            }

            row
        });

        let cases = cases.collect();
        Ok(Some(Self { tree, cases }))
    }

    /// Returns the root score without the cases of one part, as [`part_of`] numbers the parts.
    fn score_without(&self, left_out: Option<usize>, missing: MissingPolicy) -> Option<f64> {
        let tally = |id: ScorecardNodeId| {
            let Some(row) = self.cases.get(id.index()) else { return CaseTally::NOT_APPLICABLE };
            let kept = || {
                row.iter().enumerate().filter(|(at, _)| left_out != Some(part_of(*at))).map(|(_, case)| case)
            };
            let open = kept().filter(|case| matches!(case, Some(BenchmarkCaseScore::Missing))).count() as u64;
            let scores = kept().filter_map(|case| match case {
                Some(BenchmarkCaseScore::Score(score)) => Some(*score),
                _ => None,
            });
            CaseTally::new(scores, open)
        };

        score_card(&self.tree.card, tally, missing).root().score()
    }

    /// Returns the contribution of each part of the cases to the root score: the score times the number of parts, minus
    /// the score without the part times the number of other parts. Their mean is the score, apart from its bias. `None`
    /// if the score depends on a single part: there is none without it. Source: J. Tukey, Annals of Mathematical
    /// Statistics 29 (1958), 614.
    fn contributions(&self, parts: usize, missing: MissingPolicy) -> Option<Vec<f64>> {
        let (all, whole) = (parts as f64, self.score_without(None, missing)?);
        let contribution = |part| Some(all * whole - (all - 1.0) * self.score_without(Some(part), missing)?);
        // Verdicts are compared exactly, as 0 and 1.
        let without_rounding = |value: f64| {
            if (value - value.round()).abs() <= DIFFERENCE_TOLERANCE { value.round() } else { value }
        };
        (0..parts).map(|part| contribution(part).map(without_rounding)).collect()
    }
}

/// Part of the cases that a case is left out with: each case is a part of its own up to [`MAX_PARTS`] cases.
const fn part_of(case: usize) -> usize {
    case % MAX_PARTS
}

/// Contributions of the shared cases to the score of a node above benchmarks, in both runs.
fn group_pairs(
    base: &CaseTree,
    candidate: &CaseTree,
    shared: usize,
    missing: MissingPolicy,
) -> Option<PairSample> {
    let parts = shared.min(MAX_PARTS);
    let sides = base.contributions(parts, missing)?.into_iter().zip(candidate.contributions(parts, missing)?);
    let mut pairs = PairSample::default();
    for (part, (before, after)) in (0..).zip(sides) {
        pairs.push(before, after, part);
    }
    Some(pairs)
}
