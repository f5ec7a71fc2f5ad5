//! Decoders of targets files, and helpers shared with other settings files.

mod agent;
mod command;
mod delegate;
mod entry;
mod file;
pub(crate) mod find;
mod health;
mod mask;
mod model;
mod provider;
mod read;
mod recording;
mod shared;
mod value;
pub(crate) mod variables;

pub use file::{LoadedTargets, load_targets};
pub(crate) use provider::names as provider_names;
