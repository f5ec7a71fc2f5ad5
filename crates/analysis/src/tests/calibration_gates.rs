//! Gates of a calibration with missing decisions of the judge, and spellings of raters' names.

use std::fmt::Write as _;

use crate::calibrate::{
    CalibrationGate, CalibrationGateResult, CalibrationMaterial, CalibrationOptions, CalibrationReport,
    FewLabels, GateBasis, JudgeReadOptions, LabelInclusion, MaterialError, calibrate,
    check_calibration_gates, rescale,
};
use crate::labels::{ColumnMapping, LabelReadOptions, read_rows};
use crate::raters::rater_agreement;
use crate::repeats::analyze_repeats;
use crate::total_error::JudgedScores;
use crate::{MetricEstimate, ResamplingOptions};
use assize_stats::{ConfidenceLevel, UndefinedReason, agreement::RatingScale};

fn material(table: &str) -> CalibrationMaterial {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, table).expect("written");
    let columns = ColumnMapping::default();
    let rows = read_rows(&[path], &LabelReadOptions { columns, ..LabelReadOptions::default() });
    let reading = JudgeReadOptions { threshold: 0.5, rater: None, likeliest: false };

    CalibrationMaterial::from_rows(&rows.expect("sound"), &reading, |_| LabelInclusion::Included)
        .expect("sound")
}

/// `right` labelled cases on which the judge is right, and `open` ones that it did not decide.
fn table(right: usize, open: usize) -> String {
    let line = |at: usize| {
        let label = if at.is_multiple_of(2) { "met" } else { "unmet" };
        format!("c{at},k,{},{label}\n", if at < right { label } else { "" })
    };
    let lines: Vec<String> = (0..right + open).map(line).collect();
    "case,criterion,judge,label\n".to_owned() + &lines.concat()
}

