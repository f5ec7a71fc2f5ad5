//! Models of graders and their settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assize_rubric::{
    Criterion, EvidencePolicy, GraderWeighting, JudgingMode, PairScores, Rubric, TruncationMode,
    UnitInterval, ValueRange, Weight,
};
use serde_json::Value;

use super::{
    AnswerRelevanceCheck, AnswerSelection, AnswerTransform, AuthorCode, BenchmarkGrader, ContextGrader,
    CriterionMarks, FilePosition, FilePreprocessor, GraderCommand, LabelCheck, PanelSpec, SimilarityCheck,
    SqlCheck,
};

/// One grader of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Grader {
    /// Name in results, unique in its case. If a derived name is taken, a number is appended to it.
    pub name: String,
    /// Type in its current spelling, such as `rubrics` or `tool-trajectory`.
    pub type_name: String,
    /// Weight, gate, minimum, negation.
    pub weighting: GraderWeighting,
    /// Position in the file.
    pub place: FilePosition,
    /// Kind of grader, with its settings.
    pub kind: GraderKind,
}

/// Kind of grader.
#[derive(Debug, Clone, PartialEq)]
pub enum GraderKind {
    /// Criteria decided one by one by a judge.
    Rubric(RubricGrader),
    /// A judge that gives one score.
    Llm(LlmGrader),
    /// A judge that compares the answer with another one.
    Pairwise(PairwiseGrader),
    /// A program.
    Code(CodeGrader),
    /// A function of the answer and of its metadata.
    Check(AnswerCheck),
    /// A comparison of meaning with given texts.
    Similar(SimilarityCheck),
    /// A check of the labels that a model assigns to an answer.
    Labels(LabelCheck),
    /// A rubric about the context of an answer, with one criterion for each statement.
    Context(ContextGrader),
    /// A comparison of the question with questions that the answer would answer.
    AnswerRelevance(AnswerRelevanceCheck),
    /// A comparison of all answers to the case.
    Selection(AnswerSelection),
    /// Another grader, applied to the answer after a script has changed it.
    Transformed(TransformedGrader),
    /// A combination of other graders.
    Composite(CompositeGrader),
    /// A custom grader, found by its type name.
    Custom(CustomGrader),
    /// A benchmark of a scorecard. No eval file has one: [`ScorecardCases`](super::ScorecardCases) creates them.
    Benchmark(BenchmarkGrader),
}

/// A grader that needs neither a judge nor a program: a function of the answer and of its metadata.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerCheck {
    /// A comparison of texts.
    Text(TextCheck),
    /// A check that the answer is JSON.
    IsJson(IsJson),
    /// A check that the answer is SQL.
    Sql(SqlCheck),
    /// A comparison of fields of a JSON answer.
    FieldAccuracy(FieldAccuracy),
    /// A check of the sequence of tool calls.
    ToolTrajectory(ToolTrajectory),
    /// A limit of the time to answer.
    Latency {
        /// Maximum time.
        threshold: Duration,
    },
    /// A limit of the cost of the answer in US dollars.
    Cost {
        /// Maximum cost, not negative.
        budget_usd: f64,
    },
    /// A limit of the tokens of the answer.
    TokenUsage(TokenUsage),
    /// Several limits of execution metrics.
    ExecutionMetrics(ExecutionMetrics),
    /// A check that a skill was used.
    SkillTrigger(SkillTrigger),
    /// Code that inspects the answer.
    Script(ScriptCheck),
}

