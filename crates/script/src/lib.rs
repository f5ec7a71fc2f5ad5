//! Runs JavaScript from eval files in an isolated engine: without files, network, processes and timers, and
//! without state between calls.
//!
//! Every call has limits of memory, steps and time. Steps are counted, so that nearly all scripts that are stopped on
//! one machine are stopped on every machine.

#![warn(missing_docs)]

mod call;
#[cfg(feature = "javascript")]
mod engine;
#[cfg(not(feature = "javascript"))]
#[path = "engine_missing.rs"]
mod engine;
mod error;
mod es_module;
mod function_body;
mod script;
mod value;

pub use call::{MAX_SCRIPT_BYTES, MAX_SCRIPT_MEMORY, MAX_SCRIPT_STEPS, MAX_SCRIPT_TIME, ScriptTime};
pub use engine::is_es_module;
pub use error::ScriptError;
pub use script::Script;
pub use value::ScriptValue;

#[cfg(test)]
mod tests;
