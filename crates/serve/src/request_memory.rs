//! Memory for the bodies of all requests that are being received or worked on.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::ApiError;

/// Seconds after which a client that found no room may try again.
const RETRY_AFTER: u64 = 5;

/// Bytes that the bodies of all requests may take together. Single bodies and their number are limited as well, but their product
/// is more than a machine has.
pub(crate) struct RequestMemory {
    free: Arc<Semaphore>,
    limit: usize,
}

impl RequestMemory {
    pub(crate) fn new(limit: usize) -> Self {
        let limit = limit.min(Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(limit)), limit }
    }

    /// Memory of a request of which nothing has arrived.
    pub(crate) fn begin(&self) -> HeldMemory {
        HeldMemory { free: Arc::clone(&self.free), held: None, limit: self.limit }
    }
}

/// Part of the memory that belongs to a request. It is free again once this is dropped.
pub(crate) struct HeldMemory {
    free: Arc<Semaphore>,
    held: Option<OwnedSemaphorePermit>,
    limit: usize,
}

impl HeldMemory {
    /// Takes memory for further bytes of the body.
    ///
    /// # Errors
    /// With 429 if other requests hold too much.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), ApiError> {
        let taken = u32::try_from(bytes).ok().and_then(|bytes| {
            let permits = Arc::clone(&self.free).try_acquire_many_owned(bytes);
            permits.ok()
        });
        let Some(more) = taken else {
            let message =
                format!("the bodies of all requests together may take {} bytes of memory", self.limit);
            return Err(ApiError::overloaded(message, RETRY_AFTER).closing());
        };

        match &mut self.held {
            Some(held) => held.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_free_again_after_the_request() {
        let memory = RequestMemory::new(100);
        let (mut first, mut second) = (memory.begin(), memory.begin());
        assert!(first.take(40).is_ok() && first.take(40).is_ok());
        let error = second.take(30).expect_err("20 bytes are left");
        assert_eq!((error.status.as_u16(), error.retry_after), (429, Some(RETRY_AFTER)));

        drop(first);
        assert!(second.take(100).is_ok());
    }
}
