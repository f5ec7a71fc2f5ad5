//! Reasons why a table can't be read.

use std::io;

/// Cells that are named in a message; the others are counted.
const MAX_NAMED_CELLS: usize = 20;

/// Failure to read a table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file can't be opened or read.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// The file is none of this kind, is damaged, or is too large.
    #[error("{what}")]
    Refused {
        /// Fault of the file.
        what: String,
        /// One thing to do about it.
        help: &'static str,
    },
    /// There is no sheet of this name.
    #[error("there is no sheet `{name}`; there are {}", list(.sheets))]
    NoSheet {
        /// Name or number that was asked for.
        name: String,
        /// Names of all sheets.
        sheets: Vec<String>,
    },
    /// Cells without a usable value. Each has its name, such as `Answers!C7`, and what is wrong with it.
    #[error("{}", describe_cells(.0))]
    Cells(Vec<(String, String)>),
}

impl TableError {
    pub(crate) fn refused(what: impl Into<String>, help: &'static str) -> Self {
        Self::Refused { what: what.into(), help }
    }

    /// Returns one thing to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "check the path and the file's permissions",
            Self::Refused { help, .. } => help,
            Self::NoSheet { .. } => {
                "name one of them after a `#`, or give its number, as in `answers.xlsx#2`"
            }
            Self::Cells(_) => {
                "correct the cells; a formula has a result once a spreadsheet program has opened and saved the file"
            }
        }
    }
}

fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn describe_cells(cells: &[(String, String)]) -> String {
    let mut named: Vec<String> =
        cells.iter().take(MAX_NAMED_CELLS).map(|(cell, what)| format!("{cell}: {what}")).collect();
    if cells.len() > MAX_NAMED_CELLS {
        named.push(format!("and {} more cells", cells.len() - MAX_NAMED_CELLS));
    }

    named.join("; ")
}
