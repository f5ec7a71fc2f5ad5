//! Tests of the crate through what it exports.

#![cfg(feature = "formats")]

mod parquet;
mod sheets;
