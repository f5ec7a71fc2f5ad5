//! Limits on the work that files and other programs can cause: their values, and the tables of the page that
//! lists them.

#![warn(missing_docs)]

mod table;
mod values;
mod words;

pub use table::limit_tables;
pub use values::*;
