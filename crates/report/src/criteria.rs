//! Measurement by the criteria of a rubric: as text and as JSON.

use assize_analysis::criteria::{
    CriteriaModel, CriteriaReport, CriterionAnalysis, CriterionCurve, CriterionFlag, CriterionPair,
    ExtremeDifficulty, ScoreStep,
};
use assize_stats::Interval;
use serde_json::{Value, json};

use crate::ReportStyle;
use crate::metrics::{format_or_undefined, format_range, format_value, metrics_json, value_json};
use crate::number::{format_count, format_plain, format_rate, grouped, undefined_because};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize::sanitize_name;
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Maximum number of pairs shown.
const MAX_PAIRS: usize = 5;

/// Abilities that the model considers, in standard deviations: a difficulty that may lie beyond is not shown.
const ABILITIES: std::ops::RangeInclusive<f64> = -6.0..=6.0;

/// Renders the criteria, the pairs that nearly always agree, and a shorter rubric.
pub fn render_criteria(report: &CriteriaReport, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let text = format!(
        "{} on {} to {}",
        format_count(report.criteria.len() as u64, "criterion", "criteria"),
        format_count(report.answers as u64, "answer", "answers"),
        format_count(report.cases as u64, "case", "cases"),
    );
    page.add_paragraph(ReportPiece::plain(text));
    page.add_blank();

    render_list(&mut page, report);
    render_pairs(&mut page, report);
    render_model(&mut page, report);
    for line in closing_lines(report) {
        page.add_paragraph(ReportPiece::plain(line));
    }
    page.finish()
}

fn render_list(page: &mut ReportPage, report: &CriteriaReport) {
    let curve = |one: &CriterionAnalysis| {
        report.model.as_ref().ok()?.curves.iter().find(|curve| curve.name == one.name)
    };
    let columns = [
        ReportColumn::shrinking("criterion"),
        ReportColumn::right("answers"),
        ReportColumn::right("mean"),
        ReportColumn::right("with the rest"),
        ReportColumn::left("95% CI"),
        ReportColumn::right("slope"),
        ReportColumn::right("difficulty"),
    ];
    let rows: Vec<Vec<ReportPiece>> = report
        .criteria
        .iter()
        .map(|one| {
            let tone = if one.flag.is_some() { ReportTone::Middling } else { ReportTone::Strong };
            let curve = curve(one);
            vec![
                ReportPiece::untrusted_name(ReportTone::Plain, &one.name),
                ReportPiece::plain(grouped(one.n as u64)),
                ReportPiece::plain(format_value(one.mean)),
                ReportPiece::new(tone, format_or_undefined(one.discrimination.value)),
                ReportPiece::plain(format_range(one.discrimination.interval)),
                ReportPiece::plain(curve.map_or_else(String::new, |curve| format_value(curve.slope))),
                ReportPiece::plain(curve.and_then(format_difficulty).unwrap_or_default()),
            ]
        })
        .collect();
    render_table(page, 0, &columns, &rows);
    page.add_blank();

    for one in &report.criteria {
        let extreme = curve(one).and_then(|curve| curve.extreme).map(|extreme| {
            let text = match extreme {
                ExtremeDifficulty::TooEasy => {
                    "too easy for these answers: even poor ones mostly reach its highest step."
                }
                ExtremeDifficulty::TooHard => {
                    "too hard for these answers: even good ones mostly stay at its lowest step."
                }
            };
            text.to_owned()
        });
        let unused = one.unused.as_ref().map(|(unused, share)| {
            let scores = format_scores(unused);
            format!("no answer got {scores}; at most {} of further answers would.", format_rate(*share))
        });
        let unordered = one.unordered.iter().map(|[lower, higher]| {
            let (lower, higher) = (format_step(*lower), format_step(*higher));
            format!("answers with {higher} are worse by the other criteria than those with {lower}: its scores are not in order.")
        });
        for text in one.flag.map(describe).into_iter().chain(extreme).chain(unused).chain(unordered) {
            let text = format!("{}: {text}", sanitize_name(&one.name));
            page.add_paragraph(ReportPiece::new(ReportTone::Middling, text));
        }
    }
}

