//! Tests of whole reports.

mod golden;
mod properties;
mod reports;
mod support;
