//! Decisions of judges, checks, programs and panels, with everything needed to trust them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BenchmarkFinding, Cost, Criterion, CriterionScale, Finding, GraderFinding, Outcome, VoteValue};

/// One decision: on a criterion, or of a grader as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The thing decided.
    pub finding: Finding,
    /// The judge's reason; for an ungraded criterion, the reason for which it could not be graded.
    pub reason: String,
    /// Quotes from the answer that support the decision.
    pub evidence: Vec<EvidenceQuote>,
    /// The judge's own estimate of its confidence.
    pub confidence: Option<JudgeConfidence>,
    /// The decision according to token probabilities, if they were requested.
    pub probability: Option<DecisionProbability>,
    /// The judge.
    pub judge: JudgeIdentity,
    /// Reason there is no decision.
    pub ungraded: Option<UngradedReason>,
    /// Set when the judge could not be shown everything at once.
    pub truncated: Option<TruncationRecord>,
    /// Calls, tokens, time and money that it took.
    pub spent: JudgingUsage,
}

/// The price of a decision. A call for several criteria is counted on the first of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JudgingUsage {
    /// Calls made, failed ones included.
    pub attempts: u32,
    /// Calls answered from the reply cache.
    pub cached_calls: u32,
    /// Tokens of the calls made.
    pub tokens: Tokens,
    /// Time spent in those calls, in milliseconds.
    pub latency_ms: Option<u64>,
    /// Cost of those calls.
    pub cost: Cost,
    /// The judge's replies, word for word, in order.
    pub replies: Vec<String>,
}

impl JudgingUsage {
    /// Adds up two of them; the replies of `other` come last.
    #[must_use]
    pub fn combined_with(self, other: Self) -> Self {
        let mut tokens = self.tokens;
        tokens.add(other.tokens);

        Self {
            attempts: self.attempts.saturating_add(other.attempts),
            cached_calls: self.cached_calls.saturating_add(other.cached_calls),
            tokens,
            latency_ms: match (self.latency_ms, other.latency_ms) {
                (None, None) => None,
                (one, two) => Some(one.unwrap_or(0).saturating_add(two.unwrap_or(0))),
            },
            cost: self.cost + other.cost,
            replies: self.replies.into_iter().chain(other.replies).collect(),
        }
    }
}

impl Decision {
    /// A decision that rests on nothing and cost nothing.
    pub fn new(judge: JudgeIdentity, finding: impl Into<Finding>, reason: impl Into<String>) -> Self {
        Self {
            finding: finding.into(),
            reason: reason.into(),
            evidence: Vec::new(),
            confidence: None,
            probability: None,
            judge,
            ungraded: None,
            truncated: None,
            spent: JudgingUsage::default(),
        }
    }

    /// A criterion that could not be judged, at no cost.
    pub fn ungraded(judge: JudgeIdentity, criterion: Criterion, ungraded: UngradedReason) -> Self {
        let reason = ungraded.message.clone();
        let finding = Finding::Criterion { criterion, outcome: Outcome::Ungraded };
        Self { ungraded: Some(ungraded), ..Self::new(judge, finding, reason) }
    }

    /// A grader whose judge could not be made to answer, at no cost.
    pub fn unanswered(judge: JudgeIdentity, ungraded: UngradedReason) -> Self {
        let finding = GraderFinding::broken(format!("could not be judged: {}", ungraded.message));
        let reason = ungraded.message.clone();
        Self { ungraded: Some(ungraded), ..Self::new(judge, finding, reason) }
    }

    /// The criterion decided on; `None` for a grader as a whole.
    pub const fn criterion(&self) -> Option<&Criterion> {
        match &self.finding {
            Finding::Criterion { criterion, .. } => Some(criterion),
            Finding::Grader(_) | Finding::Preference(_) => None,
        }
    }

    /// The outcome of a criterion; ungraded for anything else.
    pub const fn outcome(&self) -> Outcome {
        match &self.finding {
            Finding::Criterion { outcome, .. } => *outcome,
            Finding::Grader(_) | Finding::Preference(_) => Outcome::Ungraded,
        }
    }

    /// The finding of a grader as a whole.
    pub fn grader(&self) -> Option<&GraderFinding> {
        match &self.finding {
            Finding::Grader(finding) => Some(finding),
            Finding::Criterion { .. } | Finding::Preference(_) => None,
        }
    }

    /// The finding of a grader as a whole, to be completed.
    pub fn grader_mut(&mut self) -> Option<&mut GraderFinding> {
        match &mut self.finding {
            Finding::Grader(finding) => Some(finding),
            Finding::Criterion { .. } | Finding::Preference(_) => None,
        }
    }

    /// The finding about a benchmark.
    pub fn benchmark(&self) -> Option<&BenchmarkFinding> {
        self.grader()?.benchmark()
    }

    /// Tells if a judge said of a benchmark that it is not certain.
    pub fn is_uncertain(&self) -> bool {
        self.benchmark().is_some_and(BenchmarkFinding::is_uncertain)
    }

    /// The value of the decision as a vote. An uncertain judge has none: what it would say if it were certain is not
    /// known.
    pub fn vote_value(&self) -> VoteValue {
        match &self.finding {
            Finding::Criterion { outcome, .. } => VoteValue::from(*outcome),
            Finding::Grader(finding) => finding.vote_value(),
            Finding::Preference(_) => VoteValue::Missing,
        }
    }

