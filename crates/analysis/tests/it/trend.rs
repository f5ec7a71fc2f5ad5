//! Runs in a row.

use assize_analysis::Names;
use assize_analysis::compare::Respect;
use assize_analysis::trend::{Fingerprint, point};
use assize_stats::Level;

use crate::support::{Case, case, run};

fn fingerprint(cases: &[Case]) -> Fingerprint {
    let mut names = Names::default();
    let run = run("run", cases, &mut names);
    Fingerprint::of(&run, &names)
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
    let respects = |after: &[Case]| -> Vec<Option<Respect>> {
        fingerprint(after).changes(&before).into_iter().map(|change| change.respect).collect()
    };
    let mut turned = cases(|case| case.score = Some(0.1));
    turned.reverse();
    assert_eq!(respects(&turned), []);
    assert_eq!(respects(&cases(|case| case.judge = "other")), [Some(Respect::Judge)]);
    assert_eq!(respects(&cases(|case| "y".clone_into(&mut case.criteria[0].1))), [Some(Respect::Rubric)]);
    assert_eq!(respects(&cases(|case| case.pass_line = 0.5)), [Some(Respect::Lines)]);
    assert_eq!(respects(&cases(|case| "z".clone_into(&mut case.id))), [None]);
}

#[test]
fn a_point_leaves_out_what_is_undecided() {
    let mut names = Names::default();
    let run = run("run", &[case("a", 1.0), case("b", 0.2), case("c", 0.0).undecided(0.0, 1.0)], &mut names);
    let point = point(&run, "then".to_owned(), Vec::new(), Level::P95);
    assert_eq!((point.cases, point.undecided), (3, 1));
    assert_eq!((point.pass_rate.value, point.mean_score.value), (Some(0.5), Some(0.6)));
}
