//! Types of requests and replies. Their schemas are those of the OpenAPI document.

use std::collections::BTreeMap;

use assize_rubric::{
    BenchmarkState, DecidedBy, NodeStatus, PartialCost, Tokens, UngradedReason, UnitInterval, Usd, Verdict,
    Weight,
};
use assize_store::{CriterionRow, GateRow, ScorecardPartKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Samples to be graded by one rubric or by one scorecard.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GradeRequest {
    /// The rubric. Either this or `scorecard`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<RubricSource>,
    /// The scorecard, each sample being a case of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scorecard: Option<ScorecardSource>,
    /// The samples, at least one.
    pub samples: Vec<GradeSample>,
    /// Number that each sample gets as its reward; `score` unless given.
    #[serde(default)]
    pub reward: RewardKind,
    /// Reward of a sample whose reward is not known because criteria are ungraded; null unless given.
    #[serde(default)]
    pub on_ungraded: OnUngraded,
    /// Time after which what is not decided is ungraded, in milliseconds. What is decided by then is kept.
    #[serde(default)]
    pub deadline_ms: Option<u64>,
    /// Comparison of the samples of a group with each other, beside their grading.
    #[serde(default)]
    pub compare: Option<CompareMode>,
}

/// A rubric: as it stands in a rubric file, the YAML text of such a file, or the name of one that the server has loaded.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RubricSource {
    /// Loaded rubric.
    Named(NamedRubric),
    /// List of criteria.
    List(Vec<Value>),
    /// Text of a rubric file, YAML.
    Text(String),
    /// Content of a rubric file: `criteria` (or `rubrics`), `threshold`, `borderline`, `judging`, `evidence`, `truncate`, `panel`.
    File(Map<String, Value>),
}

/// A scorecard: the name of one that the server has loaded, or its content.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ScorecardSource {
    /// Loaded scorecard.
    Named(NamedRubric),
    /// Content of a scorecard in one file, as JSON: `rubrics`, `benchmarks`, `index`. `prompts` holds the texts of the prompt
    /// files by the names that benchmarks give them.
    Content(Map<String, Value>),
}

/// Name of a rubric or scorecard that the server has loaded.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct NamedRubric {
    /// The name: that of its file without the ending.
    pub name: String,
    /// Hash of the version. An earlier version can be named as long as the server remembers it; without a hash the newest is
    /// used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// One answer to be graded.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct GradeSample {
    /// Id, which the result has too; the place in the list unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The question: a text, or messages with `role` and `content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The answer: a text, or an object that is graded as its JSON text. Either this or `messages`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The whole conversation with its tool calls, in the form of chat APIs. The text of the last message of the assistant is the
    /// answer; without `input`, the messages before the first of the assistant are the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<Value>>,
    /// An answer known to be good: a text, or an object that is shown as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Value>,
    /// Description of a good answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<String>,
    /// Values that take the place of `{{ name }}` in the criteria. They become part of what the judge is asked: put data into
    /// `input`, `reference` or the answer instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vars: Option<BTreeMap<String, Value>>,
    /// Tags, by which benchmarks of a scorecard apply to the sample; those without tags are asked about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Name of the group of samples that answer the same input; for `compare`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// Number that a sample gets as its reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RewardKind {
    /// The score of the rubric, or of the top of the scorecard.
    #[default]
    Score,
    /// The score, or 0 if a gate failed.
    Gated,
    /// 1 for the verdict `pass`, 0 for `borderline` and `fail`.
    Pass,
}

/// Reward of a sample whose reward is not known: null, a word, or `{"value": X}`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum OnUngraded {
    /// None.
    #[default]
    Null,
    /// A policy by its name.
    Named(UngradedPolicy),
    /// This number.
    Value {
        /// The number.
        value: f64,
    },
}

/// Policy for samples whose reward is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UngradedPolicy {
    /// The result is left out, and counted.
    Drop,
    /// The request fails with 502, and each such sample is listed.
    Error,
    /// The lowest reward that is possible, whatever the sign of the weights.
    Low,
    /// The highest reward that is possible.
    High,
}

/// Comparison of the samples of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompareMode {
    /// Each sample with each other one of its group, in both orders.
    Pairwise,
}

/// Results of a request.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GradeReply {
    /// The results in the order of the samples.
    pub results: Vec<SampleResult>,
    /// Sums over them.
    pub summary: GradeSummary,
}

/// Degree to which a sample was graded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GradeStatus {
    /// Every criterion, or benchmark, is decided.
    Graded,
    /// Some of them are ungraded.
    Partial,
    /// None of them is decided.
    Ungraded,
}

