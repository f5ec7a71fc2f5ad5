//! Questions that an answer would answer.

use std::sync::Arc;

use crate::{JudgeMaterial, SamplingOptions};

/// An answer for which a judge writes questions.
#[derive(Debug, Clone)]
pub struct QuestionsTask {
    /// Material; the judge sees only the answer in it.
    pub material: Arc<JudgeMaterial>,
    /// Number of questions.
    pub count: u32,
    /// Trial of the case, from 1; never shown to a judge. Each trial is judged separately.
    pub trial: u32,
    /// Options of the call; never shown to a judge.
    pub sampling: SamplingOptions,
}
