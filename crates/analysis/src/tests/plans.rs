//! Numbers of cases, repeats and labels.

use crate::NameTable;
use crate::power::{PlanningInputs, WantedPrecision, estimate_inputs, plan_sample_size};
use assize_stats::correction::prediction_powered_within;
use assize_stats::{ConfidenceLevel, McNemarVariant, bounded_mean_clustered};

use crate::tests::support::{case, close, passing, run};

const WANTED: WantedPrecision = WantedPrecision {
    width: None,
    difference: None,
    power: 0.8,
    level: ConfidenceLevel::P95,
    variant: McNemarVariant::Exact,
};

fn answers(known: &PlanningInputs, wanted: WantedPrecision) -> Vec<Option<f64>> {
    plan_sample_size(known, wanted).expect("sound").into_iter().map(|need| need.answer).collect()
}

#[test]
fn precision_takes_as_many_cases_as_the_handbook_says() {
    let known = PlanningInputs { pass_rate: Some(0.8), ..PlanningInputs::default() };
    let width = WantedPrecision { width: Some(0.1), ..WANTED };
    assert_eq!(answers(&known, width), [Some(253.0)]);
    let known = PlanningInputs { score_sd: Some(0.3), ..PlanningInputs::default() };
    assert_eq!(answers(&known, width), [Some(141.0)]);
    let known = PlanningInputs { cluster_size: Some(5.0), cluster_correlation: Some(0.3), ..known };
    assert_eq!(answers(&known, width), [Some(310.0)], "141 cases, 140.7 before rounding, times 2.2");
    // Sensitivity needs cases that people pass, which is every second one at a pass rate of 0.5.
    let known = PlanningInputs { sensitivity: Some(0.8), pass_rate: Some(0.5), ..PlanningInputs::default() };
    let needs = plan_sample_size(&known, width).expect("sound");
    assert_eq!((needs[1].answer, needs[1].unit), (Some(253.0), "labels"));
    assert!(needs[1].says.contains("about 506 cases"), "{}", needs[1].says);
}

#[test]
fn labels_of_a_corrected_rate_are_planned_by_its_own_interval() {
    let width = WantedPrecision { width: Some(0.1), ..WANTED };
    let judge = PlanningInputs {
        pass_rate: Some(0.7),
        sensitivity: Some(0.9),
        specificity: Some(0.85),
        cases: Some(2_000),
        ..PlanningInputs::default()
    };
    let corrected = |known: &PlanningInputs| {
        let needs = plan_sample_size(known, width).expect("valid");
        needs.into_iter().find(|need| need.question.starts_with("the corrected pass rate")).expect("asked")
    };
    let found = corrected(&judge);
    let labels = found.answer.expect("a number");
    // What `calibrate` would report for as many labels, seven of ten passing, and for a tenth fewer.
    let half = |labels: f64| {
        let cells = |n: f64| {
            let of = |share: f64| (n * share).round() as usize;
            let (both, judge_only) = (of(0.7 * 0.9), of(0.3 * 0.15));
            let people_only = of(0.7) - both;
            let neither = n as usize - both - judge_only - people_only;
            [(1.0, 1.0, both), (0.0, 1.0, judge_only), (1.0, 0.0, people_only), (0.0, 0.0, neither)]
        };
        let list = |n: f64, pick: fn(&(f64, f64, usize)) -> f64| -> Vec<f64> {
            cells(n).iter().flat_map(|cell| vec![pick(cell); cell.2]).collect()
        };
        let (human, judge) = (list(labels, |cell| cell.0), list(labels, |cell| cell.1));
        let others = list(2_000.0 - labels, |cell| cell.1);
        let level = ConfidenceLevel::P95;
        let found = prediction_powered_within::<u32>(&human, &judge, &others, None, (0.0, 1.0), level);
        found.expect("defined").tuned.interval.width() / 2.0
    };
    assert!(half(labels) <= 0.0505 && half((labels * 0.9).round()) > 0.0505, "{found:?} {}", half(labels));
    assert!(found.says.contains("of 2000 that the judge decides"), "{found:?}");

    // Without a number of cases they add no error; with few cases no number of labels is enough.
    let any = corrected(&PlanningInputs { cases: None, ..judge.clone() });
    assert!(any.answer.is_some_and(|n| n < labels) && any.says.contains("adds no error"), "{any:?}");
    assert_eq!(corrected(&PlanningInputs { cases: Some(200), ..judge.clone() }).answer, None);
    // A judge without information saves no label.
    let alone = PlanningInputs { sensitivity: None, specificity: None, cases: None, ..judge.clone() };
    let alone = plan_sample_size(&alone, width).expect("valid")[0].answer;
    let coin = corrected(&PlanningInputs { specificity: Some(0.1), cases: None, ..judge });
    assert_eq!(coin.answer, alone, "{coin:?}");
    assert!(coin.says.contains("saves none"), "{coin:?}");
}

