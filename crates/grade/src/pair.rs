//! Judging which of two answers is better.

use assize_rubric::{Cost, Evidence, JudgeIdentity, Preference, Tokens, Ungraded, UngradedKind};

/// Two answers in the order in which they are shown. Both are untrusted text, and nothing tells the judge which is
/// whose.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PairTask {
    /// What was asked.
    pub question: String,
    /// What a good answer looks like, in the author's words.
    pub expected_outcome: Option<String>,
    /// An answer known to be good, where it is neither of the two.
    pub reference: Option<String>,
    /// What makes an answer the better one, in the author's words; what was asked and expected if empty.
    pub criteria: Vec<String>,
    /// The answer shown first.
    pub first: String,
    /// The answer shown second.
    pub second: String,
    /// Sampling temperature; the judge's own if absent.
    pub temperature: Option<f64>,
    /// Which repeat of the case this is, from 1; never shown to a judge. Each repeat is judged anew.
    pub repeat: u32,
    /// How many times this judge is asked the same with this one, from 1.
    pub asking: u32,
}

impl PairTask {
    /// The same with the answers in the other order.
    #[must_use]
    pub fn turned(&self) -> Self {
        Self { first: self.second.clone(), second: self.first.clone(), ..self.clone() }
    }

    /// Everything untrusted that is shown, with the name of its block.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("question", Some(self.question.as_str())),
            ("expected outcome", self.expected_outcome.as_deref()),
            ("reference", self.reference.as_deref()),
            ("answer 1", Some(self.first.as_str())),
            ("answer 2", Some(self.second.as_str())),
        ]
        .into_iter()
        .filter_map(|(name, text)| Some((name, text?)))
    }
}

/// What a judge made of two answers in one order.
#[derive(Debug, Clone, PartialEq)]
pub struct PairJudgement {
    /// Which one is better; `None` exactly when it could not be judged.
    pub preference: Option<Preference>,
    /// The judge's reason; else why there is no decision.
    pub reason: String,
    /// Quotes the decision rests on, looked up in both answers.
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

impl PairJudgement {
    /// A decision that cost nothing.
    pub fn free(judge: JudgeIdentity, preference: Preference, reason: impl Into<String>) -> Self {
        Self {
            preference: Some(preference),
            ungraded: None,
            ..Self::ungraded(judge, UngradedKind::NotJudged, reason)
        }
    }

    /// A judgement that did not come about, at no cost.
    pub fn ungraded(judge: JudgeIdentity, kind: UngradedKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            preference: None,
            reason: message.clone(),
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
