//! Health check of a target before its first question.

use std::sync::Arc;
use std::time::Duration;

use assize_llm::{BoxFuture, HttpTransport, TransportError};
use assize_process::ProcessCommand;
use assize_rubric::IdentityWriter;
use tokio::sync::OnceCell;

use crate::error::STDERR_TAIL;
use crate::{Target, TargetAnswer, TargetDescription, TargetError, TargetErrorKind, TargetInput};

/// Check that a target is available.
#[derive(Debug, Clone)]
pub enum HealthCheck {
    /// A GET of this address returns a status from 200 to 299 within the time limit.
    Http {
        /// The address.
        url: String,
        /// Time limit.
        timeout: Duration,
    },
    /// A command exits with success within its limits.
    Command(ProcessCommand),
}

impl HealthCheck {
    async fn run(&self) -> Result<(), String> {
        match self {
            Self::Http { url, timeout } => match HttpTransport::default().probe(url, *timeout).await {
                Ok(200..=299) => Ok(()),
                Ok(status) => Err(format!("its server answered with status {status}")),
                Err(error @ TransportError::Unusable(_)) => Err(format!("it can't be made: {error}")),
                Err(error) => Err(format!("its server gave no answer: {error}")),
            },
            Self::Command(command) => match command.run().await {
                Ok(finished) if finished.exit.is_success() => Ok(()),
                Ok(finished) => {
                    let said = finished.stderr.tail(STDERR_TAIL);
                    let said = said.trim();
                    let said = if said.is_empty() { String::new() } else { format!(", and said: {said}") };
                    Err(format!("its command failed ({}){said}", finished.exit))
                }
                Err(error) => Err(format!("its command gave no answer: {error}")),
            },
        }
    }
}

/// Target that is checked before its first question. If the check fails, it is never asked.
pub struct HealthCheckedTarget {
    inner: Arc<dyn Target>,
    check: HealthCheck,
    /// Result of the check.
    found: OnceCell<Result<(), String>>,
}

impl HealthCheckedTarget {
    /// Creates a target with a check.
    pub fn new(inner: Arc<dyn Target>, check: HealthCheck) -> Self {
        Self { inner, check, found: OnceCell::new() }
    }
}

impl Target for HealthCheckedTarget {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(async {
            if let Err(why) = self.found.get_or_init(|| self.check.run()).await {
                let message = format!("the health check of target `{}` failed: {why}", self.name());
                return Err(TargetError {
                    attempts: 0,
                    ..TargetError::new(TargetErrorKind::Unhealthy, message)
                });
            }
            self.inner.answer(input).await
        })
    }

    fn describe(&self) -> TargetDescription {
        self.inner.describe()
    }

    fn write_settings(&self, identity: &mut IdentityWriter) {
        self.inner.write_settings(identity);
    }
}
