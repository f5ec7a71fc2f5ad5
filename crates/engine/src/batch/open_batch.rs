//! State of a batch in progress, as far as this process knows it.

use std::collections::HashSet;
use std::time::Duration;

use assize_llm::{BatchClient, BatchFormat, BatchReservation, CallBound, CallKey};
use assize_rubric::Usd;
use assize_store::BatchRecord;

/// A batch in progress.
pub(super) struct OpenBatch {
    pub(super) record: BatchRecord,
    /// Client of its model, or of another model at the same server.
    pub(super) client: BatchClient,
    /// The budget reserved for it.
    pub(super) reservation: Option<BatchReservation>,
    /// Number of answered requests that the provider last reported.
    pub(super) done: u64,
    /// Status requests in a row that were answered with "not found".
    pub(super) missed: u32,
    /// How often its results were read incompletely.
    pub(super) readings: u32,
    /// Status requests in a row without an answer.
    pub(super) failures: u32,
}

/// After this many incomplete or missing readings, results are used as they are.
const MAX_READINGS: u32 = 3;

impl OpenBatch {
    pub(super) fn new(record: BatchRecord, client: BatchClient) -> Self {
        Self { record, client, reservation: None, done: 0, missed: 0, readings: 0, failures: 0 }
    }

    /// Notes an incomplete reading of its results. Returns whether they should be read again, because only this
    /// reading may have been cut off.
    pub(super) fn try_again(&mut self) -> bool {
        self.readings += 1;
        self.readings < MAX_READINGS
    }

    /// Keys of its calls.
    pub(super) fn keys(&self) -> HashSet<CallKey> {
        self.record.keys.iter().filter_map(|key| key.parse().ok()).collect()
    }

    pub(super) fn requests(&self) -> u64 {
        self.record.keys.len() as u64
    }

    /// Upper bound of its tokens and cost.
    pub(super) fn most(&self) -> CallBound {
        CallBound::new(self.record.most_tokens, Usd::from_pico(self.record.most_pico_usd))
    }

    /// Its name in messages.
    pub(super) fn describe(&self) -> String {
        let host = self.client.model().host();
        match &self.record.id {
            Some(id) => format!("batch {id} at {host}"),
            None => format!("batch {} (id unknown) at {host}", self.record.token),
        }
    }

    /// How a person finds it at its provider.
    pub(super) fn mark(&self) -> String {
        let BatchRecord { token, created, id, .. } = &self.record;
        match (id, self.client.format()) {
            (Some(_), _) => "by its id, with the key of the account that sent it".to_owned(),
            (None, BatchFormat::OpenAi(_)) => {
                format!(
                    "its metadata has `assize: {token}`, and its input file is named `assize-{token}.jsonl`"
                )
            }
            (None, BatchFormat::Gemini | BatchFormat::Bedrock) => format!("it is named `assize-{token}`"),
            (None, BatchFormat::Anthropic) => {
                let since = jiff::Timestamp::from_second(*created)
                    .map_or_else(|_| created.to_string(), |at| at.to_string());
                format!("it has no name; it has {} requests, and was created after {since}", self.requests())
            }
        }
    }

    /// How long to look for a batch whose creation is unclear: the provider may still be creating it, and list
    /// it late.
    pub(super) fn settling(&self) -> Duration {
        if self.client.model().is_loopback() { Duration::from_secs(5) } else { Duration::from_mins(1) }
    }
}
