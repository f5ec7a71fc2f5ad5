//! What a judge is given.

use std::sync::Arc;

use assize_rubric::{EvidencePolicy, Judging, Rubric, Truncate};

/// What a judge may look at. All of it is untrusted text: it is shown as data and can instruct nobody.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Material {
    /// What was asked.
    pub question: String,
    /// What a good answer looks like, in the author's words.
    pub expected_outcome: Option<String>,
    /// An answer known to be good.
    pub reference: Option<String>,
    /// The answer to be judged.
    pub answer: String,
    /// What the answering system changed in its files, usually as a diff.
    pub file_changes: Option<String>,
    /// The tools the answering system called, with their inputs and outputs.
    pub tool_calls: Option<String>,
}

impl Material {
    /// The texts that evidence may be quoted from: what the answering system produced.
    pub(crate) fn produced(&self) -> impl Iterator<Item = &str> {
        [Some(self.answer.as_str()), self.file_changes.as_deref(), self.tool_calls.as_deref()]
            .into_iter()
            .flatten()
            .filter(|text| !text.trim().is_empty())
    }
}

/// One rubric to be applied to one answer.
#[derive(Debug, Clone)]
pub struct RubricTask {
    /// What may be looked at.
    pub material: Arc<Material>,
    /// What is to be decided.
    pub rubric: Arc<Rubric>,
    /// How many criteria go into one call. Judges that make no calls ignore it.
    pub judging: Judging,
    /// What becomes of decisions whose quotes are not found.
    pub evidence: EvidencePolicy,
    /// What is done when the judge can't read all of the material. Judges without such a limit ignore it.
    pub truncate: Truncate,
    /// The case, for whoever follows the task; never shown to a judge.
    pub case_id: String,
    /// Which repeat of the case this is, from 1; never shown to a judge. Each repeat is judged anew.
    pub repeat: u32,
}