    /// Tells if the decision is a pass or a fail and nothing in between. A vote that says nothing leaves that open.
    pub fn is_binary(&self) -> bool {
        match &self.finding {
            Finding::Criterion { criterion, .. } => matches!(criterion.scale, CriterionScale::Checklist),
            Finding::Grader(finding) => finding.is_binary(),
            Finding::Preference(_) => false,
        }
    }

    /// Tells if the criterion or benchmark may turn out not to apply.
    pub fn may_not_apply(&self) -> bool {
        match self.criterion() {
            Some(criterion) => criterion.may_not_apply,
            None => self.benchmark().is_some_and(|benchmark| benchmark.may_not_apply),
        }
    }
}

/// A decision read off the probabilities of the tokens that say it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Probability")]
pub struct DecisionProbability {
    /// The expected decision: a score from 0 to 10, or for met and unmet the probability of met, 0 to 1.
    pub expected: f64,
    /// Share of the probability that lies on tokens that are decisions at all, 0 to 1.
    pub mass: f64,
    /// The score that the judge wrote; null for met and unmet.
    pub written: Option<u8>,
}

/// A passage that a decision rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Evidence")]
pub struct EvidenceQuote {
    /// The passage, as the judge quoted it.
    pub quote: String,
    /// True if it was found in the material shown to the judge.
    pub verified: bool,
}

/// Material that a judge was not shown, or not shown at once, because it reads less than there was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Truncated")]
pub struct TruncationRecord {
    /// Mode of truncation that was applied.
    pub mode: TruncationMode,
    /// Characters of the answer, the file changes and the tool calls together.
    pub characters: u64,
    /// Number of characters the judge was not shown; 0 when it was shown all of them in parts.
    pub omitted: u64,
    /// Parts that were judged one by one; 1 unless the mode is `chunk`.
    pub parts: u32,
}

crate::named_enum! {
    /// Handling of material longer than a judge reads. Nothing is left out unless an author asks for it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
    #[schemars(rename = "Truncate")]
    pub enum TruncationMode {
        /// Nothing is removed: the criterion is ungraded.
        #[default]
        Never = "never",
        /// The beginning is left out.
        Head = "head",
        /// The end is left out.
        Tail = "tail",
        /// The middle is left out.
        Middle = "middle",
        /// Nothing is removed: the answer is judged in parts, and the decisions are merged.
        Chunk = "chunk",
    }
}

/// Confidence a judge states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Confidence")]
pub enum JudgeConfidence {
    /// Little more than a guess.
    Low,
    /// Somewhat sure.
    Medium,
    /// Sure.
    High,
}

/// Notice about a run that no model has judged.
pub const OFFLINE_NOTICE: &str =
    "Graded by the offline judge, which only compares words: name a model with --judge";

/// Identity of the judge.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct JudgeIdentity {
    /// The judge as the user named it, such as `openai:some-model` or `offline`.
    pub name: Arc<str>,
    /// The model as its server reports it.
    #[serde(default)]
    pub model: Option<Arc<str>>,
    /// Version of the judging method (prompt or algorithm).
    #[serde(default)]
    pub version: Option<Arc<str>>,
    /// Hash of the instructions the judge was given.
    #[serde(default)]
    pub prompt_hash: Option<Arc<str>>,
}

/// Reason a criterion could not be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Ungraded")]
pub struct UngradedReason {
    /// Kind of the failure.
    pub kind: UngradedKind,
    /// Description of the failure.
    pub message: String,
}

/// Kinds of failure to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UngradedKind {
    /// The judge could not be reached or its server failed.
    Transport,
    /// The judge declined to answer.
    Refusal,
    /// The reply was not a usable answer, even after repair.
    Malformed,
    /// The reply was cut off.
    Truncated,
    /// There is more to read than the judge can.
    ContextLength,
    /// The evidence could not be found in the answer although the criterion demands it.
    Evidence,
    /// The run ended before it was this criterion's turn.
    Cancelled,
    /// The judges of a panel are evenly split, and nobody said what becomes of a tie.
    Tie,
    /// The model gave no usable probabilities of its decision.
    Probability,
    /// There is no stored decision that belongs to this criterion as it now reads.
    NotJudged,
}

/// Tokens of one or more model calls. Unknown is `None`, not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Tokens {
    /// Tokens sent.
    pub input: Option<u64>,
    /// Tokens sent that the provider had cached; part of `input`.
    pub cached: Option<u64>,
    /// Tokens received.
    pub output: Option<u64>,
}

impl Tokens {
    /// Adds known counts; a count stays unknown only while both sides are unknown.
    pub fn add(&mut self, other: Self) {
        fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
            match (a, b) {
                (None, None) => None,
                (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
            }
        }

        self.input = sum(self.input, other.input);
        self.cached = sum(self.cached, other.cached);

        self.output = sum(self.output, other.output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_tokens_stay_unknown_until_somebody_knows() {
        let mut tokens = Tokens::default();
        tokens.add(Tokens { input: Some(5), cached: None, output: None });
        tokens.add(Tokens { input: Some(2), cached: None, output: Some(1) });
        assert_eq!(tokens, Tokens { input: Some(7), cached: None, output: Some(1) });
    }
}
