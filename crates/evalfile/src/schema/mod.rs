//! The shape of the files that are read, as JSON Schemas (draft 2020-12) for editors and other programs.
//!
//! They say less than the readers: what a file refers to, what several places must agree on and what a text means
//! is checked when a file is loaded. What a reader takes, they take; a test holds both to the same keys.

mod card;
mod defs;
mod grader;
mod rubric;
mod shape;
mod suite;
mod surroundings;
mod workspace;

#[cfg(test)]
mod asked;

use defs::Defs;
pub use defs::{SchemaFile, schema_file_name, schema_folder, schemas};
