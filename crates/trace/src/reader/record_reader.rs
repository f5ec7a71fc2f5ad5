//! Interface of the readers: records in, sessions out.

use serde_json::Value;

use crate::builder::TraceBuilder;
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

/// Reader of a log of one session, each of whose records can be interpreted as it comes.
pub(super) struct SessionReader {
    pub(super) builder: TraceBuilder,
    interpret: fn(&mut TraceBuilder, &Value) -> TraceRecordStatus,
}

impl SessionReader {
    pub(super) fn new(
        format: LogFormat,
        interpret: fn(&mut TraceBuilder, &Value) -> TraceRecordStatus,
    ) -> Self {
        Self { builder: TraceBuilder::new(format), interpret }
    }
}

impl TraceRecordReader for SessionReader {
    fn record(&mut self, record: &Value) -> TraceRecordStatus {
        (self.interpret)(&mut self.builder, record)
    }

    fn finish(self: Box<Self>) -> Vec<AgentTrace> {
        self.builder.finish().into_iter().collect()
    }
}
