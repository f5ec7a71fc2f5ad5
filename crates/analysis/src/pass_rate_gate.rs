//! The gate on the pass rate: its result, and the exit code of a run with such a gate.

use assize_rubric::{UnitInterval, at_least};
use assize_store::{PassRateGate, PassRateResult, VerdictCounts};

use crate::describe_pass_rate_gate;
use crate::exit::{ExitStatus, RunEnding, exit_of_run};

/// The exit code of a run that may have a gate on its pass rate, its reason, and the gate. With a gate, cases
/// that did not pass affect only the rate, and cases without a verdict make the run incomplete only if they
/// could change the gate's result. `ending.not_run` is the number of cases that were not run.
pub fn exit_with_pass_rate(
    counts: VerdictCounts,
    ending: RunEnding,
    minimum: Option<UnitInterval>,
) -> (Option<PassRateGate>, ExitStatus, String) {
    let Some(minimum) = minimum else {
        let (exit, reason) = exit_of_run(counts, ending);
        return (None, exit, reason);
    };

    let gate = pass_rate_gate(counts, ending.excluded + ending.not_run, minimum);
    let exit = match gate.result {
        PassRateResult::Met => ExitStatus::Passed,
        PassRateResult::Missed => ExitStatus::Failed,
        PassRateResult::Incomplete => ExitStatus::Incomplete,
    };

    // The reason names the verdicts as usual; the gate only changes the exit code.
    let (plain, plain_reason) = exit_of_run(counts, ending);
    let without_verdicts = RunEnding { excluded: 0, not_run: 0, ..ending };
    let (rest, _) =
        exit_of_run(VerdictCounts { pass: counts.pass, ..VerdictCounts::default() }, without_verdicts);
    let sentence = describe_pass_rate_gate(&gate);
    let reason = if plain == ExitStatus::Passed { sentence } else { format!("{plain_reason}; {sentence}") };

    // Results that could not be stored don't count.
    let exit = if ending.broke_off { rest } else { ExitStatus::strongest([exit, rest]) };
    (Some(gate), exit, reason)
}

/// The result of the gate. `missing` is the number of cases without a row.
fn pass_rate_gate(counts: VerdictCounts, missing: usize, minimum: UnitInterval) -> PassRateGate {
    let without_verdict = counts.incomplete + counts.skipped + missing;
    let cases = counts.total() + missing;
    let reaches = |passed: usize| cases > 0 && at_least(passed as f64 / cases as f64, minimum.get());
    // If no case has a verdict, it is unknown even whether a minimum of 0 is reached.
    let result = if cases == without_verdict {
        PassRateResult::Incomplete
    } else if reaches(counts.pass) {
        PassRateResult::Met
    } else if cases > 0 && !reaches(counts.pass + without_verdict) {
        PassRateResult::Missed
    } else {
        PassRateResult::Incomplete
    };

    PassRateGate { minimum: minimum.get(), passed: counts.pass, cases, without_verdict, result }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conclude(counts: VerdictCounts, ending: RunEnding, minimum: f64) -> (PassRateResult, u8, String) {
        let minimum = UnitInterval::new(minimum).expect("a share");
        let (gate, exit, reason) = exit_with_pass_rate(counts, ending, Some(minimum));
        let gate = gate.expect("there is a minimum");
        (gate.result, exit.code(), reason)
    }

    #[test]
    fn the_rate_decides_instead_of_single_cases() {
        let counts = VerdictCounts { pass: 9, fail: 1, ..VerdictCounts::default() };
        let plain = RunEnding::default();
        let (result, code, reason) = conclude(counts, plain, 0.9);
        assert_eq!((result, code), (PassRateResult::Met, 0));
        assert_eq!(reason, "1 failed; pass rate 9/10 cases (90.0%) reaches the minimum of 90.0%");
        let (result, code, reason) = conclude(counts, plain, 0.95);
        assert_eq!((result, code), (PassRateResult::Missed, 1));
        assert_eq!(reason, "1 failed; pass rate 9/10 cases (90.0%) is below the minimum of 95.0%");

        // A borderline case did not pass.
        let counts = VerdictCounts { pass: 1, borderline: 1, ..VerdictCounts::default() };
        assert_eq!(conclude(counts, plain, 0.51).1, 1);
    }

    #[test]
    fn cases_without_a_verdict_count_only_where_they_could_change_the_result() {
        let counts = VerdictCounts { pass: 8, fail: 1, incomplete: 1, ..VerdictCounts::default() };
        let plain = RunEnding::default();
        assert_eq!(conclude(counts, plain, 0.8).1, 0);
        assert_eq!(conclude(counts, plain, 0.95).1, 1);
        let (result, code, reason) = conclude(counts, plain, 0.9);
        assert_eq!((result, code), (PassRateResult::Incomplete, 3));
        assert!(reason.ends_with(
            "pass rate between 8/10 cases (80.0%) and 9/10 cases (90.0%): 1 without a verdict could reach the minimum of 90.0%"
        ));

        let counts = VerdictCounts { pass: 9, ..VerdictCounts::default() };
        for ending in [RunEnding { not_run: 1, ..plain }, RunEnding { excluded: 1, ..plain }] {
            assert_eq!(conclude(counts, ending, 0.9).1, 0);
            assert_eq!(conclude(counts, ending, 0.95).1, 3);
        }
        assert_eq!(conclude(VerdictCounts::default(), plain, 0.0).1, 3, "a rate of nothing is undefined");
        let open = VerdictCounts { incomplete: 2, ..VerdictCounts::default() };
        let (_, code, reason) = conclude(open, plain, 0.0);
        assert_eq!(code, 3);
        assert!(
            reason.ends_with(
                "no case has a verdict, so the pass rate can't be compared with the minimum of 0.0%"
            )
        );
    }

    #[test]
    fn a_run_that_was_stopped_says_so() {
        let counts = VerdictCounts { pass: 9, fail: 1, ..VerdictCounts::default() };
        let with = |ending| conclude(counts, ending, 0.5).1;
        assert_eq!(with(RunEnding { interrupted: true, ..RunEnding::default() }), 130);
        assert_eq!(with(RunEnding { over_budget: true, ..RunEnding::default() }), 4);
        assert_eq!(with(RunEnding { too_late: true, ..RunEnding::default() }), 3);
        let broke_off = RunEnding { broke_off: true, ..RunEnding::default() };
        assert_eq!(conclude(counts, broke_off, 0.95).1, 3);
    }
}
