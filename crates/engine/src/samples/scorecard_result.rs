//! Results of samples that were graded with a scorecard. The scores of its parts are copied.

use assize_rubric::{BenchmarkState, NodeScore, NodeStatus, Verdict};
use assize_store::GateRow;

use super::card::ScoredPart;
use super::result::{GradeStatus, OnUngraded, RewardBounds, RewardKind, SampleResult};
use super::scorecard_part::{BenchmarkResult, ScorecardPartResult};

impl SampleResult {
    /// Adds the parts of the scorecard to the result of the sample. The first part is the top.
    #[must_use]
    pub fn with_scorecard(
        self,
        parts: &[ScoredPart<'_>],
        reward: RewardKind,
        on_ungraded: OnUngraded,
    ) -> Self {
        let Some(top) = parts.first() else { return self };
        let (reward, reward_assumed) = reward_bounds(top, parts, reward).choose(on_ungraded);

        Self {
            status: status_of(parts),
            reward,
            reward_assumed,
            reward_components: parts[1..]
                .iter()
                .map(|part| (part.part.code.clone(), part.score.score()))
                .collect(),
            score: top.score.score(),
            score_low: low(&top.score).or(Some(0.0)),
            score_high: high(&top.score).or(Some(1.0)),
            coverage: top.score.coverage,
            verdict: match top.score.status {
                NodeStatus::Pass => Verdict::Pass,
                NodeStatus::Fail | NodeStatus::Blocked => Verdict::Fail,
                NodeStatus::Incomplete | NodeStatus::NotApplicable => Verdict::Incomplete,
            },
            gates_failed: top
                .blocked_by
                .iter()
                .map(|code| GateRow {
                    grader: (*code).to_owned(),
                    criterion: None,
                    rule: "hard_gate".to_owned(),
                })
                .collect(),
            // The checks of a benchmark are part of its decision.
            decisions: Vec::new(),
            error: reason_of(parts).or(self.error),
            scorecard: parts.iter().map(part_result).collect(),
            ..self
        }
    }
}

fn part_result(scored: &ScoredPart<'_>) -> ScorecardPartResult {
    let ScoredPart { part, parent, score, blocked_by, decision } = scored;
    ScorecardPartResult {
        code: part.code.clone(),
        label: part.label.clone(),
        kind: part.kind,
        parent: parent.map(str::to_owned),
        weight: part.weight,
        threshold: part.threshold,
        hard_gate: part.hard_gate,
        status: score.status,
        score: score.score(),
        score_low: low(score),
        score_high: high(score),
        coverage: score.coverage,
        blocked_by: blocked_by.iter().map(|code| (*code).to_owned()).collect(),
        decision: decision.map(|case| BenchmarkResult {
            state: case.finding.state,
            pass: case.finding.pass,
            decided_by: case.finding.decided_by,
            reason: case.reason.clone(),
        }),
    }
}

fn low(score: &NodeScore) -> Option<f64> {
    score.bounds.map(|(low, _)| low)
}

fn high(score: &NodeScore) -> Option<f64> {
    score.bounds.map(|(_, high)| high)
}

/// Whether it is a benchmark that applies and has no score.
fn is_open(part: &ScoredPart<'_>) -> bool {
    part.decision
        .is_some_and(|case| !matches!(case.finding.state, BenchmarkState::Scored | BenchmarkState::Uncertain))
}

fn status_of(parts: &[ScoredPart<'_>]) -> GradeStatus {
    let decided = parts.iter().filter(|part| part.decision.is_some()).count();
    match parts.iter().filter(|part| is_open(part)).count() {
        0 if decided == 0 => GradeStatus::Ungraded,
        0 => GradeStatus::Graded,
        open if open == decided => GradeStatus::Ungraded,
        _ => GradeStatus::Partial,
    }
}

fn reward_bounds(top: &ScoredPart<'_>, parts: &[ScoredPart<'_>], reward: RewardKind) -> RewardBounds {
    let score = &top.score;
    let has_open_gate = || parts.iter().any(|part| part.part.hard_gate && part.score.missing > 0);
    match (reward, score.status) {
        (RewardKind::Gated, NodeStatus::Blocked)
        | (RewardKind::Pass, NodeStatus::Fail | NodeStatus::Blocked) => RewardBounds::certain(0.0),
        (RewardKind::Gated, _) if has_open_gate() => {
            RewardBounds { known: None, low: low(score).map(|_| 0.0), high: high(score) }
        }
        (RewardKind::Score | RewardKind::Gated, _) => {
            RewardBounds { known: score.score(), low: low(score), high: high(score) }
        }
        (RewardKind::Pass, NodeStatus::Pass) => RewardBounds::certain(1.0),
        (RewardKind::Pass, NodeStatus::Incomplete | NodeStatus::NotApplicable) => {
            RewardBounds { known: None, low: Some(0.0), high: Some(1.0) }
        }
    }
}

/// Why the result is incomplete: the reason of the first ungraded benchmark.
fn reason_of(parts: &[ScoredPart<'_>]) -> Option<String> {
    let open: Vec<_> = parts.iter().filter(|part| is_open(part)).collect();
    let Some(first) = open.first() else {
        let is_idle = parts.iter().all(|part| part.decision.is_none());
        return is_idle.then(|| "no benchmark applies to the sample".to_owned());
    };

    let reason = first.decision.map_or("", |case| &case.reason);
    Some(match open.len() {
        1 => format!("{}: {reason}", first.part.code),
        more => format!("{}: {reason} (and {} more)", first.part.code, more - 1),
    })
}
