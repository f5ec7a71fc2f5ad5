//! One row of `judgements.jsonl`: one decision with everything it rests on.

use std::sync::Arc;

use assize_rubric::{
    CaseDecision, Cost, Criterion, Decision, DecisionProbability, EvidenceQuote, Finding, GraderFinding,
    GraderWeighting, JudgeConfidence, JudgeIdentity, JudgingUsage, Outcome, OutcomeKind, PanelReport,
    PartialCost, RawScore, Tokens, TruncationRecord, UngradedReason, Usd, VerdictThresholds, Vote,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CaseKey, GraderResult};

/// One criterion decision. With these rows alone every number of a run can be computed again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgementRow {
    /// Name of the suite.
    pub suite: Arc<str>,
    /// Id of the case.
    pub case_id: Arc<str>,
    /// Name of the target; null when the answer was given.
    pub target: Option<Arc<str>>,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// Thresholds of the case's verdict.
    #[serde(rename = "thresholds")]
    pub lines: VerdictThresholds,
    /// Name of the grader.
    pub grader: Arc<str>,
    /// The grader's place in the case.
    pub standing: GraderWeighting,
    /// The criterion as it was judged.
    pub criterion: Criterion,
    /// `met`, `unmet`, `scored`, `not_applicable` or `ungraded`.
    pub outcome: RowOutcome,
    /// The judge's number, 0 to 10, for `scored`.
    pub raw_score: Option<u8>,
    /// For `scored` without a judge's number: what several, or their probabilities, come to, 0 to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<f64>,
    /// Probabilities of the judge's tokens, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<DecisionProbability>,
    /// The judge's reason.
    pub reason: String,
    /// Confidence the judge states.
    pub confidence: Option<JudgeConfidence>,
    /// Quotes the decision rests on.
    pub evidence: Vec<EvidenceQuote>,
    /// Identity of the judge.
    pub judge: JudgeIdentity,
    /// Reason there is no decision.
    pub ungraded: Option<UngradedReason>,
    /// Calls made, failed ones included.
    pub attempts: u32,
    /// Calls that were answered from the cache instead of being made.
    #[serde(default)]
    pub cached_calls: u32,
    /// Tokens of the calls made.
    pub tokens: Tokens,
    /// Time spent in those calls, in milliseconds.
    pub latency_ms: Option<u64>,
    /// Cost of those calls in US dollars; null when not all of it is known.
    pub cost_usd: Option<Usd>,
    /// Known part of a cost that is not known as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_partial: Option<PartialCost>,
    /// Material the judge was not shown, or not at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<TruncationRecord>,
    /// Replies of the judge, word for word.
    pub replies: Vec<String>,
    /// For a rubric's criterion: how many criteria went into one call, `per_criterion`, `batched` or `batched:N`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judging: Option<Arc<str>>,
    /// Names of the members that lead to the grader, for a member of a composite; empty for the
    /// grader itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub member: Vec<String>,
    /// For what one turn of a conversation was graded by: its number, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// For a grader that is no rubric: what it decided as a whole. The criterion then says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grader_result: Option<GraderResult>,
    /// For one of several decisions on the criterion: whose it is. The row that combines them stands before them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vote: Option<Vote>,
    /// For a decision made of several, which follow it: how. What they cost stands in their rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<PanelReport>,
}

/// The word for how a decision ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowOutcome {
    /// A criterion: the answer does it.
    Met,
    /// A criterion: the answer does not do it.
    Unmet,
    /// A criterion: there is a score.
    Scored,
    /// A criterion: it does not apply.
    NotApplicable,
    /// A criterion: the judge could not be made to answer.
    Ungraded,
    /// A grader as a whole: it decided.
    Graded,
    /// A grader as a whole: it broke.
    Error,
}

impl From<OutcomeKind> for RowOutcome {
    fn from(kind: OutcomeKind) -> Self {
        match kind {
            OutcomeKind::Met => Self::Met,
            OutcomeKind::Unmet => Self::Unmet,
            OutcomeKind::Scored => Self::Scored,
            OutcomeKind::NotApplicable => Self::NotApplicable,
            OutcomeKind::Ungraded => Self::Ungraded,
        }
    }
}

