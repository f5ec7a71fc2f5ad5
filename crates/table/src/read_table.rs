//! Reads a table of any kind as a whole.

use std::path::Path;

use assize_files::read_bytes;

use crate::{
    CellRow, Sheet, SheetPath, SheetRow, TableError, TableKind, TextEncoding, TextTable, decode_text,
    is_tabbed,
};

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
/// Numbers, dates and truth values become texts; a formula becomes its result. Cells that are merged downwards all have
/// the content of the first one.
///
/// # Errors
/// For files of other kinds, files that are too large, missing sheets, and cells whose value is an error. Without the
/// feature `formats`, for every file.
pub fn read_sheet(path: &SheetPath) -> Result<Sheet, TableError> {
    #[cfg(feature = "formats")]
    return if path
        .file
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case(crate::sheet_path::PARQUET_ENDING))
    {
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
