//! Tests of the crate through its public functions.

#![cfg(feature = "formats")]

mod parquet;
mod sheets;
