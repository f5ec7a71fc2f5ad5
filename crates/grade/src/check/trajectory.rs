//! `tool-trajectory`: the tool calls behind an answer, compared with the expected calls.

use assize_model::{ArgsMatch, ExpectedCall, ToolTrajectory, TrajectoryMode};
use assize_rubric::{GraderNote, ToolCall};

use super::arguments::matches_arguments;
use super::result::{CheckResult, shorten, to_unit_interval};

/// The share of checks that hold.
///
/// - `any_order`: each listed tool is called often enough.
/// - `in_order`: as many of the expected calls as can be found in the given order; other calls between
///   them are allowed.
/// - `exact`: call by call; too many calls lower the score as too few do.
/// - `superset`: each expected call has its own real call, in any order.
/// - `subset`: each real call is one of the expected ones.
///
/// The time limit of an expected call is a separate check, which fails if the call is missing.
pub(super) fn check_trajectory(
    check: &ToolTrajectory,
    calls: Option<&[ToolCall]>,
) -> Result<CheckResult, String> {
    let calls = calls.ok_or("the target does not report tool calls, so they can't be compared")?;
    match check.mode {
        TrajectoryMode::AnyOrder => Ok(match_any_order(check, calls)),
        TrajectoryMode::InOrder => match_expected(check, calls, &match_in_order(check, calls), 0),
        TrajectoryMode::Superset => match_expected(check, calls, &match_superset(check, calls), 0),
        TrajectoryMode::Exact => {
            let pairs: Vec<Option<usize>> = check
                .expected
                .iter()
                .enumerate()
                .map(|(at, wanted)| calls.get(at).filter(|call| matches(check, wanted, call)).map(|_| at))
                .collect();
            match_expected(check, calls, &pairs, calls.len().saturating_sub(check.expected.len()))
        }
        TrajectoryMode::Subset => Ok(match_subset(check, calls)),
    }
}

fn matches(check: &ToolTrajectory, wanted: &ExpectedCall, call: &ToolCall) -> bool {
    let rule = wanted.args_match.as_ref().or(check.args_match.as_ref()).unwrap_or(&ArgsMatch::Exact);
    wanted.tool == call.name && matches_arguments(wanted.args.as_ref(), &call.input, rule)
}

/// Formats a number of calls.
fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn match_any_order(check: &ToolTrajectory, calls: &[ToolCall]) -> CheckResult {
    let findings = check.minimums.iter().map(|(tool, least)| {
        let count = calls.iter().filter(|call| call.name == *tool).count();
        GraderNote::new(
            count >= *least as usize,
            format!("calls `{tool}` at least {}", times(*least as usize)),
            times(count),
        )
    });
    CheckResult::passed_share(findings.collect())
}

/// For each expected call, the real call matched to it. `extra` real calls count as failed checks.
fn match_expected(
    check: &ToolTrajectory,
    calls: &[ToolCall],
    pairs: &[Option<usize>],
    extra: usize,
) -> Result<CheckResult, String> {
    let mut findings = Vec::new();
    for (at, (wanted, pair)) in check.expected.iter().zip(pairs).enumerate() {
        let text = format!("call {}: {}", at + 1, describe(wanted));
        let reason = match pair {
            Some(index) => format!("call {} of {}", index + 1, calls.len()),
            None => match calls.get(at).filter(|_| check.mode == TrajectoryMode::Exact) {
                Some(call) => {
                    format!("`{}` with {} was called instead", call.name, shorten(&call.input.to_string()))
                }
                None => "no such call".to_owned(),
            },
        };

        findings.push(GraderNote::new(pair.is_some(), text, reason));

        if let Some(most) = wanted.max_duration {
            let text = format!("call {}: `{}` takes at most {} ms", at + 1, wanted.tool, most.as_millis());
            findings.push(match pair.and_then(|index| calls.get(index)) {
                None => GraderNote::new(false, text, "no such call"),
                Some(call) => {
                    let took = call.duration.ok_or_else(|| {
                        format!(
                            "the target does not report the duration of `{}`, so its limit can't be checked",
                            call.name
                        )
                    })?;
                    GraderNote::new(took <= most, text, format!("{} ms", took.as_millis()))
                }
            });
        }
    }

    for call in calls.iter().skip(calls.len() - extra) {
        findings.push(GraderNote::new(false, "no other calls", format!("`{}` is one too many", call.name)));
    }

    let checked = CheckResult::passed_share(findings);
    // Expecting no calls, and seeing none, is a full score.
    Ok(CheckResult { score: checked.score.or(Some(to_unit_interval(1.0))), ..checked })
}

