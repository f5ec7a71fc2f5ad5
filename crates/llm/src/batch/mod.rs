//! Batches of a provider: many requests handed over at once, answered within a day, at a lower price.
//!
//! [`BatchClient`] speaks to the provider; one file per format. It sends keys where [`ModelClient`](crate::ModelClient) sends
//! them and nowhere else: addresses that answers name are not followed.

mod anthropic;
mod bedrock;
mod bucket;
mod client;
mod draft;
mod exchange;
mod format;
mod gemini;
mod openai;
mod storage;

use serde_json::Value;

use crate::batch_lines::{BatchLineError, BatchReplyLine};

pub use client::BatchClient;
pub use draft::BatchDraft;
pub use format::{BatchFormat, BatchLimits};
pub use storage::{BatchPlace, BatchRole, BatchStorage, InvalidBatchPlace, InvalidBatchRole};

/// Requests of a batch that its provider has, where they are uploaded before it is created.
#[derive(Debug, Clone, Default)]
pub struct UploadedRequests(Option<String>);

/// Batch as its provider describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchStatus {
    /// The provider's name for it.
    pub id: String,
    /// State.
    pub state: BatchState,
    /// Requests that were answered, well or not; `None` where it is not told.
    pub done: Option<u64>,
    /// Names of the files with results, or results that came with the status.
    results: BatchFiles,
}

/// State of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchState {
    /// It is worked on.
    Running,
    /// Nothing more will come. Requests without a result were not processed.
    Ended,
    /// It was not accepted, and nothing was processed: the provider's words.
    Refused(String),
}

/// Place of the results of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
enum BatchFiles {
    /// Files of the provider, by id.
    Named(Vec<String>),
    /// The results of this batch.
    OfBatch,
    /// They came with the status.
    Inline(Vec<u8>),
    /// There are none.
    None,
    /// There are none any more.
    Gone,
}

/// Result of looking for a batch that may have been created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchSearch {
    /// It was created, under this id.
    Found(String),
    /// It was not created.
    Absent,
    /// It may be one that is still worked on, and only its results will tell.
    Undecided,
    /// It can't be found out; the reason.
    Unknown(String),
}

/// Batch that is looked for.
#[derive(Clone, Copy)]
pub struct BatchTrace<'a> {
    /// Name under which it was sent.
    pub token: &'a str,
    /// Time before which it was not created, in seconds since 1970.
    pub created: i64,
    /// Number of its requests.
    pub requests: u64,
    /// True for names of its requests.
    pub holds: &'a (dyn Fn(&str) -> bool + Sync),
    /// Ids of other batches.
    pub others: &'a [String],
}

/// Difference that the clocks of this machine and the provider may have, in seconds: a clock that shows local time as if it was UTC
/// is up to 14 hours fast. What a provider lists as older than that is not the batch that is looked for.
const CLOCKS: i64 = 26 * 3600;

/// True if nothing behind this page of a list can be the batch that is looked for: the newest come first, and its last batch is
/// older. `time` reads when a batch was created.
fn is_past(page: &[Value], trace: &BatchTrace<'_>, time: impl Fn(&Value) -> Option<i64>) -> bool {
    let (Some(first), Some(last)) = (page.first().and_then(&time), page.last().and_then(&time)) else {
        return false;
    };
    // Some servers list the oldest first.
    last < trace.created - CLOCKS && first >= last && page.len() > 1
}

/// Result of reading a line of results.
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

/// Receiver of results, one by one. An error is a line that can't be read: nobody knows to which request it belongs.
pub type ResultSink<'a> = &'a mut (dyn FnMut(ReadLine) + Send);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_ends_at_an_old_batch_only_where_the_newest_come_first() {
        let (now, old) = (1_000_000_000, 1_000_000_000 - CLOCKS - 1);
        let trace = BatchTrace { token: "t", created: now, requests: 1, holds: &|_| false, others: &[] };
        for (page, expected) in [
            (json!([now, old]), true),
            (json!([old - 9, old - 10]), true),
            (json!([now + 9, now - CLOCKS]), false),
            (json!([old - 9, old]), false),
            (json!([]), false),
            (json!(["soon", old]), false),
        ] {
            let batches = page.as_array().unwrap();
            assert_eq!(is_past(batches, &trace, Value::as_i64), expected, "{page}");
        }
    }
}
