//! One row of `judgements.jsonl`: one decision with everything it rests on.

use assize_rubric::{
    Confidence, Criterion, Evidence, GraderStanding, JudgeIdentity, Judgement, Lines, Outcome, Tokens,
    Ungraded, Unit, Weight,
};
use serde::{Deserialize, Serialize};

/// One criterion decision. With these rows alone every number of a run can be computed again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgementRow {
    /// Name of the suite.
    pub suite: String,
    /// Id of the case.
    pub case_id: String,
    /// Name of the target; null when the answer was given.
    pub target: Option<String>,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// The lines the case's verdict was drawn at.
    pub lines: Lines,
    /// Name of the grader.
    pub grader: String,
    /// The grader's place in the case.
    pub standing: Standing,
    /// The criterion as it was judged.
    pub criterion: Criterion,
    /// `met`, `unmet`, `scored`, `not_applicable` or `ungraded`.
    pub outcome: String,
    /// The judge's number, 0 to 10, for `scored`.
    pub raw_score: Option<u8>,
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
    /// Cost of those calls in US dollars; null when the price is not known.
    pub cost_usd: Option<f64>,
    /// What the judge replied, word for word.
    pub replies: Vec<String>,
}

/// A grader's weight and gate, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy)]
pub struct JudgementContext<'a> {
    /// Name of the suite.
    pub suite: &'a str,
    /// Id of the case.
    pub case_id: &'a str,
    /// Name of the target.
    pub target: Option<&'a str>,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// The case's lines.
    pub lines: Lines,
    /// Name of the grader.
    pub grader: &'a str,
    /// The grader's place in the case.
    pub standing: GraderStanding,
}

impl JudgementRow {
    /// The outcome the row stands for. A row whose parts do not fit together or do not fit the
    /// criterion's scale stands for nothing decided.
    pub fn decided(&self) -> Outcome {
        Outcome::from_parts(&self.outcome, self.raw_score)
            .filter(|outcome| outcome.fits(&self.criterion.scale))
            .unwrap_or(Outcome::Ungraded)
    }

    /// The row of a judgement.
    pub fn new(context: JudgementContext<'_>, criterion: &Criterion, judgement: &Judgement) -> Self {
        Self {
            suite: context.suite.to_owned(),
            case_id: context.case_id.to_owned(),
            target: context.target.map(str::to_owned),
            repeat: context.repeat,
            lines: context.lines,
            grader: context.grader.to_owned(),
            standing: context.standing.into(),
            criterion: criterion.clone(),
            outcome: judgement.outcome.name().to_owned(),
            raw_score: judgement.outcome.raw_score().map(assize_rubric::RawScore::get),
            reason: judgement.reason.clone(),
            confidence: judgement.confidence,
            evidence: judgement.evidence.clone(),
            judge: judgement.judge.clone(),
            ungraded: judgement.ungraded.clone(),
            attempts: judgement.attempts,
            cached_calls: judgement.cached_calls,
            tokens: judgement.tokens,
            latency_ms: judgement.latency_ms,
            cost_usd: judgement.cost_usd,
            replies: judgement.replies.clone(),
        }
    }
}
