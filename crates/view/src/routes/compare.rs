//! A comparison of two runs, case by case.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assize_analysis::compare::{
    Conclusion, HeadlineMetric, MetricDifference, RunComparison, VerdictFlip, compare_many,
};
use assize_analysis::run_notes;
use assize_report::chart::ChartAxis;
use assize_report::{difference_axis, flip_values, format_metric, format_score, grouped, shared_axis};
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use url::form_urlencoded::Serializer;

use super::compare_choice::ComparisonChoice;
use super::compared_run::ComparedSide;
use crate::library::RunLibrary;
use crate::page_reply::{Library, PageError, query_value, query_values, render};
use crate::page_work::{PageWork, working};
use crate::pages::{CaseChanges, ChangedCase, ComparisonPage, DifferenceRow, DifferenceTable, MovedLine};
use crate::picture::interval_picture;
use crate::text::{ResultMark, visible};

/// Maximum number of changed cases of each kind that are shown.
const MAX_CASES: usize = 200;
/// Maximum number of changed criteria that are shown for a case.
const MAX_MOVED: usize = 6;

pub(crate) async fn page(State(library): Library, uri: Uri) -> Result<Response, PageError> {
    working("Comparison", "Reading the cases of both runs to compare them", move |work| {
        let (base, candidate) = match (query_value(&uri, "base"), query_value(&uri, "candidate")) {
            (Some(base), Some(candidate)) => (base, candidate),
            _ => checked_runs(&library, &query_values(&uri, "run"))?,
        };

        let choice = ComparisonChoice::from_query(&uri)?;
        Ok(render(&comparison_page(&library, &base, &candidate, &choice, work)?))
    })
    .await
}

/// The two runs that were checked in the list, older first.
fn checked_runs(library: &RunLibrary, checked: &[String]) -> Result<(String, String), PageError> {
    let runs = library.list();
    let mut chosen = runs.iter().filter(|run| checked.contains(&run.slug)).map(|run| run.slug.clone());
    match (chosen.next(), chosen.next(), chosen.next()) {
        (Some(newer), Some(older), None) => Ok((older, newer)),
        _ => Err(PageError::refused("Check two runs of the list to compare them.")),
    }
}

fn comparison_page(
    library: &RunLibrary,
    base: &str,
    candidate: &str,
    choice: &ComparisonChoice,
    work: &PageWork,
) -> Result<ComparisonPage, PageError> {
    let base = ComparedSide::open(library, base)?;
    let candidate = ComparedSide::open(library, candidate)?;
    let found = compare_sides(library, &base, &candidate, choice, work)?;

    let notices = [&base, &candidate].into_iter().flat_map(|side| {
        let notes = run_notes(&side.info, "compared").into_iter();
        notes.map(|note| visible(&format!("{}: {note}", side.name)))
    });
    let mismatches = found.mismatches.iter().map(|mismatch| visible(&mismatch.describe(found.common)));
    let mark = conclusion_mark(found.verdict);
    let axis = common_axis(&found);
    let (main_tables, tables) = difference_tables(&found, axis);
    let link = |suite: &str, id: &str, prompt: Option<&str>, trial: u32| {
        let trial = trial.to_string();
        let query = [
            ("base", &*base.name),
            ("candidate", &*candidate.name),
            ("suite", suite),
            ("id", id),
            ("repeat", &trial),
        ];
        let prompt = prompt.map(|prompt| ("prompt", prompt));
        let query = query.into_iter().chain(prompt);
        format!("/compare/case?{}", Serializer::new(String::new()).extend_pairs(query).finish())
    };
    let changes = |title, none, count: Option<usize>, flips: &[VerdictFlip]| {
        let case = |flip: &VerdictFlip| {
            changed_case(flip, link(&flip.suite, &flip.case_id, flip.prompt.as_deref(), flip.trial))
        };
        let cases = flips.iter().take(MAX_CASES).map(case).collect();
        CaseChanges { title, none, count: count.unwrap_or(flips.len()), cases }
    };
    let incomplete = found.incomplete.iter().take(MAX_CASES);
    let incomplete = incomplete.map(|pair| {
        let name = &pair.name;
        (link(&name.suite, &name.case_id, name.prompt.as_deref(), name.trial), visible(&name.name()))
    });

    Ok(ComparisonPage {
        base: base.link(),
        candidate: candidate.link(),
        swap_url: choice.url(&candidate.name, &base.name),
        form: choice.form(library, &base, &candidate)?,
        mark,
        says: headline_text(&found),
        p_label: choice.p_label(),
        common: grouped(found.common as u64),
        notices: notices.collect(),
        mismatches: mismatches.collect(),
        main_tables,
        tables,
        hidden_losses: hidden_losses(&found),
        changes: [
            changes("Worse", "No case that passed in the base fails now.", None, &found.regressions),
            changes("Better", "No case that failed in the base passes now.", None, &found.improvements),
            changes("Lower score, same verdict", "", Some(found.shifts.lower_count), &found.shifts.lower),
            changes("Higher score, same verdict", "", Some(found.shifts.higher_count), &found.shifts.higher),
        ],
        incomplete: incomplete.collect(),
        incomplete_count: found.incomplete.len(),
        only_base: found.gone.len(),
        only_candidate: found.new.len(),
    })
}

