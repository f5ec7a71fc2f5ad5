//! Rows of a table before its columns are interpreted.

use std::path::Path;
use std::sync::Arc;

use assize_files::MAX_FILE_BYTES;
use assize_rubric::composed_name;
use assize_table::{
    Sheet, SheetPath, SheetRow, TableError, TableKind, TextEncoding, is_table, read_text_table,
};
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
pub fn read_table(path: &Path, encoding: Option<TextEncoding>) -> Result<Vec<TableRow>, Vec<LabelProblem>> {
    let mut problems = Vec::new();
    let lines = read_file(path, encoding, &mut problems).unwrap_or_default();

    if problems.is_empty() {
        Ok(lines.into_iter().map(|line| (line.place.line, line.cells)).collect())
    } else {
        Err(problems)
    }
}

/// Reads the lines of a file as a table or as JSON, by its extension or content. `None` if it can't be read at
/// all; the last problem then says why.
pub(super) fn read_file(
    path: &Path,
    encoding: Option<TextEncoding>,
    problems: &mut Vec<LabelProblem>,
) -> Option<Vec<TableLine>> {
    if is_table(path) {
        return table_lines(path, assize_table::read_table(path, encoding, MAX_FILE_BYTES), problems);
    }

    let file: Arc<Path> = Arc::from(path);
    match assize_files::read_bytes(path, MAX_FILE_BYTES) {
        Ok(bytes) => {
            let ending = file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
            let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
            let is_json =
                matches!(ending.as_deref(), Some("jsonl" | "ndjson" | "json")) || first == Some(&b'{');
            if is_json {
                Some(read_json_lines(&file, &bytes, problems))
            } else {
                table_lines(path, read_text_table(bytes, false, encoding), problems)
            }
        }
        Err(error) => {
            problems.push(unreadable(&file, &error));
            None
        }
    }
}

/// Returns the rows of a table as lines. Their location is the path, with the name of a sheet, and the number.
fn table_lines(
    path: &Path,
    table: Result<Sheet, TableError>,
    problems: &mut Vec<LabelProblem>,
) -> Option<Vec<TableLine>> {
    let opened = SheetPath::parse(path).map_or_else(|| path.to_path_buf(), |path| path.file);
    let table = match table {
        Ok(table) => table,
        Err(TableError::Unreadable(error)) => {
            problems.push(unreadable(&Arc::from(opened), &error));
            return None;
        }
        Err(TableError::Row(row)) => {
            problems.push(line_problem(&Arc::from(path), row.number as u64, row.fault.to_string()));
            return None;
        }
        Err(error) => {
            problems.push(line_problem(&Arc::from(path), 0, format!("{error}; {}", error.help())));
            return None;
        }
    };

    let is_sheet = table.kind == TableKind::Spreadsheet;
    let named = SheetPath { file: opened, sheet: is_sheet.then(|| table.name.clone()) };
    let file: Arc<Path> = Arc::from(Path::new(&named.to_string()));
    for row in &table.faults {
        problems.push(line_problem(&file, row.number as u64, row.fault.to_string()));
    }
    let Some(SheetRow { number, cells: header, .. }) = &table.header else { return Some(Vec::new()) };
    let header: Vec<String> = header.iter().map(|name| composed_name(name.trim().to_owned())).collect();
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
                    let list = text.starts_with('[') && table.kind == TableKind::Parquet;
                    let list = list.then(|| serde_json::from_str(text).ok()).flatten();
                    (name.clone(), list.unwrap_or_else(|| cell_value(text)))
                })
                .collect(),
        }
    };
    Some(table.rows.iter().map(line).collect())
}

/// Reports columns with the same name.
fn check_names(file: &Arc<Path>, line: u64, header: &[String], problems: &mut Vec<LabelProblem>) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> (Vec<(u64, Value)>, Vec<String>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        let mut problems = Vec::new();
        let found = read_file(&path, None, &mut problems);
        let rows =
            found.into_iter().flatten().map(|line| (line.place.line, Value::Object(line.cells))).collect();
        let start = format!("{}/", folder.path().display());
        (rows, problems.iter().map(|problem| problem.to_string().replacen(&start, "", 1)).collect())
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
        assert!(problems[0].starts_with("t.tsv:3: column 3: this row does not match"), "{problems:?}");
        assert!(problems[0].contains("2 cells under 3 columns"), "{problems:?}");
        assert_eq!(problems[1], "t.tsv:1: two columns are called `x`");
    }

    #[test]
    fn the_form_is_told_by_the_ending_or_the_first_sign() {
        assert_eq!(read("labels", " {\"a\": 1}\n\n[1]\n").0, [(1, serde_json::json!({"a": 1}))]);
        assert_eq!(read("labels", "a\n1\n").0, [(2, serde_json::json!({"a": "1"}))]);
        assert!(read("x.jsonl", "a,b\n").1[0].contains("not JSON"));
    }
}
