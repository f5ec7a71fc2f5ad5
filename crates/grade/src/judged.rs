//! What became of one question to a judge that is no list of criteria: what it decided, or why it did not, and what that
//! took.

use assize_rubric::{Confidence, Cost, Evidence, JudgeIdentity, Tokens, Ungraded, UngradedKind};

/// A decision, or why there is none, with everything it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged<D> {
    /// What was decided; else why nothing was.
    pub decided: Result<D, Ungraded>,
    /// The judge's reason; else why there is no decision.
    pub reason: String,
    /// How sure the judge says it is.
    pub confidence: Option<Confidence>,
    /// Quotes the decision rests on, looked up in what the judge was shown.
    pub evidence: Vec<Evidence>,
    /// Who judged.
    pub judge: JudgeIdentity,
    /// What asking took.
    pub spent: Spent,
}

/// What asking a judge took.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spent {
    /// Calls made, failed ones included.
    pub attempts: u32,
    /// Calls that were answered from the cache instead of being made.
    pub cached_calls: u32,
    /// Tokens of the calls made.
    pub tokens: Tokens,
    /// Time spent in those calls, in milliseconds.
    pub latency_ms: Option<u64>,
    /// Cost of those calls.
    pub cost: Cost,
    /// What the judge replied, word for word.
    pub replies: Vec<String>,
}

impl<D> Judged<D> {
    /// A decision that rests on nothing and cost nothing.
    pub fn decided(judge: JudgeIdentity, decision: D, reason: impl Into<String>) -> Self {
        Self {
            decided: Ok(decision),
            reason: reason.into(),
            confidence: None,
            evidence: Vec::new(),
            judge,
            spent: Spent::default(),
        }
    }

    /// A judgement that did not come about, at no cost.
    pub fn ungraded(judge: JudgeIdentity, kind: UngradedKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            decided: Err(Ungraded { kind, message: message.clone() }),
            reason: message,
            confidence: None,
            evidence: Vec::new(),
            judge,
            spent: Spent::default(),
        }
    }
}

impl Spent {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
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
