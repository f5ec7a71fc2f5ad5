//! Rows of a table before its columns are interpreted.

use std::path::Path;
use std::sync::Arc;

use assize_table::{SheetPath, SheetRow, TableError, read_sheet};
use serde_json::{Map, Value};

use super::problem::unreadable;
use super::{LabelLocation, LabelProblem};

/// A line with its cells by name. Cells of tables are texts; empty cells are null.
pub(super) struct TableLine {
    /// True for a line of JSON.
    pub(super) is_json: bool,
    pub(super) place: LabelLocation,
    pub(super) cells: Map<String, Value>,
}

/// Row of a table: its line, and its cells by column.
pub type TableRow = (u64, Map<String, Value>);

/// Reads CSV, TSV, Parquet or a sheet of a spreadsheet as rows of texts by column, each with its line number.
///
/// # Errors
/// If the file can't be read, or a row does not fit its header.
pub fn read_table(path: &Path) -> Result<Vec<TableRow>, Vec<LabelProblem>> {
    let mut problems = Vec::new();
    let lines = read_file(path, &mut problems).unwrap_or_default();

    if problems.is_empty() {
        Ok(lines.into_iter().map(|line| (line.place.line, line.cells)).collect())
    } else {
        Err(problems)
    }
}

/// Reads the lines of a file. `None` if it can't be read at all; the last problem then says why.
pub(super) fn read_file(path: &Path, problems: &mut Vec<LabelProblem>) -> Option<Vec<TableLine>> {
    if let Some(sheet) = SheetPath::parse(path) {
        return read_sheet_lines(&sheet, problems);
    }

    let file: Arc<Path> = Arc::from(path);
    match assize_files::read_bytes(path, assize_files::MAX_FILE_BYTES) {
        Ok(bytes) => Some(read_lines(&file, &bytes, problems)),
        Err(error) => {
            problems.push(unreadable(&file, &error));
            None
        }
    }
}

/// Reads the rows of a sheet. Their location is the path with the sheet's name, and the row number.
fn read_sheet_lines(path: &SheetPath, problems: &mut Vec<LabelProblem>) -> Option<Vec<TableLine>> {
    let sheet = match read_sheet(path) {
        Ok(sheet) => sheet,
        Err(TableError::Unreadable(error)) => {
            problems.push(unreadable(&Arc::from(path.file.as_path()), &error));
            return None;
        }
        Err(error) => {
            let file: Arc<Path> = Arc::from(Path::new(&path.to_string()));
            problems.push(line_problem(&file, 0, format!("{error}; {}", error.help())));
            return None;
        }
    };

    let is_sheet = !sheet.name.is_empty();
    let named = SheetPath { file: path.file.clone(), sheet: is_sheet.then(|| sheet.name.clone()) };
    let file: Arc<Path> = Arc::from(Path::new(&named.to_string()));
    let Some(SheetRow { number, cells: header, .. }) = &sheet.header else { return Some(Vec::new()) };
    let header: Vec<&str> = header.iter().map(|name| name.trim()).collect();
    check_names(&file, *number as u64, &header, problems);

    let line = |row: &SheetRow| {
        let cells = header.iter().zip(&row.cells).filter(|(name, _)| !name.is_empty());
        TableLine {
            is_json: false,
            place: LabelLocation { file: Arc::clone(&file), line: row.number as u64 },
            cells: cells
                .map(|(name, text)| {
                    // A list in a Parquet file, such as scores, becomes a list; in other tables it stays a
                    // text.
                    let list = text.starts_with('[') && !is_sheet;
                    let list = list.then(|| serde_json::from_str(text).ok()).flatten();
                    ((*name).to_owned(), list.unwrap_or_else(|| cell_value(text)))
                })
                .collect(),
        }
    };
    Some(sheet.rows.iter().map(line).collect())
}

/// Reports columns with the same name.
fn check_names(file: &Arc<Path>, line: u64, header: &[&str], problems: &mut Vec<LabelProblem>) {
    for (at, name) in header.iter().enumerate() {
        if !name.is_empty() && header[..at].contains(name) {
            problems.push(line_problem(file, line, format!("two columns are called `{name}`")));
        }
    }
}

/// Returns the value of a cell: its text, or null for an empty one.
fn cell_value(text: &str) -> Value {
    match text.trim() {
        "" => Value::Null,
        text => Value::String(text.to_owned()),
    }
}

/// Reads the lines of a file as JSON or as a table, by its extension or content. Every unreadable line is a
/// problem.
fn read_lines(file: &Arc<Path>, bytes: &[u8], problems: &mut Vec<LabelProblem>) -> Vec<TableLine> {
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    match ending.as_deref() {
        Some("csv") => read_separated(file, bytes, separator(bytes), problems),
        Some("tsv" | "tab") => read_separated(file, bytes, b'\t', problems),
        Some("jsonl" | "ndjson" | "json") => read_json_lines(file, bytes, problems),
        _ if first == Some(&b'{') => read_json_lines(file, bytes, problems),
        _ => read_separated(file, bytes, b',', problems),
    }
}

