//! Properties of every record: printed numbers are the stored ones, lines fit, untrusted text never reaches
//! the terminal unescaped, and a record that contradicts itself is reported.

use crate::{
    CaseDetailLevel, ReportStyle, SummaryExtra, explanation_json, render_case, render_case_table,
    render_explanation, render_summary, stored_texts,
};
use assize_rubric::{Finding, Gate, Outcome, OutcomeKind, UnitInterval, Verdict, VerdictThresholds, Weight};
use assize_store::CaseRecord;
use proptest::prelude::*;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::tests::support::{self, Decided, Grader, raw, unit};

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Met),
        Just(Outcome::Unmet),
        (0u8..=10).prop_map(|value| Outcome::Scored(raw(value))),
        Just(Outcome::NotApplicable),
        Just(Outcome::Ungraded),
    ]
}

fn gate() -> impl Strategy<Value = Option<Gate>> {
    prop_oneof![
        4 => Just(None),
        1 => Just(Some(Gate::Met)),
        1 => Just(Some(Gate::PassLine)),
        1 => Just(Some(Gate::MinRaw(raw(7)))),
        1 => Just(Some(Gate::MinValue(unit(0.7)))),
    ]
}

fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => prop::sample::select(vec![1.0, 2.0, 0.5, 1.5, 0.1, 3.0]),
        2 => prop::sample::select(vec![-1.0, -2.5]),
        1 => Just(0.0),
        1 => prop::sample::select(vec![1e300, -1e308, 1e-200]),
    ]
}

fn grader() -> impl Strategy<Value = Grader> {
    let criterion = (weight(), outcome(), gate(), ".{0,40}", ".{0,120}", any::<bool>());
    let weighting = (any::<bool>(), any::<bool>(), prop::option::of(0.0..=1.0f64), 0.0..3.0f64);
    (prop::collection::vec(criterion, 1..7), weighting).prop_map(
        |(criteria, (required, negate, min_score, weight))| {
            let mut decided: Vec<Decided> = criteria
                .into_iter()
                .enumerate()
                .map(|(index, (weight, outcome, gate, text, reason, verified))| {
                    let text = format!("text {text}");
                    let mut one = Decided::new(&format!("rubric-{}", index + 1), &text, weight, outcome)
                        .reason(&reason)
                        .quote(&reason, verified);
                    one.criterion.gate = gate;
                    one
                })
                .collect();
            if decided.iter().all(|one| one.criterion.weight.get() == 0.0) {
                decided[0].criterion.weight = Weight::ONE;
            }
            let mut grader = Grader::new("facts", decided);
            grader.weighting.required = required;
            grader.weighting.negate = negate;
            grader.weighting.min_score = min_score.map(unit);
            grader.weighting.weight = Weight::new(weight).unwrap();
            grader
        },
    )
}

fn record() -> impl Strategy<Value = CaseRecord> {
    let thresholds = (0.0..=1.0f64, prop::option::of(0.0..=1.0f64)).prop_map(|(pass, borderline)| {
        VerdictThresholds::with_optional_borderline(unit(pass), borderline.map(unit))
    });
    (".{1,90}", thresholds, prop::collection::vec(grader(), 1..4)).prop_map(
        |(id, thresholds, mut graders)| {
            for (index, grader) in graders.iter_mut().enumerate() {
                grader.name = format!("grader-{index}");
            }
            support::record(&id, thresholds, &graders)
        },
    )
}

fn style() -> impl Strategy<Value = ReportStyle> {
    (any::<bool>(), 0usize..140, any::<bool>()).prop_map(|(color, width, unicode)| ReportStyle {
        color,
        width,
        unicode,
    })
}

/// All reports about a record, one after another.
fn all(record: &CaseRecord, style: ReportStyle) -> String {
    let texts = stored_texts(&record.decisions);
    let mut text = render_case(&record.result, &texts, CaseDetailLevel::Full, style);
    text += &render_case(&record.result, &|_, _| None, CaseDetailLevel::Brief, style);
    text += &render_case_table(&[record.result.clone(), support::passed().result], 3, None, style);
    text += &render_explanation(record, None, style);
    let extra = SummaryExtra { worst: std::slice::from_ref(&record.result), ..SummaryExtra::default() };
    text + &render_summary(&support::run(), extra, style)
}

