//! Programs that grade, convert or prepare.

/// A command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraderCommand {
    /// A program and its arguments; no shell.
    Argv(Vec<String>),
    /// A line for `sh -c`.
    Shell(String),
}

impl std::fmt::Display for GraderCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Argv(words) => f.write_str(&words.join(" ")),
            Self::Shell(line) => f.write_str(line),
        }
    }
}
