//! Measurement by the criteria of a rubric: as text and as JSON.

use assize_analysis::criteria::{
    CriteriaModel, CriteriaReport, CriterionAnalysis, CriterionFlag, CriterionPair,
};
use serde_json::{Value, json};

use crate::ReportStyle;
use crate::metrics::{format_or_undefined, format_range, format_value, metrics_json, value_json};
use crate::number::{format_count, format_rate, grouped, undefined_because};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize::sanitize_name;
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Maximum number of pairs shown.
const MAX_PAIRS: usize = 5;

/// Renders the criteria, the pairs that nearly always agree, and a shorter rubric.
pub fn render_criteria(report: &CriteriaReport, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let text = format!(
        "{} on {} to {}",
        format_count(report.criteria.len() as u64, "criterion", "criteria"),
        format_count(report.answers as u64, "answer", "answers"),
        format_count(report.cases as u64, "case", "cases"),
    );
    page.add_text(&[], &[ReportPiece::plain(text)]);
    page.add_blank();

    render_list(&mut page, report);
    render_pairs(&mut page, report);
    render_model(&mut page, report);
    for line in closing_lines(report) {
        page.add_text(&[], &[ReportPiece::plain(line)]);
    }
    page.finish()
}

fn render_list(page: &mut ReportPage, report: &CriteriaReport) {
    let curve = |one: &CriterionAnalysis| {
        let model = report.model.as_ref().ok()?;
        let at = model.names.iter().position(|name| *name == one.name)?;
        Some(model.model.curves[at])
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
                ReportPiece::plain(
                    curve.map_or_else(String::new, |curve| format_value(curve.discrimination)),
                ),
                ReportPiece::plain(
                    curve.and_then(|curve| curve.difficulty.ok()).map_or_else(String::new, format_value),
                ),
            ]
        })
        .collect();
    render_table(page, 0, &columns, &rows);
    page.add_blank();

    for one in &report.criteria {
        if let Some(flag) = one.flag {
            let text = format!("{}: {}", sanitize_name(&one.name), describe(flag));
            page.add_text(&[], &[ReportPiece::new(ReportTone::Middling, text)]);
        }
    }
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
            "does not correlate with the other criteria (correlation of at most 0.2): it measures something else, or \
             nothing."
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
    page.add_text(&[], &[ReportPiece::plain(line)]);
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
    })
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
    let curves: Vec<Value> = model
        .names
        .iter()
        .zip(&model.model.curves)
        .map(|(name, curve)| {
            json!({
                "name": name,
                "slope": curve.discrimination,
                "slope_se": curve.discrimination_se,
                "difficulty": curve.difficulty.ok(),
            })
        })
        .collect();
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
