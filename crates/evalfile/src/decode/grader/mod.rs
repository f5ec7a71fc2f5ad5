//! Decoders of graders. One file per family of graders; `list` decodes a whole list, `object` the keys common
//! to all graders.

mod assertion_context;
mod code;
mod composite;
mod custom;
mod include;
mod json;
mod kind;
mod list;
mod llm;
mod metrics;
mod names;
mod object;
mod pairwise;
mod panel;
mod prompt;
mod refused;
mod rubrics;
mod standing;
mod temperature;
#[cfg(test)]
pub(crate) mod testing;
mod text;
mod trajectory;
mod words;

pub(crate) use assertion_context::AssertionContext;
pub(crate) use include::Templates;
pub(crate) use list::assertions;
pub(crate) use names::distinct_names;
pub(crate) use panel::{Use, panel};
pub(crate) use prompt::command;
pub(crate) use rubrics::{evidence, inline_rubrics, judging, outcome_rubric, truncate};
pub(crate) use words::{choice, duration, missing};
