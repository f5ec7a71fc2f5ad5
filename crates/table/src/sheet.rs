//! Tables as rows of texts.

use std::path::Path;

use assize_files::read_bytes;

use crate::{CellRow, FaultyRow, SheetPath, TableError, TextEncoding, TextTable, decode_text, is_tabbed};

/// Kind of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// CSV or TSV.
    Text,
    /// A sheet of a spreadsheet.
    Spreadsheet,
    /// A Parquet file.
    Parquet,
}

/// A table. The first row with any content is the header of the rows below it. Rows without content are left
/// out, and so are such columns of spreadsheets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    /// Kind of the table.
    pub kind: TableKind,
    /// Name of the sheet; empty for other tables.
    pub name: String,
    /// Names of the other visible sheets.
    pub others: Vec<String>,
    /// Number of each column, from 1.
    pub columns: Vec<u32>,
    /// Names of the columns; `None` for an empty sheet. In a Parquet file, this row has the number 0.
    pub header: Option<SheetRow>,
    /// Rows below the header.
    pub rows: Vec<SheetRow>,
    /// Rows of a text table that can't be read. They are not among the others.
    pub faults: Vec<FaultyRow>,
}

/// A row of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetRow {
    /// Number of the row in the sheet or the Parquet file, or of its first line in the text, from 1.
    pub number: usize,
    /// Text of each cell, one for each of [`Sheet::columns`].
    pub cells: Vec<String>,
    /// Indexes of the cells that are null, as opposed to an empty text. Only Parquet files have these.
    pub nulls: Vec<usize>,
}

/// Reads a table of any kind. The path of a spreadsheet may name a sheet.
///
/// # Errors
/// If the file can't be read, or is larger than `max_bytes`. Rows of text that can't be read are in the table.
pub fn read_table(path: &Path, encoding: Option<TextEncoding>, max_bytes: u64) -> Result<Sheet, TableError> {
    match SheetPath::parse(path) {
        Some(path) => read_sheet(&path),
        None => read_text_table(read_bytes(path, max_bytes)?, is_tabbed(path), encoding),
    }
}

/// Reads a text table from its bytes.
///
/// # Errors
/// If it is not text in the encoding.
pub fn read_text_table(
    bytes: Vec<u8>,
    is_tabbed: bool,
    encoding: Option<TextEncoding>,
) -> Result<Sheet, TableError> {
    let text = decode_text(bytes, encoding)?;
    let TextTable { header, rows, faults } = TextTable::parse(&text, is_tabbed);
    let row = |row: CellRow| SheetRow {
        number: row.number,
        cells: row.cells.into_iter().map(|cell| cell.text).collect(),
        nulls: Vec::new(),
    };
    let header = header.map(row);

    Ok(Sheet {
        kind: TableKind::Text,
        name: String::new(),
        others: Vec::new(),
        columns: (1..).take(header.as_ref().map_or(0, |header| header.cells.len())).collect(),
        header,
        rows: rows.into_iter().map(row).collect(),
        faults,
    })
}

/// Reads a sheet, or the rows of a Parquet file, whose lists and structs become JSON.
///
/// Numbers, dates and truth values become texts; of a formula its result is read. Cells that are merged downwards all have the content
/// of the first.
///
/// # Errors
/// For files that are none of these or too large, sheets that are not there, and cells whose value is an error. Without the feature
/// `formats`, for every file.
pub fn read_sheet(path: &SheetPath) -> Result<Sheet, TableError> {
    #[cfg(feature = "formats")]
    return if path.is_parquet() {
        let mut table = crate::parquet_file::read_parquet(path)?;
        table.rows.retain(|row| row.cells.iter().any(|cell| !cell.trim().is_empty()));
        Ok(table)
    } else {
        crate::workbook::read_workbook(path)
    };

    #[cfg(not(feature = "formats"))]
    Err(TableError::refused(
        format!("this build of Assize can't read `{}`", path.file.display()),
        "save the table as CSV, or build with `--features full`, as released programs are",
    ))
}
