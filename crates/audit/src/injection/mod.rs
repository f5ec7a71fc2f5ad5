//! Injection audit: texts that try to persuade the judge are inserted into answers, and the answers judged
//! again.

mod place;
mod probe;
mod report;

pub use place::Place;
pub use probe::{CONTROL, Probe, probes};
pub use report::{CriterionFigures, InjectionReport, ProbeFigures};
