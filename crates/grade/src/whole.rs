//! Judging an answer as a whole: one number instead of a decision per criterion.

use std::sync::Arc;

use assize_rubric::{Cost, Evidence, JudgeIdentity, Tokens, Ungraded, UngradedKind, Unit};

use crate::{Finding, Material};

/// One answer to be given a score.
#[derive(Debug, Clone)]
pub struct WholeTask {
    /// What may be looked at.
    pub material: Arc<Material>,
    /// The author's instructions, with `{{ name }}` for the variables; the built-in ones if absent.
    pub instructions: Option<String>,
    /// Values of the variables: untrusted text, which is only ever shown inside blocks.
    pub variables: Vec<(String, String)>,
    /// Sampling temperature; the judge's own if absent.
    pub temperature: Option<f64>,
    /// Which repeat of the case this is, from 1; never shown to a judge. Each repeat is judged anew.
    pub repeat: u32,
}

/// What a judge made of an answer as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeJudgement {
    /// The score; `None` exactly when it could not be judged.
    pub score: Option<Unit>,
    /// The judge's reason; else why there is no score.
    pub reason: String,
    /// What the judge listed for and against the answer.
    pub findings: Vec<Finding>,
    /// Quotes the score rests on.
    pub evidence: Vec<Evidence>,
    /// Who judged.
    pub judge: JudgeIdentity,
    /// Why there is no score.
    pub ungraded: Option<Ungraded>,
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

impl WholeJudgement {
    /// A judgement that did not come about, at no cost.
    pub fn ungraded(judge: JudgeIdentity, kind: UngradedKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            score: None,
            reason: message.clone(),
            findings: Vec::new(),
            evidence: Vec::new(),
            judge,
            ungraded: Some(Ungraded { kind, message }),
            attempts: 0,
            cached_calls: 0,
            tokens: Tokens::default(),
            latency_ms: None,
            cost: Cost::ZERO,
            replies: Vec::new(),
        }
    }
}
