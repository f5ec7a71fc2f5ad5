//! Item analysis of a rubric's criteria: their correlation with the rest, and the ability of answers.

mod graded;
mod item_rest;

pub use graded::{GradedResponseModel, ItemCurve, graded_response_model};
pub use item_rest::{ItemRestCorrelation, item_rest_correlation};
