//! Targets of a run, created from their names.

mod destination;
mod http;
mod http_request;
mod program_judge;
mod program_setup;
mod registry;
mod secrets;
mod wrapped;

pub(crate) use program_judge::PROGRAM;
pub(crate) use program_setup::program_setup;
pub(crate) use registry::{ECHO, TargetRegistry, default_target};
pub use secrets::is_secret_name;
pub(crate) use secrets::redactor;
