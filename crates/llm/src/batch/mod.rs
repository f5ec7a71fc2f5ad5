//! Batches of a provider: many requests sent together and answered within a day, at a lower price.
//!
//! [`BatchClient`] talks to the provider; each format has its own file. Keys are sent only to the server that
//! [`ModelClient`](crate::ModelClient) uses: addresses in answers are not followed.

mod anthropic;
mod bedrock;
mod bucket;
mod client;
mod dispatch;
mod draft;
mod exchange;
mod format;
mod gemini;
mod openai;
mod place;
mod storage;

use serde_json::Value;

use crate::batch_lines::{BatchLineError, BatchReplyLine};

pub use client::BatchClient;
pub use draft::BatchDraft;
pub use format::{BatchFormat, BatchLimits};
pub use place::{BatchPlace, InvalidBatchPlace};
pub use storage::{BatchRole, BatchStorage, InvalidBatchRole};

/// The requests of a batch at its provider, if they are uploaded before it is created.
#[derive(Debug, Clone, Default)]
pub struct UploadedRequests(Option<String>);

/// A batch as its provider describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchStatus {
    /// The provider's name for it.
    pub id: String,
    /// State.
    pub state: BatchState,
    /// How many requests were answered, well or not; `None` if the provider does not say.
    pub done: Option<u64>,
    /// Where the results are.
    results: BatchFiles,
}

/// The state of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchState {
    /// The provider is working on it.
    Running,
    /// The batch is finished. Requests without a result were not processed.
    Ended,
    /// It was not accepted, and nothing was processed. Holds the provider's message.
    Refused(String),
}

/// Where the results of a batch are.
#[derive(Debug, Clone, PartialEq, Eq)]
enum BatchFiles {
    /// Files of the provider, by id.
    Named(Vec<String>),
    /// At the address for the results of this batch.
    OfBatch,
    /// They came with the status.
    Inline(Vec<u8>),
    /// There are none.
    None,
    /// They existed, but have been deleted.
    Gone,
}

/// The outcome of looking for a batch that may have been created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchSearch {
    /// It was created, under this id.
    Found(String),
    /// It was not created.
    Absent,
    /// A batch in progress may be the one; only its results will show.
    Undecided,
    /// It can't be determined; the reason.
    Unknown(String),
}

/// What is known about a batch to look for.
#[derive(Clone, Copy)]
pub struct BatchTrace<'a> {
    /// The name it was sent with.
    pub token: &'a str,
    /// It was not created before this time, in seconds since 1970.
    pub created: i64,
    /// Number of its requests.
    pub requests: u64,
    /// Whether a request of this name belongs to it.
    pub holds: &'a (dyn Fn(&str) -> bool + Sync),
    /// Ids of other batches.
    pub others: &'a [String],
}

/// How far this machine's clock may be from the provider's, in seconds. A clock that shows local time as UTC is up to
/// 14 hours fast. A batch that is listed as older than that is not the one we look for.
const MAX_CLOCK_DIFFERENCE: i64 = 26 * 3600;

/// Whether the batch can't be on a later page of the list: the newest come first, and the last one of this page
/// is already older. `time` reads when a batch was created.
fn is_past(page: &[Value], trace: &BatchTrace<'_>, time: impl Fn(&Value) -> Option<i64>) -> bool {
    let (Some(first), Some(last)) = (page.first().and_then(&time), page.last().and_then(&time)) else {
        return false;
    };
    // Some servers list the oldest first.
    last < trace.created - MAX_CLOCK_DIFFERENCE && first >= last && page.len() > 1
}

/// The result of reading a line of results.
type ReadLine = Result<BatchReplyLine, BatchLineError>;

/// Reads lines of results, each with `read`.
fn read_lines(bytes: &[u8], read: impl Fn(&[u8]) -> ReadLine, sink: &mut (dyn FnMut(ReadLine) + Send)) {
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            continue;
        }

        let reply = read(line);
        // Some servers do not end the last line.
        let is_ended = line.ends_with(b"\n");
        sink(if is_ended { reply } else { reply.map_err(|_| BatchLineError::CutOff) });
    }
}

/// Receives results one by one. An error is an unreadable line; it is unknown which request it belongs to.
pub type ResultSink<'a> = &'a mut (dyn FnMut(ReadLine) + Send);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_ends_at_an_old_batch_only_where_the_newest_come_first() {
        let (now, old) = (1_000_000_000, 1_000_000_000 - MAX_CLOCK_DIFFERENCE - 1);
        let trace = BatchTrace { token: "t", created: now, requests: 1, holds: &|_| false, others: &[] };
        for (page, expected) in [
            (json!([now, old]), true),
            (json!([old - 9, old - 10]), true),
            (json!([now + 9, now - MAX_CLOCK_DIFFERENCE]), false),
            (json!([old - 9, old]), false),
            (json!([]), false),
            (json!(["soon", old]), false),
        ] {
            let batches = page.as_array().unwrap();
            assert_eq!(is_past(batches, &trace, Value::as_i64), expected, "{page}");
        }
    }
}
