//! The data sets, and the figures that must come out of each.

mod biggen;
mod devai;
mod dialogues;
mod healthbench;
mod llmbar;
mod paperbench;
mod prometheus;
mod promptfoo;
mod rewardbench;
mod systems;
mod trees;

use serde_json::Value;

use super::Data;
use super::check::Table;
use super::convert::items;
use biggen::biggen;
use devai::devai;
use dialogues::llm_rubric;
use healthbench::healthbench;
use llmbar::llmbar;
use paperbench::paperbench;
use prometheus::prometheus;
use promptfoo::promptfoo;
use rewardbench::rewardbench;

type Set = fn(&Data, &mut Table) -> Result<(), String>;

/// Every set, by its folder.
pub(super) const ALL: &[(&str, Set)] = &[
    ("paperbench", paperbench),
    ("devai-agent-judge", devai),
    ("healthbench-meta-120", healthbench),
    ("llm-rubric-dialogues", llm_rubric),
    ("llmbar", llmbar),
    ("rewardbench2-k8", rewardbench),
    ("prometheus-gpt4-triple", prometheus),
    ("promptfoo-configs", promptfoo),
    ("biggen-rubrics", biggen),
];

/// Resamples: intervals are not among the figures that are published, so a few will do.
const QUICK: [&str; 2] = ["--resamples", "20"];

/// The first object of a list whose keys have these values.
fn find<'v>(list: &'v Value, keys: &[(&str, &str)]) -> &'v Value {
    items(list)
        .iter()
        .find(|object| keys.iter().all(|(key, wanted)| object[*key] == *wanted))
        .unwrap_or(&Value::Null)
}
