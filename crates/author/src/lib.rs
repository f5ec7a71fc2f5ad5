//! Drafts rubrics with a model, and reviews their wording.
//!
//! [`draft`] writes criteria from expected outcomes, [`critique`] applies the lint rules that need a model.
//! Both send one request per case or rubric, several at a time, ask again after an unusable reply, and stop
//! when the budget is spent.

#![warn(missing_docs)]

pub mod critique;
pub mod draft;
mod event;
mod prompt;
mod workload;

pub use event::AuthorEvent;