/// Returns the separator of a CSV file. Spreadsheets in countries with a decimal comma write semicolons.
fn separator(bytes: &[u8]) -> u8 {
    let header = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if header.contains(&b';') && !header.contains(&b',') { b';' } else { b',' }
}

fn line_problem(file: &Arc<Path>, line: u64, message: impl Into<String>) -> LabelProblem {
    LabelProblem { place: LabelLocation { file: Arc::clone(file), line }, message: message.into() }
}

fn read_json_lines(file: &Arc<Path>, bytes: &[u8], problems: &mut Vec<LabelProblem>) -> Vec<TableLine> {
    let mut found = Vec::new();
    for (number, line) in (1u64..).zip(bytes.split(|&byte| byte == b'\n')) {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<Value>(line) {
            Ok(Value::Object(cells)) => {
                found.push(TableLine {
                    is_json: true,
                    place: LabelLocation { file: Arc::clone(file), line: number },
                    cells,
                });
            }
            Ok(_) => problems.push(line_problem(file, number, "expected a JSON object on each line")),
            Err(error) => problems.push(line_problem(file, number, format!("not JSON: {error}"))),
        }
    }

    found
}

/// Counts lines up to the start of a record. The count of the `csv` crate is one line behind if lines end in
/// CR LF.
struct LineCount<'b> {
    bytes: &'b [u8],
    upto: usize,
    line: u64,
}

impl LineCount<'_> {
    fn line_at(&mut self, position: Option<&csv::Position>) -> u64 {
        let start = position.and_then(|position| usize::try_from(position.byte()).ok()).unwrap_or(self.upto);
        let rest = self.bytes.get(start..).unwrap_or_default();
        let start = start + rest.iter().take_while(|byte| [b'\r', b'\n'].contains(byte)).count();
        let passed = self.bytes.get(self.upto..start).unwrap_or_default();
        self.line += (passed.split(|&byte| byte == b'\n').count() - 1) as u64;
        self.upto = self.upto.max(start);

        self.line
    }
}

fn read_separated(
    file: &Arc<Path>,
    bytes: &[u8],
    by: u8,
    problems: &mut Vec<LabelProblem>,
) -> Vec<TableLine> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new().delimiter(by).flexible(true).from_reader(bytes);
    let header = match reader.headers() {
        Ok(header) => header.clone(),
        Err(error) => {
            problems.push(line_problem(file, 1, format!("the header can't be read: {error}")));
            return Vec::new();
        }
    };
    check_names(file, 1, &header.iter().collect::<Vec<_>>(), problems);

    let mut found = Vec::new();
    let mut counted = LineCount { bytes, upto: 0, line: 1 };
    for record in reader.records() {
        match record {
            Ok(record) => {
                let line = counted.line_at(record.position());
                if record.len() != header.len() {
                    let (cells, columns) = (record.len(), header.len());
                    problems.push(line_problem(
                        file,
                        line,
                        format!("{cells} cells under {columns} columns; a comma in a text needs quotes"),
                    ));

                    continue;
                }

                let cells =
                    header.iter().zip(&record).map(|(name, text)| (name.to_owned(), cell_value(text)));
                found.push(TableLine {
                    is_json: false,
                    place: LabelLocation { file: Arc::clone(file), line },
                    cells: cells.collect(),
                });
            }
            Err(error) => {
                let line = counted.line_at(error.position());
                problems.push(line_problem(file, line, error.to_string()));
            }
        }
    }

    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> (Vec<(u64, Value)>, Vec<String>) {
        let mut problems = Vec::new();
        let found = read_lines(&Arc::from(Path::new(name)), text.as_bytes(), &mut problems);
        let rows = found.into_iter().map(|line| (line.place.line, Value::Object(line.cells))).collect();
        (rows, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn quoted_cells_may_hold_commas_and_line_breaks() {
        let (rows, problems) = read("t.csv", "\u{feff}case,note\r\na,\"one, two\nthree\"\r\nb,\r\n");
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(rows[0], (2, serde_json::json!({"case": "a", "note": "one, two\nthree"})));
        assert_eq!(rows[1], (4, serde_json::json!({"case": "b", "note": null})), "the line is the file's");
    }

    #[test]
    fn rows_that_do_not_fit_and_columns_of_one_name_are_problems() {
        let (rows, problems) = read("t.tsv", "case\tx\tx\na\t1\t2\nb\t1\n");
        assert_eq!(rows.len(), 1);
        assert_eq!(problems[0], "t.tsv:1: two columns are called `x`");
        assert!(problems[1].starts_with("t.tsv:3: 2 cells under 3 columns"), "{problems:?}");
    }

    #[test]
    fn the_form_is_told_by_the_ending_or_the_first_sign() {
        assert_eq!(read("labels", " {\"a\": 1}\n\n[1]\n").0, [(1, serde_json::json!({"a": 1}))]);
        assert_eq!(read("labels", "a\n1\n").0, [(2, serde_json::json!({"a": "1"}))]);
        assert!(read("x.jsonl", "a,b\n").1[0].contains("not JSON"));
    }
}
