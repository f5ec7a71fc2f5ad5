//! One file per log format.

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

/// Reads the records of one log, in order.
pub(crate) trait Reader {
    /// Takes a record.
    fn record(&mut self, record: &Value) -> Understood;

    /// The sessions that the log told of.
    fn finish(self: Box<Self>) -> Vec<Trace>;
}

/// Whether a record was of a kind that is known.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Understood {
    /// It was taken in, or is known to say nothing of the session's course.
    Yes,
    /// It was left out: a record of this kind is not known.
    No(String),
}

/// The reader of a format.
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
