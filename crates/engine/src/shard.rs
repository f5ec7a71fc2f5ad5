//! Runs of one shard of a plan: their items, their record and their exit code.

use std::collections::HashSet;

use assize_run::{ItemError, ShardPlan, WorkItem};
use assize_store::{InputHash, ShardInfo, VerdictCounts};

use crate::exit::{ExitStatus, RunEnding};
use crate::mode::{Items, RunMode};

/// The items of a shard, or all of them.
pub(crate) fn select<'i>(
    plan: Option<&'i ShardPlan>,
    items: impl Iterator<Item = Result<WorkItem, ItemError>> + 'i,
) -> Items<'i> {
    match plan {
        None => Box::new(items),
        Some(plan) => Box::new(plan.select(items)),
    }
}

/// Number of items of a shard.
pub(crate) fn own_items(plan: &ShardPlan) -> usize {
    usize::try_from(plan.own_items()).unwrap_or(usize::MAX)
}

/// Number of cases of a shard.
pub(crate) fn count_cases(
    plan: &ShardPlan,
    items: impl Iterator<Item = Result<WorkItem, ItemError>>,
) -> Result<usize, ItemError> {
    let mut cases = HashSet::new();
    for item in plan.select(items) {
        let item = item?;
        cases.insert((item.suite, item.case.id.clone()));
    }

    Ok(cases.len())
}

/// Cases that were excluded because of errors in their files. They belong to no shard, and the first one tells of them.
pub(crate) fn left_out(plan: &ShardPlan, left_out: usize) -> usize {
    if plan.shard().number() == 1 { left_out } else { 0 }
}

/// The record of a shard. Paths have no part in the hash of the plan: other machines may have the files elsewhere.
pub(crate) fn describe(plan: &ShardPlan, inputs: &[InputHash], mode: &dyn RunMode) -> ShardInfo {
    let mut files: Vec<&str> = inputs.iter().map(|input| input.blake3.as_str()).collect();
    files.sort_unstable();

    let mut hasher = blake3::Hasher::new();
    hasher.update(plan.hash().as_bytes());
    for file in files {
        hasher.update(file.as_bytes());
    }

    ShardInfo {
        number: plan.shard().number(),
        count: plan.shard().count(),
        plan: hasher.finalize().to_hex().to_string(),
        plan_items: plan.items(),
        items: plan.own_items(),
        scorecard: mode.scorecard_conclusion(),
    }
}

/// Remark on the metrics of a shard.
pub(crate) fn remark(shard: &ShardInfo) -> String {
    let ShardInfo { number, count, items, plan_items, .. } = shard;
    format!(
        "Shard {number} of {count}, {items} of {plan_items} results: `assize merge` computes the metrics of the whole run."
    )
}

/// Exit code of a shard, and its reason.
pub(crate) fn exit(
    shard: &ShardInfo,
    mode: &dyn RunMode,
    counts: VerdictCounts,
    ending: RunEnding,
) -> (ExitStatus, String) {
    match mode.shard_exit(counts, ending) {
        (ExitStatus::Passed, _) if shard.items == 0 => {
            (ExitStatus::Passed, "no case is in this shard".to_owned())
        }
        other => other,
    }
}
