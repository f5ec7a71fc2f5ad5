//! Splits a dataset into lines or rows, before any of them is parsed.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::RowCells;
use assize_files::open_file;
use assize_model::CasePlace;
use assize_table::{MAX_ROW_BYTES, RowFault, RowProblem, TextRow, TextRows};

/// Maximum number of bytes of a block of lines, not counting its last line. Only a few blocks are in memory at once, so
/// this limits memory.
const BLOCK_BYTES: usize = 128 * 1024;
/// Number of bytes that are read at once of a whole file.
const FILE_BUFFER: usize = 256 * 1024;
/// Number of bytes that are read at once if only a single line is needed.
const LINE_BUFFER: usize = 8 * 1024;

/// Non-blank lines of a file of JSON lines, or rows of a table.
pub(super) struct DatasetLines<R> {
    lines: LineSource<R>,
    /// Number of lines read so far.
    row: usize,
}

enum LineSource<R> {
    Json(JsonLines<R>),
    Table {
        rows: TextRows<R>,
        /// True if the first row must still be skipped.
        skips_header: bool,
    },
}

/// Non-blank lines of a file.
struct JsonLines<R> {
    reader: BufReader<R>,
    number: usize,
    /// Bytes read so far.
    position: u64,
    buffer: Vec<u8>,
}

/// A line: its number in the file, from 1, and its text.
pub(super) struct DatasetLine {
    pub(super) number: usize,
    /// Its number among the lines or rows with content, from 1. Unlike the number, it does not change with line breaks
    /// in cells and with blank lines.
    pub(super) row: usize,
    /// Byte at which it begins.
    pub(super) start: u64,
    pub(super) content: Result<Arc<str>, RowFault>,
    /// Cells of a row of a spreadsheet.
    pub(super) cells: Option<Arc<RowCells>>,
}

/// Returns the text of the first non-blank line of a file.
pub(crate) fn first_text(path: &Path) -> Option<Arc<str>> {
    DatasetLines::new(open_file(path).ok()?).next_line().ok()??.content.ok()
}

impl<R: Read> DatasetLines<R> {
    /// Reads JSON lines.
    pub(super) fn new(file: R) -> Self {
        Self::from_line(file, None, &CasePlace { line: 1, row: 1, start: 0 })
    }

    /// Reads the rows of a table below its header.
    pub(super) fn rows(file: R, divider: u8) -> Self {
        Self { lines: LineSource::Table { rows: TextRows::new(file, divider), skips_header: true }, row: 0 }
    }

    /// Creates the reader of a file that is positioned at this place: at the beginning of a line or, with a divider, of
    /// a row.
    pub(super) fn from_line(file: R, divider: Option<u8>, place: &CasePlace) -> Self {
        let (number, start) = (place.line as usize, place.start);
        let lines = match divider {
            Some(divider) => {
                let rows = TextRows::from_row(file, divider, number, start);
                LineSource::Table { rows, skips_header: false }
            }
            None => LineSource::Json(JsonLines {
                reader: BufReader::with_capacity(if start == 0 { FILE_BUFFER } else { LINE_BUFFER }, file),
                number: number.saturating_sub(1),
                position: start,
                buffer: Vec::new(),
            }),
        };
        Self { lines, row: (place.row as usize).saturating_sub(1) }
    }

    /// Returns the next line or row that is not blank, without its line end and byte order mark.
    pub(super) fn next_line(&mut self) -> io::Result<Option<DatasetLine>> {
        let line = match &mut self.lines {
            LineSource::Json(lines) => lines.next_line()?,
            LineSource::Table { rows, skips_header } => {
                if std::mem::take(skips_header) {
                    rows.next_row()?;
                }
                rows.next_row()?
            }
        };
        self.row += 1;
        let row = self.row;
        Ok(line.map(|TextRow { number, start, content }| DatasetLine {
            number,
            row,
            start,
            content,
            cells: None,
        }))
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
}

impl<R: Read> JsonLines<R> {
    fn next_line(&mut self) -> io::Result<Option<TextRow>> {
        let (first, start) = loop {
            self.buffer.clear();
            let start = self.position;
            let read = (&mut self.reader).take(MAX_ROW_BYTES + 1).read_until(b'\n', &mut self.buffer)?;
            if read == 0 {
                return Ok(None);
            }

            self.position += read as u64;
            self.number += 1;
            let first = self.number;

            if read as u64 > MAX_ROW_BYTES && self.buffer.last() != Some(&b'\n') {
                self.skip_rest()?;
                let content = Err(RowFault::of_row(RowProblem::TooLong));
                return Ok(Some(TextRow { number: first, start, content }));
            }
            if self.number == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.buffer.drain(..3);
            }

            while matches!(self.buffer.last(), Some(b'\n' | b'\r')) {
                self.buffer.pop();
            }

            if !self.buffer.iter().all(u8::is_ascii_whitespace) {
                break (first, start);
            }
        };

        let content = match std::str::from_utf8(&self.buffer) {
            Ok(text) => Ok(text.into()),
            Err(error) => {
                let valid = error.valid_up_to();
                Err(RowFault::not_utf8(&self.buffer, valid, &self.buffer))
            }
        };
        Ok(Some(TextRow { number: first, start, content }))
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