#[test]
fn differences_take_as_many_pairs_as_the_handbook_says() {
    let difference = |size| WantedPrecision { difference: Some(size), ..WANTED };
    let known = PlanningInputs { discordance: Some(0.2), ..PlanningInputs::default() };
    assert_eq!(
        answers(&known, difference(0.1)),
        [Some(168.0)],
        "155 by Connor's formula, which is that of McNemar's chi-squared"
    );
    // Binomial sums of scipy 1.17.1.
    let mid_p = WantedPrecision { variant: McNemarVariant::MidP, ..difference(0.1) };
    let needs = plan_sample_size(&known, mid_p).expect("valid");
    assert_eq!((needs[0].answer, needs[0].method), (Some(152.0), "McNemar, mid-p"));
    let cases = PlanningInputs { cases: Some(100), ..known };
    let shown = |variant| answers(&cases, WantedPrecision { variant, ..WANTED })[0].expect("a difference");
    assert!((shown(McNemarVariant::Exact) - 0.127_725).abs() < 1e-6);
    assert!((shown(McNemarVariant::MidP) - 0.120_690).abs() < 1e-6);
    let few = PlanningInputs { discordance: Some(0.15), cases: Some(40), ..PlanningInputs::default() };
    let none = plan_sample_size(&few, WANTED).expect("sound").remove(0);
    let says = "none: 40 pairs can't detect any difference with 80% power if so few of them differ";
    assert_eq!((none.answer, none.says.as_str()), (None, says));
    let known = PlanningInputs { discordance: Some(0.05), ..PlanningInputs::default() };
    assert_eq!(answers(&known, difference(0.1)), [None], "the rates can't differ by more than the pairs do");
    let says = plan_sample_size(&known, difference(0.1)).expect("sound").remove(0).says;
    assert!(says.contains("at least 0.1 of the cases must change"), "{says}");
    // A rate of 0 can only rise, and no rate is 0.6 away from one half.
    let known = PlanningInputs { pass_rate: Some(0.0), ..PlanningInputs::default() };
    let needs = plan_sample_size(&known, difference(0.05)).expect("sound");
    assert!(needs.iter().all(|need| need.answer.is_some()), "{needs:?}");
    assert_eq!(needs.last().map(|need| &*need.question), Some("pass rates of 0 and 0.05, different cases"));
    let known = PlanningInputs { pass_rate: Some(0.5), ..PlanningInputs::default() };
    let needs = plan_sample_size(&known, difference(0.6)).expect("sound");
    assert!(needs.len() == 1 && needs[0].says.contains("below 0 or above 1"), "{needs:?}");
    // Miller: ω² = 1/9 without noise, a difference of 0.03.
    let known = PlanningInputs { difference_sd: Some(1.0 / 3.0), ..PlanningInputs::default() };
    assert_eq!(answers(&known, difference(0.03)), [Some(969.0)]);
    let known = PlanningInputs { pass_rate: Some(0.8), ..PlanningInputs::default() };
    assert_eq!(answers(&known, difference(0.1)).last(), Some(&Some(291.0)), "different cases, a side");
    let known = PlanningInputs {
        cases: Some(198),
        difference_sd: Some((1.0f64 / 9.0 + 1.0 / 3.0).sqrt()),
        ..PlanningInputs::default()
    };
    close(answers(&known, WANTED)[0], 0.132_733);
}

#[test]
fn repeats_reduce_only_what_is_within_cases() {
    let known = PlanningInputs { between: Some(0.04), within: Some(0.02), ..PlanningInputs::default() };
    let needs = answers(&known, WantedPrecision { width: Some(0.1), ..WANTED });
    // The smallest numbers whose half-width by Student's t (scipy.stats.t) is at most 0.05.
    assert_eq!(needs, [95.0, 80.0, 75.0, 71.0, 67.0].map(Some));
}

