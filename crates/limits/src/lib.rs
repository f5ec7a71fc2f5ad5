//! The limits of what others may make Assize do: their values, and the rows of the page that lists them.

#![warn(missing_docs)]

mod table;
mod values;
mod words;

pub use table::{LimitSection, SECTIONS};
pub use values::*;
