//! JavaScript in eval files, run in an isolated engine: no files, no network, no processes, no timers, and
//! no state between calls.
//!
//! Every call has limits of memory and of steps. Steps are counted, not timed, so that a script that is stopped on one
//! machine is stopped on every other.
//!
//! Design: `docs/design/scripts.md`.

#![warn(missing_docs)]

mod error;
mod function_body;
mod script;
mod value;

pub use error::ScriptError;
pub use script::{MAX_SCRIPT_BYTES, MAX_SCRIPT_MEMORY, MAX_SCRIPT_STEPS, Script};
pub use value::ScriptValue;
