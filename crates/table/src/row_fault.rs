//! What can be wrong with a row of a table.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use assize_limits::TABLE_COLUMNS;

use crate::encoding_guess::guess_encoding;
use crate::text_rows::MAX_ROW_BYTES;

/// What is wrong with a row of a text table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowProblem {
    /// A quotation mark is never closed.
    OpenQuote,
    /// Text follows the closing quotation mark of a cell.
    TextAfterQuote,
    /// The row has more or fewer cells than the header.
    Width {
        /// Number of cells of the row.
        found: usize,
        /// Number of columns of the header.
        wanted: usize,
    },
    /// A byte that is not text in the encoding of the file.
    NotText {
        /// The byte.
        byte: u8,
        /// Encoding that the file was read in.
        read_as: &'static str,
        /// Encoding that the file probably has.
        probably: Option<&'static str>,
    },
    /// The row is longer than any case may be.
    TooLong,
    /// The row has more cells than a table may have columns.
    TooManyCells,
}

impl RowProblem {
    /// Returns the problem in a sentence without an end.
    pub fn title(&self) -> String {
        match self {
            Self::OpenQuote => "a quotation mark is not closed".to_owned(),
            Self::TextAfterQuote => "text follows the closing quotation mark of a cell".to_owned(),
            Self::Width { .. } => "this row does not match the header of the table".to_owned(),
            Self::NotText { read_as, .. } => format!("the file is not {read_as} text"),
            Self::TooLong => "this line is too long".to_owned(),
            Self::TooManyCells => "this row has too many cells".to_owned(),
        }
    }

    /// Describes the text that was found.
    pub fn found(&self) -> String {
        match self {
            Self::OpenQuote => "the cell begins here".to_owned(),
            Self::TextAfterQuote => "after the mark".to_owned(),
            Self::Width { found, wanted } => {
                let plural = |count: usize| if count == 1 { "" } else { "s" };
                format!("{found} cell{} under {wanted} column{}", plural(*found), plural(*wanted))
            }
            Self::NotText { byte, .. } => format!("found the byte 0x{byte:02X}"),
            Self::TooLong => format!("more than {} MiB", MAX_ROW_BYTES / 1024 / 1024),
            Self::TooManyCells => format!("more than {TABLE_COLUMNS}"),
        }
    }

    /// Returns advice. `names_encoding` is true where the option `--encoding` is read.
    pub fn help(&self, names_encoding: bool) -> String {
        match self {
            Self::OpenQuote => "close it, or double each quotation mark inside the text".to_owned(),
            Self::TextAfterQuote => {
                "close the cell with its quotation mark, and double each mark within the text".to_owned()
            }
            Self::Width { .. } => {
                "enclose a text that contains a separator or a line break in quotation marks".to_owned()
            }
            Self::NotText { probably, .. } => match (probably, names_encoding) {
                (Some(name), true) => format!(
                    "save the file as UTF-8 (it is probably {name} now), or name its encoding: `--encoding {name}`"
                ),
                (Some(name), false) => format!("save the file as UTF-8 (it is probably {name} now)"),
                (None, _) => "the file is damaged, or has another encoding; save it as UTF-8".to_owned(),
            },
            Self::TooLong => "write one case per line".to_owned(),
            Self::TooManyCells => "keep only the columns that are needed".to_owned(),
        }
    }
}

/// A problem of a row with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFault {
    /// The problem.
    pub problem: RowProblem,
    /// Number of the cell, from 1, if the problem is in one.
    pub column: Option<usize>,
    /// Bytes of `text` that it is about.
    pub at: Range<usize>,
    /// Text of the row, or its beginning if it can't be shown completely.
    pub text: Arc<str>,
}

impl RowFault {
    /// The fault of a line with a byte that is not UTF-8 after `valid` valid bytes. `sample` is the line or a longer
    /// part of the file, used to guess its encoding.
    pub fn not_utf8(line: &[u8], valid: usize, sample: &[u8]) -> Self {
        Self {
            problem: RowProblem::NotText {
                byte: line.get(valid).copied().unwrap_or_default(),
                read_as: "UTF-8",
                probably: Some(guess_encoding(sample)),
            },
            column: None,
            at: valid..valid + '\u{fffd}'.len_utf8(),
            text: String::from_utf8_lossy(line).into(),
        }
    }

    /// A fault that is about the whole row.
    pub fn of_row(problem: RowProblem) -> Self {
        Self { problem, column: None, at: 0..0, text: "".into() }
    }
}

/// A row that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {number}{} {fault}", if fault.column.is_some() { "," } else { ":" })]
pub struct FaultyRow {
    /// Number of its first line, from 1.
    pub number: usize,
    /// Byte of the text at which it begins.
    pub start: usize,
    /// What is wrong with it.
    pub fault: RowFault,
}

/// Formats one line: the problem, the text that was found, and what to do.
impl fmt::Display for RowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(column) = self.column {
            write!(f, "column {column}: ")?;
        }
        write!(f, "{}: {}; {}", self.problem.title(), self.problem.found(), self.problem.help(true))
    }
}
