//! State of a batch in progress, as this process knows it.

use std::collections::HashSet;
use std::time::Duration;

use assize_llm::{BatchClient, BatchFormat, BatchReservation, CallBound, CallKey};
use assize_rubric::Usd;
use assize_store::BatchRecord;

/// Batch that is worked on.
pub(super) struct OpenBatch {
    pub(super) record: BatchRecord,
    /// Client of its model, or of another one at the same server.
    pub(super) client: BatchClient,
    /// Amount that the budget has set aside for it.
    pub(super) reservation: Option<BatchReservation>,
    /// Requests that were answered, as far as it is told.
    pub(super) done: u64,
    /// Questions about it in a row that the provider answered with "not found".
    pub(super) missed: u32,
    /// Readings of its results that were not whole.
    pub(super) readings: u32,
    /// Questions about it in a row that brought no answer.
    pub(super) failures: u32,
}

/// Readings of results that are not whole, or not there yet, after which they are taken as they are.
const READINGS: u32 = 3;

impl OpenBatch {
    pub(super) fn new(record: BatchRecord, client: BatchClient) -> Self {
        Self { record, client, reservation: None, done: 0, missed: 0, readings: 0, failures: 0 }
    }

    /// Takes note of results that are not whole; true if they are to be read again, because only this reading may have been
    /// cut off.
    pub(super) fn try_again(&mut self) -> bool {
        self.readings += 1;
        self.readings < READINGS
    }

    /// Keys of its calls.
    pub(super) fn keys(&self) -> HashSet<CallKey> {
        self.record.keys.iter().filter_map(|key| key.parse().ok()).collect()
    }

    pub(super) fn requests(&self) -> u64 {
        self.record.keys.len() as u64
    }

    /// The most that it may take.
    pub(super) fn most(&self) -> CallBound {
        CallBound::new(self.record.most_tokens, Usd::from_pico(self.record.most_pico_usd))
    }

    /// Words for people.
    pub(super) fn describe(&self) -> String {
        let host = self.client.model().host();
        match &self.record.id {
            Some(id) => format!("batch {id} at {host}"),
            None => format!("batch {} (id unknown) at {host}", self.record.token),
        }
    }

    /// Mark by which a person finds it at its provider.
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

    /// Time within which a batch that was asked for shows in its provider's list: the provider may still be creating it.
    pub(super) fn settling(&self) -> Duration {
        if self.client.model().is_loopback() { Duration::from_secs(5) } else { Duration::from_mins(1) }
    }
}
