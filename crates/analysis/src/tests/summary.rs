//! The metrics of one run.

use crate::power::{WantedPrecision, estimate_inputs, plan_sample_size};
use crate::{NameTable, RunSummarizer, stored_mean};
use assize_stats::{ConfidenceLevel, McNemarVariant};
use assize_store::RunMetrics;

use crate::tests::support::{Case, case, close, passing, run, scored};

fn figures(cases: &[Case]) -> RunMetrics {
    let mut summariser = RunSummarizer::default();
    for case in cases {
        summariser.push(&case.row());
    }
    if summariser.is_repeated() {
        for case in cases {
            summariser.push_decisions(&case.row());
        }
    }
    summariser.compute_metrics(&[], ConfidenceLevel::P95).expect("metrics in memory")
}

#[test]
fn a_pass_rate_has_an_interval_and_says_what_would_be_enough() {
    let found = figures(&passing(&[true, true, true, true, true, true, true, true, false, false]));
    close(found.pass_rate.low, 0.444_447);
    close(found.pass_rate.high, 0.963_229);
    assert_eq!(found.pass_rate.method.as_deref(), Some("Blaker"));
    assert!(found.pass_rate.says.contains("between 44.4% and 96.3%"), "{}", found.pass_rate.says);
    // So few cases say little about the rate, so the plan assumes a rate of 50%.
    assert!(found.precision_notes[0].contains("at most 391 cases are needed"), "{:?}", found.precision_notes);
    assert!(found.noise.is_none() && found.pass_rate_bounds.is_none() && found.design_effect.is_none());
}

#[test]
fn all_passed_is_not_certainty() {
    let found = figures(&passing(&[true; 30]));
    assert!(
        found.precision_notes[0].contains("could still be up to 9.5% (95% confidence, one-sided)"),
        "{:?}",
        found.precision_notes
    );
}

#[test]
fn undecided_cases_are_left_out_and_bound_the_figures() {
    let mut cases = scored(&[1.0, 0.5]);
    cases.push(case("x", 0.0).undecided(0.2, 0.9));
    cases.push(case("y", 0.0).undecided(0.0, 1.0));
    let found = figures(&cases);
    assert_eq!((found.pass_rate.n, found.pass_rate.value, found.mean_score.n), (2, Some(0.5), 2));
    assert_eq!(found.pass_rate_bounds, Some([0.25, 0.75]));
    let [low, high] = found.mean_score_bounds.expect("bounds");
    close(Some(low), 1.7 / 4.0);
    close(Some(high), 3.4 / 4.0);
    assert!(
        found.precision_notes[0].starts_with("2 of 4 cases are incomplete"),
        "{:?}",
        found.precision_notes
    );
    let none = figures(&[case("y", 0.0).undecided(0.0, 1.0)]);
    assert_eq!(
        (none.pass_rate.value, none.mean_score.undefined.as_deref()),
        (None, Some("there are no values"))
    );
    assert_eq!((stored_mean(&none.mean_score), figures(&[]).pass_rate.n), (None, 0));
}

#[test]
fn clusters_make_the_error_larger_and_are_counted() {
    let values = [0.9, 0.8, 1.0, 0.2, 0.3, 0.5, 0.7, 0.6, 0.1, 0.65];
    let clusters = ["a", "a", "a", "b", "b", "c", "d", "d", "e", "f"];
    let cases: Vec<Case> = values
        .iter()
        .zip(clusters)
        .enumerate()
        .map(|(at, (score, cluster))| {
            case(format!("c{at}"), *score).with(|case| case.cluster = Some(cluster.to_owned()))
        })
        .collect();
    let found = figures(&cases);
    // Computed with scipy 1.17.1: Wilson's lower end for 10.539609 values and t with 4 degrees of freedom,
    // because the clusters count as five of equal size.
    close(found.mean_score.low, 0.220_462_225_640_741);
    assert_eq!(
        (found.mean_score.clusters, found.mean_score.method.as_deref()),
        (Some(6), Some("Wilson, effective n"))
    );
    assert!(found.design_effect.is_some_and(|effect| effect > 1.0), "{:?}", found.design_effect);
    assert!(
        found.precision_notes.iter().any(|remark| remark.contains("6 clusters")),
        "{:?}",
        found.precision_notes
    );
    let stored = stored_mean(&found.mean_score).expect("a mean");
    assert_eq!(stored.method, "Wilson, effective n over 6 clusters");
}

