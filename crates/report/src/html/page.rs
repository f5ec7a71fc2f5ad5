//! The page: its head, then each run with as many cases as fit.

use std::io::Write;

use askama::Template;
use assize_analysis::compare::ComparisonSet;
use assize_limits::PAGE_BYTES as MAX_DETAILS;
use assize_limits::PAGE_ROWS as MAX_ROWS;
use assize_store::CaseRecord;

use super::audit_part::audit_fragment;
use super::calibration_part::calibration_fragment;
use super::case_page::{MarkView, case_fragment};
use super::comparison_part::comparison_views;
use super::scorecard_part::scorecard_views;
use super::summary_part::{CriteriaView, SummaryView};
use super::{STYLE, STYLE_HASH};
use crate::export::{CaseIndex, CaseState, ReportError, RunReport, stored_question};
use crate::mark::VerdictMark;
use crate::number::{self, format_count, grouped};
use crate::sanitize::escape_lines;

/// Number of cases that are unfolded initially.
const UNFOLDED: usize = 3;

#[derive(Template)]
#[template(path = "head.html")]
struct HeadView<'a> {
    title: &'a str,
    style: &'a str,
    style_hash: &'a str,
}

#[derive(Template)]
#[template(path = "rows.html")]
struct RowsView {
    rows: Vec<RowView>,
    more: Option<String>,
    command: String,
}

#[derive(Template)]
#[template(path = "gates.html")]
struct GatesView {
    lines: Vec<String>,
}

struct RowView {
    mark: MarkView,
    case: String,
    prompt: String,
    suite: String,
    target: String,
    score: String,
}

/// The space left in the page, and the cases that did not fit.
struct PageRoom {
    details: usize,
    rows: Vec<RowView>,
    beyond: usize,
    shown: usize,
}

/// Writes the page of all runs.
pub(crate) fn write_page(out: &mut dyn Write, runs: &[RunReport<'_>]) -> Result<Vec<String>, ReportError> {
    let names: Vec<String> = runs.iter().map(|run| escape_lines(&run.title())).collect();
    let title = format!("{} – assize", names.join(", "));
    put(out, &HeadView { title: &title, style: STYLE, style_hash: STYLE_HASH })?;

    let mut remarks = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        write_run(out, run, at, &mut remarks)?;
    }
    out.write_all(b"</main>\n</body>\n</html>\n")?;

    Ok(remarks)
}

/// Renders a page of a comparison alone. `gates` has one line for each gate.
pub fn comparison_page(set: &ComparisonSet, adjusted_by: Option<&str>, gates: &str) -> String {
    let lines = gates.lines().filter(|line| !line.trim().is_empty()).map(escape_lines).collect();
    let views = comparison_views(set, adjusted_by);
    let parts = std::iter::once(Ok("<h1>Comparison</h1>\n".to_owned()))
        .chain(views.iter().map(Template::render))
        .chain([GatesView { lines }.render()]);
    page_of("Comparison – assize", parts)
}

/// A page of these parts. Templates only read values that can't fail, and writing to a string never fails.
pub(crate) fn page_of(title: &str, parts: impl IntoIterator<Item = askama::Result<String>>) -> String {
    std::iter::once(HeadView { title, style: STYLE, style_hash: STYLE_HASH }.render())
        .chain(parts)
        .map(Result::unwrap_or_default)
        .chain(["</main>\n</body>\n</html>\n".to_owned()])
        .collect()
}

