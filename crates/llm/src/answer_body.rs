//! Reads bodies of answers, with a limit for each, and a limit on how many large ones are read at the same
//! time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::transport::TransportError;

/// An answer is large above this many bytes.
const LARGE: usize = 256 << 10;
/// How many large answers are read at a time, over all requests. The others wait, within the time limits of
/// their requests.
const LARGE_AT_ONCE: usize = 8;

/// Permits for the large answers of a transport.
#[derive(Debug, Clone)]
pub(crate) struct BodyLimits {
    most: usize,
    large: Arc<Semaphore>,
}

/// A body that is being read.
#[derive(Debug)]
pub(crate) struct AnswerBody {
    limits: BodyLimits,
    bytes: Vec<u8>,
    place: Option<OwnedSemaphorePermit>,
}

impl BodyLimits {
    /// Limits for answers of at most `most` bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, large: Arc::new(Semaphore::new(LARGE_AT_ONCE)) }
    }

    /// An empty body. `length` is the length that the server announces.
    ///
    /// # Errors
    /// If the announced length is over the limit.
    pub(crate) fn begin(&self, length: Option<u64>) -> Result<AnswerBody, TransportError> {
        if length.is_some_and(|length| length > self.most as u64) {
            return Err(TransportError::TooLarge(self.most));
        }

        Ok(AnswerBody { limits: self.clone(), bytes: Vec::new(), place: None })
    }
}

impl AnswerBody {
    /// Adds a chunk.
    ///
    /// # Errors
    /// If the body is over the limit with it.
    pub(crate) async fn push(&mut self, chunk: &[u8]) -> Result<(), TransportError> {
        let length = self.bytes.len() + chunk.len();
        if length > self.limits.most {
            return Err(TransportError::TooLarge(self.limits.most));
        }

        if length > LARGE && self.place.is_none() {
            // The semaphore is never closed. If it were, one body too many would be read.
            self.place = Arc::clone(&self.limits.large).acquire_owned().await.ok();
        }

        self.bytes.extend_from_slice(chunk);
        Ok(())
    }

    /// The whole body.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn large_answers_are_read_a_few_at_a_time_and_too_large_ones_not_at_all() {
        let limits = BodyLimits::new(2 * LARGE);
        let too_large = Err(TransportError::TooLarge(2 * LARGE));
        assert_eq!(limits.begin(Some(2 * LARGE as u64 + 1)).map(drop), too_large);

        let mut bodies = Vec::new();
        for _ in 0..LARGE_AT_ONCE {
            let mut body = limits.begin(None).unwrap();
            body.push(&vec![0; LARGE]).await.unwrap();
            body.push(&[0; 1]).await.unwrap();
            bodies.push(body);
        }
        let mut small = limits.begin(None).unwrap();
        small.push(&vec![0; LARGE]).await.unwrap();
        assert!(futures_util::FutureExt::now_or_never(small.push(&[0; 1])).is_none(), "one too many waits");

        let mut first = bodies.remove(0);
        assert_eq!(first.push(&vec![0; LARGE]).await, too_large);
        drop(first);
        small.push(&[0; 1]).await.unwrap();
        assert_eq!(small.into_bytes().len(), LARGE + 1);
    }
}
