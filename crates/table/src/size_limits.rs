//! What a compressed table may become.

use assize_files::{MAX_EXPANSION, max_expanded};
use assize_limits::{TABLE_CELLS, TABLE_CELLS_OF_SMALL_FILES, TABLE_CELLS_PER_BYTE, TABLE_TEXT_BYTES};

/// Limits of the table in a file, by the size of the file. A text that many cells share, and a column of nulls, take no
/// space in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SizeLimits {
    /// Bytes of texts, and of decompressed parts.
    pub(crate) bytes: usize,
    /// Cells.
    pub(crate) cells: usize,
}

impl SizeLimits {
    pub(crate) fn of_file(length: usize) -> Self {
        Self {
            bytes: usize::try_from(max_expanded(length as u64, TABLE_TEXT_BYTES as u64))
                .unwrap_or(TABLE_TEXT_BYTES),
            cells: length.saturating_mul(TABLE_CELLS_PER_BYTE).clamp(TABLE_CELLS_OF_SMALL_FILES, TABLE_CELLS),
        }
    }

    /// Describes what is larger than the limit of bytes.
    pub(crate) fn larger(self, what: &str) -> String {
        let mebibytes = self.bytes >> 20;
        let factor = if self.bytes == TABLE_TEXT_BYTES {
            String::new()
        } else {
            format!(", and more than {MAX_EXPANSION} times the file")
        };
        format!("{what} are larger than {mebibytes} MiB{factor}")
    }

    /// Describes what has more cells than the limit.
    pub(crate) fn more_cells(self, what: &str) -> String {
        format!("{what} has more than {} cells", self.cells)
    }
}
