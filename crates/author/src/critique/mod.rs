//! Asking a model about the wording of rubrics.
//!
//! Lint says what is to be asked about a rubric and what a finding looks like; a [`RubricCritic`] puts it to a model and takes
//! only what the model plainly said about words that are there. A rule that the model did not answer was not applied,
//! and is said to be so: silence of a broken model is never taken for a clean rubric.

mod critic;
mod prompt;
mod queue;
mod reply;

pub use critic::{RubricCritic, RubricCritique};
pub use prompt::{PROMPT_VERSION, prompt_hash};
pub use queue::{CritiqueJob, review_all};
