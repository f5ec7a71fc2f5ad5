//! Readers, one file per log format.

mod claude;
mod codex;
mod codex_exec;
mod codex_rollout;
mod copilot;
mod gemini;
mod gemini_chat;
mod opencode;
mod otel;
mod pi;
mod record_reader;

use crate::LogFormat;

pub use otel::span_list;
use record_reader::SessionReader;
pub(crate) use record_reader::{TraceRecordReader, TraceRecordStatus};

/// Creates the reader of a format.
pub(crate) fn reader_for(format: LogFormat) -> Box<dyn TraceRecordReader> {
    let record = match format {
        LogFormat::ClaudeCode => return Box::new(claude::ClaudeReader::new()),
        LogFormat::Codex => return Box::new(codex::CodexReader::default()),
        LogFormat::OpenTelemetry => return Box::new(otel::OpenTelemetryReader::default()),
        LogFormat::Pi => return Box::new(pi::PiReader::new()),
        LogFormat::Gemini => return Box::new(gemini::GeminiReader::new()),
        LogFormat::Copilot => copilot::record,
        LogFormat::OpenCode => opencode::record,
    };
    Box::new(SessionReader::new(format, record))
}
