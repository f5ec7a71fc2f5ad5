//! Safe execution of commands: own process group, limits on time and output, and a guaranteed end.
//!
//! [`ProcessCommand`] describes what to run; [`ProcessCommand::run`] runs it and returns a [`ProcessOutput`] or
//! a [`ProcessError`]. Nothing starts without a [`ProgramConsent`]. This crate does not interpret output, and a non-zero exit is not an error.

mod absolute_path;
mod capture;
mod command;
mod consent;
mod environment;
mod error;
mod group;
mod guard;
mod line_process;
mod lookup;
mod open_files;
mod own_program;
mod private_folder;
mod process_output;
mod quote;
mod run;
mod template;

pub use absolute_path::absolute_path;
pub use capture::CapturedStream;
pub use command::{CommandProgram, ProcessCommand, ProcessLimits};
pub use consent::ProgramConsent;
pub use environment::Environment;
pub use error::{PartialProcessOutput, ProcessError};
pub use group::wait_for_ending_groups;
pub use guard::{enable_guard, run_guard, stop_guard};
pub use line_process::{LineProcess, LineReader};
pub use lookup::has_program;
pub use open_files::open_files;
pub use own_program::OwnProgram;
pub use private_folder::{private_folder, readable_name};
pub use process_output::{ProcessExit, ProcessOutput};
pub use quote::quote;
pub use template::{FilledScript, PlaceholderLookup, PlaceholderValue, fill_arguments, fill_script};

#[cfg(test)]
mod tests;
