//! Limits the memory for the bodies of all requests being received or graded.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::ApiError;

/// Seconds after which a client that was refused for lack of memory may retry.
const RETRY_AFTER: u64 = 5;

/// Bytes that all bodies together may take. The size and the number of bodies are limited too, but their
/// product is more memory than a machine has.
pub(crate) struct RequestMemory {
    free: Arc<Semaphore>,
    /// Bytes that all bodies together may take.
    pub(crate) limit: usize,
}

impl RequestMemory {
    pub(crate) fn new(limit: usize) -> Self {
        let limit = limit.min(Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(limit)), limit }
    }

    /// Memory of a request without received bytes.
    pub(crate) fn begin(&self) -> HeldMemory {
        HeldMemory { free: Arc::clone(&self.free), held: None, limit: self.limit }
    }
}

/// Memory that a request holds; freed when this is dropped.
pub(crate) struct HeldMemory {
    free: Arc<Semaphore>,
    held: Option<OwnedSemaphorePermit>,
    limit: usize,
}

impl HeldMemory {
    /// Takes memory for more bytes of the body.
    ///
    /// # Errors
    /// 429 if other requests hold too much.
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
