//! Tests of the crate's public API.

mod agreement;
mod common;
mod hostile;
mod model;
mod offline;
mod parrot;
mod prompts;
