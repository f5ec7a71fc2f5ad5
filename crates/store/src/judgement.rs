//! One row of `judgements.jsonl`: one decision with everything needed to recompute and explain it.

use std::sync::Arc;

use assize_rubric::{
    CaseDecision, Cost, Criterion, Decision, DecisionProbability, EvidenceQuote, Finding, GraderFinding,
    GraderWeighting, JudgeConfidence, JudgeIdentity, JudgingUsage, Outcome, OutcomeKind, PanelReport,
    PartialCost, RawScore, Tokens, TruncationRecord, UngradedReason, Usd, VerdictThresholds, Vote,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CaseKey, GraderResult};

/// One decision on a criterion. All numbers of a run can be recomputed from these rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgementRow {
    /// Name of the suite.
    pub suite: Arc<str>,
    /// Id of the case.
    pub case_id: Arc<str>,
    /// Name of the target; null if the answer was given.
    pub target: Option<Arc<str>>,
    /// Number of the trial, from 1.
    #[serde(rename = "repeat")]
    pub trial: u32,
    /// Thresholds of the case.
    pub thresholds: VerdictThresholds,
    /// Name of the grader.
    pub grader: Arc<str>,
    /// Weight, gate and threshold of the grader in the case.
    #[serde(rename = "standing")]
    pub weighting: GraderWeighting,
    /// Criterion as the judge saw it.
    pub criterion: Criterion,
    /// `met`, `unmet`, `scored`, `not_applicable` or `ungraded`.
    pub outcome: RowOutcome,
    /// Raw score from the judge, 0 to 10, for `scored`.
    pub raw_score: Option<u8>,
    /// Aggregated raw score, 0 to 10, for `scored` decisions that combine several votes or token probabilities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<f64>,
    /// Token probabilities of the decision, if they were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<DecisionProbability>,
    /// Reason the judge gave.
    pub reason: String,
    /// Confidence stated by the judge.
    pub confidence: Option<JudgeConfidence>,
    /// Quotes that support the decision.
    pub evidence: Vec<EvidenceQuote>,
    /// Identity of the judge.
    pub judge: JudgeIdentity,
    /// Reason why there is no decision.
    pub ungraded: Option<UngradedReason>,
    /// Number of calls, including failed ones.
    pub attempts: u32,
    /// Number of calls answered from the cache.
    #[serde(default)]
    pub cached_calls: u32,
    /// Tokens used by the calls.
    pub tokens: Tokens,
    /// Total time of the calls in milliseconds.
    pub latency_ms: Option<u64>,
    /// Cost of the calls in US dollars; null if it is not fully known.
    pub cost_usd: Option<Usd>,
    /// Known part of the cost, if the cost is not fully known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_partial: Option<PartialCost>,
    /// Material that the judge did not see, or saw only in parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<TruncationRecord>,
    /// Replies of the judge, verbatim.
    pub replies: Vec<String>,
    /// True if the reply with the decision has slips of JSON that leave only one reading.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_slips: bool,
    /// Way in which the criteria of the rubric were sent to the judge: `per_criterion`, `batched` or `batched:N`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judging: Option<Arc<str>>,
    /// Path of names from the composite to this member; empty for the grader itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub member: Vec<String>,
    /// Number of the conversation turn that was graded, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// Result of a grader that has no criteria. The criterion of the row is then empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grader_result: Option<GraderResult>,
    /// Judge and weight of a single vote. The votes follow the row that combines them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vote: Option<Vote>,
    /// Way in which the votes that follow were combined. The rows of the votes have their cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<PanelReport>,
}

/// Outcome of a decision or grader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowOutcome {
    /// The answer meets the criterion.
    Met,
    /// The answer does not meet the criterion.
    Unmet,
    /// The criterion has a score.
    Scored,
    /// The criterion does not apply.
    NotApplicable,
    /// No judge gave a usable decision on the criterion.
    Ungraded,
    /// A grader without criteria gave a result.
    Graded,
    /// A grader without criteria failed with an error.
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

/// Returns the columns with the decision itself: the criterion, the outcome, and the result of a whole grader.
fn finding_columns(decision: &Decision) -> (Criterion, RowOutcome, Option<GraderResult>) {
    let result = match &decision.finding {
        Finding::Criterion { criterion, outcome } => {
            return (criterion.clone(), outcome.kind().into(), None);
        }
        Finding::Grader(finding) => GraderResult::from(&**finding),
        // A single order of a comparison is never stored.
        Finding::Preference(_) => GraderResult::default(),
    };
    let outcome = if result.error.is_none() { RowOutcome::Graded } else { RowOutcome::Error };
    // Every row of this layout has a criterion, so a whole grader gets a placeholder.
    let placeholder = Criterion::checklist("grader", "the grader as a whole");
    (Criterion { may_not_apply: decision.may_not_apply(), ..placeholder }, outcome, Some(result))
}

impl JudgementRow {
    /// Creates the row of a decision on a case.
    pub fn new(key: &CaseKey, decided: &CaseDecision) -> Self {
        let CaseDecision { thresholds, grader, weighting, member, turn, judging, decision, vote, panel } =
            decided.clone();
        let (criterion, outcome, grader_result) = finding_columns(&decision);
        let decided = decision.outcome();
        let JudgingUsage { attempts, cached_calls, tokens, latency_ms, cost, replies, has_slips } =
            decision.spent;

        Self {
            suite: key.suite.clone(),
            case_id: key.case_id.clone(),
            target: key.target.clone(),
            trial: key.trial,
            thresholds,
            grader,
            weighting,
            criterion,
            outcome,
            raw_score: decided.raw_score().map(RawScore::get),
            points: match decided {
                Outcome::Averaged(points) => Some(points.get()),
                _ => None,
            },
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
            has_slips,
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
    /// Returns the decision of a row. A criterion whose outcome, number and scale contradict each other is
    /// ungraded.
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
            has_slips: row.has_slips,
        };

        Self {
            thresholds: row.thresholds,
            grader: row.grader,
            weighting: row.weighting,
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
