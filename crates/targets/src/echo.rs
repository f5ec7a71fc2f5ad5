//! A target that answers with the question, for trying out a suite.

use assize_llm::BoxFuture;
use assize_rubric::{Cost, IdentityWriter};

use crate::{
    Target, TargetAnswer, TargetDescription, TargetError, TargetInput, TargetKind, prompt_or_messages,
};

/// A target whose answer is the question itself: the text of a single message, or all messages as JSON.
#[derive(Debug, Clone)]
pub struct EchoTarget {
    /// Name of the target.
    pub name: String,
}

impl Target for EchoTarget {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(async {
            // There is no call, so the cost is known to be zero.
            let answer = TargetAnswer::from_text(prompt_or_messages(&input.messages));
            Ok(TargetAnswer { attempts: 1, cost: Some(Cost::ZERO), ..answer })
        })
    }

    fn describe(&self) -> TargetDescription {
        TargetDescription::new(&self.name, TargetKind::Mock)
    }

    fn write_settings(&self, identity: &mut IdentityWriter) {
        let Self { name } = self;

        identity.begin("echo target", 2);
        identity.field(name);
    }
}
