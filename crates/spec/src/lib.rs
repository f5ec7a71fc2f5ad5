//! Eval files in, checked plans out.

#![warn(missing_docs)]

pub mod codes;
mod decode;
mod model;
mod tree;

pub use decode::Environment;
pub use model::*;
