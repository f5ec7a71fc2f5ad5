//! Programs that grade, convert or prepare.

use crate::ShownCommand;

/// A command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraderCommand {
    /// A program and its arguments; no shell.
    Argv(Vec<String>),
    /// A line for `sh -c`.
    Shell(String),
}

impl GraderCommand {
    /// The command for messages.
    pub fn shown(&self) -> ShownCommand<'_> {
        ShownCommand::new(match self {
            Self::Argv(words) => words,
            Self::Shell(line) => std::slice::from_ref(line),
        })
    }
}
