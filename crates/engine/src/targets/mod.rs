//! Targets of a run: from names to what answers.

mod registry;
mod secrets;
mod wrapped;

pub(crate) use registry::TargetRegistry;
pub(crate) use secrets::redactor;
