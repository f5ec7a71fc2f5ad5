//! Errors of Parquet files.

use crate::TableError;

pub(crate) const DAMAGED: &str = "write it again with the program that made it";
const TOO_LARGE: &str =
    "keep only the columns that are needed, or write it as JSON lines, which can have any size";

pub(crate) fn damaged(error: &dyn std::fmt::Display) -> TableError {
    TableError::refused(format!("the Parquet file is damaged: {error}"), DAMAGED)
}

pub(crate) fn too_large(what: &str) -> TableError {
    TableError::refused(format!("the Parquet file is too large: {what}"), TOO_LARGE)
}
