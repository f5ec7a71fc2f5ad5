//! Splits the text of a row into cells.

use std::ops::Range;

use assize_limits::TABLE_COLUMNS;

use crate::{RowFault, RowProblem};

/// State of reading a row: whether a divider or line end is part of a quoted cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellScanner {
    divider: u8,
    state: CellState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellState {
    Start,
    Plain,
    Quoted,
    /// After a quotation mark inside a quoted cell. It either ends the quotes, or is the first of two that mean
    /// one.
    Mark,
}

impl CellScanner {
    pub(crate) const fn new(divider: u8) -> Self {
        Self { divider, state: CellState::Start }
    }

    /// Reads a byte; returns true if it ends a cell.
    pub(crate) fn ends_cell(&mut self, byte: u8) -> bool {
        let ends = self.state != CellState::Quoted && byte == self.divider;
        self.state = match (self.state, byte) {
            _ if ends => CellState::Start,
            (CellState::Quoted, b'"') => CellState::Mark,
            (CellState::Start | CellState::Mark, b'"') | (CellState::Quoted, _) => CellState::Quoted,
            _ => CellState::Plain,
        };

        ends
    }

    /// Returns true after the closing quotation mark of a cell, unless another quotation mark follows.
    const fn is_closed(self) -> bool {
        matches!(self.state, CellState::Mark)
    }

    /// Reads bytes; returns true if they end inside of quotes.
    pub(crate) fn is_open_after(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            self.ends_cell(*byte);
        }
        self.state == CellState::Quoted
    }
}

/// A cell of a text table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextCell {
    /// Text, without the quotation marks around it.
    pub text: String,
    /// Bytes of the row that it takes, with its quotation marks.
    pub at: Range<usize>,
}

/// Splits the text of a row into its cells.
///
/// # Errors
/// If text follows the closing quotation mark of a cell: a misplaced mark can join many rows to one cell. If there are
/// more cells than a table may have columns.
pub fn split_cells(text: &str, divider: u8) -> Result<Vec<TextCell>, RowFault> {
    let mut scanner = CellScanner::new(divider);
    let (mut cells, mut start) = (Vec::new(), 0);
    for (at, byte) in text.bytes().enumerate() {
        let was_closed = scanner.is_closed();
        if scanner.ends_cell(byte) {
            cells.push(cell(text, start..at));
            start = at + 1;
            if cells.len() >= TABLE_COLUMNS {
                return Err(RowFault::of_row(RowProblem::TooManyCells));
            }
        } else if was_closed && byte != b'"' {
            let end = text[at..].find(['\r', '\n']).map_or(text.len(), |end| at + end);
            return Err(RowFault {
                problem: RowProblem::TextAfterQuote,
                column: Some(cells.len() + 1),
                at: at..end,
                text: text.into(),
            });
        }
    }
    cells.push(cell(text, start..text.len()));

    Ok(cells)
}

fn cell(row: &str, at: Range<usize>) -> TextCell {
    let written = &row[at.clone()];
    let quoted = written.strip_prefix('"').map(|inner| inner.strip_suffix('"').unwrap_or(inner));
    let text = quoted.map_or_else(|| written.to_owned(), |inner| inner.replace("\"\"", "\""));
    TextCell { text, at }
}

/// Counts the dividers of a row outside of quotes, up to the end of its first line.
pub(crate) fn count_dividers(row: &[u8], divider: u8) -> usize {
    let mut scanner = CellScanner::new(divider);
    let mut count = 0;
    for byte in row {
        if matches!(byte, b'\r' | b'\n') && scanner.state != CellState::Quoted {
            break;
        }
        count += usize::from(scanner.ends_cell(*byte));
    }

    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_is_open_until_its_last_mark() {
        assert!(CellScanner::new(b',').is_open_after(b"a,\"b"));
        assert!(!CellScanner::new(b',').is_open_after(b"a,\"b\"\"\""));
    }

    #[test]
    fn text_after_a_closing_mark_is_found() {
        for (text, at, column) in [("a,\"b\"c,d", 5, 2), ("a,\"x\ny,z\"on", 9, 2), ("\"a\" ,b", 3, 1)] {
            let fault = split_cells(text, b',').expect_err(text);
            assert_eq!((fault.at.start, fault.column), (at, Some(column)), "{text}");
        }
        for text in ["a,\"b \"\"c\"\"\",d", "a,\"b\"", "e\"f,\"\"", " \"a\" b,c"] {
            assert!(split_cells(text, b',').is_ok(), "{text}");
        }
    }

    #[test]
    fn a_row_has_as_many_cells_as_a_table_may_have_columns() {
        let row = |cells: usize| ",".repeat(cells - 1);
        assert_eq!(split_cells(&row(TABLE_COLUMNS), b',').map(|cells| cells.len()), Ok(TABLE_COLUMNS));
        let fault = split_cells(&row(TABLE_COLUMNS + 1), b',').expect_err("too many");
        assert_eq!(fault.problem, RowProblem::TooManyCells);
        assert!(fault.to_string().contains("more than 10000"), "{fault}");
    }

    #[test]
    fn cells_have_their_texts_and_places() {
        let text = "a,\"b, \"\"c\"\"\nd\",,e\"f,\"\"";
        let cells = split_cells(text, b',').expect("sound");
        let found: Vec<(&str, &str)> =
            cells.iter().map(|cell| (cell.text.as_str(), &text[cell.at.clone()])).collect();
        let expected =
            [("a", "a"), ("b, \"c\"\nd", "\"b, \"\"c\"\"\nd\""), ("", ""), ("e\"f", "e\"f"), ("", "\"\"")];
        assert_eq!(found, expected);
    }
}