/// A rubric and its judge settings.
#[derive(Debug, Clone, PartialEq)]
pub struct RubricGrader {
    /// Criteria.
    pub rubric: Arc<Rubric>,
    /// Positions of the criteria, in the rubric's order.
    pub places: Vec<FilePosition>,
    /// Positions of the parts of each criterion, in the rubric's order; empty for a rubric that was not read
    /// from a file.
    pub marks: Vec<CriterionMarks>,
    /// The author's instructions for judging (`prompt`), beside the criteria.
    pub instructions: Option<Arc<str>>,
    /// Grouping of criteria into calls; the suite's setting if absent.
    pub judging: Option<JudgingMode>,
    /// Policy for evidence that is not found; the suite's setting if absent.
    pub evidence: Option<EvidencePolicy>,
    /// Policy for material that exceeds the judge's limit; the suite's setting if absent.
    pub truncate: Option<TruncationMode>,
    /// Judge of this grader: a target's or model's name; the run's judge if absent.
    pub judge: Option<String>,
    /// Several judges, or one asked several times.
    pub panel: PanelSpec,
}

/// A prompt: the text itself, a file, or a program that prints it.
#[derive(Debug, Clone, PartialEq)]
pub enum GraderPrompt {
    /// Text, from the eval file or a file it refers to.
    Text {
        /// Template text.
        text: String,
        /// File of the text.
        path: Option<PathBuf>,
    },
    /// A program that reads the grader's input and prints the prompt.
    Program(GraderCommand),
}

/// A judge that gives one score for the whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmGrader {
    /// Prompt; the built-in one if absent.
    pub prompt: Option<GraderPrompt>,
    /// Judge; the run's judge if absent.
    pub judge: Option<String>,
    /// Several judges, or one asked several times.
    pub panel: PanelSpec,
    /// Sampling temperature, 0 to 2.
    pub temperature: Option<f64>,
    /// Limit on steps for a judge that is an agent.
    pub max_steps: Option<u32>,
    /// Settings passed to the prompt program.
    pub config: serde_json::Map<String, Value>,
    /// Converters for files in answers that this grader requires. They are merged into the case's converters.
    pub preprocessors: Vec<FilePreprocessor>,
    /// Variables and score range, if a caller supplied the prompt; `None` for prompts of eval files.
    pub given: Option<GivenPrompt>,
}

/// Additional data of a prompt that a caller supplied.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenPrompt {
    /// Values of the variables in the prompt. The judge sees them as data, never as part of the prompt.
    pub variables: Vec<(String, String)>,
    /// Lowest and highest score that the prompt asks for. They are mapped to 0 and 1.
    pub range: ValueRange,
}

/// A judge that compares two answers, asked in both orders.
#[derive(Debug, Clone, PartialEq)]
pub struct PairwiseGrader {
    /// Answer to compare with.
    pub baseline: PairwiseBaseline,
    /// Criteria for preferring an answer, with their weights and gates; if empty, the question and expected outcome.
    pub criteria: Vec<Criterion>,
    /// Judge; the run's judge if absent.
    pub judge: Option<String>,
    /// Several judges, or one asked several times.
    pub panel: PanelSpec,
    /// Scores for ties, and for decisions that differ between the two orders.
    pub scores: PairScores,
}

/// The answer that the case's answer is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairwiseBaseline {
    /// The reference answer of the case (`expected_output`).
    Reference,
    /// This text.
    Text(Arc<str>),
    /// The answer of a recorded run to the same case.
    Run {
        /// Run as written: a folder or an id, with `@TARGET` for one of several targets.
        written: String,
        /// Folder of the run, if a path was written.
        folder: Option<PathBuf>,
        /// Answer of the run to this case, or the reason why there is none. It is read just before the case runs.
        answer: Option<Result<Arc<str>, String>>,
    },
}

/// The folder in which a grading program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramFolder {
    /// A folder that the eval file names.
    Named(PathBuf),
    /// The workspace of the target.
    Workspace,
}

impl ProgramFolder {
    /// The folder, if the eval file names it.
    pub fn named(&self) -> Option<&Path> {
        match self {
            Self::Named(folder) => Some(folder),
            Self::Workspace => None,
        }
    }
}

