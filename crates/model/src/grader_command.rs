//! Programs that grade, convert or prepare.

/// A command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraderCommand {
    /// A program and its arguments; no shell.
    Argv(Vec<String>),
    /// A line for `sh -c`.
    Shell(String),
}
