//! What an eval file means once it is read and checked: the same types for both formats.

mod case;
mod grader;
mod message;
mod place;
mod suite;

pub use case::{Case, CaseId, GivenOutput, LineOverrides, TargetRef, Unbuilt};
pub use grader::{
    ArgsMatch, CodeGrader, Command, CompositeAggregator, CompositeGrader, CustomGrader, ExecutionMetrics,
    ExpectedCall, FieldCheck, FieldAccuracy, FieldMatch, Grader, GraderKind, IsJson, LlmGrader, Prompt, Regex, RubricGrader, SkillTrigger, TextCheck, TextRule, TokenUsage,
    ToolTrajectory, TrajectoryMode,
};
pub use message::{Block, Message, Role};
pub use place::Place;
pub use suite::{Format, Suite, SuiteSettings};
