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
mod record_reader;

use crate::LogFormat;

pub use otel::span_list;
pub(crate) use record_reader::{TraceRecordReader, TraceRecordStatus};

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
