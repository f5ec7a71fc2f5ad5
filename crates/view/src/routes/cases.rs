//! The cases of a run: a page with the filter, and the rows for its table.

use assize_report::{format_duration, format_score, grouped};
use assize_rubric::Usd;
use axum::extract::{Path, State};
use axum::http::Uri;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::run_header::{is_live, run_header};
use super::{Library, PageError, blocking, open_run, query_value, render, run_url, with_query};
use crate::index::{CaseFilter, CaseSort, CaseTableEntry, CaseTableIndex, OutcomeChoice, VerdictChoice};
use crate::open_run::OpenRun;
use crate::pages::{CasesPage, ChoiceField, PlainRow, PlainRows};
use crate::text::{ResultMark, visible};

/// Most rows in one reply.
const MAX_ROWS: usize = 500;
/// Number of rows sent with the page, for the first screen: as many as the table requests at a time.
const FIRST_ROWS: usize = 100;

const SORTS: [(CaseSort, &str); 6] = [
    (CaseSort::Place, "order of the files"),
    (CaseSort::Verdict, "verdict, worst first"),
    (CaseSort::Score, "score, lowest first"),
    (CaseSort::Id, "case id"),
    (CaseSort::Cost, "cost, lowest first"),
    (CaseSort::Duration, "time, shortest first"),
];

const OUTCOMES: [(Option<OutcomeChoice>, &str); 7] = [
    (None, "any outcome"),
    (Some(OutcomeChoice::Against), "unmet, or a penalty incurred"),
    (Some(OutcomeChoice::Met), "met (of a penalty: incurred)"),
    (Some(OutcomeChoice::Unmet), "unmet (of a penalty: avoided)"),
    (Some(OutcomeChoice::Scored), "scored"),
    (Some(OutcomeChoice::Ungraded), "ungraded"),
    (Some(OutcomeChoice::NotApplicable), "not applicable"),
];

pub(crate) async fn page(
    State(library): Library,
    Path(slug): Path<String>,
    uri: Uri,
) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let info = library.info(run.folder())?;
        let filter = CaseFilter::from_query(uri.query().unwrap_or_default());
        let plain_page = query_value(&uri, "page").and_then(|page| page.parse().ok());
        // The table requests what is not read yet by itself.
        let is_first = plain_page.is_none() && filter == CaseFilter::default();
        let index = if is_first { run.first_index()? } else { run.index()? };
        let is_partial = is_first && !run.is_indexed() && !is_live(&run, &info);
        let choices = run.choices(&index);
        let rows = run.select_of(&index, &filter)?;

        let (url, query) = (run_url(run.slug()), filter.to_query());
        let has_verdict = |choice: VerdictChoice| filter.verdicts.contains(&choice);
        let outcome = |outcome: Option<OutcomeChoice>| outcome.map_or("", OutcomeChoice::name);
        let cases = CasesPage {
            header: run_header(&run, &info, "cases"),
            is_live: is_live(&run, &info),
            verdicts: VerdictChoice::ALL
                .map(|choice| (choice.name().to_owned(), has_verdict(choice)))
                .to_vec(),
            fields: ChoiceField::all(&choices, &filter),
            text: filter.text.clone().unwrap_or_default(),
            outcomes: OUTCOMES.map(|(kind, text)| (outcome(kind), text, kind == filter.outcome)).to_vec(),
            sorts: SORTS.map(|(sort, text)| (sort.name(), text, sort == filter.sort)).to_vec(),
            descending: filter.descending,
            rows_url: format!("{url}/rows"),
            case_url: format!("{url}/cases"),
            is_partial,
            first_rows: match plain_page {
                Some(_) => String::new(),
                None => script_data(&rows_json(&index, &rows, 0, FIRST_ROWS)),
            },
            counts: format!("{} of {} cases", grouped(rows.len() as u64), grouped(index.len() as u64)),
            found: rows.len(),
            plain: plain_page.map(|page| plain_rows(&run, &index, &filter, &rows, page)),
            plain_url: with_query(&format!("{url}/cases"), &page_query(&query, 1)),
            has_suites: choices.suites.len() > 1 || info.suites.len() > 1,
            has_targets: choices.targets.len() > 1 || info.targets.len() > 1,
        };
        Ok(render(&cases))
    })
    .await
}

/// Rows of the table from `from` on, each as a list of cells.
pub(crate) async fn rows(
    State(library): Library,
    Path(slug): Path<String>,
    uri: Uri,
) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let filter = CaseFilter::from_query(uri.query().unwrap_or_default());
        let number = |key: &str| query_value(&uri, key).and_then(|value| value.parse::<usize>().ok());
        let from = number("from").unwrap_or(0);
        let count = number("count").unwrap_or(MAX_ROWS).min(MAX_ROWS);

        let index = run.index()?;
        let rows = run.select_of(&index, &filter)?;
        let body = rows_json(&index, &rows, from, count);

        Ok(([(CONTENT_TYPE, "application/json")], body.to_string()).into_response())
    })
    .await
}

