//! Traces of agents, read from their logs.

#![warn(missing_docs)]

mod builder;
mod format;
mod json;
mod model;
mod read;
mod reader;

pub use format::{LogFormat, UnknownLogFormat};
pub use json::millis;
pub use model::{AgentTrace, LoggedCall, LoggedMessage, SessionEnd};
pub use read::{TraceLog, TraceLogError, TraceLogProblem, read_log};
pub use reader::span_list;

#[cfg(test)]
mod tests;
