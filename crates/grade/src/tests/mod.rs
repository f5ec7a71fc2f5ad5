//! Tests of the crate's public API.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod agreement;
mod common;
mod hostile;
mod model;
mod offline;
mod parrot;
mod prompts;
