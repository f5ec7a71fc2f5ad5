//! A language server for eval files, rubric files, datasets and scorecards: complaints and findings while typing, hints, completion, the way to
//! named files, and the changes that complaints suggest.
//!
//! It says what `validate` and `lint` say, over the same loader, about texts that are not saved yet. It asks no model
//! and writes no file.

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
