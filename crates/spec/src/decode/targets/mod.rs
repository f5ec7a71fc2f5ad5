//! Targets files, and what other settings files share with them.

mod command;
mod delegate;
mod entry;
mod file;
pub(crate) mod find;
mod mask;
mod model;
mod provider;
mod shared;
pub(crate) mod variables;

pub use file::{LoadedTargets, load_targets};
