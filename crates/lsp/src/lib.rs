//! A language server for eval files, rubric files, datasets and scorecards: diagnostics and findings while
//! typing, hover texts, completion, definitions of named files, and code actions for suggested changes.
//!
//! It reports what `validate` and `lint` report, through the same loader, about texts that are not saved yet.
//! It asks no model and writes no file.

#![warn(missing_docs)]

mod actions;
mod check;
mod complete;
mod define;
mod file_uri;
mod hover;
mod json_place;
mod kind;
mod open;
mod server;
mod shape;
mod share;
mod spot;
mod text;
mod yaml_place;

pub use server::{ServeError, serve};
