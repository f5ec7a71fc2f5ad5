//! Shards: runs of parts of a plan, and the run that is merged from them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shard that a run executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShardInfo {
    /// Number of the shard, from 1.
    pub number: u32,
    /// Number of shards of the plan.
    pub count: u32,
    /// Part of a halved shard: `1` is the first half, `12` the second half of that. Absent for a whole shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Hash of the whole plan: cases in order, their questions and graders, and the input files.
    pub plan: String,
    /// Number of results in the whole plan: cases times targets times trials.
    pub plan_items: u64,
    /// Number of results in this shard.
    pub items: u64,
}

/// Shards that a run was merged from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergeInfo {
    /// Number of shards of the plan.
    pub count: u32,
    /// Hash of the whole plan.
    pub plan: String,
    /// Merged shards, by number.
    pub shards: Vec<MergedShard>,
    /// Numbers of missing shards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<u32>,
    /// Id of the job whose workers ran the shards; absent if they were run one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
}

/// A shard that a run was merged from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergedShard {
    /// Number of the shard, from 1.
    pub number: u32,
    /// Part of the shard, if the shard was halved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Run id.
    pub run_id: String,
    /// Number of planned results.
    pub items: u64,
    /// Start time.
    pub started_at: String,
    /// End time; null if the shard was stopped.
    pub finished_at: Option<String>,
    /// Wall-clock time in milliseconds; null if the shard was stopped.
    pub duration_ms: Option<u64>,
    /// Exit code of the command; null if the shard was stopped.
    pub exit_code: Option<u8>,
}
