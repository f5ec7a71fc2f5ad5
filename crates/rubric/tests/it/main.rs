//! The rules of the arithmetic: as properties, and as defects that must not come back.

mod case_properties;
mod panel_properties;
mod random;
mod regressions;
mod rubric_properties;
mod scorecard;
