//! Measurement by the criteria of a rubric: if they go with the rest, and how able an answer is.

mod item_rest;
mod two_parameter;

pub use item_rest::{ItemRestCorrelation, item_rest_correlation};
pub use two_parameter::{ItemCurve, MIN_ANSWERS, TwoParameterModel, two_parameter_model};
