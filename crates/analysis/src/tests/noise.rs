//! Answer noise and judge noise, when both are repeated.

use crate::RunSummarizer;
use assize_rubric::{PanelReport, VoteOutcome, VoteSummary};
use assize_stats::ConfidenceLevel;
use assize_store::{DecisionNoise, ResultRow};
use serde_json::json;

use crate::tests::support::{case, close};

/// Votes on the one criterion of each answer of each case.
fn rows(cases: &[&[&[f64]]]) -> Vec<ResultRow> {
    let mut rows = Vec::new();
    for (at, answers) in cases.iter().enumerate() {
        for (repeat, votes) in (1u32..).zip(*answers) {
            let mut row = case(format!("c{at}"), 1.0)
                .with(|case| case.trial = repeat)
                .criterion("a", "a", votes.first().copied())
                .row();
            let panel: PanelReport = serde_json::from_value(json!({
                "rule": "mean", "ties": "ungraded", "missing": 0, "tie": false, "mean": null, "agreement": null,
                "flip_rate": null, "disagreement": null, "low": 0.0, "high": 1.0,
                "votes": votes.iter().map(|value| VoteSummary {
                    judge: "j".to_owned(), repeat: 1, outcome: VoteOutcome::Met, value: Some(*value),
                }).collect::<Vec<_>>(),
            }))
            .expect("a panel");
            row.graders[0].criteria[0].panel = Some(panel);
            rows.push(row);
        }
    }
    rows
}

fn noise(rows: &[ResultRow]) -> Option<DecisionNoise> {
    let mut summariser = RunSummarizer::default();
    for row in rows {
        summariser.push(row);
    }
    if summariser.is_repeated() {
        for row in rows {
            summariser.push_decisions(row);
        }
    }
    summariser.compute_metrics(&[], ConfidenceLevel::P95).expect("metrics in memory").decision_noise
}

#[test]
fn answers_and_verdicts_are_taken_apart() {
    // Two cases, two answers each, two verdicts on each answer; variances by hand:
    // within answers (0 + 0.5 + 0 + 0) / 4 = 0.125; between answers MS 0.3125, (0.3125 - 0.125) / 2 = 0.09375; between
    // cases MS 0.78125, (0.78125 - 0.3125) / 4 = 0.1171875.
    let rows = rows(&[&[&[1.0, 1.0], &[0.0, 1.0]], &[&[0.0, 0.0], &[0.0, 0.0]]]);
    let found = noise(&rows).expect("judged more than once");
    close(found.between_verdicts.value, 0.125);
    let (answers, cases) = (found.between_answers.value.unwrap(), found.between_cases.value.unwrap());
    let squares = {
        // Means of the four answers: 1, 0.5, 0, 0; of the two cases 0.75 and 0; of all 0.375.
        let between_answers: f64 = 2.0 * ((1.0f64 - 0.75).powi(2) + (0.5f64 - 0.75).powi(2)) / 2.0;
        let between_cases: f64 = 4.0 * ((0.75f64 - 0.375).powi(2) + 0.375f64.powi(2));
        (between_answers, between_cases)
    };
    let expected_answers = ((squares.0 - 0.125) / 2.0).max(0.0);
    assert!((answers - expected_answers).abs() < 1e-12, "{answers} {expected_answers}");
    let expected_cases = (squares.1 - 0.125 - 2.0 * expected_answers) / 4.0;
    assert!((cases - expected_cases).abs() < 1e-12, "{cases} {expected_cases}");
    assert!(found.says.contains("between answers to the same case"), "{}", found.says);
}

#[test]
fn answers_given_once_leave_their_noise_undefined() {
    let rows = rows(&[&[&[1.0, 0.0]], &[&[1.0, 1.0]], &[&[0.0, 0.0]], &[&[1.0, 1.0]]]);
    let found = noise(&rows).expect("judged more than once");
    close(found.between_verdicts.value, 0.125);
    assert_eq!(found.between_answers.value, None);
    assert!(found.between_answers.undefined.is_some());
    assert!(found.says.contains("each case was answered once"), "{}", found.says);
}

#[test]
fn judges_asked_once_have_no_noise_to_tell() {
    assert_eq!(noise(&rows(&[&[&[1.0], &[0.0]], &[&[1.0], &[1.0]]])), None);
    assert_eq!(noise(&[]), None);
}

#[test]
fn nothing_that_differs_has_no_interval_and_one_case_no_figure() {
    let same = noise(&rows(&[&[&[1.0, 1.0]], &[&[1.0, 1.0]]])).expect("judged more than once");
    assert_eq!((same.between_verdicts.value, same.between_verdicts.low), (Some(0.0), None));
    assert!(same.says.starts_with("All decisions are equal"), "{}", same.says);
    let alone = noise(&rows(&[&[&[1.0, 0.0], &[1.0, 1.0]]])).expect("judged more than once");
    assert_eq!(alone.between_verdicts.value, None);
    assert!(alone.says.contains("are unknown: "), "{}", alone.says);
}

#[test]
fn intervals_of_noise_cover_and_few_cases_have_none() {
    // A rate of each case, three answers that are met more or less often, three decisions on each.
    let rates = [0.05, 0.95, 0.95, 0.9, 0.6];
    let shift = 0.05;
    let mean = rates.iter().sum::<f64>() / 5.0;
    let between = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / 5.0;
    let within = mean * (1.0 - mean) - between - shift * shift;
    let mut state = 7u64;
    let mut uniform = || {
        for (left, by) in [(true, 13), (false, 7), (true, 17)] {
            state ^= if left { state << by } else { state >> by };
        }
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut covered = 0;
    for set in 0..301 {
        let cases: Vec<Vec<Vec<f64>>> = (0..if set == 0 { 29 } else { 30 })
            .map(|_| {
                let rate = rates[(uniform() * 5.0) as usize];
                let mut answer = || {
                    let rate = if uniform() < 0.5 { rate - shift } else { rate + shift };
                    (0..3).map(|_| f64::from(u8::from(uniform() < rate))).collect()
                };
                (0..3).map(|_| answer()).collect()
            })
            .collect();
        let answers: Vec<Vec<&[f64]>> =
            cases.iter().map(|case| case.iter().map(Vec::as_slice).collect()).collect();
        let found = noise(&rows(&answers.iter().map(Vec::as_slice).collect::<Vec<_>>())).expect("repeats");
        assert_eq!(
            found.between_cases.low, None,
            "no interval covers well where few cases differ from the others"
        );
        let interval = found.between_verdicts.low.zip(found.between_verdicts.high);
        if set == 0 {
            assert_eq!(interval, None, "29 cases are too few");
        } else {
            covered += u32::from(interval.is_some_and(|(low, high)| low <= within && within <= high));
        }
    }
    assert!(covered >= 276, "{covered} of 300");
}
