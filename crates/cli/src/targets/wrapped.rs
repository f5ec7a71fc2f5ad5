//! Targets around other targets: discreet ones, such that wait for their turn, such with another name.

use std::sync::Arc;

use assize_llm::Redactor;
use assize_target::{Answer, BoxFuture, Target, TargetDescription, TargetError, TargetInput};
use tokio::sync::Semaphore;

/// A command whose complaints are stored and shown without the secrets it inherited.
pub(super) struct Discreet<T> {
    pub(super) inner: T,
    pub(super) redactor: Arc<Redactor>,
}

impl<T: Target> Target for Discreet<T> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<Answer, TargetError>> {
        Box::pin(async {
            self.inner.answer(input).await.map_err(|error| TargetError {
                message: self.redactor.redact(&error.message).into(),
                stderr: error.stderr.as_deref().map(|text| self.redactor.redact(text).into()),
                ..error
            })
        })
    }

    fn describe(&self) -> TargetDescription {
        self.inner.describe()
    }

    fn settings(&self) -> String {
        self.inner.settings()
    }
}

/// A command of one case, which waits for its turn among the commands of the run.
pub(super) struct InTurn<T> {
    pub(super) inner: T,
    pub(super) slots: Arc<Semaphore>,
}

impl<T: Target> Target for InTurn<T> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<Answer, TargetError>> {
        Box::pin(async {
            // Never closed; without a permit it would only be one too many.
            let _slot = self.slots.acquire().await;
            self.inner.answer(input).await
        })
    }

    fn describe(&self) -> TargetDescription {
        self.inner.describe()
    }

    fn settings(&self) -> String {
        self.inner.settings()
    }
}

/// A target that goes by another name in this run (`use_target` in a suite).
pub(super) struct Named {
    pub(super) name: String,
    pub(super) inner: Arc<dyn Target>,
}

impl Target for Named {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<Answer, TargetError>> {
        self.inner.answer(input)
    }

    fn describe(&self) -> TargetDescription {
        TargetDescription { name: self.name.clone(), ..self.inner.describe() }
    }

    fn settings(&self) -> String {
        format!("{:?} {}", self.name, self.inner.settings())
    }
}
