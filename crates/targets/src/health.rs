//! Checks that a target is available before its first question.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use assize_llm::{BoxFuture, HttpTransport, TransportError};
use assize_process::{ProcessCommand, ProgramConsent};
use assize_rubric::IdentityWriter;
use parking_lot::Mutex;
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
    /// A command that must succeed within its limits. It runs in the eval file's folder, and its own folder is
    /// relative to that.
    Command {
        /// The command.
        command: ProcessCommand,
        /// Consent to start it.
        consent: Option<ProgramConsent>,
    },
}

impl HealthCheck {
    /// The folder that the check depends on.
    fn folder(&self, input: &TargetInput) -> PathBuf {
        match self {
            Self::Http { .. } => PathBuf::new(),
            Self::Command { command, .. } => input.folder_beside_suite(command.cwd.as_deref()),
        }
    }

    async fn run(&self, folder: PathBuf) -> Result<(), String> {
        match self {
            Self::Http { url, timeout } => match HttpTransport::default().probe(url, *timeout).await {
                Ok(200..=299) => Ok(()),
                Ok(status) => Err(format!("its server answered with status {status}")),
                Err(error @ TransportError::Unusable(_)) => Err(format!("it can't be made: {error}")),
                Err(error) => Err(format!("its server gave no answer: {error}")),
            },
            Self::Command { command, consent } => match command.clone().in_folder(folder).run(*consent).await
            {
                Ok(finished) if finished.exit.is_success() => Ok(()),
                Ok(finished) => {
                    let text = finished.stderr.tail(STDERR_TAIL);
                    let text = text.trim();
                    let text = if text.is_empty() { String::new() } else { format!(", and said: {text}") };
                    Err(format!("its command failed ({}){text}", finished.exit))
                }
                Err(error) => Err(format!("its command gave no answer: {error}")),
            },
        }
    }
}

type HealthCheckResult = Arc<OnceCell<Result<(), String>>>;

/// A target that is checked before its first input. If the check fails, it gets no inputs.
pub struct HealthCheckedTarget {
    inner: Arc<dyn Target>,
    check: HealthCheck,
    /// Results of the check by the folder in which it ran.
    found: Mutex<BTreeMap<PathBuf, HealthCheckResult>>,
}

impl HealthCheckedTarget {
    /// Creates a target with a check.
    pub fn new(inner: Arc<dyn Target>, check: HealthCheck) -> Self {
        Self { inner, check, found: Mutex::default() }
    }
}

impl Target for HealthCheckedTarget {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(async {
            let folder = self.check.folder(input);
            let found = {
                let mut all = self.found.lock();
                Arc::clone(all.entry(folder.clone()).or_default())
            };
            if let Err(why) = found.get_or_init(|| self.check.run(folder)).await {
                let message = format!("the health check of target `{}` failed: {why}", self.name());
                return Err(TargetError::without_attempt(TargetErrorKind::Unhealthy, message));
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
