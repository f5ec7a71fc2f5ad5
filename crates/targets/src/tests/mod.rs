//! Tests of the crate through its public functions.

mod command;
mod model;
