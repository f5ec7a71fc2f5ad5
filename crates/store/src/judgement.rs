//! One row of `judgements.jsonl`: one decision with everything it rests on.

use std::borrow::Cow;
use std::sync::Arc;

use assize_rubric::{
    Confidence, Cost, Criterion, Evidence, GraderStanding, JudgeIdentity, Judgement, Lines, Outcome,
    PartialCost, Points, Probability, Tokens, Truncated, Ungraded, Unit, Usd, Weight,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{GraderResult, PanelRow, VoteRow};

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
    /// The lines the case's verdict was drawn at.
    pub lines: Lines,
    /// Name of the grader.
    pub grader: Arc<str>,
    /// The grader's place in the case.
    pub standing: Standing,
    /// The criterion as it was judged.
    pub criterion: Criterion,
    /// `met`, `unmet`, `scored`, `not_applicable` or `ungraded`.
    pub outcome: Cow<'static, str>,
    /// The judge's number, 0 to 10, for `scored`.
    pub raw_score: Option<u8>,
    /// For `scored` without a judge's number: what several, or their probabilities, come to, 0 to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<f64>,
    /// What the probabilities of the judge's tokens say, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<Probability>,
    /// The judge's reason.
    pub reason: String,
    /// How sure the judge says it is.
    pub confidence: Option<Confidence>,
    /// Quotes the decision rests on.
    pub evidence: Vec<Evidence>,
    /// Who decided.
    pub judge: JudgeIdentity,
    /// Why there is no decision.
    pub ungraded: Option<Ungraded>,
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
    /// What is known of a cost that is not known as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_partial: Option<PartialCost>,
    /// What the judge was not shown, or not at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
    /// What the judge replied, word for word.
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
    pub vote: Option<VoteRow>,
    /// For a decision made of several, which follow it: how. What they cost stands in their rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<PanelRow>,
}

/// A grader's weight and gate, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Standing {
    /// Weight among the graders of the case.
    pub weight: Weight,
    /// Whether the case fails when the grader stays below its line.
    pub required: bool,
    /// The grader's own line, 0 to 1.
    pub min_score: Option<Unit>,
    /// Whether the result is turned around.
    pub negate: bool,
}

impl From<GraderStanding> for Standing {
    fn from(standing: GraderStanding) -> Self {
        let GraderStanding { weight, required, min_score, negate } = standing;
        Self { weight, required, min_score, negate }
    }
}

impl From<Standing> for GraderStanding {
    fn from(standing: Standing) -> Self {
        let Standing { weight, required, min_score, negate } = standing;
        Self { weight, required, min_score, negate }
    }
}

/// Which case, grader and criterion a judgement belongs to.
#[derive(Debug, Clone)]
pub struct JudgementContext {
    /// Name of the suite.
    pub suite: Arc<str>,
    /// Id of the case.
    pub case_id: Arc<str>,
    /// Name of the target.
    pub target: Option<Arc<str>>,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// The case's lines.
    pub lines: Lines,
    /// Name of the grader.
    pub grader: Arc<str>,
    /// The grader's place in the case.
    pub standing: GraderStanding,
    /// Names of the members that lead to it, for a member of a composite.
    pub member: Vec<String>,
    /// Number of the turn of a conversation that is graded, from 1.
    pub turn: Option<u32>,
}

/// The id of the criterion that a row about a whole grader carries.
const WHOLE: &str = "grader";

impl JudgementRow {
    /// An id of this row as results show it: behind the names of the members it stands in.
    pub fn shown_id(&self, id: impl Into<Arc<str>>) -> Arc<str> {
        let id = id.into();
        if self.member.is_empty() {
            return id;
        }
        let members = self.member.iter().map(String::as_str);
        let parts: Vec<&str> = members.chain(Some(&*id).filter(|id| !id.is_empty())).collect();
        parts.join("/").into()
    }

    /// The row of a grader that is no rubric. Of `judgement` only who decided, at what cost, counts.
    pub fn of_grader(context: JudgementContext, result: GraderResult, judgement: Judgement) -> Self {
        let criterion = Criterion::checklist(WHOLE, "the grader as a whole");
        let word = if result.error.is_some() { "error" } else { "graded" };
        let mut row = Self::new(context, &criterion, judgement);
        row.outcome = word.into();
        (row.raw_score, row.points) = (None, None);
        row.grader_result = Some(result);
        row
    }

    /// What the calls of this row cost.
    pub fn cost(&self) -> Cost {
        Cost::from_parts(self.cost_usd, self.cost_partial)
    }

    /// The outcome the row stands for. A row whose parts do not fit together or do not fit the
    /// criterion's scale stands for nothing decided.
    pub fn decided(&self) -> Outcome {
        let whole = Outcome::from_parts(&self.outcome, self.raw_score);
        let averaged = || {
            let points = self.points.filter(|_| self.outcome == "scored" && self.raw_score.is_none())?;
            Points::new(points).ok().map(Outcome::of_points)
        };
        whole
            .or_else(averaged)
            .filter(|outcome| outcome.fits(&self.criterion.scale))
            .unwrap_or(Outcome::Ungraded)
    }

    /// The row of a judgement.
    pub fn new(context: JudgementContext, criterion: &Criterion, judgement: Judgement) -> Self {
        Self {
            suite: context.suite,
            case_id: context.case_id,
            target: context.target,
            repeat: context.repeat,
            lines: context.lines,
            grader: context.grader,
            standing: context.standing.into(),
            criterion: criterion.clone(),
            outcome: judgement.outcome.name().into(),
            raw_score: judgement.outcome.raw_score().map(assize_rubric::RawScore::get),
            points: match judgement.outcome {
                Outcome::Averaged(points) => Some(points.get()),
                _ => None,
            },
            probability: judgement.probability,
            reason: judgement.reason,
            confidence: judgement.confidence,
            evidence: judgement.evidence,
            judge: judgement.judge,
            ungraded: judgement.ungraded,
            attempts: judgement.attempts,
            cached_calls: judgement.cached_calls,
            tokens: judgement.tokens,
            latency_ms: judgement.latency_ms,
            cost_usd: judgement.cost.whole(),
            cost_partial: judgement.cost.partial(),
            truncated: judgement.truncated,
            replies: judgement.replies,
            judging: None,
            member: context.member,
            turn: context.turn,
            grader_result: None,
            vote: None,
            panel: None,
        }
    }
}
