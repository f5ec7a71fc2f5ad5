//! Gates over comparisons.

use crate::NameTable;
use crate::compare::{
    ComparisonGateStatus, ComparisonGates, ComparisonOptions, FailOn, check_comparison_gates, compare_many,
};

use crate::tests::support::{Case, case, passing, run, scored};

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

#[test]
fn no_gate_holds_on_cases_that_are_missing_or_incomplete() {
    use ComparisonGateStatus::{Held, Undecided};

    let all = ComparisonGates {
        fail_on: Some(FailOn::Worse),
        max_drop: Some(0.1),
        no_regression: true,
        strict: false,
    };
    let open = |id: usize| case(format!("c{id:02}"), 0.0).undecided(0.0, 1.0);
    let good = |id: usize| case(format!("c{id:02}"), 1.0);
    let good_cases = |count: usize| -> Vec<Case> { (0..count).map(good).collect() };
    let open_cases: Vec<Case> = (0..12).map(open).collect();

    // Nothing is known about the candidate, about the base, or about either.
    assert_eq!(holds(&good_cases(12), &open_cases, all), [Undecided; 3]);
    assert_eq!(holds(&open_cases, &open_cases, all), [Undecided; 3]);
    let failing: Vec<Case> = (0..12).map(|at| case(format!("c{at:02}"), 0.0)).collect();
    assert_eq!(holds(&open_cases, &failing, all), [Undecided; 3]);

    // Ten of twelve cases are gone, or 25 of 40 were not run.
    assert_eq!(holds(&good_cases(12), &good_cases(2), all), [Undecided; 3]);
    assert_eq!(holds(&good_cases(40), &good_cases(15), all), [Undecided; 3]);

    // One of many can't change the result of these two gates, but may still be a regression.
    let mut nearly = good_cases(40);
    nearly[3] = open(3);
    assert_eq!(holds(&good_cases(40), &nearly, all), [Held, Held, Undecided]);
    let any = ComparisonGates { fail_on: Some(FailOn::AnyWorse), ..ComparisonGates::default() };
    assert_eq!(holds(&good_cases(40), &nearly, any), [Undecided]);

    // A case that failed before, or passes now, is no regression whatever the other side is.
    let one = |case: Case| -> Vec<Case> { good_cases(8).into_iter().chain([case]).collect() };
    let only = ComparisonGates { no_regression: true, ..ComparisonGates::default() };
    assert_eq!(holds(&one(case("c50", 0.0)), &one(open(50)), only), [Held]);
    assert_eq!(holds(&one(open(50)), &one(good(50)), only), [Held]);
    assert_eq!(holds(&one(open(50)), &one(case("c50", 0.0)), only), [Undecided]);
    assert_eq!(holds(&good_cases(8), &one(case("c50", 0.0)), only), [Held], "a new case is no regression");
}

#[test]
fn a_verdict_that_missing_cases_could_change_is_undecided() {
    let mut names = NameTable::default();
    let all: Vec<Case> = (0..40).map(|at| case(format!("c{at:02}"), 1.0)).collect();
    let (base, candidate) = (run("a", &all, &mut names), run("b", &all[..15], &mut names));
    let options = ComparisonOptions { margin: Some(0.3), ..ComparisonOptions::default() };
    let set = compare_many(&base, &[candidate], &names, &options);
    let gates = ComparisonGates { strict: true, ..ComparisonGates::default() };
    let found = check_comparison_gates(&set, &gates);
    assert_eq!(found[0].hold, ComparisonGateStatus::Undecided);
    assert_eq!(
        found[0].says,
        "the verdict is equivalent, but worse is possible: 25 cases missing from the candidate"
    );

    let [low, high] = set.comparisons[0].score_bounds.expect("cases are missing");
    assert!((low + 25.0 / 40.0).abs() < 1e-9 && high.abs() < 1e-9, "{low} {high}");
}
