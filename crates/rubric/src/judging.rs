//! How a rubric is put to a judge.

use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many criteria go into one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Judging {
    /// One call per criterion.
    #[default]
    PerCriterion,
    /// Several criteria in one call: at most this many, or all of them.
    Batched(Option<NonZeroUsize>),
}

/// What happens to a decision whose quotes are not in what the judge saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvidencePolicy {
    /// The decision counts and is marked.
    #[default]
    Checked,
    /// The judge is asked again, then the criterion is ungraded.
    Required,
}
