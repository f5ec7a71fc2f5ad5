//! Safe execution of commands: own process group, limits on time and output, and a guaranteed end.
//!
//! [`Command`] describes what to run, [`Command::run`] runs it and returns a [`Finished`] or a
//! [`ProcessError`]. Nothing here looks at what the output means; a non-zero exit is not an error.

mod capture;
mod command;
mod environment;
mod error;
mod finished;
mod group;
mod guard;
mod lookup;
mod open_files;
mod quote;
mod run;
mod template;

pub use capture::Captured;
pub use command::{Command, Limits, Program};
pub use environment::{BASIC_VARIABLES, Environment, Inherit};
pub use error::{Partial, ProcessError};
pub use finished::{Exit, Finished};
pub use group::settled;
pub use guard::{guard, guarded_by, unguarded};
pub use open_files::open_files;
pub use quote::quote;
pub use template::{Lookup, Script, Value, fill_arguments, fill_script};
