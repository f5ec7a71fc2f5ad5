//! Decisions of judges, checks, programs and panels, with everything needed to verify them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BenchmarkFinding, Cost, Criterion, CriterionScale, Finding, GraderFinding, Outcome, VoteValue};

/// One decision: on a criterion, or of a grader as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What was decided.
    pub finding: Finding,
    /// The judge's reason; for an ungraded criterion, why it could not be graded.
    pub reason: String,
    /// Quotes from the answer that support the decision.
    pub evidence: Vec<EvidenceQuote>,
    /// The judge's own estimate of its confidence.
    pub confidence: Option<JudgeConfidence>,
    /// The decision according to token probabilities, if they were requested.
    pub probability: Option<DecisionProbability>,
    /// The judge.
    pub judge: JudgeIdentity,
    /// Reason why there is no decision.
    pub ungraded: Option<UngradedReason>,
    /// Set if the judge could not be shown all of the material at once.
    pub truncated: Option<TruncationRecord>,
    /// Calls, tokens, time and cost of the decision.
    pub spent: JudgingUsage,
}

/// Usage of a decision. A call for several criteria is counted with the first of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JudgingUsage {
    /// Number of calls, including failed ones.
    pub attempts: u32,
    /// Calls answered from the reply cache.
    pub cached_calls: u32,
    /// Tokens used by the calls.
    pub tokens: Tokens,
    /// Total time of the calls in milliseconds.
    pub latency_ms: Option<u64>,
    /// Cost of the calls.
    pub cost: Cost,
    /// The judge's replies, word for word, in order.
    pub replies: Vec<String>,
    /// True if the reply with the decision has slips of JSON that leave only one reading.
    pub has_slips: bool,
}

impl JudgingUsage {
    /// Adds the usage of another decision, whose replies come last.
    #[must_use]
    pub fn combined_with(self, other: Self) -> Self {
        let mut tokens = self.tokens;
        tokens.add(other.tokens);

        Self {
            attempts: self.attempts.saturating_add(other.attempts),
            cached_calls: self.cached_calls.saturating_add(other.cached_calls),
            tokens,
            latency_ms: add_known(self.latency_ms, other.latency_ms),
            cost: self.cost + other.cost,
            replies: self.replies.into_iter().chain(other.replies).collect(),
            has_slips: self.has_slips || other.has_slips,
        }
    }
}

impl Decision {
    /// Creates a decision without evidence and without cost.
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

    /// Creates the decision on a criterion that could not be judged, without cost.
    pub fn ungraded(judge: JudgeIdentity, criterion: Criterion, ungraded: UngradedReason) -> Self {
        let reason = ungraded.message.clone();
        let finding = Finding::Criterion { criterion, outcome: Outcome::Ungraded };
        Self { ungraded: Some(ungraded), ..Self::new(judge, finding, reason) }
    }

    /// Creates the decision of a grader whose judge did not answer, without cost.
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

    /// The outcome of a criterion; ungraded for a grader as a whole.
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

    /// Returns the finding of a grader as a whole, for adding to it.
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

    /// Returns true if a judge was uncertain about a benchmark.
    pub fn is_uncertain(&self) -> bool {
        self.benchmark().is_some_and(BenchmarkFinding::is_uncertain)
    }

    /// Returns the value of the decision as a vote. An uncertain judge has none, because its decision is
    /// unknown.
    pub fn vote_value(&self) -> VoteValue {
        match &self.finding {
            Finding::Criterion { outcome, .. } => VoteValue::from(*outcome),
            Finding::Grader(finding) => finding.vote_value(),
            Finding::Preference(_) => VoteValue::Missing,
        }
    }

    /// Returns true if the decision can only be pass or fail. A vote without a value counts as binary.
    pub fn is_binary(&self) -> bool {
        match &self.finding {
            Finding::Criterion { criterion, .. } => matches!(criterion.scale, CriterionScale::Checklist),
            Finding::Grader(finding) => finding.is_binary(),
            Finding::Preference(_) => false,
        }
    }

    /// Returns true if the criterion or benchmark may not apply.
    pub fn may_not_apply(&self) -> bool {
        match self.criterion() {
            Some(criterion) => criterion.may_not_apply,
            None => self.benchmark().is_some_and(|benchmark| benchmark.may_not_apply),
        }
    }
}

/// A decision read from token probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Probability")]
pub struct DecisionProbability {
    /// Expected value of the decision: a raw score from 0 to 10, or the probability of `met`, 0 to 1.
    pub expected: f64,
    /// Total probability of the tokens that are valid decisions, 0 to 1.
    pub mass: f64,
    /// Raw score that the judge wrote; null for met and unmet.
    pub written: Option<u8>,
}

