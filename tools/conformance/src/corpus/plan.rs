//! Compares a run with its plan: the number of judge calls must match, and the tokens must lie within the
//! planned range.

use serde_json::Value;

/// The first way in which a run differs from its plan. `None` if it matches, or if they can't be compared.
/// `plan` and `run` are the outputs of `--json`.
pub(super) fn broken(plan: &Value, run: &Value) -> Option<String> {
    // How many model calls a program makes can't be known in advance.
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
    // The tokens that commands and recordings report were not spent by this run.
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
