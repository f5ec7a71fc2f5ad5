//! What is learned from refused requests, for all formats.

use super::{ceiling, json};
use crate::quirks::{self, SchemaSupport, SentFeatures, ServerQuirks};
use crate::transport::HttpAnswer;

/// The code and the message in the body of an error.
pub(crate) fn refusal_in(body: &[u8]) -> (String, String) {
    let error = json::server_error(body);
    (error.code, error.message)
}

/// Quirks beyond `quirks`, learned from an answer to a request that carried `sent`; `None` if there is nothing to
/// learn. `most` is the largest part of a reply schema that the server was initially known to accept.
pub(super) fn learn(
    answer: &HttpAnswer,
    quirks: ServerQuirks,
    most: SchemaSupport,
    sent: SentFeatures<'_>,
) -> Option<ServerQuirks> {
    // Some servers use 402 for a limit that the account can't pay for, and 413 or 429 for one that exceeds its
    // allowance.
    if !matches!(answer.status, 400 | 402 | 403 | 413 | 422 | 429) {
        return None;
    }

    let error = json::server_error(&answer.body);
    let lower = if answer.status == 429 { ceiling::within_allowance } else { ceiling::lower };
    let lower = sent.ceiling.and_then(|ceiling| lower(ceiling, &error.message));
    if lower.is_some() {
        return Some(ServerQuirks { most_output: lower, ..quirks });
    }
    // Some servers use 403 to refuse log-probabilities to an account.
    if !matches!(answer.status, 400 | 403 | 422) {
        return None;
    }

    let from = ServerQuirks { schema: quirks.schema.max(most), ..quirks };
    let message = format!("{} {}", error.code.replace('_', " "), error.message);
    let learned = quirks::learn(from, sent, &error.param, &message)?;
    // What the format never sends is not learned.
    let schema = if learned.schema == from.schema { quirks.schema } else { learned.schema };
    Some(ServerQuirks { schema, ..learned })
}
