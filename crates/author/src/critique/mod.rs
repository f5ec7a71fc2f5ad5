//! Asks a model about the wording of rubrics.
//!
//! The lint crate defines the questions about a rubric and the form of a finding. A [`RubricCritic`] asks a
//! model and accepts only findings about words that are really in the rubric. A rule that the model did not
//! answer is reported as not checked: a model that fails must never pass for a clean rubric.

mod critic;
mod prompt;
mod queue;
mod reply;

pub use critic::{RubricCritic, RubricCritique};
pub use prompt::{PROMPT_VERSION, prompt_hash};
pub use queue::{CritiqueJob, review_all};
