//! One judge's decision about one criterion on one case, with its evidence and its price.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Cost, CriterionId, Outcome};

/// One criterion decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The criterion decided on.
    pub criterion: CriterionId,
    /// The outcome of the criterion.
    pub outcome: Outcome,
    /// The judge's reason; for an ungraded criterion, the reason for which it could not be graded.
    pub reason: String,
    /// Quotes from the answer that support the decision.
    pub evidence: Vec<Evidence>,
    /// The judge's own estimate of its confidence.
    pub confidence: Option<Confidence>,
    /// The decision according to token probabilities, if they were requested.
    pub probability: Option<Probability>,
    /// The judge.
    pub judge: JudgeIdentity,
    /// Reason for which there is no decision; set exactly when the outcome is ungraded.
    pub ungraded: Option<Ungraded>,
    /// Calls made for this decision, failed ones included. A call for several criteria is counted
    /// on the first of them.
    pub attempts: u32,
    /// Calls answered from the reply cache.
    pub cached_calls: u32,
    /// Tokens of the calls made.
    pub tokens: Tokens,
    /// Time spent in those calls, in milliseconds.
    pub latency_ms: Option<u64>,
    /// Cost of those calls.
    pub cost: Cost,
    /// Set when the judge could not be shown everything at once.
    pub truncated: Option<Truncated>,
    /// The judge's replies, verbatim and in order.
    pub replies: Vec<String>,
}

/// A decision read off the probabilities of the tokens that say it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probability {
    /// The expected decision: a score from 0 to 10, or for met and unmet the probability of met, 0 to 1.
    pub expected: f64,
    /// How much probability lies on tokens that are decisions at all, 0 to 1.
    pub mass: f64,
    /// The score that the judge wrote; null for met and unmet.
    pub written: Option<u8>,
}

/// A passage that a decision rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The passage, as the judge quoted it.
    pub quote: String,
    /// Whether it was found in what the judge was shown.
    pub verified: bool,
}

/// What a judge was not shown, or not shown at once, because it reads less than there was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Truncated {
    /// What was done about it.
    pub mode: Truncate,
    /// Characters of the answer, the file changes and the tool calls together.
    pub characters: u64,
    /// How many of them the judge was not shown; 0 when it was shown all of them in parts.
    pub left_out: u64,
    /// Parts that were judged one by one; 1 unless the mode is `chunk`.
    pub parts: u32,
}

/// What is done when a judge reads less than there is to be judged. Nothing is, unless an author asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Truncate {
    /// Nothing is left out: the criterion is ungraded.
    #[default]
    Never,
    /// The beginning is left out.
    Head,
    /// The end is left out.
    Tail,
    /// The middle is left out.
    Middle,
    /// Nothing is left out: the answer is judged in parts, and the decisions are merged.
    Chunk,
}

impl Truncate {
    /// Names of all modes, as used in files and on the command line.
    pub const NAMES: [&'static str; 5] = ["never", "head", "tail", "middle", "chunk"];

    /// The name used in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Head => "head",
            Self::Tail => "tail",
            Self::Middle => "middle",
            Self::Chunk => "chunk",
        }
    }

    /// Returns the mode with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Never, Self::Head, Self::Tail, Self::Middle, Self::Chunk]
            .into_iter()
            .find(|mode| mode.name() == name)
    }
}

/// How sure a judge says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Little more than a guess.
    Low,
    /// Somewhat sure.
    Medium,
    /// Sure.
    High,
}

/// Who judged.
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

/// Why a criterion could not be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ungraded {
    /// What kind of failure it was.
    pub kind: UngradedKind,
    /// What happened, in words.
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
