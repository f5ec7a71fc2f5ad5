//! Requests that a pass over the cases has collected.

use assize_llm::{BatchRequest, CallBound, CallKey};
use assize_store::{SpoolFile, SpoolPlace, StoreError};

/// Requests of a pass: their bodies in a file, and about 100 bytes for each in memory.
pub(super) struct CollectedRequests {
    spool: SpoolFile,
    requests: Vec<CollectedRequest>,
}

/// One request.
#[derive(Debug, Clone, Copy)]
pub(super) struct CollectedRequest {
    pub(super) key: CallKey,
    /// Index of its client.
    pub(super) client: usize,
    /// The most that it may take.
    pub(super) most: CallBound,
    prefix: u64,
    place: SpoolPlace,
}

impl CollectedRequest {
    /// Length of its body in bytes.
    pub(super) fn length(&self) -> usize {
        self.place.length()
    }
}

impl CollectedRequests {
    /// No requests yet.
    pub(super) fn new(spool: SpoolFile) -> Self {
        Self { spool, requests: Vec::new() }
    }

    /// Adds a request.
    ///
    /// # Errors
    /// When it can't be written.
    pub(super) fn add(
        &mut self,
        key: CallKey,
        client: usize,
        request: &BatchRequest,
    ) -> Result<(), StoreError> {
        let place = self.spool.append(&request.body)?;
        let BatchRequest { prefix, most, .. } = *request;
        self.requests.push(CollectedRequest { key, client, most, prefix, place });
        Ok(())
    }

    /// Number of requests.
    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    /// The requests, by client, and side by side where they begin alike, in the order in which beginnings first came:
    /// servers that cache prompts find them then.
    pub(super) fn in_order(&self) -> Vec<CollectedRequest> {
        let mut first = std::collections::HashMap::new();
        for (at, request) in self.requests.iter().enumerate() {
            first.entry((request.client, request.prefix)).or_insert(at);
        }

        let mut ordered: Vec<(usize, usize)> = self
            .requests
            .iter()
            .enumerate()
            .map(|(at, request)| (first.get(&(request.client, request.prefix)).copied().unwrap_or(at), at))
            .collect();
        ordered.sort_by_key(|(first, at)| (self.requests[*at].client, *first, *at));

        ordered.into_iter().map(|(_, at)| self.requests[at]).collect()
    }

    /// Body of a request.
    ///
    /// # Errors
    /// When it can't be read.
    pub(super) fn body(&mut self, request: &CollectedRequest) -> Result<Vec<u8>, StoreError> {
        self.spool.read(request.place)
    }
}