/// The largest number of expected calls that can be found in order (a longest common subsequence).
fn match_in_order(check: &ToolTrajectory, calls: &[ToolCall]) -> Vec<Option<usize>> {
    let (rows, columns) = (check.expected.len(), calls.len());
    let fit: Vec<Vec<bool>> = check
        .expected
        .iter()
        .map(|wanted| calls.iter().map(|call| matches(check, wanted, call)).collect())
        .collect();

    let mut best = vec![vec![0usize; columns + 1]; rows + 1];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            best[row][column] = if fit[row][column] {
                best[row + 1][column + 1] + 1
            } else {
                best[row + 1][column].max(best[row][column + 1])
            };
        }
    }

    let mut pairs = vec![None; rows];
    let (mut row, mut column) = (0, 0);
    while row < rows && column < columns {
        if fit[row][column] {
            pairs[row] = Some(column);
            row += 1;
            column += 1;
        } else if best[row + 1][column] > best[row][column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }

    pairs
}

/// Gives as many expected calls as possible their own real call (augmenting paths), so that a loose expectation
/// never takes the only call that fits a strict one.
fn match_superset(check: &ToolTrajectory, calls: &[ToolCall]) -> Vec<Option<usize>> {
    fn place(row: usize, fit: &[Vec<usize>], owner: &mut [Option<usize>], seen: &mut [bool]) -> bool {
        for &column in &fit[row] {
            if std::mem::replace(&mut seen[column], true) {
                continue;
            }

            let free = match owner[column] {
                None => true,
                Some(other) => place(other, fit, owner, seen),
            };
            if free {
                owner[column] = Some(row);
                return true;
            }
        }
        false
    }

    let fit: Vec<Vec<usize>> = check
        .expected
        .iter()
        .map(|wanted| (0..calls.len()).filter(|&at| matches(check, wanted, &calls[at])).collect())
        .collect();

    let mut owner = vec![None; calls.len()];
    for row in 0..fit.len() {
        place(row, &fit, &mut owner, &mut vec![false; calls.len()]);
    }

    (0..fit.len()).map(|row| owner.iter().position(|own| *own == Some(row))).collect()
}

fn match_subset(check: &ToolTrajectory, calls: &[ToolCall]) -> CheckResult {
    let findings = calls.iter().enumerate().map(|(at, call)| {
        let allowed = check.expected.iter().any(|wanted| matches(check, wanted, call));
        let reason = if allowed { "it is" } else { "no expected call is like it" };
        GraderNote::new(
            allowed,
            format!("call {}, `{}`, is among the expected ones", at + 1, call.name),
            reason,
        )
    });

    let checked = CheckResult::passed_share(findings.collect());
    CheckResult { score: checked.score.or(Some(to_unit_interval(1.0))), ..checked }
}

