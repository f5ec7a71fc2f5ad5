//! Check of a run against its plan: as many judge calls as it counted, and tokens within its range.

use serde_json::Value;

/// Difference between a run and its plan; `None` when it kept to it, or when there is nothing to compare. `plan` and
/// `run` are the outputs of `--json`.
pub(super) fn broken(plan: &Value, run: &Value) -> Option<String> {
    // Nobody knows beforehand what programs ask of models.
    if plan["program_calls_at_most"].as_u64() != Some(0) {
        return None;
    }

    let count = |value: &Value| value.as_u64().unwrap_or_default();
    let calls =
        |key: &str| plan["judges"].as_array().into_iter().flatten().map(|judge| count(&judge[key])).sum();
    let (planned, unsure): (u64, u64) = (calls("calls"), calls("calls_only_if_unsure"));
    let made = count(&run["judge_calls"]);
    if !(planned - unsure..=planned).contains(&made) {
        return Some(format!("{made} judge calls, and {planned} were planned"));
    }
    // Commands and recordings tell of tokens that others paid for.
    if count(&plan["command_runs"]) > 0 || count(&plan["calls"]) == 0 {
        return None;
    }

    ["input", "output"].into_iter().find_map(|kind| {
        let range = &plan["tokens_estimated"][kind];
        let (low, high) = (count(&range["low"]), count(&range["high"]));
        let spent = count(&run["tokens"][kind]);
        (!(low..=high).contains(&spent))
            .then(|| format!("{spent} tokens of {kind}, and {low} to {high} were planned"))
    })
}
