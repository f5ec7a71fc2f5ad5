//! Results and failures of tools as data, with the engine's messages.

use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SourceMap, render};
use assize_engine::{CaseEvent, EngineError, EngineErrorKind, EngineEvent, EventObserver};
use parking_lot::Mutex;
use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::progress::CallProgress;

/// Maximum number of warnings and diagnostics that are kept for a call. Others are only counted.
const MAX_NOTES: usize = 100;

/// A tool failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolFailure {
    /// Category in one or two words.
    pub(crate) kind: &'static str,
    /// What is wrong, and what to do.
    pub(crate) message: String,
}

impl ToolFailure {
    /// A failure because of the arguments.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { kind: "usage", message: message.into() }
    }

    /// A failure because the server's options do not allow this.
    pub(crate) fn not_allowed(message: impl Into<String>) -> Self {
        Self { kind: "not_allowed", message: message.into() }
    }

    /// A failure of the server itself.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self { kind: "internal", message: message.into() }
    }
}

impl From<EngineError> for ToolFailure {
    fn from(error: EngineError) -> Self {
        let kind = match error.kind {
            EngineErrorKind::Usage => "usage",
            EngineErrorKind::InvalidFile => "invalid_file",
            EngineErrorKind::Unrunnable => "unrunnable",
            EngineErrorKind::Unreadable => "unreadable",
            EngineErrorKind::Storage => "storage",
            EngineErrorKind::Budget => "budget",
            _ => "internal",
        };

        Self { kind, message: in_arguments(&error.message) }
    }
}

/// An observer that keeps messages for people, to add them to the result of a call.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallNotes(Arc<Mutex<KeptNotes>>, Arc<watch::Sender<CallProgress>>);

#[derive(Debug, Default)]
struct KeptNotes {
    warnings: Vec<String>,
    diagnostics: Vec<Value>,
    omitted: usize,
}

impl CallNotes {
    /// Progress of the call.
    pub(crate) fn progress(&self) -> watch::Receiver<CallProgress> {
        self.1.subscribe()
    }

    fn warn(&self, message: String) {
        let mut notes = self.0.lock();
        if notes.warnings.len() < MAX_NOTES {
            notes.warnings.push(in_arguments(&message));
        } else {
            notes.omitted += 1;
        }
    }

    fn add_diagnostics(&self, diagnostics: &[Diagnostic], sources: &SourceMap) {
        let mut notes = self.0.lock();
        for diagnostic in render::json_report(diagnostics, sources).diagnostics {
            match serde_json::to_value(diagnostic) {
                Ok(value) if notes.diagnostics.len() < MAX_NOTES => notes.diagnostics.push(value),
                _ => notes.omitted += 1,
            }
        }
    }

    /// Adds the notes to a result. The fields are absent if there are no notes.
    fn add_to(&self, value: &mut Value) {
        let mut notes = self.0.lock();
        let KeptNotes { warnings, diagnostics, omitted } = std::mem::take(&mut *notes);

        if !warnings.is_empty() {
            value["notes"] = warnings.into();
        }
        if !diagnostics.is_empty() {
            value["diagnostics"] = diagnostics.into();
        }
        if omitted > 0 {
            value["notes_omitted"] = omitted.into();
        }
    }
}

impl EventObserver for CallNotes {
    fn observe(&self, event: EngineEvent) {
        match event {
            EngineEvent::Diagnostics { diagnostics, sources } => self.add_diagnostics(&diagnostics, &sources),
            EngineEvent::Notice(message)
            | EngineEvent::RunWarning(message)
            | EngineEvent::Warning(message)
            | EngineEvent::Failure(message) => {
                self.warn(message);
            }
            EngineEvent::RunStarted { cases } => self.1.send_modify(|progress| progress.cases = cases),
            EngineEvent::Run(CaseEvent::CaseFinished { .. }) => {
                self.1.send_modify(|progress| progress.finished += 1);
            }
            EngineEvent::BudgetReached { reason } => self.warn(reason),
            EngineEvent::ServerGivenUp { account, reason } => {
                self.warn(format!("{account} was given up: {reason}"));
            }
            _ => {}
        }
    }
}

/// Turns an error about unreadable arguments into data, like other tool errors; the library returns it as a
/// text.
pub(crate) fn with_data(result: CallToolResult) -> CallToolResult {
    const PREFIX: &str = "failed to deserialize parameters: ";

    let text = result.content.first().and_then(|content| content.as_text());
    match text.and_then(|text| text.text.strip_prefix(PREFIX)) {
        Some(problem) if result.structured_content.is_none() => {
            finish(Err(ToolFailure::usage(format!("arguments: {problem}"))), &CallNotes::default())
        }
        _ => result,
    }
}

/// A message of the engine in the terms of the tools: command-line options become arguments.
fn in_arguments(message: &str) -> String {
    message
        .replace("`--judge PROVIDER:MODEL`", "`judges: [\"PROVIDER:MODEL\"]`")
        .replace("`--judge offline`", "`judges: [\"offline\"]`")
        .replace("`--judge`", "`judges`")
        .replace("with --judge", "with `judges`")
}

/// Result of a call: an object with the value or an `error`, and with the engine's messages.
pub(crate) fn finish(result: Result<Value, ToolFailure>, notes: &CallNotes) -> CallToolResult {
    match result {
        Ok(mut value) => {
            for warning in value.get_mut("warnings").and_then(Value::as_array_mut).into_iter().flatten() {
                *warning = warning.as_str().map(in_arguments).unwrap_or_default().into();
            }
            notes.add_to(&mut value);
            CallToolResult::structured(value)
        }
        Err(ToolFailure { kind, message }) => {
            let mut value = json!({ "error": { "kind": kind, "message": message } });
            notes.add_to(&mut value);
            // As text only: clients check structured content against the tool's output schema, which describes results.
            let mut result = CallToolResult::structured_error(value);
            result.structured_content = None;
            result
        }
    }
}
