//! Runs JavaScript from eval files in an isolated engine: without files, network, processes and timers, and
//! without state between calls.
//!
//! Every call has limits of memory and steps. Steps are counted instead of time, so that a script that is
//! stopped on one machine is stopped on every machine.

#![warn(missing_docs)]

mod error;
mod function_body;
mod script;
mod value;

pub use error::ScriptError;
pub use script::{
    MAX_SCRIPT_BYTES, MAX_SCRIPT_MEMORY, MAX_SCRIPT_STEPS, MAX_SCRIPT_TIME, Script, is_es_module,
};
pub use value::ScriptValue;
