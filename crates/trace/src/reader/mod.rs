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

use crate::{AgentTrace, LogFormat};

/// Reader of the records of one log, in order.
pub(crate) trait TraceRecordReader {
    /// Reads a record.
    fn record(&mut self, record: &Value) -> TraceRecordStatus;

    /// Returns the sessions of the log.
    fn finish(self: Box<Self>) -> Vec<AgentTrace>;
}

/// Result of reading a record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TraceRecordStatus {
    /// The record was read, or is known to be irrelevant.
    Known,
    /// The record was skipped: its kind is unknown.
    Unknown(String),
}

/// Creates the reader of a format.
pub(crate) fn reader_for(format: LogFormat) -> Box<dyn TraceRecordReader> {
    match format {
        LogFormat::ClaudeCode => Box::new(claude::ClaudeReader::new()),
        LogFormat::Codex => Box::new(codex::Codex::new()),
        LogFormat::Copilot => Box::new(copilot::CopilotReader::new()),
        LogFormat::Gemini => Box::new(gemini::GeminiReader::new()),
        LogFormat::OpenCode => Box::new(opencode::OpenCodeReader::new()),
        LogFormat::Pi => Box::new(pi::PiReader::new()),
        LogFormat::OpenTelemetry => Box::new(otel::OpenTelemetryReader::default()),
    }
}
