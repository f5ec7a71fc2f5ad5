//! The common part of all calls of a task.

use std::sync::Arc;

use assize_llm::{ChatRequest, JsonSchemaFormat, ModelCard};
use assize_rubric::{EvidencePolicy, TruncationMode};

use super::model_judge::ModelJudge;
use super::window;
use crate::evidence::EvidenceIndex;
use crate::prompt::messages;

/// The common prefix, options and limits of all calls of a task.
pub(super) struct CallTemplate<'a> {
    pub(super) judge: &'a ModelJudge,
    pub(super) shared: Arc<str>,
    pub(super) fence: String,
    pub(super) index: EvidenceIndex,
    pub(super) policy: EvidencePolicy,
    /// Number of the reply among repeated ones, for the cache key.
    pub(super) repeat_number: u32,
    pub(super) seed: Option<u64>,
    pub(super) temperature: Option<f64>,
    /// True if probabilities make the decisions.
    pub(super) probabilities: bool,
    pub(super) card: ModelCard,
    pub(super) truncate: TruncationMode,
}

/// Number of alternatives to request for each token: the most that any provider offers.
const TOKEN_ALTERNATIVES: u8 = 20;
/// Number of fence characters in the handles of criteria: few enough to be cheap, enough to be unguessable.
const HANDLE_MARK_LENGTH: usize = 4;

impl CallTemplate<'_> {
    /// The suffix of every handle.
    pub(super) fn handle_mark(&self) -> &str {
        self.fence.get(..HANDLE_MARK_LENGTH).unwrap_or(&self.fence)
    }

    pub(super) fn request(
        &self,
        question: String,
        repair: Option<String>,
        schema: JsonSchemaFormat,
        criteria: usize,
        cached: bool,
    ) -> ChatRequest {
        let mut request = ChatRequest::new(messages(&self.shared, question, repair));
        request.schema = Some(schema);
        request.temperature = self.temperature;
        request.seed = self.seed;
        request.logprobs = self.probabilities.then_some(TOKEN_ALTERNATIVES);
        request.cache_prefix = cached;
        request.expected_output = Some(window::long_reply_tokens(criteria));

        request
    }
}
