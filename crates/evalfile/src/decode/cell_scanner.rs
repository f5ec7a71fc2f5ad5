//! Ends of cells and rows of a table.

/// State of reading a row: whether a divider or a line end belongs to a text.
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
    /// After a quotation mark within a quoted text: its end, or the first of two that stand for one.
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

    /// True after the closing quotation mark of a cell, if another mark does not follow.
    pub(super) fn is_closed(self) -> bool {
        self.state == CellState::Mark
    }

    /// Reads bytes; returns true if a quoted text goes on after them.
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
