//! The trait of all targets, and their descriptions.

use std::sync::Arc;

use assize_llm::BoxFuture;
use assize_rubric::IdentityWriter;

use crate::{TargetAnswer, TargetError, TargetInput};

/// A source of answers to the inputs of cases.
pub trait Target: Send + Sync {
    /// The name of the target, for selection and in reports.
    fn name(&self) -> &str;

    /// Answers one input. Dropping the future cancels the request and ends everything started for it.
    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>>;

    /// The name in the target's definition, if a suite gives it another [`name`](Self::name).
    fn defined_name(&self) -> &str {
        self.name()
    }

    /// Describes the target.
    fn describe(&self) -> TargetDescription;

    /// The targets to use, in this order, if this one gives no answer.
    fn fallbacks(&self) -> &[Arc<dyn Target>] {
        &[]
    }

    /// Writes everything about the target that may affect its answers. The bytes are the same in every build,
    /// as long as nothing of it changes. They may contain secrets, so they must be hashed and never shown.
    fn write_settings(&self, identity: &mut IdentityWriter);
}

/// The description of a target, for reports and for detecting that a model judges itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetDescription {
    /// Name of the target.
    pub name: String,
    /// Source of the answers.
    pub kind: TargetKind,
    /// Model that answers, as `provider:model`, if known in advance.
    pub model: Option<String>,
    /// Limit on the tokens of an answer, if set.
    pub max_output_tokens: Option<u32>,
}

impl TargetDescription {
    /// Describes a target without a known model or limit.
    pub fn new(name: impl Into<String>, kind: TargetKind) -> Self {
        Self { name: name.into(), kind, model: None, max_output_tokens: None }
    }
}

/// Source of a target's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TargetKind {
    /// A model.
    Model,
    /// A command.
    Command,
    /// A server that takes requests of any form.
    Http,
    /// An answer given in the eval file.
    Given,
    /// A recording.
    Recorded,
    /// An invented answer from the targets file.
    Mock,
}

assize_rubric::named_variants!(TargetKind {
    Model = "model", Command = "command", Http = "http", Given = "given", Recorded = "recorded", Mock = "mock",
});
