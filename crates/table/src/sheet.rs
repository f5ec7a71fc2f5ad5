//! Sheets as rows of texts.

use crate::{SheetPath, TableError};

/// A sheet. The first row with any content is the header of the rows below it. Rows and columns without content
/// are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    /// Name of the sheet; empty for a Parquet file.
    pub name: String,
    /// Names of the other visible sheets.
    pub others: Vec<String>,
    /// Number of each column, from 1.
    pub columns: Vec<u32>,
    /// Names of the columns; `None` for an empty sheet. In a Parquet file, this row has the number 0.
    pub header: Option<SheetRow>,
    /// Rows below the header.
    pub rows: Vec<SheetRow>,
}

/// A row of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetRow {
    /// Number of the row in the sheet or the Parquet file, from 1.
    pub number: usize,
    /// Text of each cell, one for each of [`Sheet::columns`].
    pub cells: Vec<String>,
    /// Indexes of the cells that are null, as opposed to an empty text. Only Parquet files have these.
    pub nulls: Vec<usize>,
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
        crate::parquet_file::read_parquet(path)
    } else {
        crate::workbook::read_workbook(path)
    };

    #[cfg(not(feature = "formats"))]
    Err(TableError::refused(
        format!("this build of Assize can't read `{}`", path.file.display()),
        "save the table as CSV, or build with `--features full`, as released programs are",
    ))
}