/// Difficulty of the lowest and of the highest step; `None` if the answers don't tell.
fn format_difficulty(curve: &CriterionCurve) -> Option<String> {
    let steps = curve.difficulties.as_ref().ok()?;
    let is_known =
        |interval: &Interval| ABILITIES.contains(&interval.low) && ABILITIES.contains(&interval.high);
    let ((_, first, _), (_, last, _)) = steps.first().zip(steps.last())?;
    let shown = if steps.len() == 1 {
        format_value(*first)
    } else {
        format!("{} to {}", format_value(*first), format_value(*last))
    };
    steps.iter().all(|(.., interval)| is_known(interval)).then_some(shown)
}

fn format_step(step: ScoreStep) -> String {
    let (low, high) = (format_plain(step.low), format_plain(step.high));
    if low == high { low } else { format!("{low} to {high}") }
}

/// Scores, with whole numbers in a row as a range.
fn format_scores(scores: &[f64]) -> String {
    let ranges = scores.chunk_by(|one, next| next - one == 1.0);
    let ranges = ranges.map(|range| format_step(ScoreStep { low: range[0], high: range[range.len() - 1] }));
    ranges.collect::<Vec<_>>().join(" or ")
}

fn describe(flag: CriterionFlag) -> String {
    match flag {
        CriterionFlag::AlwaysMet(rest) => {
            format!("met by every answer, so it distinguishes none; at most {} of further answers would fail it.", format_rate(rest))
        }
        CriterionFlag::NeverMet(rest) => {
            format!("met by no answer, so it distinguishes none; at most {} of further answers would meet it.", format_rate(rest))
        }
        CriterionFlag::TooFewToTell(rest) => {
            format!(
                "the same for every answer so far, but up to {} of further answers may differ.",
                format_rate(rest)
            )
        }
        CriterionFlag::AgainstRest => {
            "met less often by answers that meet the other criteria: its wording or its sign may be wrong."
                .to_owned()
        }
        CriterionFlag::NotWithRest => {
            "hardly tells good answers from bad ones: it correlates with the other criteria by at most 0.2, so it measures \
             something else, or nothing."
                .to_owned()
        }
    }
}

fn render_pairs(page: &mut ReportPage, report: &CriteriaReport) {
    let pairs: Vec<&CriterionPair> =
        report.pairs.iter().filter(|pair| pair.is_redundant || pair.kappa.0 >= 0.6).take(MAX_PAIRS).collect();
    if pairs.is_empty() {
        return;
    }

    page.add_blank();
    let columns = [
        ReportColumn::shrinking("pair"),
        ReportColumn::right("alike"),
        ReportColumn::right("kappa"),
        ReportColumn::left("95% CI"),
        ReportColumn::right("phi"),
        ReportColumn::left(""),
    ];
    let rows: Vec<Vec<ReportPiece>> = pairs
        .into_iter()
        .map(|pair| {
            let [first, second] = &pair.criteria;
            let names = format!("{} = {}", sanitize_name(first), sanitize_name(second));
            vec![
                ReportPiece::plain(names),
                ReportPiece::plain(format!("{} of {}", grouped(pair.alike.0), grouped(pair.alike.1))),
                ReportPiece::new(ReportTone::Strong, format_value(pair.kappa.0)),
                ReportPiece::plain(format_range(pair.kappa.1)),
                ReportPiece::plain(format_or_undefined(pair.phi.0)),
                ReportPiece::new(ReportTone::Middling, if pair.is_redundant { "redundant" } else { "" }),
            ]
        })
        .collect();
    render_table(page, 0, &columns, &rows);
}

fn render_model(page: &mut ReportPage, report: &CriteriaReport) {
    page.add_blank();
    let line = match &report.model {
        Ok(CriteriaModel { answers, reliability, short_form, enough, .. }) => {
            let names: Vec<String> =
                short_form[..*enough].iter().map(|(name, _)| sanitize_name(name)).collect();
            format!(
                "Short form: of the {} criteria that vary and don't repeat another one, {} distinguish answers with a reliability of {}; \
                 all of them, with {} ({}): {}.",
                short_form.len(),
                enough,
                format_value(short_form[enough - 1].1),
                format_value(*reliability),
                format_count(*answers as u64, "answer", "answers"),
                names.join(", ")
            )
        }
        Err(reason) => format!("Slopes, difficulties and a short form: {}.", undefined_because(reason)),
    };
    page.add_paragraph(ReportPiece::plain(line));
}

