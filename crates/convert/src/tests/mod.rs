//! Tests of the crate's public API.

mod convert;
mod promptfoo;
