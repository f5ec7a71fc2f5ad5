//! Checked models of eval files, scorecards, targets and settings: the same types for every format they are written in.
//!
//! Everything that reads files returns these types, and everything that runs, grades or reports takes them.

#![warn(missing_docs)]

mod answer_transform;
mod author_code;
mod benchmark_grader;
mod case;
mod case_place;
mod config;
mod context;
mod conversation;
mod evaluator;
mod extension;
mod file_position;
mod grader;
mod grader_command;
mod hosts;
mod identity;
mod label_subject;
mod labels;
mod marks;
mod panel;
mod pattern;
mod preprocessor;
mod price;
mod programs;
mod scorecard;
mod scorecard_case;
mod scorecard_tree;
mod selection;
mod similarity;
mod sql;
mod suite;
mod target;
mod trials;
mod variables;
mod workspace;

pub use answer_transform::AnswerTransform;
pub use author_code::{AuthorCode, CodeLanguage, CodeProgram};
pub use benchmark_grader::{Applicability, Behaviour, BenchmarkGrader};
pub use case::{
    AuthoredTest, Case, CaseHistory, CaseId, GivenOutput, NamedMetric, TURNS_VARIABLE, TargetRef,
    ThresholdOverrides, UnsupportedFeature,
};
pub use case_place::{CaseLoadError, CasePlace};
pub use config::ProjectConfig;
pub use context::{AnswerRelevanceCheck, ContextGrader, ContextMeasure, ContextSource};
pub use conversation::{Conversation, ConversationTurn, OnDependencyFailure, OnTurnFailure, TurnAggregation};
pub use evaluator::{EvaluatorType, Guidelines, ScoringScale};
pub use extension::{Extension, ExtensionHook, SuiteExtensions};
pub use file_position::FilePosition;
pub use grader::{
    AnswerCheck, ArgsMatch, CodeGrader, CompositeAggregator, CompositeGrader, CustomGrader, ExecutionMetrics,
    ExpectedCall, FieldAccuracy, FieldCheck, FieldMatch, GivenPrompt, Grader, GraderKind, GraderPrompt,
    IsJson, LlmGrader, PairwiseBaseline, PairwiseGrader, ProgramFolder, ProgramResult, Regex, RubricGrader,
    ScriptCheck, SkillTrigger, TextCheck, TextRule, TokenUsage, ToolTrajectory, TrajectoryMode,
    TransformedGrader,
};
pub use grader_command::GraderCommand;
pub use hosts::PYTHON_LOADER;
pub use label_subject::value_text;
pub use labels::{LabelCheck, LabelRule};
pub use marks::{CaseMarks, CriterionMarks, SourceMark};
pub use panel::{EscalateWhen, Escalation, PanelJudge, PanelSpec, ScoringMethod};
pub use pattern::{PatternError, compile_pattern};
pub use preprocessor::FilePreprocessor;
pub use price::{PriceRates, PriceRow};
pub use programs::{LoadProgram, NamedProgram, ProgramRunner, ShownCommand};
pub use scorecard::{
    BenchmarkApplicability, JudgePrompt, RubricChildren, Scorecard, ScorecardBenchmark, ScorecardCase,
    ScorecardIndex, ScorecardLabel, ScorecardMarks, ScorecardOutcome, ScorecardResult, ScorecardRubric,
    WeightSet,
};
pub use scorecard_case::ScorecardCases;
pub use scorecard_tree::{InventoryRow, ScorecardPart};
pub use selection::{AnswerSelection, BestAnswerRule, MaxScoreRule};
pub use similarity::{SimilarityCheck, SimilarityMeasure};
pub use sql::{SqlCheck, SqlDialect};
pub use suite::{EvalFileFormat, Suite, SuiteSettings};
pub use target::{
    CommandTargetSpec, CommandText, HealthSpec, HttpBody, HttpTargetSpec, MissingVariable, MockTargetSpec,
    ModelTargetSpec, RecordingKind, RecordingSpec, RetrySpec, SESSION_FORMATS, SecretText, SettingVariable,
    TargetSettingError, TargetSpec, TargetSpecKind, without_credentials,
};
pub use trials::Trials;
pub use variables::{TextPart, TextVariable};
pub use workspace::{
    ContainerSpec, HookEvent, RepoSource, RepoSpec, WorkspaceHook, WorkspaceHooks, WorkspaceIsolation,
    WorkspaceMode, WorkspaceReset, WorkspaceSpec,
};
