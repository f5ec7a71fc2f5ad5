//! Judging one behaviour of one output: the yes-or-no question of a benchmark.

use std::sync::Arc;

use assize_model::Behaviour;

use crate::SamplingOptions;

/// One output to judge.
#[derive(Debug, Clone)]
pub struct BehaviourTask {
    /// The behaviour, in the words of the scorecard's authors.
    pub behaviour: Arc<Behaviour>,
    /// Ground truth. Untrusted text, like the next two fields.
    pub ground_truth: Option<String>,
    /// Source that the output was made from.
    pub source_narrative: Option<String>,
    /// Output to judge.
    pub candidate_output: String,
    /// Trial of the case, from 1; never shown to a judge. Each trial is judged separately.
    pub trial: u32,
    /// Options of the call; never shown to a judge.
    pub sampling: SamplingOptions,
}

impl BehaviourTask {
    /// The inputs that are present, under their names in prompts.
    pub(crate) fn named_inputs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("GROUND_TRUTH", self.ground_truth.as_deref()),
            ("SOURCE_NARRATIVE", self.source_narrative.as_deref()),
            ("CANDIDATE_OUTPUT", Some(self.candidate_output.as_str())),
        ]
        .into_iter()
        .filter_map(|(name, text)| Some((name, text?)))
    }
}