#[test]
fn repeats_tell_noise_from_spread_and_name_what_is_unstable() {
    // The handbook's example: 7 8 7, 3 3 4, 9 9 9, 5 2 5, as tenths.
    let scores = [[0.7, 0.8, 0.7], [0.3, 0.3, 0.4], [0.9, 0.9, 0.9], [0.5, 0.2, 0.5]];
    let cases: Vec<Case> = scores
        .iter()
        .enumerate()
        .flat_map(|(at, trials)| {
            trials.iter().enumerate().map(move |(trial, score)| {
                case(format!("c{at}"), *score)
                    .criterion("steady", "x", Some(1.0))
                    .criterion("shaky", "y", Some(if at == 1 && trial == 2 { 0.0 } else { 1.0 }))
                    .with(|case| case.trial = trial as u32 + 1)
            })
        })
        .collect();
    let found = figures(&cases);
    let noise = found.noise.expect("trials");
    close(Some(noise.between_answers), 0.009_166_667);
    close(Some(noise.between_cases), 0.069_814_815);
    close(noise.icc, 0.883_938_885);
    // Of four cases, only the first has a flip: it passes once in three.
    assert_eq!(noise.verdict_flips.map(|flips| (flips.value, flips.n)), Some((Some(0.25), 4)));
    let unstable: Vec<(&str, Option<f64>)> =
        found.unstable.iter().map(|one| (one.criterion.as_str(), one.flip_rate.value)).collect();
    assert_eq!(unstable, [("shaky", Some(0.25))]);
    assert_eq!(found.mean_score.clusters, Some(4), "answers to a case are one cluster");
}

#[test]
fn one_attempt_passes_as_often_as_trials_do() {
    let plan = serde_json::json!({
        "count": 4, "strategy": "pass_at_k", "early_stop": false, "thresholds": { "pass": 0.8, "borderline": null },
    });
    for failing in [0, 3] {
        let mut summariser = RunSummarizer::default();
        for at in 0..20u32 {
            let score = if at < failing { 0.0 } else { 1.0 };
            let mut row = case(format!("c{}", at / 4), score).with(|case| case.trial = at % 4 + 1).row();
            row.trials = Some(serde_json::from_value(plan.clone()).expect("a plan"));
            summariser.push(&row);
        }
        let found = summariser.compute_metrics(&[], ConfidenceLevel::P95).expect("metrics in memory");
        let (rate, trials) = (found.pass_rate, found.trials.expect("trials"));
        let one = &trials.pass_k[0];
        assert_eq!((one.k, one.any.value, one.any.low, one.any.high), (1, rate.value, rate.low, rate.high));
        assert_eq!((one.all.value, one.all.low), (rate.value, rate.low));
        assert!(rate.low.is_some_and(|low| low > 0.1));
    }
}

