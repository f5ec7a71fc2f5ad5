//! Codex: chooses between the output of `exec --json` and session rollouts.

use serde_json::Value;

use super::record_reader::{SessionReader, TraceRecordReader, TraceRecordStatus};
use super::{codex_exec, codex_rollout};
use crate::json::text;
use crate::{AgentTrace, LogFormat};

/// Codex writes two kinds of logs. The first record identifies the kind.
#[derive(Default)]
pub(super) struct CodexReader(Option<SessionReader>);

impl TraceRecordReader for CodexReader {
    fn record(&mut self, record: &Value) -> TraceRecordStatus {
        let reader = self.0.get_or_insert_with(|| {
            let kind = text(record, "type").unwrap_or_default();
            let is_printed =
                kind == "error" || ["thread.", "turn.", "item."].iter().any(|part| kind.starts_with(part));
            if !is_printed {
                return SessionReader::new(LogFormat::Codex, codex_rollout::record);
            }
            let mut reader = SessionReader::new(LogFormat::Codex, codex_exec::record);
            reader.builder.begin_turn();
            reader
        });
        reader.record(record)
    }

    fn finish(self: Box<Self>) -> Vec<AgentTrace> {
        self.0.map_or_else(Vec::new, |reader| Box::new(reader).finish())
    }
}
