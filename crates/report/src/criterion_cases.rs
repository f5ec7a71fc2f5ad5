//! The cases that one criterion counts against, each with the reason and the quotes.

use assize_store::{CaseRecord, CriterionRow, GraderRow, ResultRow};
use serde_json::{Value, json};

use crate::case_block::{has_failed_gate, render_heading, stored_texts};
use crate::criterion::CriterionLine;
use crate::excerpt::short_criterion_name;
use crate::export::is_against;
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::style::{ReportStyle, ReportTone};

/// Returns whether a criterion counts against a result; `None` if the result does not have it. The criterion
/// is named by its id, by `GRADER/ID`, or as tables show it: a check by its grader.
pub fn does_criterion_fail(row: &ResultRow, criterion: &str) -> Option<bool> {
    let decided = decisions(row, criterion);
    decided.map(|(grader, one)| fails(row, grader, one)).reduce(|one, other| one || other)
}

/// Renders the cases, with a newline after each line. `total` is the number of results with the criterion, and `more`
/// the number of failing results that are not in `records`.
pub fn render_criterion_cases(
    records: &[CaseRecord],
    criterion: &str,
    total: usize,
    more: usize,
    style: ReportStyle,
) -> String {
    let mut page = ReportPage::new(style);
    let first = records.first();
    let text = first.and_then(|record| {
        let (grader, one) = decisions(&record.result, criterion).next()?;
        stored_texts(&record.decisions)(&grader.name, &one.id)
    });
    let title = [
        ReportPiece::untrusted_name(ReportTone::Strong, criterion),
        ReportPiece::plain("  "),
        ReportPiece::untrusted(ReportTone::Plain, &text.unwrap_or_default(), sanitize::MAX_CRITERION_TEXT),
    ];
    page.add_text(&[], &title);
    page.add_paragraph(ReportPiece::plain(count_sentence(records.len() + more, total)));

    for record in records {
        let row = &record.result;
        page.add_blank();
        render_heading(&mut page, row);
        for (grader, one) in decisions(row, criterion).filter(|(grader, one)| fails(row, grader, one)) {
            let gate_failed = has_failed_gate(row, &grader.name, &one.id);
            CriterionLine::from_row(one, None, grader.negate, gate_failed, &[]).put(&mut page, 2);
        }
    }
    if more > 0 {
        page.add_blank();
        page.add_paragraph(ReportPiece::new(
            ReportTone::Dim,
            format!("and {more} more; `--json` has them all"),
        ));
    }

    page.finish()
}

fn count_sentence(failing: usize, total: usize) -> String {
    let results = if total == 1 { "result" } else { "results" };
    match failing {
        0 => format!("It counts against none of {total} {results}."),
        1 => format!("It counts against 1 of {total} {results}:"),
        _ => format!("It counts against {failing} of {total} {results}:"),
    }
}

/// The same as data: an array with one object for each decision.
pub fn criterion_cases_json(records: &[CaseRecord], criterion: &str) -> Value {
    let listed = records.iter().flat_map(|record| {
        let row = &record.result;
        decisions(row, criterion).filter(|(grader, one)| fails(row, grader, one)).map(move |(grader, one)| {
            json!({
                "case_id": row.case_id, "test": row.test_id(), "prompt": row.prompt, "suite": row.suite, "target": row.target, "repeat": row.trial,
                "verdict": row.verdict, "grader": grader.name, "criterion": one.id,
                "outcome": one.outcome, "value": one.value, "reason": one.reason, "evidence": one.evidence,
            })
        })
    });
    Value::Array(listed.collect())
}

fn decisions<'r>(
    row: &'r ResultRow,
    criterion: &'r str,
) -> impl Iterator<Item = (&'r GraderRow, &'r CriterionRow)> {
    let all = row.graders.iter().flat_map(|grader| grader.criteria.iter().map(move |one| (grader, one)));
    all.filter(move |(grader, one)| {
        let name = format!("{}/{}", grader.name, one.id);
        [&*one.id, &*name, &*short_criterion_name(&name)].contains(&criterion)
    })
}

fn fails(row: &ResultRow, grader: &GraderRow, one: &CriterionRow) -> bool {
    is_against(grader, one, has_failed_gate(row, &grader.name, &one.id))
}