/// The conclusion, preceded by the metric that it is about.
fn headline_text(found: &RunComparison) -> String {
    let metric = match found.headline {
        HeadlineMetric::Score => "Mean score",
        HeadlineMetric::PassRate => "Pass rate",
    };
    visible(&format!("{metric}: {}", found.headline_difference().says))
}

/// Compares two runs, or returns the comparison if it is still in memory.
fn compare_sides(
    library: &RunLibrary,
    base: &ComparedSide,
    candidate: &ComparedSide,
    choice: &ComparisonChoice,
    work: &PageWork,
) -> Result<Arc<RunComparison>, PageError> {
    let ends = (base.length(), candidate.length());
    let key = format!("{}\n{ends:?}", choice.url(&base.name, &candidate.name));
    if let Some(found) = library.comparisons.find(&key) {
        return Ok(found);
    }

    let (facts, names) = ComparedSide::facts_of(&[base, candidate], choice, work, |_, _| {})?;
    let [before, after] = facts.as_slice() else { return Err(PageError::defect()) };
    let compared = compare_many(before, std::slice::from_ref(after), &names, &choice.options);
    let found = compared.comparisons.into_iter().next();
    let found = found.ok_or_else(|| PageError::refused("There is nothing to compare."))?;
    if found.common == 0 {
        let text = if choice.tag.is_some() || choice.suite.is_some() {
            "The runs have no such case in common."
        } else {
            "The runs have no case in common: cases are paired by suite and id."
        };
        return Err(PageError::refused(text));
    }

    let found = Arc::new(found);
    library.comparisons.keep(key, Arc::clone(&found));
    Ok(found)
}

/// A common axis that is wide enough for every interval of the page, so that charts can be compared.
fn common_axis(found: &RunComparison) -> ChartAxis {
    let rows = found.tables.iter().flat_map(|table| &table.rows).map(|row| &row.contrast);
    let rows = rows.chain([&found.pass_rate, &found.score]);
    ChartAxis::around_zero(
        rows.flat_map(|contrast| [contrast.low, contrast.high, contrast.difference]).flatten(),
    )
}

/// The tables of all cases and of criteria, and the tables of other groups.
fn difference_tables(found: &RunComparison, axis: ChartAxis) -> (Vec<DifferenceTable>, Vec<DifferenceTable>) {
    let overall = DifferenceTable {
        title: "All cases".to_owned(),
        axis: String::new(),
        rows: vec![
            difference_row("Mean score", None, &found.score, axis, true),
            difference_row("Pass rate", None, &found.pass_rate, axis, true),
        ],
        too_small: 0,
    };
    let groups = found.tables.iter().map(|table| {
        let shared = shared_axis(axis, table.rows.iter().map(|row| &row.contrast));
        let own = shared.is_none();
        let rows = table.rows.iter();
        DifferenceTable {
            title: format!("By {}", table.by),
            axis: shared.unwrap_or_default(),
            rows: rows
                .map(|row| difference_row(&row.name, row.text.as_deref(), &row.contrast, axis, own))
                .collect(),
            too_small: table.too_small,
        }
    });

    let all = std::iter::once(overall).chain(groups).filter(|table| !table.rows.is_empty());
    all.partition(|table| table.title == "All cases" || table.title == "By criterion")
}

