//! Tests of the crate through its public functions.

mod scorecards;
