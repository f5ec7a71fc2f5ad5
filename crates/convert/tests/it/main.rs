//! Tests of the crate through what it exports.

mod convert;
mod promptfoo;
