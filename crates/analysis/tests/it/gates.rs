//! Gates over comparisons.

use assize_analysis::Names;
use assize_analysis::compare::{FailOn, Gates, Hold, Options, check, compare_many};

use crate::support::{Case, case, passing, run, scored};

fn holds(base: &[Case], candidate: &[Case], gates: Gates) -> Vec<Hold> {
    let mut names = Names::default();
    let (base, candidate) = (run("a", base, &mut names), run("b", candidate, &mut names));
    let many = compare_many(&base, &[candidate], &names, &Options::default());
    check(&many, &gates).iter().map(|result| result.hold).collect()
}

#[test]
fn worse_fails_and_chance_does_not() {
    let gates = Gates { fail_on: Some(FailOn::Worse), ..Gates::default() };
    assert_eq!(holds(&passing(&[true; 8]), &passing(&[false; 8]), gates), [Hold::Failed]);
    assert_eq!(holds(&passing(&[true; 3]), &passing(&[false; 3]), gates), [Hold::Held]);
    let strict = Gates { strict: true, ..gates };
    assert_eq!(holds(&passing(&[true; 3]), &passing(&[false; 3]), strict), [Hold::Held, Hold::Inconclusive]);
    assert_eq!(holds(&scored(&[0.5; 9]), &scored(&[0.5; 9]), strict), [Hold::Held, Hold::Held]);
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
    let only = |which| Gates { fail_on: Some(which), ..Gates::default() };
    assert_eq!(holds(&cases(1.0), &cases(0.0), only(FailOn::Worse)), [Hold::Held]);
    assert_eq!(holds(&cases(1.0), &cases(0.0), only(FailOn::AnyWorse)), [Hold::Failed]);
}

#[test]
fn a_drop_is_measured_and_under_strict_ruled_out() {
    let gates = Gates { max_drop: Some(0.1), ..Gates::default() };
    let (before, after) = (scored(&[0.5, 0.6, 0.7, 0.4]), scored(&[0.4, 0.5, 0.6, 0.3]));
    assert_eq!(holds(&before, &after, gates), [Hold::Held], "a drop of 0.1 is no more than 0.1");
    let gates = Gates { max_drop: Some(0.09), ..gates };
    assert_eq!(holds(&before, &after, gates), [Hold::Failed]);
    let strict = Gates { max_drop: Some(0.2), strict: true, ..Gates::default() };
    let held = holds(&scored(&[0.5, 0.9, 0.1, 0.6]), &scored(&[0.9, 0.5, 0.6, 0.1]), strict);
    assert_eq!(held[0], Hold::Inconclusive, "four cases leave room for a larger drop");
}

#[test]
fn a_lost_case_fails_and_an_undecided_one_is_no_answer() {
    let gates = Gates { no_regression: true, ..Gates::default() };
    let before = passing(&[true, true, false]);
    assert_eq!(holds(&before, &passing(&[true, true, true]), gates), [Hold::Held]);
    assert_eq!(holds(&before, &passing(&[true, false, true]), gates), [Hold::Failed]);
    let mut open = passing(&[true, true, true]);
    open[1] = open[1].clone().undecided(0.0, 1.0);
    assert_eq!(holds(&before, &open, gates), [Hold::Undecided]);
    assert_eq!(holds(&before, &passing(&[true]), gates), [Hold::Undecided], "a case that passed is gone");
    let mut failed_before = passing(&[true, true, true]);
    failed_before[2] = failed_before[2].clone().undecided(0.0, 1.0);
    assert_eq!(holds(&before, &failed_before, gates), [Hold::Held], "it had not passed");
}
