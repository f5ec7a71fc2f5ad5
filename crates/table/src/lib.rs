//! The reader of tables: CSV and TSV, sheets of spreadsheets, and Parquet files, as rows of texts; and the reader of
//! numbers and yes/no values in their cells.
//!
//! [`read_table`] reads a whole table of any kind: the header, and the rows below it with their numbers, so that a
//! message can name a cell. [`TextRows`] reads the rows of a text table one after the other.

#![warn(missing_docs)]

#[cfg(feature = "formats")]
mod archive;
mod cell_scanner;
#[cfg(feature = "formats")]
mod cell_text;
mod cell_value;
mod encoding;
mod encoding_guess;
mod endings;
mod error;
#[cfg(feature = "formats")]
mod parquet_error;
#[cfg(feature = "formats")]
mod parquet_file;
#[cfg(feature = "formats")]
mod parquet_footer;
#[cfg(feature = "formats")]
mod parquet_pages;
#[cfg(feature = "formats")]
mod parquet_value;
mod read_table;
mod row_fault;
mod sheet;
mod sheet_path;
#[cfg(feature = "formats")]
mod size_limits;
mod text_rows;
#[cfg(feature = "formats")]
mod workbook;

pub use cell_scanner::{TextCell, split_cells};
pub use cell_value::{NumberError, parse_number, parse_yes_no};
pub use encoding::{TextEncoding, TextSource, decode_text, open_text_table, utf8_text};
pub use endings::{TABLE_ENDINGS, is_tabbed, is_table};
pub use error::TableError;
pub use read_table::{read_sheet, read_table, read_text_table};
pub use row_fault::{FaultyRow, RowFault, RowProblem};
pub use sheet::{Sheet, SheetRow, TableKind};
pub use sheet_path::SheetPath;
pub use text_rows::{CellRow, MAX_ROW_BYTES, TextRow, TextRows, TextTable, check_width, find_divider};

#[cfg(test)]
mod tests;
