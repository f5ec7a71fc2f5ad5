//! Does the answer talk the judge round? Texts that try to are put into answers, and the answers judged again.

mod place;
mod probe;
mod report;

pub use place::Place;
pub use probe::{CONTROL, Probe, probes};
pub use report::{CriterionFigures, InjectionReport, ProbeFigures};