fn write_run(
    out: &mut dyn Write,
    run: &RunReport<'_>,
    at: usize,
    remarks: &mut Vec<String>,
) -> Result<(), ReportError> {
    let index = CaseIndex::read(run)?;
    put(out, &SummaryView::new(run, &index))?;
    let audit = run.audit.map(audit_fragment);
    let calibration = run.calibration.map(calibration_fragment);
    for fragment in audit.iter().chain(&calibration) {
        out.write_all(fragment.as_bytes())?;
    }
    if let Some(comparison) = run.comparison {
        for view in comparison_views(comparison.set, comparison.adjusted_by) {
            put(out, &view)?;
        }
    }
    if let Some(card) = &run.scorecard {
        for view in scorecard_views(card) {
            put(out, &view)?;
        }
    }

    put(out, &CriteriaView::new(run.info))?;

    let mut room = PageRoom { details: 0, rows: Vec::new(), beyond: 0, shown: 0 };
    let not_passed = [CaseState::Failed, CaseState::Ungraded, CaseState::Allowed];
    let failing: usize = not_passed.into_iter().map(|state| index.count(state)).sum();
    let others = if failing == 0 { "Cases" } else { "Other cases" };
    for (heading, wanted, number) in
        [("Cases that did not pass", true, failing), (others, false, index.len() - failing)]
    {
        if number == 0 {
            continue;
        }
        writeln!(out, "<h2>{heading} <small>{}</small></h2>", grouped(number as u64))?;
        write_cases(out, run, &index, &|state| not_passed.contains(&state) == wanted, (at, &mut room))?;
    }

    write_rows(out, run, room, remarks)
}

/// Writes cases with details while there is space, and keeps a short row for each of the others.
fn write_cases(
    out: &mut dyn Write,
    run: &RunReport<'_>,
    index: &CaseIndex,
    wanted: &dyn Fn(CaseState) -> bool,
    (at, room): (usize, &mut PageRoom),
) -> Result<(), ReportError> {
    let mut questions = run.questions()?;
    for read in index.rows(run, |case| wanted(case.state))? {
        if room.details >= MAX_DETAILS && room.rows.len() >= MAX_ROWS {
            // The remaining cases are only counted (below), so there is no need to read them.
            break;
        }

        let (case, record) = read?;
        if room.details >= MAX_DETAILS {
            room.rows.push(row_view(&record));
            continue;
        }

        let question = stored_question(&mut questions, &record.result)?;
        room.shown += 1;
        let open = room.shown <= UNFOLDED && (case.state.is_counted() || case.state == CaseState::Allowed);
        let text = case_fragment(&record, question.as_ref(), &format!("r{at}c{}", room.shown), open);
        room.details += text.len();
        out.write_all(text.as_bytes())?;
    }

    room.beyond = index.row_count() - room.shown - room.rows.len();
    Ok(())
}

fn row_view(record: &CaseRecord) -> RowView {
    let row = &record.result;
    RowView {
        mark: VerdictMark::for_case(row).into(),
        case: escape_lines(row.test_id()),
        prompt: row.prompt.as_deref().map(escape_lines).unwrap_or_default(),
        suite: escape_lines(&row.suite),
        target: row.target.as_deref().map(escape_lines).unwrap_or_default(),
        score: number::format_score_or_range(row.score, row.score_low, row.score_high).unwrap_or_default(),
    }
}

fn write_rows(
    out: &mut dyn Write,
    run: &RunReport<'_>,
    room: PageRoom,
    remarks: &mut Vec<String>,
) -> Result<(), ReportError> {
    if room.rows.is_empty() && room.beyond == 0 {
        return Ok(());
    }

    remarks.push(format!(
        "the page holds {} in full; {} without details, {} not at all",
        format_count(room.shown as u64, "case", "cases"),
        grouped(room.rows.len() as u64),
        grouped(room.beyond as u64)
    ));
    let more = (room.beyond > 0).then(|| {
        format!(
            "{} are not listed here: a page of all would be too large.",
            format_count(room.beyond as u64, "further case", "further cases")
        )
    });
    let command = format!("assize explain {} CASE", escape_lines(run.name));
    put(out, &RowsView { rows: room.rows, more, command })
}

fn put(out: &mut dyn Write, part: &impl Template) -> Result<(), ReportError> {
    Template::write_into(part, out).map_err(ReportError::Write)
}
