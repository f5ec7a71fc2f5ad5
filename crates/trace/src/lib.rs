//! Traces of agents, read from their logs.

#![warn(missing_docs)]

mod builder;
mod format;
mod json;
mod model;
mod read;
mod reader;

pub use format::{Format, UnknownFormat};
pub use model::{LoggedCall, LoggedMessage, Trace};
pub use read::{Problem, Read, ReadError, read};
