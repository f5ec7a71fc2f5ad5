//! A language server for eval files, rubric files, datasets and scorecards: diagnostics and findings while
//! typing, hover texts, completion, definitions of named files, and code actions for suggested changes.
//!
//! It reports the same diagnostics and findings as `validate` and `lint`, through the same loader, for texts that are
//! not saved yet. It calls no model and writes no file.

#![warn(missing_docs)]

mod check;
mod code_actions;
mod completion;
mod cursor;
mod cursor_context;
mod definition;
mod document_kind;
mod file_uri;
mod hover;
mod json_cursor;
mod open;
mod positions;
mod schema_place;
mod score_share;
mod server;
mod stdio;
mod yaml_cursor;

pub use server::{ServeError, serve, serve_messages};
