//! Target that asks for the answer to a case once and returns modified copies of it.

use std::sync::Arc;

use assize_rubric::{Cost, IdentityWriter, Tokens};
use assize_targets::{
    BoxFuture, Target, TargetAnswer, TargetDescription, TargetError, TargetInput, TargetKind,
};
use tokio::sync::OnceCell;

/// Answer to a case, shared by all its variants.
pub(crate) type SharedAnswer = Arc<OnceCell<Result<TargetAnswer, TargetError>>>;

/// Target that returns the shared answer with one modification.
pub(crate) struct AlteredTarget {
    pub(crate) inner: Arc<dyn Target>,
    pub(crate) answer: SharedAnswer,
    pub(crate) label: String,
    /// True for the variant that is expected to ask the target.
    pub(crate) is_first: bool,
    pub(crate) alter: Arc<dyn Fn(TargetAnswer) -> TargetAnswer + Send + Sync>,
}

impl Target for AlteredTarget {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(async move {
            let mut asked = false;
            let ask = async {
                asked = true;
                self.inner.answer(input).await
            };
            let answer = self.answer.get_or_init(|| ask).await.clone();

            // The cost of the answer is charged to the variant that asked for it.
            let free = Tokens { input: Some(0), cached: Some(0), output: Some(0) };
            match answer {
                Ok(answer) if asked => Ok((self.alter)(answer)),
                Ok(answer) => {
                    Ok((self.alter)(TargetAnswer { tokens: free, cost: Some(Cost::ZERO), ..answer }))
                }
                Err(error) if asked => Err(error),
                Err(error) => Err(TargetError { tokens: free, cost: Cost::ZERO, ..error }),
            }
        })
    }

    fn defined_name(&self) -> &str {
        self.inner.defined_name()
    }

    fn fallbacks(&self) -> &[Arc<dyn Target>] {
        self.inner.fallbacks()
    }

    fn describe(&self) -> TargetDescription {
        let known = self.inner.describe();
        // Plans count the answers that will be paid for: one for all variants.
        if self.is_first { known } else { TargetDescription { kind: TargetKind::Given, ..known } }
    }

    fn write_settings(&self, identity: &mut IdentityWriter) {
        identity.begin("altered target", 1);
        identity.field(&self.label);
        self.inner.write_settings(identity);
    }
}
