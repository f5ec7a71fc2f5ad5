//! Scoring an answer as a whole: one number instead of a decision per criterion.

use std::sync::Arc;

use assize_rubric::ValueRange;

use crate::{JudgeMaterial, SamplingOptions};

/// A request to score one answer.
#[derive(Debug, Clone)]
pub struct AnswerScoreTask {
    /// Material the judge may look at.
    pub material: Arc<JudgeMaterial>,
    /// The author's instructions, with `{{ name }}` for the variables; the built-in ones if absent.
    pub instructions: Option<String>,
    /// Values of the variables: untrusted text, which is only ever inserted in blocks.
    pub variables: Vec<(String, String)>,
    /// Lowest and highest score that the instructions know; 0 and 1 if absent.
    pub range: Option<ValueRange>,
    /// Trial of the case, from 1; never shown to a judge. Each trial is judged anew.
    pub trial: u32,
    /// Options of the call; never shown to a judge.
    pub sampling: SamplingOptions,
}
