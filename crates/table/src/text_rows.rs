//! Rows of a text table, one after the other, so that a table may have any size.

use std::io::{self, BufRead as _, BufReader, Read};
use std::sync::Arc;

use crate::cell_scanner::{CellScanner, count_dividers, split_cells};
use crate::{FaultyRow, RowFault, RowProblem};
pub use assize_limits::JSONL_LINE_BYTES as MAX_ROW_BYTES;

/// A row of a text table that is not blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRow {
    /// Number of its first line in the file, from 1.
    pub number: usize,
    /// Byte at which it begins.
    pub start: u64,
    /// Its text without the line end, or its fault.
    pub content: Result<Arc<str>, RowFault>,
}

/// Reader of the rows of a text table in UTF-8. A line ends with a line feed, a carriage return, or both; blank rows, a
/// byte order mark and a first line `sep=;` are skipped.
pub struct TextRows<R> {
    reader: BufReader<R>,
    divider: u8,
    /// Number of the lines that were read.
    lines: usize,
    /// Number of bytes that were read.
    position: u64,
    /// The bytes of the row.
    row: Vec<u8>,
}

impl<R: Read> TextRows<R> {
    /// Reads a file from its beginning.
    pub fn new(file: R, divider: u8) -> Self {
        Self::with_reader(BufReader::with_capacity(256 * 1024, file), divider, 0, 0)
    }

    /// Reads a file that is positioned at a row, with the number of its line and its first byte.
    pub fn from_row(file: R, divider: u8, number: usize, start: u64) -> Self {
        Self::with_reader(BufReader::with_capacity(8 * 1024, file), divider, number.saturating_sub(1), start)
    }

    fn with_reader(reader: BufReader<R>, divider: u8, lines: usize, position: u64) -> Self {
        Self { reader, divider, lines, position, row: Vec::new() }
    }

    /// Returns the next row that is not blank; `None` at the end.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn next_row(&mut self) -> io::Result<Option<TextRow>> {
        loop {
            self.row.clear();
            let (mut start, number) = (self.position, self.lines + 1);
            if !self.read_line()? {
                return Ok(None);
            }
            if start == 0 && self.row.starts_with(b"\xef\xbb\xbf") {
                self.row.drain(..3);
                start = 3;
            }
            if number == 1 && divider_line(&self.row).is_some() {
                continue;
            }

            let mut scanner = CellScanner::new(self.divider);
            let mut scanned = 0;
            let mut fault = None;
            while scanner.is_open_after(&self.row[scanned..]) {
                scanned = self.row.len();
                if self.row.len() as u64 > MAX_ROW_BYTES || !self.read_line()? {
                    fault = Some(self.open_quote(number, start));
                    // The quotes are open until the end of the file, so no later row can be recognised.
                    io::copy(&mut self.reader, &mut io::sink())?;
                    break;
                }
            }
            if let Some(row) = fault {
                return Ok(Some(row));
            }
            if self.row.len() as u64 > MAX_ROW_BYTES {
                return Ok(Some(TextRow {
                    number,
                    start,
                    content: Err(RowFault::of_row(RowProblem::TooLong)),
                }));
            }

            while matches!(self.row.last(), Some(b'\n' | b'\r')) {
                self.row.pop();
            }
            if !is_blank(&self.row, self.divider) {
                return Ok(Some(TextRow { number, start, content: row_text(&self.row) }));
            }
        }
    }

    /// Appends the next line with its end to the row; returns false at the end of the file. Keeps only the beginning of
    /// a line that is too long.
    fn read_line(&mut self) -> io::Result<bool> {
        let mut is_first = true;
        loop {
            let available = self.reader.fill_buf()?;
            if available.is_empty() {
                self.lines += usize::from(!is_first);
                return Ok(!is_first);
            }
            is_first = false;
            let end = memchr::memchr2(b'\r', b'\n', available);
            let used = end.map_or(available.len(), |end| end + 1);
            let ends_in_return = end.is_some_and(|end| available[end] == b'\r');
            if self.row.len() as u64 <= MAX_ROW_BYTES {
                self.row.extend_from_slice(&available[..used]);
            }
            self.reader.consume(used);
            self.position += used as u64;

            if ends_in_return && self.reader.fill_buf()?.first() == Some(&b'\n') {
                self.row.push(b'\n');
                self.reader.consume(1);
                self.position += 1;
            }
            if end.is_some() {
                self.lines += 1;
                return Ok(true);
            }
        }
    }

    /// Returns the line in which the cell with the open quotation mark begins.
    fn open_quote(&self, number: usize, start: u64) -> TextRow {
        let mut scanner = CellScanner::new(self.divider);
        let (mut cell, mut column) = (0, 1);
        for (at, byte) in self.row.iter().enumerate() {
            if scanner.ends_cell(*byte) {
                (cell, column) = (at + 1, column + 1);
            }
        }
        let ends = |bytes: &[u8]| {
            let (returns, feeds) = (memchr::memchr_iter(b'\r', bytes), memchr::memchr_iter(b'\n', bytes));
            feeds.count() + returns.filter(|at| bytes.get(at + 1) != Some(&b'\n')).count()
        };
        let before = &self.row[..cell];
        let line = memchr::memrchr2(b'\r', b'\n', before).map_or(0, |at| at + 1);
        let rest = &self.row[cell..];
        let end = cell + memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
        let first = String::from_utf8_lossy(&self.row[line..cell]).into_owned();
        let text = format!("{first}{}", String::from_utf8_lossy(&self.row[cell..end]));
        let fault = RowFault {
            problem: RowProblem::OpenQuote,
            column: Some(column),
            at: first.len()..text.len(),
            text: text.into(),
        };

        TextRow { number: number + ends(before), start: start + line as u64, content: Err(fault) }
    }
}

