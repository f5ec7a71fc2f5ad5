//! Batch APIs of the mock server: OpenAI's, Anthropic's, Gemini's, and Bedrock's with its bucket. Includes faults and a
//! count of the paid requests.

mod answers;
mod bucket;
mod exchange;
mod form;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;

pub(super) use exchange::{BatchAnswer, BatchCall};

/// Faults of the batch APIs, effective as soon as they are set.
#[derive(Debug, Clone, Default)]
pub struct MockBatchFaults {
    /// Number of polls that are answered with "in progress" before a batch ends.
    pub polls: usize,
    /// The only accepted key; `None` accepts any.
    pub key: Option<String>,
    /// The next batch expires after this many of its requests.
    pub expire_after: Option<usize>,
    /// Number of requests that are done when a batch is cancelled.
    pub done_at_cancel: usize,
    /// Every n-th request of a batch is refused.
    pub refuse_every: Option<usize>,
    /// Every n-th request of a batch is answered under another name.
    pub rename_every: Option<usize>,
    /// Every n-th request of a batch is answered with a text that is not a judgement.
    pub garble_every: Option<usize>,
    /// Every n-th request of a batch gets a failure line before the line with its reply.
    pub repeat_every: Option<usize>,
    /// Number of times that results are returned without their second half.
    pub cut_results: usize,
    /// Results are cut between two lines instead of within one.
    pub cut_between_lines: bool,
    /// Creation time that batches report, in seconds since 1970; `None` is far in the future.
    pub created: Option<i64>,
    /// Number of polls that are answered with a server error.
    pub failed_polls: usize,
    /// No batch is found.
    pub vanished: bool,
    /// The next batch is refused with this code and message.
    pub refuse_next: Option<(String, String)>,
    /// Number of uploads that are answered with a server error.
    pub failed_uploads: usize,
    /// Number of creations that succeed without a reply.
    pub lost_answers: usize,
    /// Delay between the creation of a batch and the reply.
    pub create_delay: Duration,
    /// Delay before results are returned.
    pub result_delay: Duration,
    /// The list of batches is not available.
    pub no_list: bool,
    /// Delay until a new batch appears in the list.
    pub list_delay: Duration,
    /// Metadata of batches is not stored.
    pub no_metadata: bool,
    /// Results were deleted.
    pub results_gone: bool,
    /// The bucket refuses all access.
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
    /// In order of creation.
    batches: Vec<MockBatch>,
    /// How often each request body was answered in a batch, and as a single request.
    paid: BTreeMap<String, u32>,
    paid_alone: BTreeMap<String, u32>,
}

/// One batch.
#[derive(Debug, Clone)]
struct MockBatch {
    id: String,
    /// Metadata or name, to find it again.
    name: Value,
    requests: Vec<MockBatchRequest>,
    polls: usize,
    created: Option<i64>,
    /// When it appears in the list.
    listed: Instant,
    state: MockBatchState,
    /// Output or error of each request that has one, as a line in the API's format.
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
    /// Path of the equivalent single request.
    path: String,
    body: Value,
}

impl MockBatches {
    /// Sets the faults from now on.
    pub fn set(&self, faults: MockBatchFaults) {
        self.state().faults = faults;
    }

    /// Number of requests of each batch, in order of creation.
    pub fn sizes(&self) -> Vec<usize> {
        self.state().batches.iter().map(|batch| batch.requests.len()).collect()
    }

    /// The body of each request, with the number of times that it was answered in batches and as a single
    /// request.
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

    /// Number of requests that were answered in batches, and as single requests.
    pub fn paid_totals(&self) -> (u32, u32) {
        self.paid().values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Bodies of the requests of all batches, in order.
    pub fn bodies(&self) -> Vec<Value> {
        self.state().batches.iter().flat_map(|batch| &batch.requests).map(|one| one.body.clone()).collect()
    }

    /// Counts a request that was answered as a single request.
    pub(super) fn count_alone(&self, body: &Value) {
        *self.state().paid_alone.entry(identity(body)).or_default() += 1;
    }

    /// Keys of the objects in the bucket.
    pub fn objects(&self) -> Vec<String> {
        self.state().files.keys().cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, BatchesState> {
        self.state.lock()
    }
}

/// A body without the greatest length of the reply, which depends on the replies that a process has seen: with another one, the
/// call is the same.
fn identity(body: &Value) -> String {
    let mut body = body.clone();
    for path in ["", "/generationConfig", "/inferenceConfig"] {
        if let Some(Value::Object(members)) = body.pointer_mut(path) {
            for name in
                ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens"]
            {
                members.remove(name);
            }
        }
    }

    body.to_string()
}
