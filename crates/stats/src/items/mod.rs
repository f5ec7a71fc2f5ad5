//! Item analysis of a rubric's criteria: their correlation with the rest, and the ability of answers.

mod item_rest;
mod two_parameter;

pub use item_rest::{ItemRestCorrelation, item_rest_correlation};
pub use two_parameter::{ItemCurve, MIN_ANSWERS, TwoParameterModel, two_parameter_model};
