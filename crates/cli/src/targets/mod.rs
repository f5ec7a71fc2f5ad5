//! Targets by name.

mod book;
mod secrets;
mod wrapped;

pub(crate) use book::TargetBook;
pub(crate) use secrets::redactor;
