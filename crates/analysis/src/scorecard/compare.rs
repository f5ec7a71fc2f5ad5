//! Comparison of two scorecard runs, node by node, over the cases that both have.

use std::collections::{BTreeMap, BTreeSet};

use assize_rubric::{
    BenchmarkState, CaseTally, MissingPolicy, NodeStatus, ScorecardNodeId, UnitInterval, score_card,
};
use assize_stats::{
    ConfidenceLevel, DifferenceReach, Interval, SeededRandom, UndefinedReason, bootstrap, bounded_difference,
};
use assize_store::{ScorecardNodeInfo, ScorecardPartKind};

use super::measurement::measurement_changes;
use super::{BenchmarkCases, MeasurementChange, ScorecardRun, ScorecardTree, ScorecardTreeError};

/// Seed of the resampling: fixed, so that intervals are reproducible.
const SEED: u64 = 0x5c0a_ecad;
/// Number of resamples for an interval.
const RESAMPLES: usize = 2000;
/// Maximum number of case scores added up for one interval; with more, resampling would take too long.
const MAX_WORK: usize = 400_000_000;

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
    /// Changes of the measurement of each part. Where there are any, a difference may not come from the
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
    /// 95% CI of the difference: of the paired mean for a benchmark, by resampling cases for all other nodes.
    pub interval: Result<Interval, UndefinedReason>,
    /// Number of cases with a score in both runs for a benchmark; number of shared cases for other nodes.
    pub pairs: usize,
}

/// Result of a node in one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeSide {
    /// The score, if it is known.
    pub score: Option<f64>,
    /// Lowest and highest possible score, if any part below applies.
    pub bounds: Option<(f64, f64)>,
    /// Status of the node.
    pub standing: NodeStatus,
    /// True if it is a hard gate that failed by its own score.
    pub gate_failed: bool,
}

/// Compares two runs over the cases that both have, each under its own tree.
///
/// The interval of a benchmark is the paired Wilson interval of its case scores. The interval of any other
/// node comes from drawing whole cases with replacement and aggregating both trees again, so that a case that
/// several benchmarks apply to is drawn with all of them.
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
    let mut nodes = Vec::new();
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
        let (interval, pairs) = if node.kind == ScorecardPartKind::Benchmark {
            benchmark_interval(&before.parts[old], &after.parts[place])
        } else {
            let interval = match difference {
                Some(_) => group_interval((&before, old), (&after, place), &shared, missing)?,
                None => Err(UndefinedReason::NoValues),
            };
            (interval, shared.len())
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
            interval,
            pairs,
        });
    }

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
            NodeSide { score: None, bounds: None, standing: NodeStatus::NotApplicable, gate_failed: false };
            run.info.nodes.len()
        ];
    for tree in ScorecardTree::build_all(&run.info, None)? {
        let scores = tree.scores(|place| run.tally(place), missing);
        for id in tree.card.ids() {
            if let (Some(score), Some(place)) = (scores.node(id), tree.places.get(id.index())) {
                sides[*place] = NodeSide {
                    score: score.score(),
                    bounds: score.bounds,
                    standing: score.standing,
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

/// Computes the interval of a benchmark, over the cases that have a score in both runs.
fn benchmark_interval(
    base: &BenchmarkCases,
    candidate: &BenchmarkCases,
) -> (Result<Interval, UndefinedReason>, usize) {
    let pairs = candidate.cases.iter().filter_map(|(id, after)| {
        let before = base.cases.get(id)?.score?;
        Some((after.score?.get(), before.get()))
    });
    let (after, before): (Vec<f64>, Vec<f64>) = pairs.unzip();
    let differences: Vec<f64> = after.iter().zip(&before).map(|(after, before)| after - before).collect();
    let n = differences.len();

    // If all differences are equal, they contain no information about their spread.
    if n > 1 && differences.iter().all(|value| (value - differences[0]).abs() <= 1e-9) {
        return (Err(UndefinedReason::NoSpread), n);
    }
    let cases: Vec<usize> = (0..n).collect();
    let reach = DifferenceReach::of_scores(&before, &after);
    let found = bounded_difference(&differences, &cases, reach);
    (found.and_then(|found| found.interval(ConfidenceLevel::P95)), n)
}

/// A tree, with the results of its benchmarks by the index of the case in the shared list.
struct ResampledTree {
    tree: ScorecardTree,
    /// For each node of the tree and each shared case: its result.
    cases: Vec<Vec<Option<BenchmarkCaseScore>>>,
}

/// Result of a benchmark on a case, in the form that resampling needs.
#[derive(Clone, Copy)]
enum BenchmarkCaseScore {
    Score(UnitInterval),
    Missing,
}

impl ResampledTree {
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

    /// Returns the root score over these cases, possibly repeated.
    fn score(&self, drawn: &[usize], missing: MissingPolicy) -> Option<f64> {
        let tally = |id: ScorecardNodeId| {
            let Some(row) = self.cases.get(id.index()) else { return CaseTally::NOT_APPLICABLE };
            let open =
                drawn.iter().filter(|at| matches!(row[**at], Some(BenchmarkCaseScore::Missing))).count()
                    as u64;
            let scores = drawn.iter().filter_map(|at| match row[*at] {
                Some(BenchmarkCaseScore::Score(score)) => Some(score),
                _ => None,
            });
            CaseTally::new(scores, open)
        };

        let scores = score_card(&self.tree.card, tally, missing);
        scores.root().score()
    }
}

/// Computes the interval of a node above benchmarks by resampling cases.
fn group_interval(
    base: (&ScorecardRun, usize),
    candidate: (&ScorecardRun, usize),
    shared: &[String],
    missing: MissingPolicy,
) -> Result<Result<Interval, UndefinedReason>, ScorecardTreeError> {
    let order: BTreeMap<&str, usize> = shared.iter().enumerate().map(|(at, id)| (id.as_str(), at)).collect();
    let sides =
        (ResampledTree::new(base.0, base.1, &order)?, ResampledTree::new(candidate.0, candidate.1, &order)?);
    let (Some(before), Some(after)) = sides else { return Ok(Err(UndefinedReason::NoValues)) };
    let work = (before.cases.len() + after.cases.len()) * shared.len();
    if work.saturating_mul(RESAMPLES) > MAX_WORK {
        return Ok(Err(UndefinedReason::TooLarge));
    }

    let resampled =
        bootstrap(shared.len(), RESAMPLES, ConfidenceLevel::P95, &mut SeededRandom::new(SEED), |drawn| {
            let sides = after.score(drawn, missing).zip(before.score(drawn, missing));
            sides.map(|(after, before)| after - before).ok_or(UndefinedReason::NoValues)
        });
    Ok(resampled.and_then(|found| {
        if found.is_constant() {
            Err(UndefinedReason::NoSpread)
        } else {
            Ok(found.bca.unwrap_or(found.percentile))
        }
    }))
}
