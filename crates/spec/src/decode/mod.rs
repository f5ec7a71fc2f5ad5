//! From trees to checked values, collecting every problem on the way.

mod context;
mod object;
mod problems;

pub(crate) use context::{Context, TextFile};
pub(crate) use object::Object;
pub(crate) use problems::Problems;

pub use context::Environment;