/// Result of one sample. Absent knowledge is null, never a made-up value.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SampleResult {
    /// Place of the sample in the request, from 0.
    pub index: usize,
    /// Id of the sample.
    pub id: String,
    /// Its group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Degree to which it was graded.
    pub status: GradeStatus,
    /// The reward; null when it is not known and the request asked for nothing else.
    pub reward: Option<f64>,
    /// True if the reward is that of `on_ungraded`.
    pub reward_assumed: bool,
    /// Value of each criterion by its id, 0 to 1; null for one that is ungraded or does not apply. That of a penalty is 1 when
    /// the fault is there. Of a scorecard, the score of each part below the top by its code.
    pub reward_components: BTreeMap<String, Option<f64>>,
    /// Score of the rubric, or of the top of the scorecard, 0 to 1. A failed gate of a scorecard does not change it.
    pub score: Option<f64>,
    /// Lowest score that the ungraded criteria could lead to.
    pub score_low: Option<f64>,
    /// Highest score that the ungraded criteria could lead to.
    pub score_high: Option<f64>,
    /// Share of the applicable weight that was judged, 0 to 1.
    pub coverage: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// The gates that failed. Of a scorecard, each hard gate by its code.
    pub gates_failed: Vec<GateRow>,
    /// The decisions on criteria, in the order of the rubric.
    pub decisions: Vec<DecisionResult>,
    /// Parts of the scorecard, the top first and each before those below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scorecard: Vec<ScorecardPartResult>,
    /// Reason why something is ungraded; null when nothing is.
    pub error: Option<String>,
    /// Share of the comparisons within its group that it won, ties as half, 0 to 1; null when none was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_score: Option<f64>,
    /// Comparisons within its group that were decided, and those that were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_comparisons: Option<(usize, usize)>,
    /// Calls of judges, those answered from the reply cache included.
    pub judge_calls: u64,
    /// Calls of judges that were answered from the reply cache.
    pub judge_calls_cached: u64,
    /// Tokens of the judge calls.
    pub tokens: Tokens,
    /// Cost of the judge calls in US dollars; null when not all of it is known.
    pub cost_usd: Option<Usd>,
    /// Known part of a cost that is not known as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_partial: Option<PartialCost>,
    /// From the start of the grading to its end, in milliseconds; the wait in the queue is not part of it.
    pub duration_ms: u64,
    /// Hash of everything that decides about the result beside the sample: judges, models, prompts, rubric, mode. A judge that
    /// changes in the middle of a training run changes it.
    pub judge_config_hash: String,
}

/// Decision on one criterion.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DecisionResult {
    /// The decision, as a run stores it.
    #[serde(flatten)]
    pub decision: CriterionRow,
    /// Reason there is none; null for a criterion that was decided.
    pub ungraded: Option<UngradedReason>,
}

/// Score of a part of a scorecard.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ScorecardPartResult {
    /// Its code.
    pub code: String,
    /// Its name for people.
    pub label: Option<String>,
    /// Kind of the part.
    pub kind: ScorecardPartKind,
    /// Code of the part it stands under; null on top.
    pub parent: Option<String>,
    /// Its weight among its siblings.
    pub weight: Weight,
    /// The score it must reach.
    pub threshold: UnitInterval,
    /// True if missing the threshold blocks every level above.
    pub hard_gate: bool,
    /// The status.
    pub standing: NodeStatus,
    /// The score, 0 to 1; null while open benchmarks could change it, and where nothing applies.
    pub score: Option<f64>,
    /// Lowest score that open benchmarks could lead to.
    pub score_low: Option<f64>,
    /// Highest score that open benchmarks could lead to.
    pub score_high: Option<f64>,
    /// Share of the applicable weight below that has a result, 0 to 1.
    pub coverage: Option<f64>,
    /// Codes of the hard gates that failed at or below it.
    pub blocked_by: Vec<String>,
    /// Decision on a benchmark that applies; null for other parts.
    pub decision: Option<BenchmarkResult>,
}

/// Decision on a benchmark.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BenchmarkResult {
    /// State of the benchmark.
    pub state: BenchmarkState,
    /// True if the sample passes; null where nothing was decided.
    pub pass: Option<bool>,
    /// Source of the decision; null where there is none.
    pub decided_by: Option<DecidedBy>,
    /// Reason of the decision, or reason there is none.
    pub reason: String,
}

/// Sums over the results of a request.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct GradeSummary {
    /// Samples of the request.
    pub samples: usize,
    /// Samples of which every criterion is decided.
    pub graded: usize,
    /// Samples of which some criteria are ungraded.
    pub partial: usize,
    /// Samples of which no criterion is decided.
    pub ungraded: usize,
    /// Samples that were left out because of `on_ungraded: drop`.
    pub dropped: usize,
    /// Calls of judges.
    pub judge_calls: u64,
    /// Calls of judges that were answered from the reply cache.
    pub judge_calls_cached: u64,
    /// Known cost in US dollars.
    pub cost_usd: Usd,
    /// Calls whose cost is not known.
    pub unpriced_calls: u64,
    /// From the acceptance of the request to its last result, in milliseconds.
    pub duration_ms: u64,
}

/// A named rubric.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RubricListing {
    /// Name.
    pub name: String,
    /// Hash of the newest version.
    pub hash: String,
    /// Hashes of earlier versions that can still be named, newest first.
    pub earlier: Vec<String>,
    /// Rubric or scorecard.
    pub kind: RubricListingKind,
    /// Number of its criteria, or of its benchmarks.
    pub criteria: usize,
    /// Reason why its file could not be read again; the version above is an earlier one then.
    pub problem: Option<String>,
}

/// Kind of what a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RubricListingKind {
    /// A rubric.
    Rubric,
    /// A scorecard.
    Scorecard,
}
