//! Grading of samples in memory, for long-running processes. There is no run folder.
//!
//! Design: `docs/design/service.md`.

mod batch;
mod card;
mod grader;
mod pair;
mod parts;
mod result;
mod rubric;
mod sample;
mod scorecard_part;
mod scorecard_result;
mod service;
mod stop;

pub use batch::{GradedSamples, GradingBatch};
pub use card::{ScoredPart, ScoredSample};
pub use grader::SampleGrader;
pub(crate) use grader::any_rubric;
pub use pair::ComparedPair;
pub use parts::{SampleParts, SampleProblem, content_text};
pub use result::{
    DecisionResult, GradeStatus, GradeSummary, OnUngraded, RewardKind, SamplePlace, SampleResult,
    UngradedPolicy,
};
pub use rubric::{PreparedRubric, RubricSource};
pub use sample::GradingSample;
pub use scorecard_part::{BenchmarkResult, ScorecardPartResult};
pub use service::SampleService;
pub use stop::{FailureLog, GradingStop};
pub(crate) use stop::{StoppableJudge, StoppableModel};
