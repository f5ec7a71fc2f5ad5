//! Graders: who decides about an answer, and how.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use assize_rubric::{EvidencePolicy, GraderStanding, Judging, PairScores, Rubric, Truncate, Unit, Weight};
use serde_json::Value;

use super::{BenchmarkGrader, CriterionMarks, PanelSpec, Place};

/// One grader of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Grader {
    /// Name in results; unique in its case (a number is added to a derived name that is taken).
    pub name: String,
    /// The type in its present spelling, such as `rubrics` or `tool-trajectory`.
    pub type_name: String,
    /// Weight, required, minimum, negation.
    pub standing: GraderStanding,
    /// Where it is written.
    pub place: Place,
    /// What it does.
    pub kind: GraderKind,
}

/// What a grader does.
#[derive(Debug, Clone, PartialEq)]
pub enum GraderKind {
    /// Criteria decided one by one by a judge.
    Rubric(RubricGrader),
    /// A judge that gives one number.
    Llm(LlmGrader),
    /// A judge that compares the answer with another one.
    Pairwise(PairwiseGrader),
    /// A program.
    Code(CodeGrader),
    /// A comparison of texts.
    Text(TextCheck),
    /// The answer is JSON.
    IsJson(IsJson),
    /// Fields of a JSON answer.
    FieldAccuracy(FieldAccuracy),
    /// The sequence of tool calls.
    ToolTrajectory(ToolTrajectory),
    /// Time to answer, at most.
    Latency {
        /// Limit.
        threshold: Duration,
    },
    /// Cost of the answer in US dollars, at most.
    Cost {
        /// Limit, not negative.
        budget_usd: f64,
    },
    /// Tokens of the answer, at most.
    TokenUsage(TokenUsage),
    /// Several limits on how the answer came about.
    ExecutionMetrics(ExecutionMetrics),
    /// Whether a skill was used.
    SkillTrigger(SkillTrigger),
    /// Other graders, combined.
    Composite(CompositeGrader),
    /// A grader of the user's own, found by its type name.
    Custom(CustomGrader),
    /// A benchmark of a scorecard. No eval file has one: [`CardCases`](super::CardCases) makes them.
    Benchmark(BenchmarkGrader),
}

/// A rubric and how it is put to the judge.
#[derive(Debug, Clone, PartialEq)]
pub struct RubricGrader {
    /// The criteria.
    pub rubric: Arc<Rubric>,
    /// Where each criterion is written, in the rubric's order.
    pub places: Vec<Place>,
    /// Where the parts of each criterion are written, in the rubric's order; empty for a rubric that
    /// was not read from a file.
    pub marks: Vec<CriterionMarks>,
    /// How many criteria go into one call; the suite's choice if absent.
    pub judging: Option<Judging>,
    /// Whether evidence must be found; the suite's choice if absent.
    pub evidence: Option<EvidencePolicy>,
    /// What is done when the judge can't read all there is; the suite's choice if absent.
    pub truncate: Option<Truncate>,
    /// The judge for this grader: a target's or model's name; the run's judge if absent.
    pub judge: Option<String>,
    /// Several judges, or one asked several times.
    pub panel: PanelSpec,
}

/// A prompt: the text itself, a file, or a program that prints it.
#[derive(Debug, Clone, PartialEq)]
pub enum Prompt {
    /// Text, from the eval file or a file it names.
    Text {
        /// The template.
        text: String,
        /// The file it came from.
        path: Option<PathBuf>,
    },
    /// A program that is given the grader's input and prints the prompt.
    Program(Command),
}

/// A judge that gives one number for the whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmGrader {
    /// The prompt; the built-in one if absent.
    pub prompt: Option<Prompt>,
    /// The judge; the run's judge if absent.
    pub judge: Option<String>,
    /// Several judges, or one asked several times.
    pub panel: PanelSpec,
    /// Sampling temperature, 0 to 2.
    pub temperature: Option<f64>,
    /// Limit on steps for a judge that is an agent.
    pub max_steps: Option<u32>,
    /// Settings handed to the prompt program.
    pub config: serde_json::Map<String, Value>,
}

