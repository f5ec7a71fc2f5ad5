//! Trying again what a server that is away can't do now.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use crate::error::ClusterError;

/// Time that a server may be away.
const LONGEST: Duration = Duration::from_mins(15);
/// First and longest pause between two attempts.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(3)];

/// Patience with servers, used up by failures in a row.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    since: Option<Instant>,
    pause: Duration,
}

impl Patience {
    /// Waits after a failure.
    ///
    /// # Errors
    /// The failure, if it is of the kind that stays, or has gone on for too long.
    pub(crate) async fn wait(&mut self, error: ClusterError) -> Result<(), ClusterError> {
        let since = *self.since.get_or_insert_with(Instant::now);
        if !matches!(error, ClusterError::Unreachable(_)) || since.elapsed() > LONGEST {
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

/// Tries until it succeeds, or patience is at its end.
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
