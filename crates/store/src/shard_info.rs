//! Shards: runs of a part of the cases of a plan, and the run that is merged from them.

use assize_rubric::UnitInterval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Part of a plan that a run executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShardInfo {
    /// Number of the shard, from 1.
    pub number: u32,
    /// Number of shards of the plan.
    pub count: u32,
    /// Part of a shard that was halved: `1` is its first half, `12` the second half of that one. Absent for a whole shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Hash of the whole plan: its cases in order, what they ask, their graders, and the input files.
    pub plan: String,
    /// Results that the whole plan would have: cases times targets times repeats.
    pub plan_items: u64,
    /// Those of this shard.
    pub items: u64,
    /// Of a scorecard: how the whole is concluded from the merged results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scorecard: Option<ScorecardConclusion>,
}

/// Settings by which the exit code of the run of a scorecard is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScorecardConclusion {
    /// Handling of cases without a result: `incomplete`, `zero` or `skip`.
    pub treat_missing: String,
    /// Smallest share of the weight that results must cover; null for any.
    pub min_coverage: Option<UnitInterval>,
}

/// Shards that a run was merged from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergeInfo {
    /// Number of shards of the plan.
    pub count: u32,
    /// Hash of the whole plan.
    pub plan: String,
    /// Shards that were merged, in the order of their numbers.
    pub shards: Vec<MergedShard>,
    /// Numbers of the shards that are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<u32>,
    /// Of a scorecard: how it was concluded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scorecard: Option<ScorecardConclusion>,
    /// Id of the job whose workers ran the shards; absent if they were run one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
}

/// One of the shards that a run was merged from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergedShard {
    /// Number of the shard, from 1.
    pub number: u32,
    /// Part of the shard, if it was halved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Id of its run.
    pub run_id: String,
    /// Results that it was to have.
    pub items: u64,
    /// When it began.
    pub started_at: String,
    /// When it ended; null for one that was stopped.
    pub finished_at: Option<String>,
    /// Its wall-clock time in milliseconds; null for one that was stopped.
    pub duration_ms: Option<u64>,
    /// Exit code of its command; null for one that was stopped.
    pub exit_code: Option<u8>,
}
