//! Tests of the crate through what it exports.

mod answers;
mod config;
