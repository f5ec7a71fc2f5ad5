//! Tables as rows of texts.

use crate::FaultyRow;

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

/// A table. The first row with any content is the header of the rows below it. Rows without content are skipped, and so
/// are columns of spreadsheets without content.
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
    /// Rows of a text table that can't be read. They are not in `rows`.
    pub faults: Vec<FaultyRow>,
}

/// A row of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetRow {
    /// Number of the row in the sheet or the Parquet file, or of its first line in the text, from 1.
    pub number: usize,
    /// Text of each cell, one for each of [`Sheet::columns`].
    pub cells: Vec<String>,
    /// Indexes of the cells that are null, as opposed to an empty text, in ascending order. Only Parquet files have these.
    pub nulls: Vec<usize>,
}