/// A passage that supports a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Evidence")]
pub struct EvidenceQuote {
    /// Quoted passage.
    pub quote: String,
    /// True if the quote was found in the material that the judge saw.
    pub verified: bool,
}

/// Material that did not fit into the judge's context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Truncated")]
pub struct TruncationRecord {
    /// Truncation mode.
    pub mode: TruncationMode,
    /// Total characters of the answer, file changes and tool calls.
    pub characters: u64,
    /// Number of characters that the judge did not see; 0 if it saw everything in parts.
    pub omitted: u64,
    /// Number of parts judged separately; 1 unless the mode is `chunk`.
    pub parts: u32,
}

crate::named_enum! {
    /// Treatment of material that exceeds the judge's context window. By default nothing is removed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
    #[schemars(rename = "Truncate")]
    pub enum TruncationMode {
        /// Keep everything; the criterion is ungraded.
        #[default]
        Never = "never",
        /// Remove the beginning.
        Head = "head",
        /// Remove the end.
        Tail = "tail",
        /// Remove the middle.
        Middle = "middle",
        /// Keep everything: judge the answer in parts and merge the decisions.
        Chunk = "chunk",
    }
}

crate::named_enum! {
    /// Confidence stated by a judge.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[schemars(rename = "Confidence")]
    pub enum JudgeConfidence {
        /// Low confidence.
        Low = "low",
        /// Medium confidence.
        Medium = "medium",
        /// High confidence.
        High = "high",
    }
}

/// Notice about a run that no model judged.
pub const OFFLINE_NOTICE: &str =
    "Graded by the offline judge, which only compares words: name a model with --judge";

/// Notice about a run that reuses decisions not made by a model; it calls no judge.
pub const OFFLINE_STORED_NOTICE: &str = "Graded by the offline judge, which only compares words";

/// Notice about a plan in which no model would judge.
pub const OFFLINE_PLAN_NOTICE: &str = "The offline judge only compares words; name a model with --judge";

/// Identity of the judge.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct JudgeIdentity {
    /// Name of the judge as configured, such as `openai:some-model` or `offline`.
    pub name: Arc<str>,
    /// Model name as reported by the server.
    #[serde(default)]
    pub model: Option<Arc<str>>,
    /// Version of the judging method (prompt or algorithm).
    #[serde(default)]
    pub version: Option<Arc<str>>,
    /// Hash of the judge's instructions.
    #[serde(default)]
    pub prompt_hash: Option<Arc<str>>,
}

/// Reason why a criterion is ungraded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Ungraded")]
pub struct UngradedReason {
    /// Kind of failure.
    pub kind: UngradedKind,
    /// Description of the failure.
    pub message: String,
}

impl UngradedReason {
    /// Creates a reason.
    pub fn new(kind: UngradedKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

crate::named_enum! {
    /// Kind of failure that left a criterion ungraded.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum UngradedKind {
        /// The judge could not be reached, or its server failed.
        Transport = "transport",
        /// The judge refused to answer.
        Refusal = "refusal",
        /// The reply had no usable decision, even after a repair attempt.
        Malformed = "malformed",
        /// The reply was truncated.
        Truncated = "truncated",
        /// The material exceeds the judge's context window.
        ContextLength = "context_length",
        /// No quote was found in the answer, but evidence is required.
        Evidence = "evidence",
        /// The run ended before the criterion was judged.
        Cancelled = "cancelled",
        /// The judge was not called, because it failed again and again. It will be called again later.
        Unavailable = "unavailable",
        /// The votes of the panel are tied, and no rule for ties is set.
        Tie = "tie",
        /// The model returned no usable token probabilities.
        Probability = "probability",
        /// No stored decision matches the current text of the criterion.
        NotJudged = "not_judged",
    }
}

/// Tokens of one or more model calls. Unknown counts are absent, not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Tokens {
    /// Input tokens.
    pub input: Option<u64>,
    /// Input tokens read from the provider's cache. Included in `input`.
    pub cached: Option<u64>,
    /// Output tokens.
    pub output: Option<u64>,
}

impl Tokens {
    /// Adds known counts. A count stays unknown only if it is unknown on both sides.
    pub fn add(&mut self, other: Self) {
        self.input = add_known(self.input, other.input);
        self.cached = add_known(self.cached, other.cached);

        self.output = add_known(self.output, other.output);
    }
}

/// Returns the sum of the known counts; `None` if neither is known.
fn add_known(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
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
