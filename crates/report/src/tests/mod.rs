//! Tests of whole reports.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test when an invariant of their data breaks"
)]

mod golden;
mod properties;
mod reports;
mod support;
