//! Limits on the work that files and other programs can cause: their values, what JSON counts as, and the tables of the
//! page that lists them.

#![warn(missing_docs)]

mod measure;
mod table;
mod values;
mod words;

pub use measure::{excess_of_values, json_memory};
pub use table::limit_tables;
pub use values::*;
