//! Types of requests and replies. The OpenAPI document takes its schemas from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::problem::ErrorBody;

pub use assize_engine::{
    BenchmarkResult, DecisionResult, GradeStatus, GradeSummary, OnUngraded, RewardKind, SampleResult,
    ScorecardPartResult, UngradedPolicy,
};

/// Samples to be graded by one rubric or by one scorecard.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, transform = describe_request)]
pub struct GradeRequest {
    /// The rubric. Either this or `scorecard`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<RubricSource>,
    /// The scorecard; each sample is a separate case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scorecard: Option<ScorecardSource>,
    /// Weight set of the scorecard's index, instead of the one that the index names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// The samples, at least one.
    #[schemars(length(min = 1, max = 4_096))]
    pub samples: Vec<GradeSample>,
    /// Number that each sample gets as its reward; `score` unless given.
    #[serde(default)]
    pub reward: RewardKind,
    /// Reward of a sample whose reward is not known because criteria are ungraded; null unless given.
    #[serde(default)]
    pub on_ungraded: OnUngraded,
    /// Time limit of the request in milliseconds. Criteria without a decision by then are ungraded; decisions made by
    /// then are kept.
    #[serde(default)]
    #[schemars(range(min = 1, max = 86_400_000))]
    pub deadline_ms: Option<u64>,
    /// Comparison of the samples of a group with each other, beside their grading.
    #[serde(default)]
    pub compare: Option<CompareMode>,
    /// Samples that can't be graded, by their index, with the reason. The others are.
    #[serde(skip)]
    #[schemars(skip)]
    pub unusable: BTreeMap<usize, String>,
}

/// A rubric: the content of a rubric file, the YAML text of such a file, or the name of one that the server has loaded.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(transform = describe_rubric)]
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
#[schemars(deny_unknown_fields, transform = describe_sample)]
pub struct GradeSample {
    /// Id, which the result has too; the place in the list unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = ["string", "integer", "null"], "minLength" = 1, "maxLength" = 256))]
    pub id: Option<String>,
    /// The question: a text, or messages with `role` and `content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The answer: a text, or an object that is graded as its JSON text. Either this or `messages`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The whole conversation with its tool calls, in the form of chat APIs. The answer is the text of the assistant
    /// after the last message of another role; a conversation that ends with a message of the user is refused. All
    /// messages before the answer are the question; `input` replaces the messages before the assistant's first one.
    /// Content is text: images are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minItems" = 1, "items" = {"type": "object", "required": ["role"]}))]
    pub messages: Option<Vec<Value>>,
    /// An answer known to be good: a text, or an object that is shown as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Value>,
    /// Description of a good answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<String>,
    /// Values that replace `{{ name }}` in the criteria. They become part of the question to the judge: put data into
    /// `input`, `reference` or the answer instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vars: Option<BTreeMap<String, Value>>,
    /// Tags that determine which benchmarks of a scorecard apply to the sample. For benchmarks without tags, the judge
    /// decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Name of the group of samples that answer the same question; for `compare`. They have the same `input`, `reference`,
    /// `expected_outcome` and `vars`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = ["string", "integer", "null"], "minLength" = 1, "maxLength" = 256))]
    pub group: Option<String>,
}

/// Adds rules about fields of a request that depend on each other to its schema.
fn describe_request(schema: &mut Schema) {
    let given =
        |key: &str| json!({ "required": [key], "properties": { key: { "not": { "type": "null" } } } });
    schema.insert("oneOf".into(), json!([given("rubric"), given("scorecard")]));
    schema.insert(
        "allOf".into(),
        json!([
            {
                "$comment": "Comparisons need the group of each sample.",
                "if": given("compare"),
                "then": {
                    "required": ["rubric"],
                    "properties": { "samples": { "items": given("group") } },
                },
            },
            {
                "$comment": "Weight sets are those of a scorecard.",
                "if": given("weights"),
                "then": { "properties": { "rubric": { "type": ["object", "null"], "required": ["name"] } } },
            },
        ]),
    );
}

/// Adds the rule that an answer is given exactly once.
fn describe_sample(schema: &mut Schema) {
    let given =
        |key: &str| json!({ "required": [key], "properties": { key: { "not": { "type": "null" } } } });
    schema.insert("oneOf".into(), json!([given("output"), given("messages")]));
}

/// Describes rubrics that are neither a text nor a name: they have the form of a rubric file.
fn describe_rubric(schema: &mut Schema) {
    let file = json!({ "$ref": format!("#/components/schemas/{RUBRIC_SCHEMA}") });
    let Some(kinds) = schema.get_mut("anyOf").and_then(Value::as_array_mut) else { return };
    kinds.retain(|kind| kind.get("type").is_none_or(|kind| kind == "string"));
    kinds.push(file);
}

/// Name of the schema of rubric files in the OpenAPI document.
pub(crate) const RUBRIC_SCHEMA: &str = "rubric-file";

/// Last line of a reply in JSON lines.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StreamEnd {
    /// Sums over the results.
    pub summary: GradeSummary,
    /// Error of a request that must fail if a reward is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

/// Comparison of the samples of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompareMode {
    /// Each sample with each other one of its group, in both orders, by the criteria with their weights: penalties count against
    /// an answer.
    Pairwise,
    /// Comparisons as in `pairwise`, and the rank of each sample by them.
    Ranked,
}

/// Results of a request.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GradeReply {
    /// The results in the order of the samples.
    pub results: Vec<Arc<SampleResult>>,
    /// Sums over them.
    pub summary: GradeSummary,
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

/// Kind of the content behind a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RubricListingKind {
    /// A rubric.
    Rubric,
    /// A scorecard.
    Scorecard,
}
