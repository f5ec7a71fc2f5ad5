//! Grading of samples in memory, one by one, by a process that goes on: no run folder, no record.

mod pair;
mod parts;
mod result;
mod service;
mod stop;

pub use pair::ComparedPair;
pub use parts::{SampleParts, SampleProblem, content_text};
pub use result::{
    DecisionResult, GradeStatus, GradeSummary, OnUngraded, RewardKind, SamplePlace, SampleResult,
    UngradedPolicy,
};
pub use service::{GradingSample, PreparedRubric, SampleGrader, SampleService};
pub use stop::GradingStop;
pub(crate) use stop::{StoppableJudge, StoppableModel};
