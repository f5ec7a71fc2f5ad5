//! Splits a dataset into lines, before any line is parsed.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::RowCells;
use assize_files::open_file;

use super::cell_scanner::CellScanner;

/// Maximum length of a line: a larger case would not fit into any prompt.
pub(super) const MAX_LINE_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum number of bytes of a block of lines, not counting its last line. Only a few blocks are held at once,
/// so this bounds the memory.
const BLOCK_BYTES: usize = 128 * 1024;
/// Number of bytes that are read at once if only a single line is needed.
const LINE_BUFFER: usize = 8 * 1024;

/// Non-blank lines of a file.
pub(super) struct DatasetLines<R> {
    reader: BufReader<R>,
    number: usize,
    /// Bytes read so far.
    position: u64,
    buffer: Vec<u8>,
    /// Layout of a table.
    cells: Option<CellLayout>,
}

/// Layout of a table, whose cells may contain line breaks.
#[derive(Clone, Copy)]
struct CellLayout {
    divider: u8,
    /// True if the first row must still be skipped.
    skips_header: bool,
}

/// A line: its number in the file, from 1, and its text.
pub(super) struct DatasetLine {
    pub(super) number: usize,
    /// Byte at which it begins.
    pub(super) start: u64,
    pub(super) content: Result<Arc<str>, LineError>,
    /// Cells of a row of a spreadsheet.
    pub(super) cells: Option<Arc<RowCells>>,
}

/// Reason why a line has no text.
pub(super) enum LineError {
    NotUtf8 {
        valid: usize,
        byte: u8,
        lossy: String,
    },
    TooLong,
    /// A quotation mark is never closed. Contains the first line of the row.
    OpenQuote {
        first_line: String,
    },
}

/// Returns the text of the first non-blank line of a file.
pub(crate) fn first_text(path: &Path) -> Option<Arc<str>> {
    DatasetLines::new(open_file(path).ok()?).next_line().ok()??.content.ok()
}

impl<R: Read> DatasetLines<R> {
    pub(super) fn new(file: R) -> Self {
        Self {
            reader: BufReader::with_capacity(256 * 1024, file),
            number: 0,
            position: 0,
            buffer: Vec::new(),
            cells: None,
        }
    }

    /// Creates the reader of a file that is positioned at the beginning of a line, with the line's number and
    /// byte offset.
    pub(super) fn from_line(file: R, number: usize, start: u64) -> Self {
        Self {
            reader: BufReader::with_capacity(LINE_BUFFER, file),
            number: number.saturating_sub(1),
            position: start,
            buffer: Vec::new(),
            cells: None,
        }
    }

    /// Reads rows of a table instead of lines.
    pub(super) fn with_cells(self, divider: u8, skips_header: bool) -> Self {
        Self { cells: Some(CellLayout { divider, skips_header }), ..self }
    }

    /// Returns the next lines, limited in number and total length. Empty at the end.
    pub(super) fn next_block(&mut self, most: usize) -> io::Result<Vec<DatasetLine>> {
        let mut block = Vec::new();
        let mut bytes = 0;
        while block.len() < most
            && bytes < BLOCK_BYTES
            && let Some(line) = self.next_line()?
        {
            bytes += line.content.as_ref().map_or(0, |text| text.len());
            block.push(line);
        }

        Ok(block)
    }

    /// Returns the next line that is not blank, without its line end and byte order mark. For a table, returns
    /// the next row, which may have several lines.
    pub(super) fn next_line(&mut self) -> io::Result<Option<DatasetLine>> {
        if self.cells.is_some_and(|cells| cells.skips_header) {
            self.cells = self.cells.map(|cells| CellLayout { skips_header: false, ..cells });
            self.next_line()?;
        }

        let (first, start) = loop {
            self.buffer.clear();
            let start = self.position;
            let read = (&mut self.reader).take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut self.buffer)?;
            if read == 0 {
                return Ok(None);
            }

            self.position += read as u64;
            self.number += 1;
            let first = self.number;

            if read as u64 > MAX_LINE_BYTES && self.buffer.last() != Some(&b'\n') {
                self.skip_rest()?;
                return Ok(Some(DatasetLine {
                    number: first,
                    start,
                    content: Err(LineError::TooLong),
                    cells: None,
                }));
            }
            if self.number == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.buffer.drain(..3);
            }

            if let Some(cells) = self.cells
                && let Some(error) = self.read_row(cells.divider)?
            {
                return Ok(Some(DatasetLine { number: first, start, content: Err(error), cells: None }));
            }

            while matches!(self.buffer.last(), Some(b'\n' | b'\r')) {
                self.buffer.pop();
            }

            // Spreadsheets export empty rows at the end, which consist only of dividers.
            let divider = self.cells.map(|cells| cells.divider);
            if !self.buffer.iter().all(|byte| byte.is_ascii_whitespace() || Some(*byte) == divider) {
                break (first, start);
            }
        };

        let content = match std::str::from_utf8(&self.buffer) {
            Ok(text) => Ok(text.into()),
            Err(error) => {
                let valid = error.valid_up_to();
                let byte = self.buffer.get(valid).copied().unwrap_or(0);
                let lossy = String::from_utf8_lossy(&self.buffer).into_owned();
                Err(LineError::NotUtf8 { valid, byte, lossy })
            }
        };
        Ok(Some(DatasetLine { number: first, start, content, cells: None }))
    }

    /// Reads the rest of a row whose first line is in the buffer. The row continues as long as quotes are open.
    fn read_row(&mut self, divider: u8) -> io::Result<Option<LineError>> {
        let mut scanner = CellScanner::new(divider);
        let (mut scanned, first_line) = (0, self.buffer.len());
        while scanner.is_open_after(&self.buffer[scanned..]) {
            scanned = self.buffer.len();
            let left = (MAX_LINE_BYTES + 1).saturating_sub(scanned as u64);
            let read = (&mut self.reader).take(left).read_until(b'\n', &mut self.buffer)?;
            if read == 0 || self.buffer.len() as u64 > MAX_LINE_BYTES {
                self.position += read as u64;
                let first_line = String::from_utf8_lossy(&self.buffer[..first_line]);
                let first_line = first_line.trim_end_matches(['\r', '\n']).to_owned();

                // The quotes are open until the end of the file, so no later row can be recognised.
                while !self.reader.fill_buf()?.is_empty() {
                    self.skip_rest()?;
                }
                return Ok(Some(LineError::OpenQuote { first_line }));
            }

            self.position += read as u64;
            self.number += 1;
        }

        Ok(None)
    }

    fn skip_rest(&mut self) -> io::Result<()> {
        self.buffer = Vec::new();
        loop {
            let available = self.reader.fill_buf()?;
            if available.is_empty() {
                return Ok(());
            }

            let end = available.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(available.len(), |end| end + 1);
            self.reader.consume(used);
            self.position += used as u64;

            if end.is_some() {
                return Ok(());
            }
        }
    }
}
