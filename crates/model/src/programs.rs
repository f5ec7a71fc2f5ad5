//! Programs that files name, and those among them that write parts of eval files.

use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

use crate::{CodeProgram, FilePosition};

/// A program that a file names. It runs only with the user's consent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedProgram {
    /// Position in the file that names it.
    pub place: FilePosition,
    /// Its use, and its command or file.
    pub what: String,
}

/// A command for messages: on one line, so that no command can look like other lines of a message. Of a text of
/// several lines, such as a program behind `-c`, the first one is shown.
#[derive(Debug)]
pub struct ShownCommand<'a>(&'a [String]);

impl<'a> ShownCommand<'a> {
    /// Shows the words of a command, or its only text.
    pub const fn new(words: &'a [String]) -> Self {
        Self(words)
    }
}

impl fmt::Display for ShownCommand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, word) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            let word = word.trim();
            match word.split_once(['\n', '\r']) {
                Some((first, rest)) => write!(f, "{first} ... ({} more lines)", rest.lines().count())?,
                None => f.write_str(word)?,
            }
        }

        Ok(())
    }
}

/// A program that is run while an eval file is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadProgram {
    /// A function that an interpreter calls.
    Function {
        /// File and language.
        code: CodeProgram,
        /// Name of the function to call if the file does not name one.
        usual: &'static str,
        /// True if a file of JavaScript may export the value instead of a function.
        takes_value: bool,
    },
    /// A command, run without a shell. Each argument of the call is appended to its words as JSON. It prints a
    /// text.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// Folder in which it is run.
        folder: PathBuf,
    },
}

/// Runs programs while a file is loaded. A load without a runner runs no program.
pub trait ProgramRunner: Send + Sync {
    /// Runs a program once for each list of arguments, with the permissions of this process. Returns one result
    /// per call, in the same order: the value that the function returned, or the text that the command printed.
    /// The error is the reason, on one line.
    fn run(&self, program: &LoadProgram, calls: &[Value]) -> Vec<Result<Value, String>>;
}
