//! Tables in files of other programs, as rows of text: sheets of spreadsheets, and Parquet files.
//!
//! [`SheetPath`] recognises the path of such a file, and [`read_sheet`] reads it: the header, and the rows
//! below it with their numbers, so that a message can name a cell.

#![warn(missing_docs)]

#[cfg(feature = "formats")]
mod archive;
#[cfg(feature = "formats")]
mod cell_text;
mod endings;
mod error;
#[cfg(feature = "formats")]
mod parquet_file;
#[cfg(feature = "formats")]
mod parquet_pages;
#[cfg(feature = "formats")]
mod parquet_value;
mod sheet;
mod sheet_path;
#[cfg(feature = "formats")]
mod workbook;

pub use endings::{TABLE_ENDINGS, is_table};
pub use error::TableError;
pub use sheet::{Sheet, SheetRow, read_sheet};
pub use sheet_path::SheetPath;
