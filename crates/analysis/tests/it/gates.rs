//! Gates over comparisons.

use assize_analysis::NameTable;
use assize_analysis::compare::{
    ComparisonGateStatus, ComparisonGates, ComparisonOptions, FailOn, check_comparison_gates, compare_many,
};

use crate::support::{Case, case, passing, run, scored};

fn holds(base: &[Case], candidate: &[Case], gates: ComparisonGates) -> Vec<ComparisonGateStatus> {
    let mut names = NameTable::default();
    let (base, candidate) = (run("a", base, &mut names), run("b", candidate, &mut names));
    let many = compare_many(&base, &[candidate], &names, &ComparisonOptions::default());
    check_comparison_gates(&many, &gates).iter().map(|result| result.hold).collect()
}

#[test]
fn worse_fails_and_chance_does_not() {
    let gates = ComparisonGates { fail_on: Some(FailOn::Worse), ..ComparisonGates::default() };
    assert_eq!(holds(&passing(&[true; 8]), &passing(&[false; 8]), gates), [ComparisonGateStatus::Failed]);
    assert_eq!(holds(&passing(&[true; 3]), &passing(&[false; 3]), gates), [ComparisonGateStatus::Held]);
    let strict = ComparisonGates { strict: true, ..gates };
    assert_eq!(
        holds(&passing(&[true; 3]), &passing(&[false; 3]), strict),
        [ComparisonGateStatus::Held, ComparisonGateStatus::Inconclusive]
    );
    assert_eq!(
        holds(&scored(&[0.5; 9]), &scored(&[0.5; 9]), strict),
        [ComparisonGateStatus::Held, ComparisonGateStatus::Held]
    );
}

#[test]
fn parts_count_only_when_asked_for() {
    let cases = |value: f64| -> Vec<Case> {
        (0..20)
            .map(|at| {
                case(format!("c{at:02}"), 0.5).criterion(
                    if at < 10 { "a" } else { "b" },
                    "x",
                    Some(if at < 10 { value } else { 1.0 }),
                )
            })
            .collect()
    };
    let only = |which| ComparisonGates { fail_on: Some(which), ..ComparisonGates::default() };
    assert_eq!(holds(&cases(1.0), &cases(0.0), only(FailOn::Worse)), [ComparisonGateStatus::Held]);
    assert_eq!(holds(&cases(1.0), &cases(0.0), only(FailOn::AnyWorse)), [ComparisonGateStatus::Failed]);
}

#[test]
fn a_drop_is_measured_and_under_strict_ruled_out() {
    let gates = ComparisonGates { max_drop: Some(0.1), ..ComparisonGates::default() };
    let (before, after) = (scored(&[0.5, 0.6, 0.7, 0.4]), scored(&[0.4, 0.5, 0.6, 0.3]));
    assert_eq!(
        holds(&before, &after, gates),
        [ComparisonGateStatus::Held],
        "a drop of 0.1 is no more than 0.1"
    );
    let gates = ComparisonGates { max_drop: Some(0.09), ..gates };
    assert_eq!(holds(&before, &after, gates), [ComparisonGateStatus::Failed]);
    let strict = ComparisonGates { max_drop: Some(0.2), strict: true, ..ComparisonGates::default() };
    let held = holds(&scored(&[0.5, 0.9, 0.1, 0.6]), &scored(&[0.9, 0.5, 0.6, 0.1]), strict);
    assert_eq!(held[0], ComparisonGateStatus::Inconclusive, "four cases leave room for a larger drop");
}

#[test]
fn a_lost_case_fails_and_an_undecided_one_is_no_answer() {
    let gates = ComparisonGates { no_regression: true, ..ComparisonGates::default() };
    let before = passing(&[true, true, false]);
    assert_eq!(holds(&before, &passing(&[true, true, true]), gates), [ComparisonGateStatus::Held]);
    assert_eq!(holds(&before, &passing(&[true, false, true]), gates), [ComparisonGateStatus::Failed]);
    let mut open = passing(&[true, true, true]);
    open[1] = open[1].clone().undecided(0.0, 1.0);
    assert_eq!(holds(&before, &open, gates), [ComparisonGateStatus::Undecided]);
    assert_eq!(
        holds(&before, &passing(&[true]), gates),
        [ComparisonGateStatus::Undecided],
        "a case that passed is gone"
    );
    let mut failed_before = passing(&[true, true, true]);
    failed_before[2] = failed_before[2].clone().undecided(0.0, 1.0);
    assert_eq!(holds(&before, &failed_before, gates), [ComparisonGateStatus::Held], "it had not passed");
}
