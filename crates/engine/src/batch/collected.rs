//! Requests collected by a pass over the cases.

use assize_llm::{BatchRequest, CallBound, CallKey};
use assize_store::{SpoolFile, SpoolPlace, StoreError};

/// Requests of a pass. Their bodies are in a file; about 100 bytes of each are in memory.
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
    /// Upper bound of its tokens and cost.
    pub(super) most: CallBound,
    prefix: u64,
    spool_place: SpoolPlace,
}

impl CollectedRequest {
    /// Length of its body in bytes.
    pub(super) fn length(&self) -> usize {
        self.spool_place.length()
    }
}

impl CollectedRequests {
    /// Creates an empty collection.
    pub(super) fn new(spool: SpoolFile) -> Self {
        Self { spool, requests: Vec::new() }
    }

    /// Adds a request.
    ///
    /// # Errors
    /// If it can't be written.
    pub(super) fn add(
        &mut self,
        key: CallKey,
        client: usize,
        request: &BatchRequest,
    ) -> Result<(), StoreError> {
        let spool_place = self.spool.append(&request.body)?;
        let BatchRequest { prefix, most, .. } = *request;
        self.requests.push(CollectedRequest { key, client, most, prefix, spool_place });
        Ok(())
    }

    /// The number of requests.
    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    /// The requests, grouped by client and by common prefix, in order of first occurrence. Servers with a
    /// prompt cache can then reuse the prefixes.
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

    /// Reads the body of a request.
    ///
    /// # Errors
    /// If it can't be read.
    pub(super) fn body(&mut self, request: &CollectedRequest) -> Result<Vec<u8>, StoreError> {
        self.spool.read(request.spool_place)
    }
}