/// A grading program.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeGrader {
    /// Command to run.
    pub command: GraderCommand,
    /// Working folder. If absent, the workspace of the target, or else the folder of the eval file.
    pub cwd: Option<ProgramFolder>,
    /// Wall-clock time limit.
    pub timeout: Option<Duration>,
    /// Limit of model calls through the proxy: `None` for no proxy, `Some(n)` for at most n calls.
    pub max_calls: Option<u32>,
    /// Environment variables that are passed to the program although they are withheld by default.
    pub pass_env: Vec<String>,
    /// How its output and its exit code become a grade.
    pub result: ProgramResult,
    /// All other keys, passed to the program.
    pub config: serde_json::Map<String, Value>,
}

assize_rubric::named_variants!(ProgramResult { Any = "any", Json = "json", ExitCode = "exit-code" });

/// How the output and the exit code of a grading program become a grade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProgramResult {
    /// By JSON, by `pass`, `ok` or a number alone, or by the exit code of a program that prints nothing.
    #[default]
    Any,
    /// By JSON alone.
    Json,
    /// By the exit code alone; the output is a log.
    ExitCode,
}

/// A comparison of the answer with given texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextCheck {
    /// Rule of the comparison.
    pub rule: TextRule,
    /// Texts to compare with: one, or several for the `-any` and `-all` rules. Never empty.
    pub values: Vec<String>,
}

/// Rule of a text comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextRule {
    /// The answer contains the text.
    Contains {
        /// True to ignore case.
        ignore_case: bool,
    },
    /// The answer contains one of the texts.
    ContainsAny {
        /// True to ignore case.
        ignore_case: bool,
    },
    /// The answer contains all of the texts.
    ContainsAll {
        /// True to ignore case.
        ignore_case: bool,
    },
    /// The answer begins with the text.
    StartsWith,
    /// The answer ends with the text.
    EndsWith,
    /// The answer equals the text.
    Equals,
    /// The answer matches the pattern.
    Regex(Regex),
}

/// A regular expression as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regex {
    /// Flags of the pattern, such as `i`.
    pub flags: String,
}

/// A check that the answer is or contains JSON, optionally with a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct IsJson {
    /// JSON Schema that the answer must satisfy.
    pub schema: Option<Value>,
    /// True if it suffices that some JSON in the answer satisfies the schema.
    pub embedded: bool,
}

/// A comparison of fields of a JSON answer with the reference.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldAccuracy {
    /// Fields; never empty.
    pub fields: Vec<FieldCheck>,
    /// True if every field must match for any credit (`all_or_nothing`).
    pub all_or_nothing: bool,
}

/// One field.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldCheck {
    /// Path of the field: names, dots, `[index]`.
    pub path: String,
    /// Rule of the comparison.
    pub rule: FieldMatch,
    /// True if a missing field counts as wrong; otherwise it is excluded.
    pub required: bool,
    /// Weight of the field; not negative.
    pub weight: Weight,
}

/// Rule of a field comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldMatch {
    /// Equal values.
    Exact,
    /// Numbers that are equal within a tolerance.
    NumericTolerance {
        /// Maximum difference, not negative.
        tolerance: f64,
        /// True if the tolerance is a share of the expected number.
        relative: bool,
    },
    /// Equal dates.
    Date {
        /// Accepted formats.
        formats: Vec<String>,
    },
}

/// A check of the tool calls of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolTrajectory {
    /// Mode of the comparison.
    pub mode: TrajectoryMode,
    /// Minimum number of calls of each tool, for `any_order`.
    pub minimums: Vec<(String, u32)>,
    /// Expected calls, for the other modes.
    pub expected: Vec<ExpectedCall>,
    /// Comparison of arguments, unless a call sets its own.
    pub args_match: Option<ArgsMatch>,
}

/// Mode of comparing sequences of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrajectoryMode {
    /// Only the counts are compared.
    AnyOrder,
    /// The expected calls occur in this order, with any others between them.
    InOrder,
    /// Exactly the expected calls occur.
    Exact,
    /// At least the expected calls occur.
    Superset,
    /// At most the expected calls occur.
    Subset,
}

assize_rubric::named_variants!(TrajectoryMode {
    AnyOrder = "any_order", InOrder = "in_order", Exact = "exact", Superset = "superset", Subset = "subset",
});