fn row_text(row: &[u8]) -> Result<Arc<str>, RowFault> {
    std::str::from_utf8(row).map(Arc::from).map_err(|error| RowFault::not_utf8(row, error.valid_up_to(), row))
}

/// Spreadsheets export empty rows as rows of nothing but dividers.
fn is_blank(row: &[u8], divider: u8) -> bool {
    row.iter().all(|byte| byte.is_ascii_whitespace() || *byte == divider)
}

/// Returns the divider that a line `sep=;` names, as spreadsheet programs write and read it.
fn divider_line(line: &[u8]) -> Option<u8> {
    let line = line.trim_ascii_start();
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    let (name, divider) = line.split_at_checked(4)?;
    match divider {
        [divider] if name.eq_ignore_ascii_case(b"sep=") && divider.is_ascii() && *divider != b'"' => {
            Some(*divider)
        }
        _ => None,
    }
}

/// Returns the character between the cells of a table, from its beginning: the character that a first line `sep=;`
/// names, else a tab if `is_tabbed`, else the most frequent of comma, semicolon and tab in the header. In many
/// countries, spreadsheets are exported with semicolons.
pub fn find_divider(beginning: &[u8], is_tabbed: bool) -> u8 {
    let beginning = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning);
    let first = beginning.split_inclusive(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    if let Some(divider) = divider_line(first) {
        return divider;
    }
    if is_tabbed {
        return b'\t';
    }

    let header = beginning.trim_ascii_start();
    let count = |divider: u8| (count_dividers(header, divider), divider == b',');
    [b',', b';', b'\t'].into_iter().max_by_key(|divider| count(*divider)).unwrap_or(b',')
}

/// A row with its cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellRow {
    /// Number of its first line in the text, from 1.
    pub number: usize,
    /// Byte of the text at which it begins.
    pub start: usize,
    /// Its length in bytes.
    pub length: usize,
    /// Its cells; their places count from its beginning.
    pub cells: Vec<crate::TextCell>,
}

/// A text table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextTable {
    /// The first row; `None` for an empty table, or if it can't be read.
    pub header: Option<CellRow>,
    /// The rows below it that can be read, each as wide as the header.
    pub rows: Vec<CellRow>,
    /// Rows that can't be read.
    pub faults: Vec<FaultyRow>,
}

impl TextTable {
    /// Splits a text into rows and cells.
    pub fn parse(text: &str, is_tabbed: bool) -> Self {
        let divider = find_divider(text.as_bytes(), is_tabbed);
        let mut rows = TextRows::new(text.as_bytes(), divider);
        let mut table = Self::default();
        let mut width = None;
        // Reading from memory can't fail.
        while let Ok(Some(TextRow { number, start, content })) = rows.next_row() {
            let start = start as usize;
            let row = content.and_then(|text| {
                let cells = split_cells(&text, divider)?;
                check_width(&text, cells.len(), width.unwrap_or(cells.len()))?;
                Ok(CellRow { number, start, length: text.len(), cells })
            });
            match row {
                Ok(row) if width.is_none() => {
                    width = Some(row.cells.len());
                    table.header = Some(row);
                }
                Ok(row) => table.rows.push(row),
                Err(fault) => {
                    table.faults.push(FaultyRow { number, start, fault });
                    // Without its header, the rows of a table have no meaning.
                    if width.is_none() {
                        break;
                    }
                }
            }
        }

        table
    }
}

