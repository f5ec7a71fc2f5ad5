//! Programs that write parts of eval files: prompts, tests and variables.

use std::path::PathBuf;

use serde_json::Value;

use crate::CodeProgram;

/// A program that is run while an eval file is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadProgram {
    /// A function that an interpreter calls.
    Function {
        /// File and language.
        code: CodeProgram,
        /// Name of the function where the file names none.
        usual: &'static str,
        /// True if a file of JavaScript may export the value instead of a function.
        takes_value: bool,
    },
    /// A command, run without a shell. It gets each argument as JSON behind its own words, and prints a text.
    Command {
        /// The program and its own words.
        words: Vec<String>,
        /// Folder in which it is run.
        folder: PathBuf,
    },
}

/// Runner of programs for a load. A load without one runs nothing.
pub trait ProgramRunner: Send + Sync {
    /// Runs a program once for each list of arguments, with the permissions of this process. Returns a result for each, in
    /// the same order: what the function returned or the command printed, else the reason for which there is nothing, in one
    /// line.
    fn run(&self, program: &LoadProgram, calls: &[Value]) -> Vec<Result<Value, String>>;
}