fn without_tones(text: &str) -> String {
    let mut out = text.replace("\u{1b}[0m", "");
    for code in ["1", "2", "31", "32", "33", "35"] {
        out = out.replace(&format!("\u{1b}[{code}m"), "");
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn explained_figures_are_the_stored_ones(record in record()) {
        let row = &record.result;
        let json = explanation_json(&record, None);
        prop_assert_eq!(&json["disagreements"], &Value::Array(vec![]));
        let same = |found: &Value, stored: Option<f64>| found.as_f64() == stored;
        prop_assert!(same(&json["metrics"]["score"], row.score));
        prop_assert!(same(&json["metrics"]["score_low"], row.score_low));
        prop_assert!(same(&json["metrics"]["score_high"], row.score_high));
        prop_assert!(same(&json["metrics"]["coverage"], row.coverage));
        prop_assert_eq!(json["verdict"].as_str(), Some(row.verdict.name()));
        let because = json["because"].as_str().unwrap();
        let starts = format!("{}, because ", row.verdict);
        prop_assert!(because.starts_with(&starts), "{}", because);
        let text = render_explanation(&record, None, ReportStyle::default());
        if let Some(score) = row.score {
            // A tiny score is written with an exponent; hundreds of zeros would not fit on a line.
            let shown = text.contains(&score.to_string()) || text.contains(&format!("{score:e}"));
            prop_assert!(shown, "{score} not in\n{text}");
        }
        prop_assert!(!text.contains("DOES NOT FOLLOW"));
    }

    #[test]
    fn written_out_calculations_end_in_the_bounds(record in record()) {
        let json = explanation_json(&record, None);
        for part in json["graders"].as_array().unwrap() {
            let results: Vec<f64> = part["equations"]
                .as_array()
                .unwrap()
                .iter()
                .map(|equation| {
                    let text = equation["text"].as_str().unwrap();
                    let result = text.rsplit_once("= ").unwrap().1;
                    result.rsplit_once("clamped to ").map_or(result, |(_, kept)| kept).parse().unwrap()
                })
                .collect();
            let Some(low) = part["rubric"]["score_low"].as_f64() else {
                prop_assert!(results.is_empty());
                continue;
            };
            let high = part["rubric"]["score_high"].as_f64().unwrap();
            let least = results.iter().copied().fold(f64::INFINITY, f64::min);
            let most = results.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!((least - low).abs() < 1e-6 && (most - high).abs() < 1e-6, "{results:?} for {low} to {high}");
        }
    }

    #[test]
    fn lines_fit_and_carry_nothing_dangerous(record in record(), style in style()) {
        let text = all(&record, style);
        let bare = without_tones(&text);
        prop_assert!(style.color || bare == text);
        prop_assert!(bare.ends_with('\n'));
        for line in bare.lines() {
            prop_assert!(!line.ends_with(' '), "trailing space: {line:?}");
            let unsafe_character = |c: char| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c);
            prop_assert!(!line.contains(unsafe_character), "{line:?}");
            let columns: usize = line.width();
            prop_assert!(columns <= style.width.clamp(40, 100), "{columns} columns at {}: {line}", style.width);
        }
    }

    #[test]
    fn a_changed_figure_is_told_on(mut record in record(), score in 0.0..=1.0f64) {
        prop_assume!(record.result.score.is_none_or(|stored| (stored - score).abs() > 1e-6));
        record.result.score = Some(score);
        prop_assert!(render_explanation(&record, None, ReportStyle::default()).contains("DOES NOT FOLLOW"));
    }

    #[test]
    fn a_damaged_record_is_shown_all_the_same(
        mut record in record(),
        outcome in outcome(),
        number in prop::option::of(any::<u8>()),
        style in style(),
    ) {
        if let Finding::Criterion { outcome: stored, .. } = &mut record.decisions[0].decision.finding {
            *stored = outcome;
        }
        record.result.graders[0].criteria[0].outcome = outcome.kind();
        record.result.graders[0].criteria[0].raw_score = number;
        record.result.graders[0].name = "elsewhere".to_owned();
        record.result.score_low = None;
        prop_assert!(!all(&record, style).is_empty());
        prop_assert!(render_explanation(&record, None, ReportStyle::default()).contains("DOES NOT FOLLOW"));
    }
}

#[test]
fn a_record_that_contradicts_itself_is_told_on() {
    let sound = support::gated();
    let mut verdict = sound.clone();
    verdict.result.verdict = Verdict::Pass;
    let mut gates = sound.clone();
    gates.result.gates_failed.clear();
    let mut criterion = sound.clone();
    criterion.result.graders[0].criteria[1].outcome = OutcomeKind::Unmet;
    let mut lost = sound.clone();
    lost.decisions.pop();
    for (record, words) in [
        (verdict, "the stored verdict is pass; the decisions lead to fail"),
        (gates, "the decisions fail the gate of `correctness`"),
        (criterion, "criterion `credit` of grader `rubrics` is stored as unmet; the decision says met"),
        (lost, "has 5 criteria in the stored row and 4 decisions"),
    ] {
        let text = render_explanation(&record, None, ReportStyle { width: 100, ..ReportStyle::default() });
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(words), "{words:?} not in\n{text}");
    }
    assert!(!render_explanation(&sound, None, ReportStyle::default()).contains("DOES NOT"));
}

#[test]
fn a_broken_grader_is_explained_from_the_row() {
    let mut record = support::passed();
    let mut broken = record.result.graders[0].clone();
    broken.name = "script".to_owned();
    broken.error = Some("exit code 3".to_owned());
    broken.criteria.clear();
    broken.score = None;
    broken.verdict = Some(Verdict::Incomplete);
    record.result.graders.push(broken);
    record.result.score = None;
    record.result.score_low = Some(0.5);
    record.result.coverage = Some(0.5);
    record.result.verdict = Verdict::Incomplete;
    let json = explanation_json(&record, None);
    assert_eq!(json["disagreements"], Value::Array(vec![]));
    assert_eq!(
        json["because"],
        "incomplete, because ungraded criteria decide between fail (0.5) and pass (1)."
    );
    let unit_line = UnitInterval::new(0.8).map(UnitInterval::get);
    assert_eq!(json["thresholds"]["pass"].as_f64(), unit_line.ok());
}
