//! JSON Schemas (draft 2020-12) of all file formats, for editors and other programs.
//!
//! They are less strict than the decoders: references, relations between keys, and the meaning of texts are only
//! checked when a file is loaded. But they accept every file that a decoder accepts; a test ensures that both know the
//! same keys.

#![warn(missing_docs)]

mod defs;
mod files;
mod grader;
mod matrix;
mod rubric;
mod scorecard;
mod settings;
mod shape;
mod suite;
mod workspace;

#[cfg(test)]
mod agreement_tests;

use defs::SchemaDefinitions;
pub use files::{SchemaFile, schema_file_name, schema_folder, schemas};