/// A judge that says which of two answers is better, asked in both orders.
#[derive(Debug, Clone, PartialEq)]
pub struct PairwiseGrader {
    /// The other answer.
    pub baseline: Baseline,
    /// What makes an answer the better one, in the author's words; what was asked and expected if empty.
    pub criteria: Vec<String>,
    /// The judge; the run's judge if absent.
    pub judge: Option<String>,
    /// Several judges, or one asked several times.
    pub panel: PanelSpec,
    /// What ties and orders that disagree are worth.
    pub scores: PairScores,
}

/// The answer that an answer is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Baseline {
    /// The reference answer of the case (`expected_output`).
    Reference,
    /// This text.
    Text(Arc<str>),
    /// What a recorded run answered to the same case.
    Run {
        /// The run, as written: a folder or an id, with `@TARGET` for one of several targets.
        written: String,
        /// The folder, if a path was written.
        folder: Option<PathBuf>,
        /// Its answer to this case, or why there is none; looked up when the case is about to run.
        answer: Option<Result<Arc<str>, String>>,
    },
}

/// A command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A program and its arguments; no shell.
    Argv(Vec<String>),
    /// A line for `sh -c`.
    Shell(String),
}

/// A program that grades.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeGrader {
    /// What to run.
    pub command: Command,
    /// Working folder; the eval file's folder if absent.
    pub cwd: Option<PathBuf>,
    /// Wall-clock limit.
    pub timeout: Option<Duration>,
    /// Model calls the program may make through the proxy: `None` no proxy, `Some(n)` at most n.
    pub max_calls: Option<u32>,
    /// Variables of the environment that the program sees although they are kept from programs.
    pub pass_env: Vec<String>,
    /// All other keys, handed to the program.
    pub config: serde_json::Map<String, Value>,
}

/// A comparison of the answer with given texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextCheck {
    /// How.
    pub rule: TextRule,
    /// With what: one text, or several for the `-any` and `-all` rules. Never empty.
    pub values: Vec<String>,
}

/// How texts are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextRule {
    /// The answer contains the text; ignoring case if so marked.
    Contains {
        /// Whether upper and lower case are the same.
        ignore_case: bool,
    },
    /// The answer contains one of the texts.
    ContainsAny {
        /// Whether upper and lower case are the same.
        ignore_case: bool,
    },
    /// The answer contains all of the texts.
    ContainsAll {
        /// Whether upper and lower case are the same.
        ignore_case: bool,
    },
    /// The answer begins with the text.
    StartsWith,
    /// The answer ends with the text.
    EndsWith,
    /// The answer is the text.
    Equals,
    /// The answer matches the pattern.
    Regex(Regex),
}

/// A regular expression as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regex {
    /// Letters after the pattern, such as `i`.
    pub flags: String,
}

/// The answer is JSON, and perhaps of a given shape.
#[derive(Debug, Clone, PartialEq)]
pub struct IsJson {
    /// A JSON Schema the answer must satisfy.
    pub schema: Option<Value>,
}

/// Fields of a JSON answer, compared with the reference.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldAccuracy {
    /// The fields; never empty.
    pub fields: Vec<FieldCheck>,
    /// Whether every field must be right for any credit (`all_or_nothing`).
    pub all_or_nothing: bool,
}

/// One field.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldCheck {
    /// Where the field is: names, dots, `[index]`.
    pub path: String,
    /// How it is compared.
    pub rule: FieldMatch,
    /// Whether a missing field counts as wrong rather than being left out.
    pub required: bool,
    /// How much it counts; not negative.
    pub weight: Weight,
}

/// How a field is compared.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldMatch {
    /// The same value.
    Exact,
    /// The same number within a tolerance.
    NumericTolerance {
        /// Largest allowed difference, not negative.
        tolerance: f64,
        /// Whether the tolerance is a share of the expected number.
        relative: bool,
    },
    /// The same day.
    Date {
        /// Accepted formats.
        formats: Vec<String>,
    },
}

