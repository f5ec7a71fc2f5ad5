//! Rows of spreadsheets and Parquet files as source texts, so that diagnostics can name a cell.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, RowCells, SourceId, Span};
use assize_document::codes;
use assize_table::{
    CellRow, FaultyRow, Sheet, SheetPath, SheetRow, TableError, TextTable, is_tabbed, read_sheet,
};

use super::answer_columns::AnswerColumns;
use super::answer_table::{AnswerTable, SAMPLE_ROWS, read_list};
use super::case_collector::CaseCollector;
use super::dataset_lines::DatasetLine;
use super::file::{fault_diagnostic, read_source};
use super::{DecodeContext, jsonl};

/// Maximum number of sheets that a warning names.
const MAX_NAMED_SHEETS: usize = 5;

/// A row as the text of its source: a JSON list of the texts of its cells, null where there is no value, without line breaks.
struct RowText {
    text: Arc<str>,
    cells: Arc<RowCells>,
}

/// Returns the source text that represents a row.
fn row_text(sheet: &Sheet, name: &Arc<str>, row: &SheetRow) -> RowText {
    let mut text = String::from("[");
    let mut starts = Vec::with_capacity(row.cells.len());
    for (index, (cell, column)) in row.cells.iter().zip(&sheet.columns).enumerate() {
        if text.len() > 1 {
            text.push(',');
        }
        starts.push((text.len(), *column));
        let value = Some(cell.as_str()).filter(|_| row.nulls.binary_search(&index).is_err());
        text.push_str(&serde_json::Value::from(value).to_string());
    }
    text.push(']');

    let is_header = row.number == 0;
    RowText { text: text.into(), cells: Arc::new(RowCells { sheet: Arc::clone(name), is_header, starts }) }
}

impl RowText {
    /// Adds the row to the sources. Returns the span of the whole row, and the spans of its cells.
    fn add(&self, cx: &mut DecodeContext, path: &Arc<Path>, number: usize) -> (Span, Vec<Span>) {
        let (text, cells) = (Arc::clone(&self.text), Arc::clone(&self.cells));
        let source = cx.sources.add_row(Arc::clone(path), text, number, cells);
        let span = |at: Range<usize>| Span::new(source, at.start, at.end);
        (span(0..self.text.len()), read_list(&self.text).into_iter().map(|(_, at)| span(at)).collect())
    }
}