/// Rows of a list from `from` on, and the length of the list.
fn rows_json(index: &CaseTableIndex, rows: &[u32], from: usize, count: usize) -> Value {
    let shown = rows.iter().skip(from).take(count);
    let cells: Vec<Value> = shown.filter_map(|row| Some(cells(index, *row, index.get(*row)?))).collect();
    json!({ "found": rows.len(), "total": index.len(), "from": from, "rows": cells })
}

/// JSON for a data element of a page. Nothing in it can close that element.
fn script_data(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// Cells of a row: its number from 1, verdict, score, id, suite, target, trial, criteria, unmet criteria, tags,
/// cost, time, and whether an error happened. Suite and target are always included; the page hides them if
/// there is only one.
fn cells(index: &CaseTableIndex, row: u32, entry: &CaseTableEntry) -> Value {
    let marks: String = entry.criteria.iter().map(|criterion| criterion.mark()).collect();
    json!([
        row + 1,
        entry.verdict.name(),
        score_text(entry),
        visible(&entry.id),
        visible(index.name(entry.suite)),
        entry.target.map(|target| visible(index.name(target))),
        entry.trial,
        marks,
        missed_text(index, entry),
        tags_text(index, entry),
        cost_cell(entry),
        format_duration(entry.duration_ms),
        u8::from(entry.has_error),
    ])
}

fn score_text(entry: &CaseTableEntry) -> String {
    match (entry.score, entry.bounds) {
        (Some(score), _) => format_score(score),
        (None, Some((low, high))) => format!("{}–{}", format_score(low), format_score(high)),
        (None, None) => String::new(),
    }
}

/// Names of failed gates, then of unmet criteria and incurred penalties that are not gates.
fn missed_text(index: &CaseTableIndex, entry: &CaseTableEntry) -> String {
    let short = |name: &str| {
        let (grader, criterion) = name.rsplit_once('/').unwrap_or(("", name));
        // Numbered checks say less than the name of their grader.
        let is_numbered = criterion.strip_prefix("check-").is_some_and(|rest| rest.parse::<u32>().is_ok());
        let named = if is_numbered { grader.rsplit('/').next().unwrap_or(grader) } else { criterion };
        visible(named)
    };
    let mut names: Vec<String> =
        entry.gates.iter().map(|gate| format!("gate {}", short(index.name(*gate)))).collect();
    for criterion in entry.criteria.iter().filter(|criterion| criterion.is_missed()) {
        if !entry.gates.contains(&criterion.name) {
            let penalty = if criterion.is_penalty { "penalty " } else { "" };
            names.push(format!("{penalty}{}", short(index.name(criterion.name))));
        }
    }

    names.join(", ")
}

fn tags_text(index: &CaseTableIndex, entry: &CaseTableEntry) -> String {
    let tags: Vec<String> = entry.tags.iter().map(|tag| visible(index.name(*tag))).collect();
    tags.join(" ")
}

fn cost_cell(entry: &CaseTableEntry) -> String {
    entry.cost.map(Usd::as_dollars).map_or_else(String::new, assize_report::dollars)
}

fn page_query(query: &str, page: usize) -> String {
    if query.is_empty() { format!("page={page}") } else { format!("{query}&page={page}") }
}

fn plain_rows(
    run: &OpenRun,
    index: &CaseTableIndex,
    filter: &CaseFilter,
    rows: &[u32],
    page: usize,
) -> PlainRows {
    let (url, query) = (run_url(run.slug()), filter.to_query());
    let begin = page.saturating_sub(1).saturating_mul(MAX_ROWS);
    let of_page = |page: usize| with_query(&format!("{url}/cases"), &page_query(&query, page));
    let shown = rows.iter().skip(begin).take(MAX_ROWS).filter_map(|row| {
        let entry = index.get(*row)?;
        Some(PlainRow {
            url: with_query(&format!("{url}/cases/{}", row + 1), &query),
            mark: ResultMark::of_status(entry.verdict),
            score: score_text(entry),
            id: visible(&entry.id),
            suite: visible(index.name(entry.suite)),
            target: entry.target.map_or_else(String::new, |target| visible(index.name(target))),
            tags: tags_text(index, entry),
            missed: missed_text(index, entry),
            cost: cost_cell(entry),
            time: format_duration(entry.duration_ms),
        })
    });

    PlainRows {
        rows: shown.collect(),
        before: (page > 1).then(|| of_page(page - 1)),
        after: (begin.saturating_add(MAX_ROWS) < rows.len()).then(|| of_page(page + 1)),
    }
}
