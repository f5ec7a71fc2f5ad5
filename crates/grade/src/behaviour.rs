//! Judging one behaviour of one output: the yes-or-no question of a benchmark.

use std::sync::Arc;

use assize_rubric::{Confidence, Cost, Evidence, JudgeIdentity, Tokens, Ungraded, UngradedKind};
use assize_spec::Behaviour;

/// One output to be judged.
#[derive(Debug, Clone)]
pub struct BehaviourTask {
    /// What is asked, in the words of the scorecard's authors.
    pub behaviour: Arc<Behaviour>,
    /// What is known to be right. Untrusted text, like the two that follow.
    pub ground_truth: Option<String>,
    /// What the output was made from.
    pub source_narrative: Option<String>,
    /// What is judged.
    pub candidate_output: String,
    /// Which repeat of the case this is, from 1; never shown to a judge. Each repeat is judged anew.
    pub repeat: u32,
    /// How many times this judge has been asked about it with this one, from 1; never shown to a judge.
    pub asking: u32,
    /// Sampling temperature; the judge's own if absent.
    pub temperature: Option<f64>,
}

impl BehaviourTask {
    /// The inputs that are there, by the names prompts use for them.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("GROUND_TRUTH", self.ground_truth.as_deref()),
            ("SOURCE_NARRATIVE", self.source_narrative.as_deref()),
            ("CANDIDATE_OUTPUT", Some(self.candidate_output.as_str())),
        ]
        .into_iter()
        .filter_map(|(name, text)| Some((name, text?)))
    }
}

/// What a judge decided about a behaviour.
#[derive(Debug, Clone, PartialEq)]
pub enum BehaviourDecision {
    /// The benchmark does not apply to the case.
    NotApplicable,
    /// It applies.
    Applies {
        /// Whether the output passes; never when the judge is uncertain.
        pass: bool,
        /// The judge's score on the benchmark's own scale, 0 to 1 without one; `None` leaves it to `pass`.
        score: Option<f64>,
        /// Whether a person should look at it.
        uncertain: bool,
    },
}

/// A decision with everything it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct BehaviourJudgement {
    /// The decision; `None` exactly when it could not be judged.
    pub decision: Option<BehaviourDecision>,
    /// The judge's reason; else why there is no decision.
    pub reason: String,
    /// How sure the judge says it is.
    pub confidence: Option<Confidence>,
    /// Quotes the decision rests on, looked up in the inputs.
    pub evidence: Vec<Evidence>,
    /// Who judged.
    pub judge: JudgeIdentity,
    /// Why there is no decision.
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

impl BehaviourJudgement {
    /// A judgement that did not come about, at no cost.
    pub fn ungraded(judge: JudgeIdentity, kind: UngradedKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            decision: None,
            reason: message.clone(),
            confidence: None,
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
