//! Scoring an answer as a whole: one number instead of a decision per criterion.

use std::sync::Arc;

use assize_rubric::ValueRange;

use crate::{JudgeMaterial, SamplingOptions};

/// A request to score one answer.
#[derive(Debug, Clone)]
pub struct AnswerScoreTask {
    /// Material that the judge may see.
    pub material: Arc<JudgeMaterial>,
    /// The author's instructions, with `{{ name }}` for variables; `None` for the built-in ones.
    pub instructions: Option<String>,
    /// Values of the variables. Untrusted text, which is only inserted in blocks.
    pub variables: Vec<(String, String)>,
    /// Lowest and highest score in the instructions; `None` for 0 and 1.
    pub range: Option<ValueRange>,
    /// Trial of the case, from 1; never shown to a judge. Each trial is judged separately.
    pub trial: u32,
    /// Options of the call; never shown to a judge.
    pub sampling: SamplingOptions,
}
