//! Interface of the readers: records in, sessions out.

use serde_json::Value;

use crate::AgentTrace;

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
