//! Codex: chooses between the output of `exec --json` and session rollouts.

use serde_json::Value;

use super::codex_exec::CodexExecReader;
use super::codex_rollout::CodexRolloutReader;
use super::record_reader::{TraceRecordReader, TraceRecordStatus};
use crate::AgentTrace;
use crate::json::text;

/// Codex writes two kinds of logs. The first record identifies the kind.
pub(super) enum Codex {
    Unknown,
    Exec(Box<CodexExecReader>),
    Rollout(Box<CodexRolloutReader>),
}

impl Codex {
    pub(super) const fn new() -> Self {
        Self::Unknown
    }
}

impl TraceRecordReader for Codex {
    fn record(&mut self, record: &Value) -> TraceRecordStatus {
        if matches!(self, Self::Unknown) {
            let kind = text(record, "type").unwrap_or_default();
            let printed =
                kind == "error" || ["thread.", "turn.", "item."].iter().any(|part| kind.starts_with(part));
            *self = if printed {
                Self::Exec(Box::new(CodexExecReader::new()))
            } else {
                Self::Rollout(Box::new(CodexRolloutReader::new()))
            };
        }
        match self {
            Self::Unknown => TraceRecordStatus::Unknown("a record before the log began".to_owned()),
            Self::Exec(exec) => exec.record(record),
            Self::Rollout(rollout) => rollout.record(record),
        }
    }

    fn finish(self: Box<Self>) -> Vec<AgentTrace> {
        let builder = match *self {
            Self::Unknown => return Vec::new(),
            Self::Exec(exec) => exec.builder,
            Self::Rollout(rollout) => rollout.builder,
        };
        builder.finish().into_iter().collect()
    }
}
