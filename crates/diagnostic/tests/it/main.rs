//! Tests of the crate through what it exports.

mod formats;
mod hostile;
mod text;
