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

use crate::batch_lines::BatchReplyLine;

pub use client::BatchClient;
pub use draft::BatchDraft;
pub use format::{BatchFormat, BatchLimits};
pub use storage::{BatchPlace, BatchRole, BatchStorage, InvalidBatchPlace, InvalidBatchRole};

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

/// Reads the lines of results; a line that can't be read stands for no request.
fn each_line(bytes: &[u8], take: impl FnMut(&[u8])) {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).for_each(take);
}

/// Receiver of results, one by one.
pub type ResultSink<'a> = &'a mut (dyn FnMut(BatchReplyLine) + Send);
