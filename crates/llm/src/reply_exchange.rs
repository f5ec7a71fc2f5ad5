//! Exchanges requests and replies through files, for machines that can't reach a model.

use crate::batch_lines::{BatchOutcome, BatchRequestLine};
use crate::call_key::CallKey;
use crate::chat_model::ModelId;
use crate::error::AskError;

/// Provides replies instead of a server, and takes requests.
pub trait ReplyExchange: Send + Sync {
    /// The imported result of a call. If there are several, `number` selects one from 0, good ones first.
    fn find(&self, key: CallKey, number: usize) -> Option<BatchOutcome>;

    /// Counts a call that the cache answers.
    fn recall(&self, key: CallKey);

    /// Counts a call whose imported results are all invalid.
    fn reject(&self, key: CallKey, error: &AskError);

    /// Whether requests without a reply are exported.
    fn exports(&self) -> bool;

    /// Takes a request without a reply, in the order in which requests are made. The error explains why it has no line.
    fn export(&self, model: &ModelId, key: CallKey, line: Result<BatchRequestLine, AskError>);

    /// Counts a request without a reply that is not exported.
    fn miss(&self, key: CallKey);
}