/// An expected tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedCall {
    /// Name of the tool.
    pub tool: String,
    /// Arguments; `None` for any.
    pub args: Option<Value>,
    /// Comparison of the arguments.
    pub args_match: Option<ArgsMatch>,
    /// Maximum duration of the call.
    pub max_duration: Option<Duration>,
}

/// Rule of an argument comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgsMatch {
    /// The arguments are equal.
    Exact,
    /// The actual arguments contain the expected ones.
    Superset,
    /// The expected arguments contain the actual ones.
    Subset,
    /// Arguments are not compared.
    Ignore,
    /// Only these fields (dotted paths) are compared.
    Fields(Vec<String>),
}

/// Limits on tokens; at least one is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsage {
    /// Limit of input, output and cached tokens together.
    pub max_total: Option<u64>,
    /// Limit of input tokens.
    pub max_input: Option<u64>,
    /// Limit of output tokens.
    pub max_output: Option<u64>,
}

/// Limits on execution metrics; at least one is set.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ExecutionMetrics {
    /// Limit of tool calls.
    pub max_tool_calls: Option<u64>,
    /// Limit of model calls.
    pub max_llm_calls: Option<u64>,
    /// Limit of tokens.
    pub max_tokens: Option<u64>,
    /// Limit of the cost in US dollars.
    pub max_cost_usd: Option<f64>,
    /// Limit of the duration.
    pub max_duration: Option<Duration>,
    /// Intended share of exploring calls, 0 to 1.
    pub target_exploration_ratio: Option<UnitInterval>,
    /// Maximum deviation from that share; 0.2 by default.
    pub exploration_tolerance: Option<UnitInterval>,
}

/// A check that a skill was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillTrigger {
    /// Name of the skill.
    pub skill: String,
    /// True if the skill should be used, false if it should not.
    pub should_trigger: bool,
}

/// Code that decides.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptCheck {
    /// Code, called with the answer and its context.
    pub code: AuthorCode,
    /// Minimum number that passes if the code returns a number. If absent, a number passes above 0.
    pub threshold: Option<f64>,
    /// Settings of the author, passed to the script.
    pub config: Value,
}

/// A grader of a changed answer. Name, type, weight and gate are the same as the inner grader's.
#[derive(Debug, Clone, PartialEq)]
pub struct TransformedGrader {
    /// Grader of the changed answer.
    pub inner: Arc<Grader>,
    /// Change of the answer.
    pub transform: AnswerTransform,
}

/// A combination of other graders.
#[derive(Debug, Clone, PartialEq)]
pub struct CompositeGrader {
    /// Members; never empty.
    pub members: Vec<Arc<Grader>>,
    /// Aggregation of their scores.
    pub aggregator: CompositeAggregator,
}

/// Aggregation of the members of a composite.
#[derive(Debug, Clone, PartialEq)]
pub enum CompositeAggregator {
    /// Weighted mean, with weights by member name; a member not named keeps its own weight.
    WeightedAverage(Vec<(String, Weight)>),
    /// The share of members that pass must reach this threshold.
    Threshold(UnitInterval),
    /// A program decides.
    Code {
        /// Command to run.
        command: GraderCommand,
        /// Working folder.
        cwd: Option<PathBuf>,
    },
    /// A function decides, from the named scores of the members.
    Function {
        /// The function.
        code: AuthorCode,
        /// Threshold of the case, which the function receives.
        threshold: Option<f64>,
    },
    /// A judge decides.
    Llm {
        /// Prompt; the built-in one if absent.
        prompt: Option<GraderPrompt>,
        /// Judge; the run's judge if absent.
        judge: Option<String>,
    },
}

/// A custom grader: a program found by its type name.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomGrader {
    /// Type name.
    pub type_name: String,
    /// File that defines the type.
    pub path: PathBuf,
    /// Environment variables that are passed to the program although they are withheld by default.
    pub pass_env: Vec<String>,
    /// All of the grader's keys, passed to the program.
    pub config: serde_json::Map<String, Value>,
}