/// Names the criteria that got worse in cases that got better, each with the number of such cases.
fn hidden_losses(found: &RunComparison) -> String {
    let better = found.improvements.iter().chain(&found.shifts.higher);
    let mut lost: BTreeMap<&str, usize> = BTreeMap::new();
    let mut cases = 0;
    for flip in better {
        let worse = flip.criteria.iter().filter(|moved| moved.direction() == Ordering::Less);
        let names: BTreeSet<&str> = worse.map(|moved| moved.criterion.as_str()).collect();
        cases += usize::from(!names.is_empty());
        for name in names {
            *lost.entry(name).or_default() += 1;
        }
    }
    if cases == 0 {
        return String::new();
    }

    let mut lost: Vec<_> = lost.into_iter().collect();
    lost.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let names: Vec<String> = lost.iter().map(|(name, count)| format!("{name} in {count}")).collect();
    let place = match cases {
        1 => "1 case that got better has a criterion that got worse".to_owned(),
        _ => format!("{} cases that got better have criteria that got worse", grouped(cases as u64)),
    };
    visible(&format!("{place}: {}.", names.join(", ")))
}

/// Row of a metric, with or without its own axis.
fn difference_row(
    name: &str,
    text: Option<&str>,
    contrast: &MetricDifference,
    axis: ChartAxis,
    has_axis: bool,
) -> DifferenceRow {
    let unit = contrast.unit;
    let change = contrast.difference.map(|value| unit.format_change(value));
    let interval = contrast.low.zip(contrast.high);

    DifferenceRow {
        name: visible(name),
        text: text.map(visible).unwrap_or_default(),
        base: format_metric(contrast.base, unit),
        candidate: format_metric(contrast.candidate, unit),
        difference: change.unwrap_or_else(|| assize_report::UNDEFINED.to_owned()),
        interval: match interval {
            Some((low, high)) => unit.format_interval(low, high),
            None => contrast.undefined.as_deref().map(visible).unwrap_or_default(),
        },
        axis: if has_axis { difference_axis(axis, unit) } else { String::new() },
        picture: interval_picture(contrast.difference, interval, axis, Some(0.0)),
        pairs: grouped(contrast.n as u64),
        gained: contrast.higher,
        lost: contrast.lower,
        p: contrast.p_adjusted.or(contrast.p).map_or_else(String::new, p_text),
        mark: conclusion_mark(contrast.call),
    }
}

fn p_text(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

pub(super) fn conclusion_mark(conclusion: Conclusion) -> ResultMark {
    let (class, sign) = match conclusion {
        Conclusion::Better => ("good", "▲"),
        Conclusion::Worse => ("bad", "▼"),
        Conclusion::Equivalent | Conclusion::NoDifference => ("dim", "="),
        Conclusion::Inconclusive => ("open", "?"),
        Conclusion::NotComparable => ("bad", "⚠"),
    };
    ResultMark::new(class, sign, conclusion.words())
}

fn changed_case(flip: &VerdictFlip, url: String) -> ChangedCase {
    let score = |score: Option<f64>| score.map_or_else(String::new, format_score);
    let mut criteria: Vec<MovedLine> = flip
        .criteria
        .iter()
        .take(MAX_MOVED)
        .map(|moved| {
            let [base, candidate] = flip_values(moved);
            let (class, sign) = match moved.direction() {
                Ordering::Less => ("bad", "▼"),
                Ordering::Equal => ("dim", "="),
                Ordering::Greater => ("good", "▲"),
            };
            MovedLine { class, sign, text: visible(&format!("{base} → {candidate}  {}", moved.name())) }
        })
        .collect();
    if flip.criteria.len() > MAX_MOVED {
        let text = format!("and {} more", flip.criteria.len() - MAX_MOVED);
        criteria.push(MovedLine { class: "dim", sign: "", text });
    }
    ChangedCase {
        url,
        id: visible(&flip.name()),
        before: ResultMark::of_verdict(flip.base.verdict),
        before_score: score(flip.base.score),
        after: ResultMark::of_verdict(flip.candidate.verdict),
        after_score: score(flip.candidate.score),
        criteria,
    }
}
