//! Trends over several runs.

use crate::NameTable;
use crate::compare::ComparisonAspect;
use crate::trend::{MethodFingerprint, TrendPoint, TrendReader};
use assize_stats::ConfidenceLevel;
use assize_store::RunInfo;

use crate::tests::support::{Case, case, run};

fn read(cases: &[Case]) -> (TrendPoint, MethodFingerprint) {
    let mut names = NameTable::default();
    let mut reader = TrendReader::default();
    for case in &run("run", cases, &mut names).cases {
        reader.add(case, &names);
    }
    let read = reader.finish("run".to_owned(), &RunInfo::default(), None, ConfidenceLevel::P95);
    read.expect("each case occurs once")
}

fn fingerprint(cases: &[Case]) -> MethodFingerprint {
    read(cases).1
}

#[test]
fn a_change_of_measuring_is_marked_and_a_change_of_answers_is_not() {
    let cases = |change: fn(&mut Case)| {
        vec![
            case("a", 0.5).criterion("k", "x", Some(1.0)).with(change),
            case("b", 0.7).criterion("k", "x", Some(0.0)),
        ]
    };
    let before = fingerprint(&cases(|_| {}));
    let respects = |after: &[Case]| -> Vec<Option<ComparisonAspect>> {
        fingerprint(after).changes(&before).into_iter().map(|change| change.aspect).collect()
    };
    let mut turned = cases(|case| case.score = Some(0.1));
    turned.reverse();
    assert_eq!(respects(&turned), []);
    assert_eq!(respects(&cases(|case| case.judge = "other")), [Some(ComparisonAspect::Judge)]);
    assert_eq!(
        respects(&cases(|case| "y".clone_into(&mut case.criteria[0].1))),
        [Some(ComparisonAspect::Rubric)]
    );
    assert_eq!(respects(&cases(|case| case.pass_line = 0.5)), [Some(ComparisonAspect::Thresholds)]);
    assert_eq!(respects(&cases(|case| "z".clone_into(&mut case.id))), [None]);
}

#[test]
fn outcomes_of_programs_are_no_change_of_measuring_and_their_weights_are() {
    let cases = |change: fn(Case) -> Case| vec![change(case("a", 0.5)), case("b", 0.7).program("p", 1.0, "")];
    let before = fingerprint(&cases(|case| case.program("p", 1.0, "adds up")));
    let respects = |after: &[Case]| -> Vec<Option<ComparisonAspect>> {
        fingerprint(after).changes(&before).into_iter().map(|change| change.aspect).collect()
    };
    assert_eq!(respects(&cases(|case| case.program("p", 0.0, "is off by 3"))), []);
    let weighs = |case: Case| case.program("p", 1.0, "adds up").with(|case| case.weighting.0 = 2.0);
    assert_eq!(respects(&cases(weighs)), [Some(ComparisonAspect::Rubric)]);
    assert_eq!(respects(&cases(|case| case)), [Some(ComparisonAspect::Rubric)], "a grader is gone");
}

#[test]
fn a_point_leaves_out_what_is_undecided() {
    let (point, _) = read(&[case("a", 1.0), case("b", 0.2), case("c", 0.0).undecided(0.0, 1.0)]);
    assert_eq!((point.cases, point.incomplete), (3, 1));
    assert_eq!((point.pass_rate.value, point.mean_score.value), (Some(0.5), Some(0.6)));
}

#[test]
fn equal_runs_have_equal_digits_whatever_order_their_cases_ended_in() {
    // 0.1 + 0.2 + 0.3 differs from 0.3 + 0.2 + 0.1.
    let mut cases: Vec<Case> =
        (0..40).map(|n| case(format!("c{n}"), f64::from(n % 7) / 10.0 + 0.03)).collect();
    let point = |cases: &[Case]| read(cases).0;
    let first = point(&cases);
    for turn in 1..20 {
        cases.rotate_left(turn);
        cases.swap(0, turn);
        assert_eq!(point(&cases), first);
    }
}
