//! Checked models of eval files and settings: the same types for both formats.

mod behaviour;
mod case;
mod config;
mod conversation;
mod grader;
mod marks;
mod panel;
mod place;
mod price;
mod scorecard;
mod scorecard_case;
mod scorecard_tree;
mod suite;
mod target;
mod trials;
mod workspace;

pub use assize_rubric::{Block, Message, Role};
pub use behaviour::{Applicability, Behaviour, BenchmarkGrader, SmeLabel};
pub use case::{Case, CaseId, GivenOutput, LineOverrides, TargetRef, Unbuilt};
pub use config::Config;
pub use conversation::{Conversation, OnDependencyFailure, OnTurnFailure, Turn, TurnAggregation};
pub use grader::{
    ArgsMatch, Baseline, CodeGrader, Command, CompositeAggregator, CompositeGrader, CustomGrader,
    ExecutionMetrics, ExpectedCall, FieldAccuracy, FieldCheck, FieldMatch, Grader, GraderKind, IsJson,
    LlmGrader, PairwiseGrader, Prompt, Regex, RubricGrader, SkillTrigger, TextCheck, TextRule, TokenUsage,
    ToolTrajectory, TrajectoryMode,
};
pub use marks::{CaseMarks, CriterionMarks, Mark};
pub use panel::{EscalateWhen, Escalation, PanelJudge, PanelSpec, Scoring};
pub use place::Place;
pub use price::{PriceRates, PriceRow};
pub use scorecard::{
    Applies, CardBenchmark, CardCase, CardIndex, CardLabel, CardMarks, CardOutcome, CardParts, CardResult,
    CardRubric, EvaluatorType, Guidelines, JudgePrompt, Scorecard, ScoringScale, WeightSet,
};
pub use scorecard_case::CardCases;
pub use scorecard_tree::{CardPart, InventoryRow};
pub use suite::{Format, Suite, SuiteSettings};
pub use target::{
    CommandTargetSpec, CommandText, HealthSpec, MissingVariable, MockTargetSpec, ModelTargetSpec,
    RecordingKind, RecordingSpec, RetrySpec, SESSION_FORMATS, SecretText, TargetSpec, TargetSpecKind,
};
pub use trials::Trials;
pub use workspace::{
    Hook, Hooks, Isolation, Moment, RepoSource, RepoSpec, Reset, WorkspaceMode, WorkspaceSpec,
};