impl RowOutcome {
    /// The outcome of a criterion; `None` in a row about a grader as a whole.
    const fn kind(self) -> Option<OutcomeKind> {
        Some(match self {
            Self::Met => OutcomeKind::Met,
            Self::Unmet => OutcomeKind::Unmet,
            Self::Scored => OutcomeKind::Scored,
            Self::NotApplicable => OutcomeKind::NotApplicable,
            Self::Ungraded => OutcomeKind::Ungraded,
            Self::Graded | Self::Error => return None,
        })
    }
}

/// The columns that say what was decided.
struct FindingColumns {
    criterion: Criterion,
    outcome: RowOutcome,
    raw_score: Option<u8>,
    points: Option<f64>,
    grader_result: Option<GraderResult>,
}

impl FindingColumns {
    fn new(decision: &Decision) -> Self {
        let whole = |result: Option<GraderResult>, may_not_apply: bool| Self {
            // The layout has a criterion in every row.
            criterion: Criterion { may_not_apply, ..Criterion::checklist("grader", "the grader as a whole") },
            outcome: match &result {
                Some(GraderResult { error: None, .. }) => RowOutcome::Graded,
                _ => RowOutcome::Error,
            },
            raw_score: None,
            points: None,
            grader_result: result,
        };

        match &decision.finding {
            Finding::Criterion { criterion, outcome } => Self {
                criterion: criterion.clone(),
                outcome: outcome.kind().into(),
                raw_score: outcome.raw_score().map(RawScore::get),
                points: match outcome {
                    Outcome::Averaged(points) => Some(points.get()),
                    _ => None,
                },
                grader_result: None,
            },
            Finding::Grader(finding) => whole(Some(finding.as_ref().into()), decision.may_not_apply()),
            // One order of a comparison is never stored by itself.
            Finding::Preference(_) => whole(Some(GraderResult::default()), false),
        }
    }
}

impl JudgementRow {
    /// The row of a decision on a case.
    pub fn new(key: &CaseKey, decided: &CaseDecision) -> Self {
        let CaseDecision { lines, grader, standing, member, turn, judging, decision, vote, panel } =
            decided.clone();
        let FindingColumns { criterion, outcome, raw_score, points, grader_result } =
            FindingColumns::new(&decision);
        let JudgingUsage { attempts, cached_calls, tokens, latency_ms, cost, replies } = decision.spent;

        Self {
            suite: key.suite.clone(),
            case_id: key.case_id.clone(),
            target: key.target.clone(),
            repeat: key.repeat,
            lines,
            grader,
            standing,
            criterion,
            outcome,
            raw_score,
            points,
            probability: decision.probability,
            reason: decision.reason,
            confidence: decision.confidence,
            evidence: decision.evidence,
            judge: decision.judge,
            ungraded: decision.ungraded,
            attempts,
            cached_calls,
            tokens,
            latency_ms,
            cost_usd: cost.total(),
            cost_partial: cost.to_partial(),
            truncated: decision.truncated,
            replies,
            judging,
            member,
            turn,
            grader_result,
            vote,
            panel,
        }
    }
}

impl From<JudgementRow> for CaseDecision {
    /// The decision in a row. A criterion whose outcome, number and scale do not fit together is ungraded.
    fn from(row: JudgementRow) -> Self {
        let finding = if let Some(result) = row.grader_result {
            Finding::from(GraderFinding::from(result.with_applicability(row.criterion.may_not_apply)))
        } else {
            let outcome = row
                .outcome
                .kind()
                .and_then(|kind| Outcome::from_parts(kind, row.raw_score, row.points))
                .filter(|outcome| outcome.fits_scale(&row.criterion.scale));
            Finding::Criterion { criterion: row.criterion, outcome: outcome.unwrap_or(Outcome::Ungraded) }
        };

        let spent = JudgingUsage {
            attempts: row.attempts,
            cached_calls: row.cached_calls,
            tokens: row.tokens,
            latency_ms: row.latency_ms,
            cost: Cost::from_parts(row.cost_usd, row.cost_partial),
            replies: row.replies,
        };

        Self {
            lines: row.lines,
            grader: row.grader,
            standing: row.standing,
            member: row.member,
            turn: row.turn,
            judging: row.judging,
            decision: Decision {
                finding,
                reason: row.reason,
                evidence: row.evidence,
                confidence: row.confidence,
                probability: row.probability,
                judge: row.judge,
                ungraded: row.ungraded,
                truncated: row.truncated,
                spent,
            },
            vote: row.vote,
            panel: row.panel,
        }
    }
}
