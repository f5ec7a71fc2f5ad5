//! Readers, one file per log format.

mod claude;
mod codex;
mod codex_exec;
mod codex_rollout;
mod copilot;
mod gemini;
mod opencode;
mod otel;
mod pi;

use serde_json::Value;

use crate::{Format, Trace};

/// Reader of the records of one log, in order.
pub(crate) trait Reader {
    /// Reads a record.
    fn record(&mut self, record: &Value) -> Understood;

    /// Returns the sessions of the log.
    fn finish(self: Box<Self>) -> Vec<Trace>;
}

/// Result of reading a record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Understood {
    /// The record was read, or is known to be irrelevant.
    Yes,
    /// The record was skipped: its kind is unknown.
    No(String),
}

/// Creates the reader of a format.
pub(crate) fn reader(format: Format) -> Box<dyn Reader> {
    match format {
        Format::ClaudeCode => Box::new(claude::Claude::new()),
        Format::Codex => Box::new(codex::Codex::new()),
        Format::Copilot => Box::new(copilot::Copilot::new()),
        Format::Gemini => Box::new(gemini::Gemini::new()),
        Format::OpenCode => Box::new(opencode::OpenCode::new()),
        Format::Pi => Box::new(pi::Pi::new()),
        Format::OpenTelemetry => Box::new(otel::OpenTelemetry::default()),
    }
}