/// Result of a gate on a metric of a table.
fn table_gate(
    table: &str,
    level: ConfidenceLevel,
    (figure, least): (&'static str, f64),
    on: GateBasis,
) -> CalibrationGateResult {
    let options = CalibrationOptions {
        resampling: ResamplingOptions { resamples: 200, level, ..ResamplingOptions::default() },
        worst_case: true,
        ..CalibrationOptions::default()
    };
    let found = calibrate(material(table), &options).expect("verdicts");
    check_calibration_gates(&found, &[CalibrationGate { figure, least }], on).remove(0)
}

/// Passed and undecided, for a minimum of 0.9 on this metric.
fn gate(right: usize, open: usize, figure: &'static str) -> (bool, bool) {
    let found = table_gate(&table(right, open), ConfidenceLevel::P95, (figure, 0.9), GateBasis::Estimate);
    (found.passed, found.undecided)
}

#[test]
fn labels_that_a_coin_would_get_right_reach_no_limit() {
    let low = ConfidenceLevel::new(0.8).expect("a level");
    for (level, least) in [(low, 4), (ConfidenceLevel::P95, 6)] {
        for figure in ["kappa", "ac1", "mcc", "balanced_accuracy", "macro_f1"] {
            for on in [GateBasis::Estimate, GateBasis::Lower] {
                let few = table_gate(&table(least - 2, 0), level, (figure, 0.01), on);
                assert!(!few.passed && !few.undecided && few.value.is_err(), "{figure}: {few:?}");
                let enough = table_gate(&table(least, 0), level, (figure, 0.01), on);
                assert!(enough.passed, "{figure} of {least} with {on:?}: {enough:?}");
            }
        }
    }

    let why = table_gate(&table(4, 0), ConfidenceLevel::P95, ("kappa", 0.5), GateBasis::Lower);
    let why = why.few.expect("too few").to_string();
    assert_eq!(why, "4 labels could agree by chance: at this level, at least 6 are needed");

    // Twelve labels in four clusters count as four.
    let lines = (0..12).map(|at| {
        let label = if at % 4 < 2 { "met" } else { "unmet" };
        format!("c{},k{},{label},{label}\n", at % 4, at / 4)
    });
    let clustered = "case,criterion,judge,label\n".to_owned() + &lines.collect::<String>();
    for figure in ["kappa", "accuracy", "sensitivity"] {
        let found = table_gate(&clustered, ConfidenceLevel::P95, (figure, 0.01), GateBasis::Estimate);
        assert!(!found.passed, "{figure}");
        let few = FewLabels { found: 4, least: 6, is_clustered: true };
        assert_eq!(found.few, Some(few), "{figure}");
    }
}

#[test]
fn another_label_that_agrees_never_fails_a_limit_on_a_share() {
    let low = |right: usize| {
        let found = table_gate(&table(right, 0), ConfidenceLevel::P95, ("accuracy", 0.0), GateBasis::Lower);
        found.value.expect("defined")
    };
    let ends: Vec<f64> = (5..16).map(low).collect();
    assert!(ends.is_sorted(), "{ends:?}");
    // Clopper and Pearson's lower end, with 2.5 % below it.
    for (right, end) in (5..16).zip(ends) {
        assert!((end - 0.025_f64.powf(1.0 / f64::from(right))).abs() < 1e-9, "{right}: {end}");
    }
    let five = table_gate(&table(5, 0), ConfidenceLevel::P95, ("accuracy", 0.5), GateBasis::Estimate);
    assert_eq!(five.value, Err(UndefinedReason::NotAboveGuessing));
}

#[test]
fn a_limit_is_not_reached_while_missing_decisions_could_undo_it() {
    for figure in ["accuracy", "kappa", "sensitivity"] {
        assert_eq!(gate(60, 0, figure), (true, false), "{figure}");
        assert_eq!(gate(20, 40, figure), (false, true), "{figure}");
        assert_eq!(gate(60, 1, figure), (true, false), "{figure}");
    }
}

/// Scores of the judge and of people on one criterion, calibrated.
fn scored<T: std::fmt::Display>(
    pairs: &[(T, T)],
    scale: Option<RatingScale>,
) -> Result<CalibrationReport, MaterialError> {
    let lines: Vec<String> =
        pairs.iter().enumerate().map(|(at, (judge, label))| format!("c{at},k,{judge},{label}\n")).collect();
    let options = CalibrationOptions {
        resampling: ResamplingOptions { resamples: 200, ..ResamplingOptions::default() },
        scale,
        ..CalibrationOptions::default()
    };
    calibrate(material(&("case,criterion,judge,label\n".to_owned() + &lines.concat())), &options)
}

fn figure(report: &CalibrationReport, id: &str) -> MetricEstimate {
    let section = report.sections.iter().find(|section| section.is_overall).expect("all items");
    *section.figures.iter().find(|figure| figure.id == id).expect("a metric")
}

#[test]
fn a_judge_whose_scores_are_those_of_people_passes() {
    let same: Vec<(i32, i32)> = (0..200).map(|at| (at % 11, at % 11)).collect();
    let found = scored(&same, None).expect("scores");
    for id in ["spearman", "kendall_tau_b", "pearson", "kappa_quadratic", "ac2", "alpha_interval"] {
        let of = figure(&found, id);
        let interval = of.interval.expect("defined");
        assert!(of.value.is_ok_and(|value| value > 0.999_999), "{id}: {:?}", of.value);
        assert!(interval.low > 0.95 && interval.low < 0.99 && interval.high == 1.0, "{id}: {interval:?}");
    }

    let gate = |found: &CalibrationReport, figure, least| {
        check_calibration_gates(found, &[CalibrationGate { figure, least }], GateBasis::Estimate).remove(0)
    };
    assert!(gate(&found, "spearman", 0.5).passed && gate(&found, "kappa_quadratic", 0.5).passed);
    // Two lucky pairs could be guessed.
    let lucky = scored(&[(1, 1), (9, 9)], None).expect("scores");
    let lucky = gate(&lucky, "kappa_quadratic", 0.1);
    assert_eq!((lucky.passed, lucky.few.map(|few| few.least)), (false, Some(6)), "{lucky:?}");
}

#[test]
fn means_of_people_lie_between_the_points_of_a_scale() {
    let scale = RatingScale::new((1..=5).map(f64::from)).expect("a scale");
    let pairs: Vec<(f64, f64)> = (0..40)
        .map(|at| (f64::from(at % 5 + 1), f64::from(at % 5 + 1) + [0.0, -0.5][usize::from(at % 5 > 2)]))
        .collect();
    let found = scored(&pairs, Some(scale)).expect("scores");
    let kappa = figure(&found, "kappa_quadratic");
    assert!(kappa.value.is_ok_and(|value| value > 0.9 && value < 1.0), "{:?}", kappa.value);
    assert!(kappa.interval.is_ok(), "{:?}", kappa.interval);
    assert_eq!(figure(&found, "ac2").value, Err(UndefinedReason::BetweenPoints));
}

#[test]
fn scores_that_pass_the_scale_by_rounding_are_on_it() {
    let scale = || RatingScale::new((1..=5).map(f64::from)).expect("a scale");
    let pairs: Vec<(f64, f64)> =
        (0..20).map(|at| f64::from(at % 5 + 1)).map(|score| (score * (1.0 + 2e-13), score)).collect();
    let found = scored(&pairs, Some(scale())).expect("on the scale");
    assert_eq!(figure(&found, "mae").value.map(|mae| mae < 1e-11), Ok(true));

    let table = |score: &str| {
        let lines: Vec<String> = (0..20).map(|at| format!("c{at},k,{score},{}\n", at % 5 + 1)).collect();
        "case,criterion,judge,label\n".to_owned() + &lines.concat()
    };
    let options = CalibrationOptions { scale: Some(scale()), ..CalibrationOptions::default() };
    assert!(rescale(material(&table("5.000000000001")), &options).is_ok());
    let refused = rescale(material(&table("5.1")), &options).expect_err("beyond the scale").to_string();
    assert!(refused.contains("must be on the scale of 1 to 5, found 5.1"), "{refused}");
}

#[test]
fn repeated_scores_that_differ_by_rounding_do_not_differ() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.jsonl");
    let line = |at: usize| format!("{{\"case\": \"c{at}\", \"scores\": [3, 3.000000000001, 3]}}\n");
    std::fs::write(&path, (0..20).map(line).collect::<String>()).expect("written");
    let rows = read_rows(&[path], &LabelReadOptions::default()).expect("sound");
    let found = analyze_repeats(&rows, None, &[1], ConfidenceLevel::P95).expect("scores");
    assert_eq!((found.differing.successes, found.differing.n), (0, 20));
    assert_eq!(found.mean_variance, Ok(0.0));
    assert_eq!(found.spread.expect("two cases").icc, Err(UndefinedReason::NoSpread));
}

