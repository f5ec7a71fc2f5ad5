//! A target whose answer is asked for once and handed out with changes.

use std::sync::Arc;

use assize_rubric::{Cost, IdentityWriter, Tokens};
use assize_targets::{Answer, BoxFuture, Target, TargetDescription, TargetError, TargetInput, TargetKind};
use tokio::sync::OnceCell;

/// The answer to a case, shared by everything that changes it.
pub(crate) type Shared = Arc<OnceCell<Result<Answer, TargetError>>>;

/// A target's answer with one change made to it.
pub(crate) struct Altered {
    pub(crate) inner: Arc<dyn Target>,
    pub(crate) answer: Shared,
    pub(crate) label: String,
    /// Whether it is the one that is expected to ask.
    pub(crate) is_first: bool,
    pub(crate) alter: Arc<dyn Fn(Answer) -> Answer + Send + Sync>,
}

impl Target for Altered {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<Answer, TargetError>> {
        Box::pin(async move {
            let mut asked = false;
            let ask = async {
                asked = true;
                self.inner.answer(input).await
            };
            let answer = self.answer.get_or_init(|| ask).await.clone();
            // What the answer cost stands with the variant that asked for it.
            let free = Tokens { input: Some(0), cached: Some(0), output: Some(0) };
            match answer {
                Ok(answer) if asked => Ok((self.alter)(answer)),
                Ok(answer) => Ok((self.alter)(Answer { tokens: free, cost: Some(Cost::ZERO), ..answer })),
                Err(error) if asked => Err(error),
                Err(error) => Err(TargetError { tokens: free, cost: Cost::ZERO, ..error }),
            }
        })
    }

    fn describe(&self) -> TargetDescription {
        let known = self.inner.describe();
        // Plans count the answers that will be bought: one for all variants.
        if self.is_first { known } else { TargetDescription { kind: TargetKind::Given, ..known } }
    }

    fn write_settings(&self, identity: &mut IdentityWriter) {
        identity.begin("altered target", 1);
        identity.field(&self.label);
        self.inner.write_settings(identity);
    }
}
