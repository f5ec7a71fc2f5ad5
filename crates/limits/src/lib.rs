#![doc = include_str!("../README.md")]

mod table;
mod values;
mod words;

pub use table::{LimitSection, SECTIONS};
pub use values::*;
