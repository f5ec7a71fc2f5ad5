//! The judge that asks a model, as its calls see it.

use std::sync::Arc;

use assize_llm::ChatModel;
use assize_rubric::JudgeIdentity;
use tokio::sync::Semaphore;

use super::options::JudgeOptions;
use crate::FenceSource;

/// A judge that puts criteria to a model and takes only what the model plainly said.
///
/// Each criterion ends decided or ungraded: a failed call, a refusal, a reply that stays unusable after the repairs,
/// never becomes a number.
pub struct ModelJudge {
    pub(super) ask: Arc<dyn ChatModel>,
    pub(super) identity: JudgeIdentity,
    /// The length from which the model caches the beginning of a request, where that has to be marked, in bytes.
    pub(super) marked: Option<usize>,
    pub(super) fences: Arc<dyn FenceSource>,
    pub(super) in_flight: Arc<Semaphore>,
    pub(super) options: JudgeOptions,
}
