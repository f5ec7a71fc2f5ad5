//! Calculation behind one case, recomputed from its stored decisions.

mod because;
mod build;
mod check;
mod equations;
mod grader;
mod model;
mod parts;
mod text;

pub use text::{explain, explain_json};
