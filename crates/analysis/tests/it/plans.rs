//! How many cases, repeats and labels.

use assize_analysis::Names;
use assize_analysis::power::{Known, Wanted, learn, plan};
use assize_stats::Level;

use crate::support::{case, close, passing, run};

const WANTED: Wanted = Wanted { width: None, difference: None, power: 0.8, level: Level::P95 };

fn answers(known: &Known, wanted: Wanted) -> Vec<Option<f64>> {
    plan(known, wanted).expect("sound").into_iter().map(|need| need.answer).collect()
}

#[test]
fn precision_takes_as_many_cases_as_the_handbook_says() {
    let known = Known { pass_rate: Some(0.8), ..Known::default() };
    let width = Wanted { width: Some(0.1), ..WANTED };
    assert_eq!(answers(&known, width), [Some(245.0)]);
    let known = Known { score_sd: Some(0.3), ..Known::default() };
    assert_eq!(answers(&known, width), [Some(139.0)]);
    let known = Known { cluster_size: Some(5.0), cluster_correlation: Some(0.3), ..known };
    assert_eq!(answers(&known, width), [Some(305.0)], "139 cases, 138.3 before rounding, times 2.2");
    // Sensitivity needs cases that people pass: at a pass rate of 0.5 every second one.
    let known = Known { sensitivity: Some(0.8), pass_rate: Some(0.5), ..Known::default() };
    let needs = plan(&known, width).expect("sound");
    assert_eq!((needs[1].answer, needs[1].unit), (Some(245.0), "labels"));
    assert!(needs[1].says.contains("about 490 cases"), "{}", needs[1].says);
}

#[test]
fn differences_take_as_many_pairs_as_the_handbook_says() {
    let difference = |size| Wanted { difference: Some(size), ..WANTED };
    let known = Known { discordance: Some(0.2), ..Known::default() };
    assert_eq!(answers(&known, difference(0.1)), [Some(155.0)]);
    let known = Known { discordance: Some(0.05), ..Known::default() };
    assert_eq!(answers(&known, difference(0.1)), [None], "the rates can't differ by more than the pairs do");
    // Miller: ω² = 1/9 without noise, a difference of 0.03.
    let known = Known { difference_sd: Some(1.0 / 3.0), ..Known::default() };
    assert_eq!(answers(&known, difference(0.03)), [Some(969.0)]);
    let known = Known { pass_rate: Some(0.8), ..Known::default() };
    assert_eq!(answers(&known, difference(0.1)).last(), Some(&Some(291.0)), "different cases, a side");
    let known = Known {
        cases: Some(198),
        difference_sd: Some((1.0f64 / 9.0 + 1.0 / 3.0).sqrt()),
        ..Known::default()
    };
    close(answers(&known, WANTED)[0], 0.132_733);
}

#[test]
fn repeats_reduce_only_what_is_within_cases() {
    let known = Known { between: Some(0.04), within: Some(0.02), ..Known::default() };
    let needs = answers(&known, Wanted { width: Some(0.1), ..WANTED });
    let by_hand = |repeats: f64| {
        Some((1.959_963_984_540_054f64.powi(2) * (0.04 + 0.02 / repeats) / 0.05f64.powi(2)).ceil())
    };
    assert_eq!(needs, [1.0, 2.0, 3.0, 5.0, 10.0].map(by_hand));
}

#[test]
fn a_run_teaches_what_it_shows_and_nothing_else() {
    let mut names = Names::default();
    assert_eq!(learn(&[], &names), Known::default());
    let first = run("a", &passing(&[true, true, false, true]), &mut names);
    let known = learn(std::slice::from_ref(&first), &names);
    assert_eq!((known.pass_rate, known.cases, known.discordance), (Some(0.75), Some(4), None));
    assert_eq!((known.between, known.design_effect), (None, None), "nothing was repeated");
    let second = run("b", &passing(&[true, false, false, true, true]), &mut names);
    let known = learn(&[first, second], &names);
    assert_eq!((known.discordance, known.cases), (Some(0.25), Some(4)));
    close(known.difference_sd, 0.5);
    let lone = run("c", &[case("a", 0.0).undecided(0.0, 1.0)], &mut names);
    let known = learn(&[lone], &names);
    assert_eq!((known.pass_rate, known.score_sd), (None, None));
}
