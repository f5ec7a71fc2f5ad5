//! Limits the memory for the bodies of all requests being received or graded.

use std::sync::Arc;

use assize_limits::{MEMBER_BYTES, VALUE_BYTES};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::ApiError;

/// Seconds after which a client that was refused for lack of memory may retry.
const RETRY_AFTER: u64 = 5;

/// Bytes that all bodies together may take. The size and the number of bodies are limited too, but their
/// product is more memory than a machine has.
pub(crate) struct RequestMemory {
    free: Arc<Semaphore>,
    limit: usize,
}

impl RequestMemory {
    pub(crate) fn new(limit: usize) -> Self {
        let limit = limit.min(Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(limit)), limit }
    }

    /// Bytes that all bodies together may take.
    pub(crate) fn limit(&self) -> usize {
        self.limit
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

/// An estimate of the bytes that a JSON body takes when it is parsed, in addition to its own length: `[1,1,1]` takes
/// sixty times its size as text.
pub(crate) fn parsed_bytes(body: &[u8]) -> usize {
    let (mut values, mut members, mut in_text, mut is_escaped) = (0_usize, 0_usize, false, false);
    for &byte in body {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'[' | b'{' | b',' => values += 1,
            b':' => members += 1,
            _ => {}
        }
    }

    values * VALUE_BYTES + members * MEMBER_BYTES
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

    #[test]
    fn values_take_memory_and_texts_do_not() {
        for (body, expected) in [
            ("", 0),
            ("[1,1,1]", 3 * VALUE_BYTES),
            (r#"{"a": [{"b": "[[,,::\"["}]}"#, 3 * VALUE_BYTES + 2 * MEMBER_BYTES),
        ] {
            assert_eq!(parsed_bytes(body.as_bytes()), expected, "{body}");
        }
    }
}