#[test]
fn lists_of_scores_of_several_judges_and_prompts_are_crossed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.jsonl");
    let mut lines = String::new();
    for case in 0..6 {
        for (judge, prompt) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let score = f64::from(case) + 2.0 * f64::from(judge) + 0.5 * f64::from(prompt * (case % 2));
            writeln!(
                lines,
                "{{\"case\": \"c{case}\", \"who\": \"j{judge}\", \"prompt\": \"p{prompt}\", \"scores\": [{score}, {}]}}",
                score + 0.25
            ).expect("written");
        }
    }
    std::fs::write(&path, lines).expect("written");
    let rows = read_rows(&[path], &LabelReadOptions::default()).expect("sound");
    let mut scores = JudgedScores::default();
    for row in &rows {
        scores.add_row(row);
    }
    assert!(scores.is_crossed());
    let found = scores.estimate(ResamplingOptions { resamples: 200, ..ResamplingOptions::default() });
    let found = found.expect("two judges and prompts");
    assert_eq!(found.variance.n, 48);
    assert!(found.se_total.expect("defined") > found.se_cases.expect("defined"));
}

#[test]
fn a_judge_that_always_says_the_same_has_no_interval() {
    let constant: Vec<(i32, i32)> = (0..20).map(|at| (5, at % 4)).collect();
    let kappa = figure(&scored(&constant, None).expect("scores"), "kappa_quadratic");
    assert!(kappa.value.is_ok_and(|value| value.abs() < 1e-9), "{:?}", kappa.value);
    assert_eq!(kappa.interval, Err(UndefinedReason::NoSpread));
}

#[test]
fn scores_beyond_the_declared_scale_are_refused_by_their_rows() {
    let scale = || RatingScale::new((0..=10).map(f64::from)).expect("a scale");
    assert!(scored(&[(0, 1), (4, 4), (10, 9)], Some(scale())).is_ok());
    let refused =
        scored(&[(1, 3), (11, 4), (2, -1)], Some(scale())).expect_err("beyond the scale").to_string();
    assert!(
        refused.contains("t.csv:3")
            && refused.contains("the judge must be on the scale of 0 to 10, found 11")
    );
    assert!(refused.contains("t.csv:4") && refused.contains("a label must be"), "{refused}");
}

#[test]
fn one_person_in_several_spellings_is_one_rater() {
    let rows = "c1,k,Ann,met,2026-01-01\nc1,k,ann,unmet,2026-01-02\nc1,k, ann,met,2026-01-03\nc1,k,ÁNN,met,\nc1,k,Ben,met,\n";
    let found = material(&format!("case,criterion,who,label,at\n{rows}"));
    assert_eq!(found.items[0].people().len(), 3, "{:?}", found.items[0].people());

    let sections = rater_agreement(&found, None, ResamplingOptions::default());
    assert_eq!((sections[0].ratings, sections[0].rated_twice), (3, 1));
}
