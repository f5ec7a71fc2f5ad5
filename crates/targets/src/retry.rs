//! Retries of a target after transient failures.

use std::time::Duration;

use assize_llm::BoxFuture;
use assize_rubric::IdentityWriter;

use crate::{Target, TargetAnswer, TargetDescription, TargetError, TargetInput};

/// A target that is retried after a timeout or a broken connection: at once, unless waits are set.
///
/// It is meant for commands. Models are not wrapped in it, because they have their own retries.
#[derive(Debug, Clone)]
pub struct RetryingTarget<T> {
    inner: T,
    max_retries: u32,
    first_wait: Duration,
    longest_wait: Duration,
}

impl<T: Target> RetryingTarget<T> {
    /// Creates a target with at most `max_retries` retries.
    pub fn new(inner: T, max_retries: u32) -> Self {
        Self { inner, max_retries, first_wait: Duration::ZERO, longest_wait: Duration::MAX }
    }

    /// Sets the waits: `first` before the first retry, twice as long before each further one, but never longer
    /// than `longest`.
    pub fn with_waits(self, first: Duration, longest: Duration) -> Self {
        Self { first_wait: first, longest_wait: longest, ..self }
    }
}

impl<T: Target> Target for RetryingTarget<T> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(async move {
            let mut spent = assize_rubric::Tokens::default();
            let mut cost = assize_rubric::Cost::ZERO;
            let mut attempts = 0u32;
            let mut retries_left = self.max_retries;
            let mut wait = self.first_wait.min(self.longest_wait);
            loop {
                match self.inner.answer(input).await {
                    Ok(mut answer) => {
                        answer.tokens.add(spent);
                        answer.cost = answer.cost.map(|last| last + cost);
                        answer.attempts = answer.attempts.saturating_add(attempts);
                        return Ok(answer);
                    }
                    Err(mut error) => {
                        spent.add(error.tokens);
                        cost += error.cost;
                        attempts = attempts.saturating_add(error.attempts);

                        if retries_left == 0 || !error.kind.is_retryable() {
                            error.tokens = spent;
                            error.cost = cost;
                            error.attempts = attempts;
                            return Err(error);
                        }

                        retries_left -= 1;

                        if !wait.is_zero() {
                            tokio::time::sleep(wait).await;
                            wait = wait.saturating_mul(2).min(self.longest_wait);
                        }
                    }
                }
            }
        })
    }

    fn describe(&self) -> TargetDescription {
        self.inner.describe()
    }

    fn write_settings(&self, identity: &mut IdentityWriter) {
        self.inner.write_settings(identity);
    }
}
