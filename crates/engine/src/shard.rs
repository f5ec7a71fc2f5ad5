//! Runs of one shard of a plan: their items, their record and their exit code.

use std::collections::HashSet;

use assize_analysis::{ExitStatus, RunEnding};
use assize_run::{ItemError, ShardPlan, WorkItem};
use assize_store::{InputHash, ShardInfo, VerdictCounts};

use crate::mode::{Items, RunMode};
use crate::options::RunOptions;

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

/// The plan of the shard that the options name, if they name one.
pub(crate) fn plan<I>(options: &RunOptions, items: impl Fn() -> I) -> Result<Option<ShardPlan>, ItemError>
where
    I: Iterator<Item = Result<WorkItem, ItemError>>,
{
    let Some(shard) = options.shard else { return Ok(None) };
    let part = options.unit.as_ref().map(|unit| unit.part.clone()).unwrap_or_default();

    ShardPlan::new(shard, part, items).map(Some)
}

/// The number of items of a shard.
pub(crate) fn own_items(plan: &ShardPlan) -> usize {
    usize::try_from(plan.own_items()).unwrap_or(usize::MAX)
}

/// The number of cases of a shard.
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

/// The number of cases excluded because of errors in their files. They belong to no shard, so the first one
/// reports them.
pub(crate) fn left_out(plan: &ShardPlan, left_out: usize) -> usize {
    let is_first = plan.shard().number() == 1 && plan.part().as_str().bytes().all(|digit| digit == b'1');
    if is_first { left_out } else { 0 }
}

/// The hash of a plan's items and of their files. Paths are not part of it, because other machines may have the files
/// elsewhere.
pub(crate) fn plan_hash(plan: &ShardPlan, inputs: &[InputHash]) -> String {
    hash_with_files(plan.hash(), inputs)
}

/// Like [`plan_hash`], from the hash of the items.
pub(crate) fn hash_with_files(items: &str, inputs: &[InputHash]) -> String {
    let mut files: Vec<&str> = inputs.iter().map(|input| input.blake3.as_str()).collect();
    files.sort_unstable();

    let mut hasher = blake3::Hasher::new();
    hasher.update(items.as_bytes());
    for file in files {
        hasher.update(file.as_bytes());
    }

    hasher.finalize().to_hex().to_string()
}

/// The record of a shard.
pub(crate) fn describe(plan: &ShardPlan, inputs: &[InputHash]) -> ShardInfo {
    let part = plan.part();

    ShardInfo {
        number: plan.shard().number(),
        count: plan.shard().count(),
        part: (!part.is_whole()).then(|| part.as_str().to_owned()),
        plan: plan_hash(plan, inputs),
        plan_items: plan.items(),
        items: plan.own_items(),
    }
}

/// Remark on the metrics of a shard.
pub(crate) fn remark(shard: &ShardInfo) -> String {
    let ShardInfo { number, count, items, plan_items, .. } = shard;
    let part = shard.part.as_ref().map(|part| format!(" (part {part})")).unwrap_or_default();
    format!(
        "Shard {number}{part} of {count}, {items} of {plan_items} results: `assize merge` computes the metrics of the whole run."
    )
}

/// The exit code of a shard, and its reason. A job system retries a shard by its exit code, and the verdict of
/// the whole is known only after merging. So a shard is incomplete if another attempt may bring more, even if a
/// case failed.
pub(crate) fn exit(
    shard: &ShardInfo,
    mode: &dyn RunMode,
    counts: VerdictCounts,
    ending: RunEnding,
) -> (ExitStatus, String) {
    let (exit, reason) = mode.shard_exit(counts, ending);
    let lacks_something = counts.incomplete > 0 || ending.too_late || ending.server_given_up;

    match exit {
        ExitStatus::Passed if shard.items == 0 => (exit, "no case is in this shard".to_owned()),
        ExitStatus::Failed if lacks_something => (ExitStatus::Incomplete, reason),
        _ => (exit, reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mode like the one of eval files.
    struct Plain;

    impl RunMode for Plain {}

    #[test]
    fn a_shard_is_tried_again_for_what_it_lacks_even_if_a_case_failed() {
        let shard =
            ShardInfo { number: 1, count: 2, part: None, plan: String::new(), plan_items: 6, items: 3 };
        let code = |counts, ending| exit(&shard, &Plain, counts, ending).0.code();
        let failed = VerdictCounts { pass: 1, fail: 1, ..VerdictCounts::default() };
        let lacking = VerdictCounts { incomplete: 1, ..failed };
        let ending = RunEnding::default();

        assert_eq!(code(failed, ending), 1);
        assert_eq!(code(lacking, ending), 3);
        assert_eq!(code(VerdictCounts { fail: 0, ..lacking }, ending), 3);
        assert_eq!(code(failed, RunEnding { too_late: true, ..ending }), 3);
        assert_eq!(code(failed, RunEnding { server_given_up: true, ..ending }), 3);
        assert_eq!(code(lacking, RunEnding { over_budget: true, ..ending }), 4);
        assert_eq!(code(lacking, RunEnding { interrupted: true, ..ending }), 130);
        // Cases that were skipped or excluded because of a final verdict or a broken file would be so again.
        assert_eq!(code(VerdictCounts { skipped: 1, ..failed }, RunEnding { excluded: 1, ..ending }), 1);

        let (_, reason) = exit(&shard, &Plain, lacking, ending);
        assert_eq!(reason, "1 failed, 1 incomplete");
    }
}