#[test]
fn a_run_teaches_what_it_shows_and_nothing_else() {
    let mut names = NameTable::default();
    assert_eq!(estimate_inputs(&[], &names), PlanningInputs::default());
    let first = run("a", &passing(&[true, true, false, true]), &mut names);
    let known = estimate_inputs(std::slice::from_ref(&first), &names);
    assert_eq!((known.pass_rate, known.cases, known.discordance), (Some(0.75), Some(4), None));
    assert_eq!((known.between, known.design_effect), (None, None), "nothing was repeated");
    let second = run("b", &passing(&[true, false, false, true, true]), &mut names);
    let known = estimate_inputs(&[first, second], &names);
    assert_eq!((known.discordance, known.cases), (Some(0.25), Some(4)));
    close(known.difference_sd, 0.5);
    let lone = run("c", &[case("a", 0.0).undecided(0.0, 1.0)], &mut names);
    let known = estimate_inputs(&[lone], &names);
    assert_eq!((known.pass_rate, known.score_sd), (None, None));
}

#[test]
fn a_run_without_any_failure_is_planned_on_as_eval_reads_it() {
    let mut names = NameTable::default();
    let passed = run("a", &passing(&[true; 10]), &mut names);
    let known = estimate_inputs(std::slice::from_ref(&passed), &names);
    let wanted = WantedPrecision { width: Some(0.1), difference: Some(0.05), ..WANTED };
    let needs = plan_sample_size(&known, wanted).expect("sound");

    // Ten of ten have the interval 0.717 to 1, so neither a margin of 0 nor zero cases may be planned.
    for of in ["a pass rate of ", "a mean score of "] {
        let size = needs.iter().find(|need| need.question.starts_with(of)).expect("asked");
        assert!(size.answer.is_some_and(|n| n > 200.0) && size.says.starts_with("at most"), "{size:?}");
        let reach = needs
            .iter()
            .find(|need| need.question.starts_with(&format!("margin of error of {of}1 over 10")))
            .expect("asked");
        close(reach.answer, (1.0 - 0.717_065) / 2.0);
    }

    // Scores that vary have the half-width of their own interval.
    let scores = [0.25, 0.5, 0.5, 0.75, 1.0, 0.9];
    let cases: Vec<_> = scores.iter().enumerate().map(|(at, score)| case(format!("c{at}"), *score)).collect();
    let varied = run("b", &cases, &mut names);
    let needs = plan_sample_size(&estimate_inputs(&[varied], &names), WANTED).expect("sound");
    let reach = needs.iter().find(|need| need.question.contains("a mean score of")).expect("asked");
    let interval = assize_stats::bounded_mean(&scores, (0.0, 1.0), ConfidenceLevel::P95)
        .and_then(|found| found.interval)
        .expect("defined");
    close(reach.answer, interval.width() / 2.0);
}

/// The median half-width of intervals over cases in clusters of five with a correlation of 0.3: with
/// probability sqrt(0.3) a case gets the verdict of its cluster, otherwise its own.
fn clustered_half_width(rate: f64, clusters: usize) -> f64 {
    let mut state = 1_u64;
    let mut chance = |probability: f64| {
        // The constants of Knuth's MMIX; the upper half of the state is random enough here.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 32) as f64) < probability * 2f64.powi(32)
    };
    let names: Vec<usize> = (0..clusters * 5).map(|at| at / 5).collect();
    let mut widths: Vec<f64> = (0..200)
        .map(|_| {
            let passed = (0..clusters).flat_map(|_| {
                let shared = chance(rate);
                std::array::from_fn::<bool, 5, _>(
                    |_| if chance(0.3_f64.sqrt()) { shared } else { chance(rate) },
                )
            });
            let values: Vec<f64> = passed.map(|passed| f64::from(u8::from(passed))).collect();
            let found = bounded_mean_clustered(&values, &names, (0.0, 1.0), ConfidenceLevel::P95);
            found.and_then(|found| found.interval).expect("several clusters").width() / 2.0
        })
        .collect();
    widths.sort_by(f64::total_cmp);
    widths[100]
}

#[test]
fn planned_clusters_have_intervals_of_the_width_that_was_wanted() {
    for rate in [0.5, 0.8, 0.95] {
        for width in [0.2, 0.1, 0.05] {
            let known = PlanningInputs {
                pass_rate: Some(rate),
                cluster_size: Some(5.0),
                cluster_correlation: Some(0.3),
                ..PlanningInputs::default()
            };
            let n = answers(&known, WantedPrecision { width: Some(width), ..WANTED })[0].expect("an answer");
            let found = clustered_half_width(rate, (n / 5.0).ceil() as usize) / (width / 2.0);
            // Few failures, and the design effect estimated from them, vary a lot.
            let slack = 0.05 + 0.4 / (n * rate * (1.0 - rate));
            assert!((found - 1.0).abs() < slack, "{rate} to {width}: {found} of it over {n}");
        }
    }
}
