//! The trait every kind of target implements, and how a target introduces itself.

use assize_llm::BoxFuture;
use assize_rubric::IdentityWriter;

use crate::{Answer, TargetError, TargetInput};

/// Something that answers a case's input.
pub trait Target: Send + Sync {
    /// The name the target is chosen and reported by.
    fn name(&self) -> &str;

    /// Answers one input, or says why not. Dropping the future gives the answer up and ends what was started
    /// for it.
    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<Answer, TargetError>>;

    /// What the target is.
    fn describe(&self) -> TargetDescription;

    /// Writes everything about the target that may change its answers: the same bytes as long as nothing of it changed,
    /// in every build. May hold secrets: to be hashed, never shown.
    fn write_settings(&self, identity: &mut IdentityWriter) {
        identity.begin("target", 1);
        identity.field(&self.describe());
    }
}

/// What a target is, for reports and for noticing that a model judges itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetDescription {
    /// The target's name.
    pub name: String,
    /// Where its answers come from.
    pub kind: TargetKind,
    /// The model that answers, as `provider:model`, where it is known beforehand.
    pub model: Option<String>,
    /// Most tokens of an answer, where that is set.
    pub max_output_tokens: Option<u32>,
}

/// Where a target's answers come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TargetKind {
    /// A model is asked.
    Model,
    /// A command is run.
    Command,
    /// The answer was there before.
    Given,
    /// The answer is looked up in a recording.
    Recorded,
    /// The answer is made up, as the targets file says.
    Mock,
}

impl TargetKind {
    /// The stable name used in stored results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Command => "command",
            Self::Given => "given",
            Self::Recorded => "recorded",
            Self::Mock => "mock",
        }
    }
}
