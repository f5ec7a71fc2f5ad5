//! JSON of the parts of a scored scorecard.

use assize_analysis::{BenchmarkCase, ScorecardRun, ScorecardTree};
use assize_rubric::{
    BenchmarkState, Criticality, DecidedBy, LabelAccount, NodeStatus, ScoreContribution,
    ScorecardAggregation, ScorecardNodeId, ScorecardNodeKind, ScorecardScores, UnitInterval, Weight,
};
use assize_store::{ScorecardInfo, ScorecardNodeInfo, ScorecardPartKind};
use serde::Serialize;

use crate::scorecard_scores::green_gate_bound;

/// One part with its score: an object of `nodes` of `assize scorecard score --json`, and of `assize explain --json`.
#[derive(Debug, Serialize)]
pub struct ScorecardNodeJson<'a> {
    code: &'a str,
    label: Option<&'a str>,
    kind: Option<ScorecardPartKind>,
    parent: Option<&'a str>,
    weight: Weight,
    threshold: UnitInterval,
    aggregation_method: Option<ScorecardAggregation>,
    criticality: Option<Criticality>,
    hard_gate: bool,
    evaluator_type: Option<&'a str>,
    #[serde(rename = "verdict")]
    status: NodeStatus,
    passes: bool,
    score: Option<f64>,
    score_low: Option<f64>,
    score_high: Option<f64>,
    gate_failed: bool,
    blocked_by: Vec<&'a str>,
    untested_gates: Vec<&'a str>,
    failure_rate_upper: Option<f64>,
    weight_below: f64,
    weight_covered: f64,
    tested_share: f64,
    coverage: Option<f64>,
    missing: u64,
    contribution: Option<ScoreContribution>,
    cases: CasesJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<ChildJson<'a>>>,
}

/// The number of cases with a score, or the cases themselves.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum CasesJson<'a> {
    Count(u64),
    List(Vec<CaseJson<'a>>),
}

/// A part that another part's score is computed from.
#[derive(Debug, Serialize)]
struct ChildJson<'a> {
    code: &'a str,
    weight: Weight,
    counts: bool,
    score_low: Option<f64>,
    score_high: Option<f64>,
    #[serde(rename = "verdict")]
    status: NodeStatus,
}

/// A case of a benchmark.
#[derive(Debug, Serialize)]
struct CaseJson<'a> {
    case: &'a str,
    state: BenchmarkState,
    score: Option<UnitInterval>,
    pass: Option<bool>,
    decided_by: Option<DecidedBy>,
    reason: &'a str,
    labels: Option<&'a LabelAccount>,
    votes: Vec<VoteJson<'a>>,
}

/// The vote of one judge.
#[derive(Debug, Serialize)]
struct VoteJson<'a> {
    judge: &'a str,
    repeat: u32,
    escalated: bool,
    state: BenchmarkState,
    score: Option<UnitInterval>,
    pass: Option<bool>,
    reason: &'a str,
}

impl<'a> ScorecardNodeJson<'a> {
    /// Creates the JSON of a part with the number of its cases. `contributions` belong to `scores`.
    pub fn new(
        info: &'a ScorecardInfo,
        tree: &ScorecardTree,
        scores: &'a ScorecardScores<'_>,
        contributions: &[Option<ScoreContribution>],
        id: ScorecardNodeId,
    ) -> Option<Self> {
        let card = scores.card();
        let (node, found) = card.node(id).zip(scores.node(id))?;
        let stored: Option<&ScorecardNodeInfo> =
            tree.places.get(id.index()).and_then(|place| info.nodes.get(*place));
        let codes = |ids: Vec<ScorecardNodeId>| ids.into_iter().map(|id| node_code(scores, id)).collect();
        let (aggregation, criticality, group_gate) = match node.kind {
            ScorecardNodeKind::Group { aggregation, hard_gate } => (Some(aggregation), None, hard_gate),
            ScorecardNodeKind::Benchmark { criticality } => (None, Some(criticality), false),
        };

        Some(Self {
            code: &node.code,
            label: stored.and_then(|part| part.label.as_deref()),
            kind: stored.map(|part| part.kind),
            parent: card.parent(id).map(|parent| node_code(scores, parent)),
            weight: node.weight,
            threshold: node.line,
            aggregation_method: aggregation,
            criticality,
            hard_gate: group_gate || criticality == Some(Criticality::HardGate),
            evaluator_type: stored.and_then(|part| part.evaluator.as_deref()),
            status: found.status,
            passes: found.status == NodeStatus::Pass,
            score: found.score(),
            score_low: found.bounds.map(|(low, _)| low),
            score_high: found.bounds.map(|(_, high)| high),
            gate_failed: found.gate_failed,
            blocked_by: codes(scores.blockers(id)),
            untested_gates: codes(scores.untested_gates(id)),
            failure_rate_upper: green_gate_bound(scores, id),
            weight_below: found.weight,
            weight_covered: found.covered_weight,
            tested_share: found.tested_share,
            coverage: found.coverage,
            missing: found.missing,
            contribution: contributions.get(id.index()).copied().flatten(),
            cases: CasesJson::Count(found.scored),
            parts: None,
        })
    }

    /// Creates the calculation of a part: with the parts below it, and with its cases instead of their
    /// number.
    pub fn explain(
        run: &'a ScorecardRun,
        tree: &ScorecardTree,
        scores: &'a ScorecardScores<'_>,
        id: ScorecardNodeId,
    ) -> Option<Self> {
        let card = scores.card();
        let children = card.children(id).filter_map(|child| {
            let (node, below) = card.node(child).zip(scores.node(child))?;
            let signal = ScorecardNodeKind::Benchmark { criticality: Criticality::ImprovementSignal };
            Some(ChildJson {
                code: &node.code,
                weight: node.weight,
                counts: node.kind != signal,
                score_low: below.bounds.map(|(low, _)| low),
                score_high: below.bounds.map(|(_, high)| high),
                status: below.status,
            })
        });
        let part = tree.places.get(id.index()).and_then(|place| run.parts.get(*place));
        let cases = part.into_iter().flat_map(|part| part.cases.iter()).map(CaseJson::new);

        Some(Self {
            parts: Some(children.collect()),
            cases: CasesJson::List(cases.collect()),
            ..Self::new(&run.info, tree, scores, &scores.contributions(), id)?
        })
    }
}

impl<'a> CaseJson<'a> {
    fn new((id, case): (&'a str, &'a BenchmarkCase)) -> Self {
        let votes = case.votes.iter().map(|vote| VoteJson {
            judge: &vote.judge,
            repeat: vote.repeat,
            escalated: vote.escalated,
            state: vote.finding.state,
            score: vote.score,
            pass: vote.finding.pass,
            reason: &vote.reason,
        });

        Self {
            case: id,
            state: case.finding.state,
            score: case.score,
            pass: case.finding.pass,
            decided_by: case.finding.decided_by,
            reason: &case.reason,
            labels: case.labels.as_deref(),
            votes: votes.collect(),
        }
    }
}

fn node_code<'s>(scores: &'s ScorecardScores<'_>, id: ScorecardNodeId) -> &'s str {
    scores.card().node(id).map_or("", |node| &node.code)
}
