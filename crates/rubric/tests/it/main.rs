//! The rules of the arithmetic: as properties, as defects that must not come back, as known numbers.

mod case_properties;
mod panel_properties;
mod random;
mod regressions;
mod rubric_properties;
mod scorecard;
mod vectors;