/// Checks that a row is as wide as the header.
///
/// # Errors
/// If it has more or fewer cells.
pub fn check_width(text: &str, found: usize, wanted: usize) -> Result<(), RowFault> {
    if found == wanted {
        return Ok(());
    }

    let end = text.find(['\r', '\n']).unwrap_or(text.len());
    Err(RowFault {
        problem: RowProblem::Width { found, wanted },
        column: Some(found.min(wanted) + 1),
        at: 0..end,
        text: text.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(table: &TextTable) -> Vec<(usize, String)> {
        let rows = table.header.iter().chain(&table.rows);
        rows.map(|row| {
            let cells: Vec<&str> = row.cells.iter().map(|cell| cell.text.as_str()).collect();
            (row.number, cells.join("|"))
        })
        .collect()
    }

    #[test]
    fn line_ends_dividers_marks_and_blank_rows_are_no_content() {
        let expected = [(1, "a|b".to_owned()), (2, "x\"y|1".to_owned()), (4, "3|4".to_owned())];
        for end in ["\n", "\r\n", "\r"] {
            for divider in [",", ";", "\t"] {
                let text = "a,b\n\"x\"\"y\",1\n,\n3,4\n\n".replace('\n', end).replace(',', divider);
                assert_eq!(texts(&TextTable::parse(&text, false)), expected, "{text:?}");
                assert_eq!(texts(&TextTable::parse(&format!("\u{feff}{text}"), false)), expected, "{text:?}");
                let named = format!("sep={divider}{end}{text}");
                let below: Vec<_> = expected.iter().map(|(line, row)| (line + 1, row.clone())).collect();
                assert_eq!(texts(&TextTable::parse(&named, false)), below, "{named:?}");
            }
        }
    }

    #[test]
    fn a_quoted_header_does_not_hide_the_divider() {
        assert_eq!(find_divider(b"\"a,b,c\";d\n1,2,3,4,5", false), b';');
        assert_eq!(find_divider(b"a,b", true), b'\t');
        assert_eq!(find_divider(b"\"sep=|\"\r\na,b", true), b'|');
        assert_eq!(find_divider(b"", false), b',');
    }

    #[test]
    fn faults_have_their_line_and_column_and_the_other_rows_are_read() {
        let table = TextTable::parse("a,b\n1\n2,x\n3,4,5\n6,\"7\"8\n9,\"x\ny\nz,\"never\n", false);
        assert_eq!(texts(&table)[1..], [(3, "2|x".to_owned())]);
        let faults: Vec<(usize, Option<usize>, RowProblem)> = table
            .faults
            .iter()
            .map(|row| (row.number, row.fault.column, row.fault.problem.clone()))
            .collect();
        assert_eq!(
            faults,
            [
                (2, Some(2), RowProblem::Width { found: 1, wanted: 2 }),
                (4, Some(3), RowProblem::Width { found: 3, wanted: 2 }),
                (5, Some(2), RowProblem::TextAfterQuote),
                (6, Some(2), RowProblem::TextAfterQuote),
            ]
        );
        let open = TextTable::parse("a,b\n\"x\ny\",\"z\n1,2\n", false);
        let [FaultyRow { number, fault, .. }] = open.faults.as_slice() else { panic!("{open:?}") };
        assert_eq!((*number, fault.column, &*fault.text), (3, Some(2), "y\",\"z"));
    }

    #[test]
    fn a_row_that_is_read_again_is_the_same() {
        let text = "\u{feff}a,b\r\n\r\n\"1\r\n2\",3\r\n4,5";
        let mut rows = TextRows::new(text.as_bytes(), b',');
        let mut found = Vec::new();
        while let Some(row) = rows.next_row().expect("readable") {
            found.push(row);
        }
        assert_eq!(found.iter().map(|row| row.number).collect::<Vec<_>>(), [1, 3, 5]);
        for row in found {
            let rest = &text.as_bytes()[row.start as usize..];
            let again = TextRows::from_row(rest, b',', row.number, row.start).next_row().expect("readable");
            assert_eq!(again, Some(row));
        }
    }
}