/// The tool calls behind an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolTrajectory {
    /// How calls are compared.
    pub mode: TrajectoryMode,
    /// For `any_order`: how often each tool must be called, at least.
    pub minimums: Vec<(String, u32)>,
    /// For the other modes: the calls.
    pub expected: Vec<ExpectedCall>,
    /// How arguments are compared unless a call says otherwise.
    pub args_match: Option<ArgsMatch>,
}

/// How a sequence of calls is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrajectoryMode {
    /// Counts only.
    AnyOrder,
    /// The expected calls, in this order, others between them.
    InOrder,
    /// These calls and no others.
    Exact,
    /// At least these calls.
    Superset,
    /// At most these calls.
    Subset,
}

/// A call that is expected.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedCall {
    /// Name of the tool.
    pub tool: String,
    /// Its arguments; `None` for any.
    pub args: Option<Value>,
    /// How the arguments are compared.
    pub args_match: Option<ArgsMatch>,
    /// Longest time the call may take.
    pub max_duration: Option<Duration>,
}

/// How arguments are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgsMatch {
    /// Equal.
    Exact,
    /// The real arguments hold at least the expected ones.
    Superset,
    /// The real arguments hold at most the expected ones.
    Subset,
    /// Not compared.
    Ignore,
    /// Only these fields (dotted paths) are compared.
    Fields(Vec<String>),
}

/// Limits on tokens; at least one is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsage {
    /// Input, output and cached tokens together.
    pub max_total: Option<u64>,
    /// Tokens sent.
    pub max_input: Option<u64>,
    /// Tokens received.
    pub max_output: Option<u64>,
}

/// Limits on how an answer came about; at least one is set.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ExecutionMetrics {
    /// Tool calls, at most.
    pub max_tool_calls: Option<u64>,
    /// Model calls, at most.
    pub max_llm_calls: Option<u64>,
    /// Tokens, at most.
    pub max_tokens: Option<u64>,
    /// US dollars, at most.
    pub max_cost_usd: Option<f64>,
    /// Time, at most.
    pub max_duration: Option<Duration>,
    /// Share of exploring calls that is aimed at, 0 to 1.
    pub target_exploration_ratio: Option<Unit>,
    /// How far the share may be off; 0.2 unless given.
    pub exploration_tolerance: Option<Unit>,
}

/// Whether a skill was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillTrigger {
    /// Name of the skill.
    pub skill: String,
    /// Whether it should have been.
    pub should_trigger: bool,
}

/// Other graders, combined into one.
#[derive(Debug, Clone, PartialEq)]
pub struct CompositeGrader {
    /// The members; never empty.
    pub members: Vec<Arc<Grader>>,
    /// How they are combined.
    pub aggregator: CompositeAggregator,
}

/// How the members of a composite are combined.
#[derive(Debug, Clone, PartialEq)]
pub enum CompositeAggregator {
    /// Mean, with weights by member name; a member not named keeps its own weight.
    WeightedAverage(Vec<(String, Weight)>),
    /// Share of members that pass must reach this.
    Threshold(Unit),
    /// A program decides.
    Code {
        /// What to run.
        command: Command,
        /// Working folder.
        cwd: Option<PathBuf>,
    },
    /// A judge decides.
    Llm {
        /// The prompt; the built-in one if absent.
        prompt: Option<Prompt>,
        /// The judge; the run's judge if absent.
        judge: Option<String>,
    },
}

/// A grader of the user's own.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomGrader {
    /// The type name it is found by.
    pub type_name: String,
    /// The file that was found.
    pub path: PathBuf,
    /// Variables of the environment that it sees although they are kept from programs.
    pub pass_env: Vec<String>,
    /// All its keys, handed to it.
    pub config: serde_json::Map<String, Value>,
}
