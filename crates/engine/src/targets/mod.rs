//! What answers: from names to targets.

mod book;
mod secrets;
mod wrapped;

pub(crate) use book::TargetBook;
pub(crate) use secrets::redactor;
