//! Rubrics with the help of a model: drafting them, and reviewing their wording.
//!
//! [`draft`] makes criteria from expected outcomes, [`critique`] applies the lint rules that only a model can apply. Both
//! put one request per case or rubric, several at a time, ask again after a reply that can't be used, and stop when the
//! budget does.

#![warn(missing_docs)]

pub mod critique;
pub mod draft;
mod event;
mod prompt;
mod workload;

pub use event::AuthorEvent;
