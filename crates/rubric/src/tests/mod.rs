//! The rules of the arithmetic, tested as properties, and regressions.

mod case_properties;
mod panel_properties;
mod random;
mod regressions;
mod rubric_properties;
mod scorecard;
