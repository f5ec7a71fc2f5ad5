//! Wrappers of targets: without secrets, or with another name.

use std::borrow::Cow;
use std::sync::Arc;

use assize_llm::Redactor;
use assize_rubric::IdentityWriter;
use assize_targets::{BoxFuture, Target, TargetAnswer, TargetDescription, TargetError, TargetInput};
use serde_json::Value;
use tokio::sync::Semaphore;

/// A command whose answers and errors are judged, stored and shown without the secrets it inherited.
pub(super) struct RedactingTarget<T> {
    pub(super) inner: T,
    pub(super) redactor: Arc<Redactor>,
    /// Permits to run, for a command that answers one case at a time.
    pub(super) slots: Option<Arc<Semaphore>>,
}

impl<T: Target> Target for RedactingTarget<T> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(async {
            // The semaphore is never closed. If it were, one command too many would run.
            let _slot = match &self.slots {
                Some(slots) => slots.acquire().await.ok(),
                None => None,
            };
            match self.inner.answer(input).await {
                Ok(mut answer) => {
                    self.hide_in(&mut answer);
                    Ok(answer)
                }
                Err(error) => Err(TargetError {
                    message: self.redactor.redact(&error.message).into(),
                    stderr: error.stderr.as_deref().map(|text| self.redactor.redact(text).into()),
                    ..error
                }),
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

impl<T> RedactingTarget<T> {
    fn hide_in(&self, answer: &mut TargetAnswer) {
        self.hide(&mut answer.text);

        for text in answer.file_changes.iter_mut().chain(&mut answer.model) {
            self.hide(text);
        }

        if let Some(messages) = &mut answer.messages {
            self.hide_in_json(messages);
        }

        for call in &mut answer.tool_calls {
            self.hide_in_json(&mut call.input);
            if let Some(output) = &mut call.output {
                self.hide_in_json(output);
            }
        }
    }

    fn hide(&self, text: &mut String) {
        if let Cow::Owned(hidden) = self.redactor.redact_content(text) {
            *text = hidden;
        }
    }

    fn hide_in_json(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.hide(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in_json(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.hide_in_json(member)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// A target with another name in this run (`use_target` in a suite).
pub(super) struct RenamedTarget {
    pub(super) name: String,
    pub(super) inner: Arc<dyn Target>,
}

impl Target for RenamedTarget {
    fn name(&self) -> &str {
        &self.name
    }

    fn defined_name(&self) -> &str {
        self.inner.defined_name()
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        self.inner.answer(input)
    }

    fn fallbacks(&self) -> &[Arc<dyn Target>] {
        self.inner.fallbacks()
    }

    fn describe(&self) -> TargetDescription {
        TargetDescription { name: self.name.clone(), ..self.inner.describe() }
    }

    fn write_settings(&self, identity: &mut IdentityWriter) {
        identity.begin("named target", 1);
        identity.field(&self.name);
        self.inner.write_settings(identity);
    }
}
