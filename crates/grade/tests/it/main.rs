//! Tests of the crate through what it exports.

mod agreement;
mod common;
mod hostile;
mod model;
mod offline;
mod parrot;
mod prompts;
