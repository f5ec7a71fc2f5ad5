//! Tests of the crate's public API, and helpers for all of its tests.

mod answers;
mod config;
pub(crate) mod contexts;
pub(crate) mod snippets;
