//! Tasks of judges.

use std::sync::Arc;

use assize_model::PanelSpec;
use assize_rubric::{EvidencePolicy, JudgingMode, Rubric, TruncationMode};

/// Material that a judge may see. All of it is untrusted text: it is shown as data and must never act as
/// instructions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JudgeMaterial {
    /// Question that the answer is about.
    pub question: String,
    /// Description of a good answer, in the author's words.
    pub expected_outcome: Option<String>,
    /// An answer known to be good.
    pub reference: Option<String>,
    /// The answer to be judged.
    pub answer: String,
    /// Changes that the target made to its files, usually as a diff.
    pub file_changes: Option<String>,
    /// Tool calls of the target, with their inputs and outputs.
    pub tool_calls: Option<String>,
}

impl JudgeMaterial {
    /// The texts that evidence may be quoted from: the output of the target.
    pub(crate) fn produced_texts(&self) -> impl Iterator<Item = &str> {
        [Some(self.answer.as_str()), self.file_changes.as_deref(), self.tool_calls.as_deref()]
            .into_iter()
            .flatten()
            .filter(|text| !text.trim().is_empty())
    }
}

/// One rubric to be applied to one answer.
#[derive(Debug, Clone)]
pub struct RubricTask {
    /// Material that the judge may see.
    pub material: Arc<JudgeMaterial>,
    /// Criteria to decide.
    pub rubric: Arc<Rubric>,
    /// Author's instructions, with the names of texts in double braces.
    pub instructions: Option<Arc<str>>,
    /// Number of criteria in one call. Judges that make no calls ignore it.
    pub judging: JudgingMode,
    /// Handling of decisions whose quotes are not found.
    pub evidence: EvidencePolicy,
    /// Handling of material too long for the judge. Judges without such a limit ignore it.
    pub truncate: TruncationMode,
    /// Id of the case, for observers of the task; never shown to a judge.
    pub case_id: String,
    /// Trial of the case, from 1; never shown to a judge. Each trial is judged separately.
    pub trial: u32,
    /// Options of the calls; never shown to a judge.
    pub sampling: SamplingOptions,
}

impl RubricTask {
    /// A task without a case: one criterion per call, quotes checked, nothing truncated.
    pub fn new(material: Arc<JudgeMaterial>, rubric: Arc<Rubric>) -> Self {
        Self {
            material,
            rubric,
            instructions: None,
            judging: JudgingMode::PerCriterion,
            evidence: EvidencePolicy::Checked,
            truncate: TruncationMode::Never,
            case_id: "case".to_owned(),
            trial: 1,
            sampling: SamplingOptions::default(),
        }
    }
}

/// Options of a call that are not part of the question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SamplingOptions {
    /// Number of this call, from 1, among repeats of the same call to the same judge. Each repeat has its own seed and
    /// its own entry in the reply cache.
    pub repeat: u32,
    /// Sampling temperature; the judge's own if absent.
    pub temperature: Option<f64>,
    /// True if token probabilities make the decision.
    pub probabilities: bool,
}

impl Default for SamplingOptions {
    /// Once, at the judge's own temperature, with decisions as written.
    fn default() -> Self {
        Self { repeat: 1, temperature: None, probabilities: false }
    }
}

/// The number under which a reply is cached: one for each trial of a case and repeat of a judge. More repeats
/// leave the numbers of earlier ones unchanged.
pub(crate) fn repeat_index(trial: u32, repeat: u32) -> u32 {
    trial.saturating_sub(1).saturating_mul(PanelSpec::MAX_REPEATS).saturating_add(repeat)
}
