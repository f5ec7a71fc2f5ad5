//! State of a batch in progress, as this process knows it.

use std::collections::HashSet;
use std::time::Duration;

use assize_llm::{BatchClient, BatchReservation, CallBound, CallKey};
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
}

impl OpenBatch {
    pub(super) fn new(record: BatchRecord, client: BatchClient) -> Self {
        Self { record, client, reservation: None, done: 0, missed: 0 }
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

    /// Time within which a batch shows in its provider's list, if the process that asked for it has ended: the provider may still
    /// be creating it.
    pub(super) fn settling_of_stopped(&self) -> Duration {
        if self.client.model().is_loopback() { Duration::from_secs(5) } else { Duration::from_mins(1) }
    }

    /// Time within which a batch that was asked for shows in its provider's list.
    pub(super) fn settling(&self) -> Duration {
        if self.client.model().is_loopback() { Duration::from_millis(300) } else { Duration::from_secs(15) }
    }
}