/// Reads a sheet. `from` is the reference that names it; without one, problems are reported at the beginning of the file.
/// Returns `None` after adding a diagnostic.
fn load_sheet(cx: &mut DecodeContext, path: &SheetPath, from: Option<Span>) -> Option<Sheet> {
    let at = |cx: &mut DecodeContext| {
        from.unwrap_or_else(|| {
            let source = cx.sources.add(&path.file, "");
            Span::new(source, 0, 0)
        })
    };

    match read_sheet(path) {
        Ok(sheet) => {
            if path.sheet.is_none() && !sheet.others.is_empty() {
                let at = at(cx);
                cx.problems.add(others_are_not_read(path, &sheet, at));
            }
            Some(sheet)
        }
        Err(TableError::Unreadable(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            let at = at(cx);
            cx.problems.reject(jsonl::not_found(&path.file, at))
        }
        Err(error) => {
            let label = if from.is_some() { format!("`{path}`: {error}") } else { error.to_string() };
            let title = match &error {
                TableError::Cells(cells) if cells.len() == 1 => "a cell has no usable value".to_owned(),
                TableError::Cells(cells) => format!("{} cells have no usable value", cells.len()),
                _ => "the table can't be read".to_owned(),
            };
            let at = at(cx);
            cx.problems
                .reject(Diagnostic::error(codes::BAD_TABLE, title).at(at, label).with_help(error.help()))
        }
    }
}

/// A table with the place of each cell in the sources.
pub struct SourceTable {
    /// The names of the columns.
    pub header: SourceRow,
    /// The rows below them, each as wide.
    pub rows: Vec<SourceRow>,
}

/// A row of a [`SourceTable`].
pub struct SourceRow {
    /// Text and place of each cell.
    pub cells: Vec<(String, Span)>,
    /// Place of the row.
    pub span: Span,
}

/// Reads a table of any kind whose path an eval file names at `from`. Returns `None` for a table without a header, and
/// after adding a diagnostic if no row can be read. Unreadable rows are reported and skipped.
pub fn load_table(cx: &mut DecodeContext, path: &Path, from: Span) -> Option<SourceTable> {
    if let Some(path) = SheetPath::parse(path) {
        let sheet = load_sheet(cx, &path, Some(from))?;
        let file: Arc<Path> = Arc::from(path.file.as_path());
        let name: Arc<str> = Arc::from(sheet.name.as_str());
        let mut row = |row: &SheetRow| {
            let (span, places) = row_text(&sheet, &name, row).add(cx, &file, row.number);
            SourceRow { cells: row.cells.iter().cloned().zip(places).collect(), span }
        };
        let header = row(sheet.header.as_ref()?);
        return Some(SourceTable { header, rows: sheet.rows.iter().map(row).collect() });
    }

    let source = read_source(cx, path, Some(from))?;
    read_table_source(cx, source, is_tabbed(path))
}

/// Splits a text table that was added to the sources, and reports rows that can't be read. Returns `None` without
/// a header.
pub fn read_table_source(cx: &mut DecodeContext, source: SourceId, is_tabbed: bool) -> Option<SourceTable> {
    let text = cx.sources.file(source).shared_text();
    let TextTable { header, rows, faults } = TextTable::parse(&text, is_tabbed);
    for FaultyRow { start, fault, .. } in &faults {
        let at = Span::new(source, start + fault.at.start, start + fault.at.end);
        cx.problems.add(fault_diagnostic(fault, at, false));
    }
    let row = |CellRow { start, length, cells, .. }: CellRow| {
        let span = |at: &Range<usize>| Span::new(source, start + at.start, start + at.end);
        let places = cells.iter().map(|cell| span(&cell.at)).collect::<Vec<_>>();
        SourceRow {
            cells: cells.into_iter().map(|cell| cell.text).zip(places).collect(),
            span: span(&(0..length)),
        }
    };

    Some(SourceTable { header: row(header?), rows: rows.into_iter().map(row).collect() })
}

fn others_are_not_read(path: &SheetPath, sheet: &Sheet, at: Span) -> Diagnostic {
    let mut names: Vec<String> =
        sheet.others.iter().take(MAX_NAMED_SHEETS).map(|name| format!("`{name}`")).collect();
    if sheet.others.len() > MAX_NAMED_SHEETS {
        names.push("...".to_owned());
    }

    Diagnostic::warning(codes::NO_EFFECT, format!("only the first sheet, `{}`, is read", sheet.name))
        .at(at, format!("not {}", names.join(", ")))
        .with_help(format!("name the one that you mean: `{}#{}`", path.file.display(), sheet.name))
}

/// Reads the header of a sheet of answers. Returns the sheet with the layout of its columns, or `None` after
/// adding a diagnostic.
pub(crate) fn load_answer_sheet(
    cx: &mut DecodeContext,
    path: &SheetPath,
    columns: &AnswerColumns,
) -> Option<(AnswerTable, Sheet)> {
    let sheet = load_sheet(cx, path, None)?;
    let Some(header) = sheet.header.as_ref().filter(|_| !sheet.rows.is_empty()) else {
        let source = cx.sources.add(&path.file, "");
        let at = Span::new(source, 0, 0);
        if sheet.name.is_empty() {
            return Diagnostic::error(codes::NO_CASES, "the table has no cases")
                .at(at, "no rows")
                .with_help("write a row for each case")
                .reject_in(&mut cx.problems);
        }
        let found = format!("the sheet `{}`", sheet.name);
        let complaint = Diagnostic::error(codes::NO_CASES, "the sheet has no cases").at(at, found);
        return cx.problems.reject(complaint.with_help(
            "write a row with the names of the columns, and a row for each case below it; or name another sheet after a `#`",
        ));
    };

    let file: Arc<Path> = Arc::from(path.file.as_path());
    let row = row_text(&sheet, &Arc::from(sheet.name.as_str()), header);
    let (whole, _) = row.add(cx, &file, header.number);
    let names = read_list(&row.text).into_iter().map(|(name, at)| (name.unwrap_or_default(), at)).collect();
    let sample: Vec<Vec<String>> = sheet.rows.iter().take(SAMPLE_ROWS).map(|row| row.cells.clone()).collect();
    let table = AnswerTable::from_header(cx, whole.source, names, &sample, None, columns)?;

    Some((table, sheet))
}

/// Adds the answers of a sheet. The collector knows its layout.
pub(crate) fn collect_answer_sheet(
    cx: &mut DecodeContext,
    path: &SheetPath,
    sheet: &Sheet,
    collector: &mut CaseCollector,
) {
    let name: Arc<str> = Arc::from(sheet.name.as_str());
    let lines = (1..).zip(&sheet.rows).map(|(count, row)| {
        let RowText { text, cells } = row_text(sheet, &name, row);
        DatasetLine { number: row.number, row: count, start: 0, content: Ok(text), cells: Some(cells) }
    });
    jsonl::keep_lines(cx, &path.file, lines, collector);
}