fn closing_lines(report: &CriteriaReport) -> Vec<String> {
    let mut lines = Vec::new();
    if report.rare > 0 {
        lines.push(format!(
            "{} decided on fewer than five answers and excluded.",
            match report.rare {
                1 => "1 criterion was".to_owned(),
                rare => format!("{} criteria were", grouped(rare as u64)),
            }
        ));
    }
    lines.push(
        "About these answers only: a criterion that they all meet may be the one that a worse target fails."
            .to_owned(),
    );
    lines
}

/// Converts the criteria to JSON.
pub fn criteria_json(report: &CriteriaReport) -> Value {
    json!({
        "answers": report.answers,
        "cases": report.cases,
        "omitted": report.rare,
        "criteria": report.criteria.iter().map(criterion_json).collect::<Vec<_>>(),
        "pairs_compared": report.compared,
        "pairs": report.pairs.iter().map(pair_json).collect::<Vec<_>>(),
        "model": match &report.model {
            Ok(model) => model_json(model),
            Err(reason) => json!({ "undefined": reason.to_string() }),
        },
    })
}

fn criterion_json(one: &CriterionAnalysis) -> Value {
    let (flag, bound) = match one.flag {
        None => (None, None),
        Some(CriterionFlag::AlwaysMet(rest)) => (Some("always_met"), Some(rest)),
        Some(CriterionFlag::NeverMet(rest)) => (Some("never_met"), Some(rest)),
        Some(CriterionFlag::TooFewToTell(rest)) => (Some("too_few_to_tell"), Some(rest)),
        Some(CriterionFlag::AgainstRest) => (Some("against_the_rest"), None),
        Some(CriterionFlag::NotWithRest) => (Some("not_with_the_rest"), None),
    };
    json!({
        "name": one.name,
        "answers": one.n,
        "cases": one.cases,
        "mean": one.mean,
        "metrics": metrics_json(&[one.discrimination]),
        "flag": flag,
        "others_at_most": bound,
        "unused_scores": one.unused.as_ref().map_or(&[][..], |(unused, _)| unused),
        "not_in_order": one.unordered.iter().map(|steps| steps.map(step_json)).collect::<Vec<_>>(),
    })
}

fn step_json(step: ScoreStep) -> Value {
    json!([step.low, step.high])
}

fn pair_json(pair: &CriterionPair) -> Value {
    let (alike, n) = pair.alike;
    json!({
        "criteria": pair.criteria,
        "alike": alike,
        "of": n,
        "kappa": value_json(Ok(pair.kappa.0), pair.kappa.1, n),
        "phi": value_json(pair.phi.0, pair.phi.1, n),
        "redundant": pair.is_redundant,
    })
}

fn model_json(model: &CriteriaModel) -> Value {
    let curve_json = |curve: &CriterionCurve| {
        let step = |(score, difficulty, interval): &(ScoreStep, f64, Interval)| json!({ "score": step_json(*score), "difficulty": difficulty, "low": interval.low, "high": interval.high });
        json!({
            "name": curve.name,
            "slope": curve.slope,
            "slope_se": curve.slope_se,
            "steps": curve.difficulties.as_ref().ok().map(|steps| steps.iter().map(step).collect::<Vec<_>>()),
            "extreme": curve.extreme.map(|extreme| match extreme {
                ExtremeDifficulty::TooEasy => "too_easy",
                ExtremeDifficulty::TooHard => "too_hard",
            }),
        })
    };
    let curves: Vec<Value> = model.curves.iter().map(curve_json).collect();
    let short_form: Vec<Value> = model
        .short_form
        .iter()
        .map(|(name, reliability)| json!({ "name": name, "reliability_so_far": reliability }))
        .collect();
    json!({
        "answers": model.answers,
        "curves": curves,
        "reliability": model.reliability,
        "short_form": short_form,
        "enough": model.enough,
    })
}
