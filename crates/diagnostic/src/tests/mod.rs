//! Tests of the crate's public API.

mod formats;
mod hostile;
mod text;
