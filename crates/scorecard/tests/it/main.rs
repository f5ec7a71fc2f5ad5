//! Tests of the crate through what it exports.

mod scorecards;