fn describe(wanted: &ExpectedCall) -> String {
    match &wanted.args {
        Some(args) => format!("`{}` with {}", wanted.tool, shorten(&args.to_string())),
        None => format!("`{}`", wanted.tool),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::time::Duration;

    fn wanted(tool: &str, args: Option<Value>) -> ExpectedCall {
        ExpectedCall { tool: tool.into(), args, args_match: None, max_duration: None }
    }

    fn call(name: &str, input: Value) -> ToolCall {
        ToolCall {
            name: name.into(),
            input,
            output: None,
            duration: Some(Duration::from_millis(30)),
            failed: None,
        }
    }

    fn plan(mode: TrajectoryMode, expected: Vec<ExpectedCall>) -> ToolTrajectory {
        ToolTrajectory { mode, minimums: Vec::new(), expected, args_match: Some(ArgsMatch::Exact) }
    }

    fn score(plan: &ToolTrajectory, calls: &[ToolCall]) -> f64 {
        check_trajectory(plan, Some(calls)).unwrap().score.unwrap().get()
    }

    fn named(names: &str) -> Vec<ToolCall> {
        names.chars().map(|name| call(&name.to_string(), json!({}))).collect()
    }

    fn tools(names: &str) -> Vec<ExpectedCall> {
        names.chars().map(|name| wanted(&name.to_string(), None)).collect()
    }

    #[test]
    fn extra_calls_lower_the_score_of_exact() {
        let exact = plan(TrajectoryMode::Exact, tools("abcde"));
        assert_eq!(score(&exact, &named("abcde")), 1.0);
        assert_eq!(score(&exact, &named(&format!("abcde{}", "x".repeat(20)))), 0.2);
        assert_eq!(score(&exact, &named("abcd")), 0.8);
        assert_eq!(score(&plan(TrajectoryMode::Exact, Vec::new()), &[]), 1.0);
        assert_eq!(score(&plan(TrajectoryMode::Exact, Vec::new()), &named("a")), 0.0);
    }

    #[test]
    fn a_call_with_other_arguments_does_not_use_up_an_expected_call_in_order() {
        let args = |n: u32| json!({ "n": n });
        let order = plan(TrajectoryMode::InOrder, vec![wanted("a", Some(args(2))), wanted("b", None)]);
        assert_eq!(score(&order, &[call("a", args(1)), call("a", args(2)), call("b", args(0))]), 1.0);
        assert_eq!(score(&order, &[call("b", args(0)), call("a", args(2))]), 0.5);
        assert_eq!(score(&plan(TrajectoryMode::InOrder, tools("abc")), &named("axc")), 2.0 / 3.0);
    }

    #[test]
    fn a_loose_expectation_does_not_take_the_call_of_a_strict_one() {
        let expected = vec![wanted("a", None), wanted("a", Some(json!({"n": 1})))];
        let superset = plan(TrajectoryMode::Superset, expected);
        assert_eq!(score(&superset, &[call("a", json!({"n": 1})), call("a", json!({"n": 2}))]), 1.0);
        assert_eq!(score(&superset, &[call("a", json!({"n": 1}))]), 0.5);
    }

    #[test]
    fn subsets_and_counts() {
        let subset = plan(TrajectoryMode::Subset, tools("ab"));
        assert_eq!(score(&subset, &named("abx")), 2.0 / 3.0);
        assert_eq!(score(&subset, &[]), 1.0);
        let counts = ToolTrajectory {
            minimums: vec![("a".into(), 2), ("b".into(), 1)],
            ..plan(TrajectoryMode::AnyOrder, Vec::new())
        };
        assert_eq!(score(&counts, &named("aba")), 1.0);
        assert_eq!(score(&counts, &named("ab")), 0.5);
    }

    #[test]
    fn the_time_of_a_step_is_a_check_and_must_be_known() {
        let limited =
            |ms| ExpectedCall { max_duration: Some(Duration::from_millis(ms)), ..wanted("a", None) };
        assert_eq!(score(&plan(TrajectoryMode::Exact, vec![limited(30)]), &named("a")), 1.0);
        assert_eq!(score(&plan(TrajectoryMode::InOrder, vec![limited(29)]), &named("a")), 0.5);
        let untimed = [ToolCall { duration: None, ..call("a", json!({})) }];
        assert!(check_trajectory(&plan(TrajectoryMode::Exact, vec![limited(30)]), Some(&untimed)).is_err());
        assert!(check_trajectory(&plan(TrajectoryMode::Exact, vec![limited(30)]), None).is_err());
    }
}
