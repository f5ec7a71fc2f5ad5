//! Tests of the crate through what it exports.

mod command;
mod model;
