//! promptfoo configurations: prompts, variables, and assertions of many types.

mod asserts;
mod config;
mod prompts;
mod text;

pub(crate) use config::read;
pub(crate) use text::raw;
