//! Grading of samples in memory, one by one, by a process that goes on: no run folder, no record.

mod pair;
mod service;
mod stop;

pub use pair::ComparedPair;
pub use service::{GradingSample, PreparedRubric, SampleGrader, SampleService};
pub use stop::GradingStop;
pub(crate) use stop::{StoppableJudge, StoppableModel};
