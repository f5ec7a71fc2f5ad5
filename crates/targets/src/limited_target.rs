//! Limits the concurrency of a target.

use std::num::NonZeroUsize;
use std::sync::Arc;

use assize_llm::BoxFuture;
use assize_rubric::IdentityWriter;
use tokio::sync::Semaphore;

use crate::{Target, TargetAnswer, TargetDescription, TargetError, TargetErrorKind, TargetInput};

/// A target with a limit on concurrent questions. Further ones wait.
pub struct LimitedTarget {
    inner: Arc<dyn Target>,
    permits: Semaphore,
}

impl LimitedTarget {
    /// Creates a target with a limit.
    pub fn new(inner: Arc<dyn Target>, max_concurrent: NonZeroUsize) -> Self {
        Self { inner, permits: Semaphore::new(max_concurrent.get().min(Semaphore::MAX_PERMITS)) }
    }
}

impl Target for LimitedTarget {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(async {
            let Ok(_place) = self.permits.acquire().await else {
                let message = "the target is closed";
                return Err(TargetError::without_attempt(TargetErrorKind::Cancelled, message));
            };
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
