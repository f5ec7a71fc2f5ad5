//! Exchange of requests and replies through files, where models can't be asked.

use crate::batch_lines::{BatchOutcome, BatchRequestLine};
use crate::call_key::CallKey;
use crate::chat_model::ModelId;
use crate::error::AskError;

/// Place where replies come from instead of a server, and where requests go.
pub trait ReplyExchange: Send + Sync {
    /// The result that was imported for a call, if there is one; of several, that of this number from 0, good ones first.
    fn find(&self, key: CallKey, number: usize) -> Option<BatchOutcome>;

    /// Takes note of a call that the cache answers.
    fn recall(&self, key: CallKey);

    /// Takes note of a call for which no imported result is a reply.
    fn reject(&self, key: CallKey, error: &AskError);

    /// True if requests without a reply are exported.
    fn exports(&self) -> bool;

    /// Takes a request without a reply, in the order in which they come up; the error is why it has no line.
    fn export(&self, model: &ModelId, key: CallKey, line: Result<BatchRequestLine, AskError>);

    /// Takes note of a request without a reply that is not exported.
    fn miss(&self, key: CallKey);
}
