//! Judges which of two answers is better.

use assize_rubric::Criterion;

use crate::SamplingOptions;

/// Two answers in the order in which they are shown. Both are untrusted text, and the judge does not learn whose they
/// are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PairTask {
    /// Question that both answers are about.
    pub question: String,
    /// Description of a good answer, in the author's words.
    pub expected_outcome: Option<String>,
    /// An answer known to be good, if it is neither of the two.
    pub reference: Option<String>,
    /// Criteria for the better answer, with their weights and gates; if empty, question and expectations
    /// decide.
    pub criteria: Vec<Criterion>,
    /// The answer shown first.
    pub first: String,
    /// The answer shown second.
    pub second: String,
    /// Trial of the case, from 1; never shown to a judge. Each trial is judged separately.
    pub trial: u32,
    /// Options of the call; never shown to a judge.
    pub sampling: SamplingOptions,
}

impl PairTask {
    /// Returns the task with the answers in the other order.
    #[must_use]
    pub fn swap_answers(&self) -> Self {
        Self { first: self.second.clone(), second: self.first.clone(), ..self.clone() }
    }

    /// The criteria that count: all that have a weight other than 0 or a gate.
    pub(crate) fn counting_criteria(&self) -> impl Iterator<Item = &Criterion> {
        self.criteria.iter().filter(|criterion| criterion.weight.get() != 0.0 || criterion.gate.is_some())
    }

    /// All untrusted texts that are shown, with the names of their blocks.
    pub(crate) fn untrusted_texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
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
