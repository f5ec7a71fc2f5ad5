//! Batch APIs of the mock server: OpenAI's, Anthropic's, Gemini's, and Bedrock's with its bucket, with faults, and a count of what was paid for.

mod answers;
mod bucket;
mod form;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

pub(super) use answers::{BatchAnswer, BatchCall};

/// Faults of the batch APIs. They hold from the moment they are set.
#[derive(Debug, Clone, Default)]
pub struct MockBatchFaults {
    /// Questions about a batch that are answered with "in progress" before it ends.
    pub polls: usize,
    /// The only key that is accepted; any if `None`.
    pub key: Option<String>,
    /// The next batch expires after so many of its requests.
    pub expire_after: Option<usize>,
    /// Requests of a batch that are done when it is cancelled.
    pub done_at_cancel: usize,
    /// Every so-many-th request of a batch is refused.
    pub refuse_every: Option<usize>,
    /// Every so-many-th request of a batch is answered under another name.
    pub rename_every: Option<usize>,
    /// Every so-many-th request of a batch is answered with a text that is no judgement.
    pub garble_every: Option<usize>,
    /// Every so-many-th request of a batch has a line with a failure before that with its answer.
    pub repeat_every: Option<usize>,
    /// So many times, results are handed out without their second half.
    pub cut_results: usize,
    /// Results are cut between two lines, and not within one.
    pub cut_between_lines: bool,
    /// Time at which batches say that they were created, in seconds since 1970; far in the future if `None`.
    pub created: Option<i64>,
    /// So many questions about a batch are answered with an error of the server.
    pub failed_polls: usize,
    /// No batch is found.
    pub vanished: bool,
    /// The next batch is not accepted, with this code and these words.
    pub refuse_next: Option<(String, String)>,
    /// So many uploads of requests are answered with an error of the server.
    pub failed_uploads: usize,
    /// So many creations happen without an answer.
    pub lost_answers: usize,
    /// Time from the creation of a batch to its answer.
    pub create_delay: Duration,
    /// Time before results are handed out.
    pub result_delay: Duration,
    /// There is no list of batches.
    pub no_list: bool,
    /// Time from the creation of a batch until it is in the list.
    pub list_delay: Duration,
    /// Metadata of batches is not kept.
    pub no_metadata: bool,
    /// Results were deleted.
    pub results_gone: bool,
    /// The bucket refuses every access.
    pub bucket_closed: bool,
}

/// Batches of a mock server.
#[derive(Debug, Default)]
pub struct MockBatches {
    state: Mutex<BatchesState>,
}

#[derive(Debug, Default)]
struct BatchesState {
    faults: MockBatchFaults,
    files: BTreeMap<String, Vec<u8>>,
    file_names: BTreeMap<String, String>,
    /// In the order in which they were created.
    batches: Vec<MockBatch>,
    /// How often each request body was answered in a batch, and alone.
    paid: BTreeMap<String, u32>,
    paid_alone: BTreeMap<String, u32>,
}

/// One batch.
#[derive(Debug, Clone)]
struct MockBatch {
    id: String,
    /// Metadata or name by which it can be found.
    name: Value,
    requests: Vec<MockBatchRequest>,
    polls: usize,
    created: Option<i64>,
    /// Time from which it is in the list.
    listed: Instant,
    state: MockBatchState,
    /// Output and error of each request that has one, as the format's lines have it.
    output: Vec<Value>,
    errors: Vec<Value>,
    expire_after: Option<usize>,
    refusal: Option<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MockBatchState {
    Running,
    Cancelling,
    Completed,
    Expired,
    Cancelled,
    Failed,
}

/// One request of a batch.
#[derive(Debug, Clone)]
struct MockBatchRequest {
    custom_id: String,
    /// Path that a single request would have.
    path: String,
    body: Value,
}

impl MockBatches {
    /// Sets the faults from now on.
    pub fn set(&self, faults: MockBatchFaults) {
        self.state().faults = faults;
    }

    /// Number of requests of each batch that was created, in that order.
    pub fn sizes(&self) -> Vec<usize> {
        self.state().batches.iter().map(|batch| batch.requests.len()).collect()
    }

    /// The body of each request with the number of times that it was answered in batches and alone.
    pub fn paid(&self) -> BTreeMap<String, (u32, u32)> {
        let state = self.state();
        let mut all: BTreeMap<String, (u32, u32)> = BTreeMap::new();
        for (body, times) in &state.paid {
            all.entry(body.clone()).or_default().0 = *times;
        }
        for (body, times) in &state.paid_alone {
            all.entry(body.clone()).or_default().1 = *times;
        }
        all
    }

    /// Number of requests that were answered in batches, and alone.
    pub fn paid_totals(&self) -> (u32, u32) {
        self.paid().values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Bodies of the requests of all batches, in the order in which they stand there.
    pub fn bodies(&self) -> Vec<Value> {
        self.state().batches.iter().flat_map(|batch| &batch.requests).map(|one| one.body.clone()).collect()
    }

    /// Counts a request that was answered alone.
    pub(super) fn count_alone(&self, body: &Value) {
        *self.state().paid_alone.entry(identity(body)).or_default() += 1;
    }

    /// Keys of the objects in the bucket.
    pub fn objects(&self) -> Vec<String> {
        self.state().files.keys().cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, BatchesState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A body without what only budgets and prompt caches add.
fn identity(body: &Value) -> String {
    body.to_string()
}