#[test]
fn advice_about_precision_counts_cases_and_needs_an_interval() {
    // Fifteen cases with five trials: three cases in four pass.
    let trials: Vec<Case> = (0..75)
        .map(|at| {
            let score = if at / 5 % 4 == 0 { 0.0 } else { 1.0 };
            case(format!("c{}", at / 5), score).with(|case| case.trial = at as u32 % 5 + 1)
        })
        .collect();
    let found = figures(&trials);
    let said =
        found.precision_notes.iter().find(|remark| remark.contains("Margin of error")).expect("a remark");
    let n: f64 =
        said.split(", about ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).expect("n");
    // All trials of a case have the same result, so one trial per case would do as well: about 0.2 / (0.05 / 1.96)^2.
    assert!(said.contains("cases with as many trials each") && n > 15.0 && n < 350.0, "{said}");

    // Clusters that fail as a whole, or clusters that all pass: the note names as many cases as the plan for
    // this run.
    for failing in [0, 5] {
        let cases: Vec<Case> = (0..100)
            .map(|at| {
                let score = if at / 5 < failing { 0.0 } else { 1.0 };
                case(format!("c{at}"), score).with(|case| case.cluster = Some(format!("k{}", at / 5)))
            })
            .collect();
        let mut names = NameTable::default();
        let known = estimate_inputs(&[run("a", &cases, &mut names)], &names);
        let wanted = WantedPrecision {
            width: Some(0.1),
            difference: None,
            power: 0.8,
            level: ConfidenceLevel::P95,
            variant: McNemarVariant::Exact,
        };
        let needs = plan_sample_size(&known, wanted).expect("valid");
        let n = needs[0].answer.expect("a number");
        let word = if failing == 0 { "at most" } else { "about" };
        let remarks = figures(&cases).precision_notes;
        let said = format!("For ±5.0 pp, {word} {n} cases are needed");
        assert!(remarks.iter().any(|remark| remark.contains(&said)), "{said}: {remarks:?}");
        assert!(n > 1_000.0, "{needs:?}");
    }

    let cluster = |score: f64, at: usize| {
        case(format!("c{at}"), score).with(|case| case.cluster = Some("all".to_owned()))
    };
    let single: Vec<Case> = (0..20).map(|at| cluster(f64::from(u8::from(at % 3 > 0)), at)).collect();
    let found = figures(&single);
    assert_eq!((found.pass_rate.low, found.mean_score.low), (None, None));
    assert!(
        found.precision_notes.iter().any(|remark| remark.contains("no confidence interval")),
        "{:?}",
        found.precision_notes
    );
    assert!(
        !found.precision_notes.iter().any(|remark| remark.contains("are wide")),
        "{:?}",
        found.precision_notes
    );
    assert!(
        !found.precision_notes.iter().any(|remark| remark.contains("Margin of error")),
        "{:?}",
        found.precision_notes
    );
}

#[test]
fn figures_are_the_same_to_the_last_digit_in_any_order() {
    let scores: Vec<f64> = (0..97).map(|number| f64::from(number * 37 % 97) / 97.0 + 0.001).collect();
    let mut cases = scored(&scores);
    let first = figures(&cases);
    cases.reverse();
    let last = figures(&cases);
    cases.rotate_left(31);
    let other = figures(&cases);
    for found in [last, other] {
        assert_eq!(found.mean_score.value.map(f64::to_bits), first.mean_score.value.map(f64::to_bits));
        assert_eq!(found.mean_score.low.map(f64::to_bits), first.mean_score.low.map(f64::to_bits));
    }
}

#[test]
fn the_means_of_published_benchmarks_differ_in_what_they_make_of_penalties_alone() {
    let rubric = |id: &str, criteria: &[(f64, f64)]| {
        case(id, 0.5).with(|case| {
            case.criteria = criteria
                .iter()
                .enumerate()
                .map(|(at, (weight, value))| (format!("c{at}"), "x".to_owned(), *weight, Some(*value)))
                .collect();
        })
    };
    let half = rubric("half", &[(2.0, 1.0), (2.0, 0.0), (-4.0, 0.0)]);
    let below = rubric("below", &[(2.0, 0.0), (-4.0, 1.0)]);
    let penalties = rubric("penalties", &[(-1.0, 1.0), (-1.0, 0.0)]);

    let means = |cases: &[&Case]| {
        let cases: Vec<Case> = cases.iter().map(|case| (*case).clone()).collect();
        figures(&cases).published_means
    };
    let both = means(&[&half, &below]).expect("penalties");
    assert_eq!((both.cases, both.cases_without_points), (2, 0));
    assert_eq!((both.healthbench, both.research_rubrics), (0.0, (0.5 - 2.0) / 2.0));
    assert_eq!(both.prbench_normalised, f64::midpoint(0.75, 0.0));
    let all = means(&[&half, &below, &penalties]).expect("penalties");
    assert_eq!((all.cases, all.cases_without_points), (2, 1));
    assert_eq!((all.healthbench, all.prbench_normalised), (both.healthbench, both.prbench_normalised));
    assert_eq!(all.research_rubrics, (0.5 - 2.0) / 3.0);
    assert!(all.describe().contains("-0.500 (with 1 case of penalties only, as 0)"), "{}", all.describe());
    assert_eq!(means(&[&penalties]), None);
    assert_eq!(means(&[&rubric("none", &[(1.0, 1.0)])]), None, "without penalties, it is the mean score");
}
