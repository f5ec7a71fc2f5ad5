//! Errors of reading a table.

use std::io;

use crate::FaultyRow;

/// Maximum number of cells that a message names. Any others are only counted.
const MAX_NAMED_CELLS: usize = 20;

/// Error of reading a table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file can't be opened or read.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// The file is not of this kind, is damaged, or is too large.
    #[error("{what}")]
    Refused {
        /// What is wrong with the file.
        what: String,
        /// Advice.
        help: &'static str,
    },
    /// There is no sheet with this name.
    #[error("there is no sheet `{name}`; there are {}", list(.sheets))]
    NoSheet {
        /// Name or number of the requested sheet.
        name: String,
        /// Names of all sheets.
        sheets: Vec<String>,
    },
    /// A row of a text table can't be read, so nothing can.
    #[error(transparent)]
    Row(#[from] FaultyRow),
    /// Cells without a usable value: the name of each, such as `Answers!C7`, and its problem.
    #[error("{}", describe_cells(.0))]
    Cells(Vec<(String, String)>),
}

impl TableError {
    pub(crate) fn refused(what: impl Into<String>, help: &'static str) -> Self {
        Self::Refused { what: what.into(), help }
    }

    /// Returns advice.
    pub fn help(&self) -> &'static str {
        match self {
            // The fault has its own advice.
            Self::Row(_) => "",
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
