//! Grading of samples in memory by a process that goes on: no run folder.

mod batch;
mod card;
mod grader;
mod pair;
mod rubric;
mod sample;
mod service;
mod stop;

pub use batch::{GradedSamples, GradingBatch};
pub use card::{ScoredPart, ScoredSample};
pub use grader::SampleGrader;
pub use pair::ComparedPair;
pub use rubric::{PreparedRubric, RubricSource};
pub use sample::GradingSample;
pub use service::SampleService;
pub use stop::GradingStop;
pub(crate) use stop::{StoppableJudge, StoppableModel};
