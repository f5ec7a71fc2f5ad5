//! Tests of the crate's public API.

mod answers;
mod config;
