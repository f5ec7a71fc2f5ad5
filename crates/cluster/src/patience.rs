//! Retries while a server is away.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use crate::error::ClusterError;

/// How long a server may be away.
const LONGEST_OUTAGE: Duration = Duration::from_mins(15);
/// First and longest pause between two attempts.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(3)];

/// How long failures in a row are still retried.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    since: Option<Instant>,
    pause: Duration,
}

impl Patience {
    /// Waits after a failure.
    ///
    /// # Errors
    /// Returns the failure if a retry can't cure it, or if it has lasted for too long.
    pub(crate) async fn wait(&mut self, error: ClusterError) -> Result<(), ClusterError> {
        let since = *self.since.get_or_insert_with(Instant::now);
        if !matches!(error, ClusterError::Unreachable(_)) || since.elapsed() > LONGEST_OUTAGE {
            return Err(error);
        }

        self.pause = (self.pause * 2).clamp(PAUSES[0], PAUSES[1]);
        tokio::time::sleep(self.pause).await;
        Ok(())
    }

    fn succeeded(&mut self) {
        *self = Self::default();
    }
}

/// Retries until an attempt succeeds, or patience runs out.
pub(crate) async fn persist<T, F>(
    patience: &mut Patience,
    mut attempt: impl FnMut() -> F,
) -> Result<T, ClusterError>
where
    F: Future<Output = Result<T, ClusterError>>,
{
    loop {
        match attempt().await {
            Ok(value) => {
                patience.succeeded();
                return Ok(value);
            }
            Err(error) => patience.wait(error).await?,
        }
    }
}
