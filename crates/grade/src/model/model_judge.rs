//! The model judge as its calls see it.

use std::sync::Arc;

use assize_llm::ChatModel;
use assize_rubric::JudgeIdentity;
use tokio::sync::Semaphore;

use super::options::JudgeOptions;
use crate::FenceSource;

/// A judge that asks a model about criteria and accepts only unambiguous replies.
///
/// Each criterion ends decided or ungraded. A failed call, a refusal, or a reply that stays unusable after the
/// repairs never becomes a number.
pub struct ModelJudge {
    pub(super) ask: Arc<dyn ChatModel>,
    pub(super) identity: JudgeIdentity,
    /// Minimum length, in bytes, of a prefix that the model caches; `None` if prefixes need no mark.
    pub(super) marked: Option<usize>,
    pub(super) fences: Arc<dyn FenceSource>,
    pub(super) in_flight: Arc<Semaphore>,
    pub(super) options: JudgeOptions,
}
