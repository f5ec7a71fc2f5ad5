//! Reads bodies of answers. Limits the size of each, and how many large ones are read at the same time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::transport::TransportError;

/// An answer is large above this many bytes.
const LARGE_BYTES: usize = 256 << 10;
/// How many large answers are read at a time, over all requests. The others wait, within the time limits of
/// their requests.
const MAX_LARGE_AT_ONCE: usize = 8;

/// Permits for the large answers of a transport.
#[derive(Debug, Clone)]
pub(crate) struct BodyLimits {
    max_bytes: usize,
    large: Arc<Semaphore>,
}

/// A body that is being read.
#[derive(Debug)]
pub(crate) struct AnswerBody {
    limits: BodyLimits,
    pub(crate) bytes: Vec<u8>,
    permit: Option<OwnedSemaphorePermit>,
}

impl BodyLimits {
    /// Limits for answers of at most `max_bytes` bytes.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, large: Arc::new(Semaphore::new(MAX_LARGE_AT_ONCE)) }
    }

    /// An empty body. `length` is the length that the server announces.
    ///
    /// # Errors
    /// If the announced length is over the limit.
    pub(crate) fn begin(&self, length: Option<u64>) -> Result<AnswerBody, TransportError> {
        if length.is_some_and(|length| length > self.max_bytes as u64) {
            return Err(TransportError::TooLarge(self.max_bytes));
        }

        Ok(AnswerBody { limits: self.clone(), bytes: Vec::new(), permit: None })
    }
}

impl AnswerBody {
    /// Adds a chunk.
    ///
    /// # Errors
    /// If the body is over the limit with it.
    pub(crate) async fn push(&mut self, chunk: &[u8]) -> Result<(), TransportError> {
        let length = self.bytes.len() + chunk.len();
        if length > self.limits.max_bytes {
            return Err(TransportError::TooLarge(self.limits.max_bytes));
        }

        if length > LARGE_BYTES && self.permit.is_none() {
            // The semaphore is never closed. If it were, one body too many would be read.
            self.permit = Arc::clone(&self.limits.large).acquire_owned().await.ok();
        }

        self.bytes.extend_from_slice(chunk);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn large_answers_are_read_a_few_at_a_time_and_too_large_ones_not_at_all() {
        let limits = BodyLimits::new(2 * LARGE_BYTES);
        let too_large = Err(TransportError::TooLarge(2 * LARGE_BYTES));
        assert_eq!(limits.begin(Some(2 * LARGE_BYTES as u64 + 1)).map(drop), too_large);

        let mut bodies = Vec::new();
        for _ in 0..MAX_LARGE_AT_ONCE {
            let mut body = limits.begin(None).unwrap();
            body.push(&vec![0; LARGE_BYTES]).await.unwrap();
            body.push(&[0; 1]).await.unwrap();
            bodies.push(body);
        }
        let mut small = limits.begin(None).unwrap();
        small.push(&vec![0; LARGE_BYTES]).await.unwrap();
        assert!(futures_util::FutureExt::now_or_never(small.push(&[0; 1])).is_none(), "one too many waits");

        let mut first = bodies.remove(0);
        assert_eq!(first.push(&vec![0; LARGE_BYTES]).await, too_large);
        drop(first);
        small.push(&[0; 1]).await.unwrap();
        assert_eq!(small.bytes.len(), LARGE_BYTES + 1);
    }
}
