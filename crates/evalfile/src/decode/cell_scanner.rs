//! Finds the ends of cells and rows of a table.

/// State of reading a row: whether a divider or line end is part of a quoted cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellScanner {
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
    pub(super) const fn new(divider: u8) -> Self {
        Self { divider, state: CellState::Start }
    }

    /// Reads a byte; returns true if it ends a cell.
    pub(super) fn ends_cell(&mut self, byte: u8) -> bool {
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
    pub(super) fn is_closed(self) -> bool {
        self.state == CellState::Mark
    }

    /// Reads bytes; returns true if they end inside of quotes.
    pub(super) fn is_open_after(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            self.ends_cell(*byte);
        }
        self.state == CellState::Quoted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_is_open_until_its_last_mark() {
        assert!(CellScanner::new(b',').is_open_after(b"a,\"b"));
        assert!(!CellScanner::new(b',').is_open_after(b"a,\"b\"\"\""));
    }
}
