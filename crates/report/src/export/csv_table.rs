//! CSV: a row for each criterion of a case, or a row for each case.

use std::borrow::Cow;
use std::io::Write;

use assize_rubric::{OutcomeKind, format_plain};
use assize_store::{CaseRecord, CriterionRow, GraderRow, ResultRow};

use super::case_index::{CaseIndex, CaseState, IndexedCase};
use super::criterion_finding::is_against;
use super::run_conclusion::{ProblemLevel, ReportedConclusion, RunProblem};
use super::{ReportError, RunReport, stored_question};
use crate::case_block::{has_failed_gate, main_reason, stored_texts};
use crate::sanitize::escape_lines;

/// Columns that name the case, in both tables.
const CASE_COLUMNS: [&str; 8] = ["run", "suite", "case", "prompt", "target", "repeat", "verdict", "score"];
/// Last column of both tables: the result of the case as a whole, as it counts for the run.
const RESULT_COLUMN: &str = "case_result";
/// Further columns of the table of criteria.
const CRITERION_COLUMNS: [&str; 19] = [
    "grader", "grader_type", "grader_score", "criterion", "text", "outcome", "value", "points", "weight",
    "gate", "gate_failed", "reason", "judge", "judge_model", "judge_version", "quotes", "quotes_found",
    "quote_texts", RESULT_COLUMN,
];
/// Further columns of the table of cases.
const DETAIL_COLUMNS: [&str; 20] = [
    "score_low", "score_high", "coverage", "tags", "cluster", "gates_failed", "criteria", "unmet",
    "ungraded", "error", "question", "answer", "tokens_input", "tokens_cached", "tokens_output", "cost_usd",
    "latency_ms", "duration_ms", "answered_by", RESULT_COLUMN,
];

/// First lines of both tables.
pub(super) fn headers() -> [String; 2] {
    [&CRITERION_COLUMNS[..], &DETAIL_COLUMNS]
        .map(|more| format!("{},{}", CASE_COLUMNS.join(","), more.join(",")))
}

/// Writes a row for each criterion.
pub(super) fn write_criteria(
    out: &mut dyn Write,
    runs: &[RunReport<'_>],
) -> Result<Vec<String>, ReportError> {
    let mut table = CsvTable::new(out, &CASE_COLUMNS, &CRITERION_COLUMNS)?;
    for run in runs {
        let index = CaseIndex::read(run)?;
        for read in index.rows(run, |_| true)? {
            let (case, record) = read?;
            let texts = stored_texts(&record.decisions);
            for grader in &record.result.graders {
                for criterion in &grader.criteria {
                    let mut cells = case_cells(run, &record.result);
                    let text = texts(&grader.name, &criterion.id).unwrap_or_default();
                    cells.extend(criterion_cells(&record.result, grader, criterion, text));
                    cells.push(case_result(case, &record.result));
                    table.write(&cells)?;
                }
            }

            // A case without decided criteria still gets a row.
            if record.result.graders.iter().all(|grader| grader.criteria.is_empty()) {
                let mut cells = case_cells(run, &record.result);
                cells.extend(blank_criterion(&main_reason(&record.result).unwrap_or_default()));
                cells.push(case_result(case, &record.result));
                table.write(&cells)?;
            }
        }
        for problem in &ReportedConclusion::new(run, &index).problems {
            let mut cells = problem_cells(run);
            cells.extend(blank_criterion(&problem.describe()));
            cells.push(problem_result(problem));
            table.write(&cells)?;
        }
    }

    table.finish()
}

/// Writes a row for each case.
pub(super) fn write_cases(out: &mut dyn Write, runs: &[RunReport<'_>]) -> Result<Vec<String>, ReportError> {
    let mut table = CsvTable::new(out, &CASE_COLUMNS, &DETAIL_COLUMNS)?;
    for run in runs {
        let index = CaseIndex::read(run)?;
        let mut questions = run.questions()?;
        for read in index.rows(run, |_| true)? {
            let (case, record) = read?;
            let question = stored_question(&mut questions, &record.result)?.and_then(|row| row.question);

            let mut cells = case_cells(run, &record.result);
            cells.extend(detail_cells(&record, question));
            cells.push(case_result(case, &record.result));
            table.write(&cells)?;
        }
        for problem in &ReportedConclusion::new(run, &index).problems {
            let mut cells = problem_cells(run);
            let blank = |name: &&str| match *name {
                "error" => CsvCell::text(problem.describe()),
                _ => CsvCell::Own(String::new()),
            };
            cells.extend(DETAIL_COLUMNS[..DETAIL_COLUMNS.len() - 1].iter().map(blank));
            cells.push(problem_result(problem));
            table.write(&cells)?;
        }
    }

    table.finish()
}

/// A cell: a number or a word of the program, or untrusted text.
enum CsvCell {
    Own(String),
    Text(String),
}

impl CsvCell {
    fn number(value: Option<f64>) -> Self {
        Self::Own(value.map_or_else(String::new, format_plain))
    }

    fn count(value: Option<u64>) -> Self {
        Self::Own(value.map_or_else(String::new, |value| value.to_string()))
    }

    fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

fn case_cells(run: &RunReport<'_>, row: &ResultRow) -> Vec<CsvCell> {
    let verdict = if row.is_skipped() { "skipped" } else { row.verdict.name() };
    vec![
        CsvCell::text(&run.info.run_id),
        CsvCell::text(&*row.suite),
        CsvCell::text(&**row.test_id()),
        CsvCell::text(row.prompt.as_deref().unwrap_or_default()),
        CsvCell::text(row.target.as_deref().unwrap_or_default()),
        CsvCell::Own(row.trial.to_string()),
        CsvCell::Own(verdict.to_owned()),
        CsvCell::number(row.score),
    ]
}

/// Cells that name no case, for a row about the run as a whole.
fn problem_cells(run: &RunReport<'_>) -> Vec<CsvCell> {
    let blank = || CsvCell::Own(String::new());
    vec![
        CsvCell::text(&run.info.run_id),
        CsvCell::text(run.suite_names()),
        blank(),
        CsvCell::text(run.part.prompt.as_deref().unwrap_or_default()),
        CsvCell::text(run.part.target.as_deref().unwrap_or_default()),
        blank(),
        blank(),
        blank(),
    ]
}

fn problem_result(problem: &RunProblem) -> CsvCell {
    let result = match problem.level {
        ProblemLevel::Failed => "run_failed",
        ProblemLevel::Missing => "run_incomplete",
        ProblemLevel::Note => "run_note",
    };
    CsvCell::Own(result.to_owned())
}

/// Verdict of a case over all its trials, or a note that it does not count for the run.
fn case_result(case: &IndexedCase, row: &ResultRow) -> CsvCell {
    let verdict = case.trials.as_ref().map_or(row.verdict, |trials| trials.summary.verdict);
    let result = match case.state {
        CaseState::Measured => "measured",
        CaseState::Skipped => "skipped",
        CaseState::Allowed => "allowed",
        _ => verdict.name(),
    };
    CsvCell::Own(result.to_owned())
}

/// Cells of a row without a criterion.
fn blank_criterion(reason: &str) -> Vec<CsvCell> {
    let blank = |name: &&str| match *name {
        "reason" => CsvCell::text(reason),
        _ => CsvCell::Own(String::new()),
    };
    CRITERION_COLUMNS[..CRITERION_COLUMNS.len() - 1].iter().map(blank).collect()
}

fn criterion_cells(
    row: &ResultRow,
    grader: &GraderRow,
    criterion: &CriterionRow,
    text: String,
) -> Vec<CsvCell> {
    let gate_failed = has_failed_gate(row, &grader.name, &criterion.id);
    let quotes: Vec<&str> = criterion.evidence.iter().map(|quote| quote.quote.as_str()).collect();
    let found = criterion.evidence.iter().filter(|quote| quote.verified).count();
    let judge = &criterion.judge;

    vec![
        CsvCell::text(&grader.name),
        CsvCell::text(&grader.type_name),
        CsvCell::number(grader.score),
        CsvCell::text(&*criterion.id),
        CsvCell::text(text),
        CsvCell::Own(criterion.outcome.name().to_owned()),
        CsvCell::number(criterion.value),
        CsvCell::number(criterion.score_out_of_ten()),
        CsvCell::number(Some(criterion.weight)),
        CsvCell::text(criterion.gate.as_deref().unwrap_or_default()),
        CsvCell::Own(if gate_failed { "yes" } else { "no" }.to_owned()),
        CsvCell::text(&criterion.reason),
        CsvCell::text(&*judge.name),
        CsvCell::text(judge.model.as_deref().unwrap_or_default()),
        CsvCell::text(judge.version.as_deref().unwrap_or_default()),
        CsvCell::Own(criterion.evidence.len().to_string()),
        CsvCell::Own(found.to_string()),
        CsvCell::text(quotes.join("\n")),
    ]
}

fn detail_cells(record: &CaseRecord, question: Option<String>) -> Vec<CsvCell> {
    let row = &record.result;
    let criteria = || row.graders.iter().flat_map(|grader| &grader.criteria);
    let ungraded = criteria().filter(|one| one.outcome == OutcomeKind::Ungraded).count();
    // An incurred penalty counts as unmet, an avoided one does not.
    let unmet = row.graders.iter().flat_map(|grader| {
        let is_decided = |one: &&CriterionRow| matches!(one.outcome, OutcomeKind::Met | OutcomeKind::Unmet);
        grader.criteria.iter().filter(is_decided).filter(|one| is_against(grader, one, false))
    });
    let gates: Vec<&str> =
        row.gates_failed.iter().map(|gate| gate.criterion.as_deref().unwrap_or(&gate.grader)).collect();
    let error = row
        .error
        .as_ref()
        .map(|error| format!("{} {}: {}", error.stage.name(), error.kind.name(), error.message));

    vec![
        CsvCell::number(row.score_low),
        CsvCell::number(row.score_high),
        CsvCell::number(row.coverage),
        CsvCell::text(row.tags.join(", ")),
        CsvCell::text(row.cluster.as_deref().unwrap_or_default()),
        CsvCell::text(gates.join(", ")),
        CsvCell::Own(criteria().count().to_string()),
        CsvCell::Own(unmet.count().to_string()),
        CsvCell::Own(ungraded.to_string()),
        CsvCell::text(error.unwrap_or_default()),
        CsvCell::text(question.unwrap_or_default()),
        CsvCell::text(row.answer.as_deref().unwrap_or_default()),
        CsvCell::count(row.tokens.input),
        CsvCell::count(row.tokens.cached),
        CsvCell::count(row.tokens.output),
        CsvCell::Own(row.cost_usd.map_or_else(String::new, |cost| cost.as_dollars().to_string())),
        CsvCell::count(row.latency_ms),
        CsvCell::count(Some(row.duration_ms)),
        CsvCell::text(row.answered_by.as_deref().unwrap_or_default()),
    ]
}

/// A table that is written one row at a time.
struct CsvTable<'w> {
    writer: csv::Writer<&'w mut dyn Write>,
}

impl<'w> CsvTable<'w> {
    fn new(out: &'w mut dyn Write, first: &[&str], more: &[&str]) -> Result<Self, ReportError> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(first.iter().chain(more)).map_err(write_error)?;

        Ok(Self { writer })
    }

    fn write(&mut self, cells: &[CsvCell]) -> Result<(), ReportError> {
        let cells = cells.iter().map(|cell| match cell {
            CsvCell::Own(text) => Cow::Borrowed(text.as_str()),
            CsvCell::Text(text) => Cow::Owned(spreadsheet_text(text)),
        });
        let cells: Vec<Cow<'_, str>> = cells.collect();

        self.writer.write_record(cells.iter().map(|cell| cell.as_bytes())).map_err(write_error)
    }

    fn finish(mut self) -> Result<Vec<String>, ReportError> {
        self.writer.flush()?;
        Ok(Vec::new())
    }
}

fn write_error(error: csv::Error) -> ReportError {
    ReportError::Write(std::io::Error::other(error))
}

/// Makes a text safe for a spreadsheet cell: no formula is run, and no character reorders or hides text.
pub fn spreadsheet_text(text: &str) -> String {
    without_formula(escape_lines(text))
}

/// Puts an apostrophe before text that a spreadsheet would run as a formula. Numbers stay unchanged.
fn without_formula(text: String) -> String {
    let begins =
        text.trim_start().trim_start_matches('\'').starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    if begins && text.parse::<f64>().is_err() { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spreadsheet_runs_nothing() {
        for (text, shown) in [
            ("=cmd()", "'=cmd()"),
            (" \t@SUM(A1)", "' \t@SUM(A1)"),
            ("'=1", "''=1"),
            ("-1.5", "-1.5"),
            ("- a list", "'- a list"),
            ("a=b", "a=b"),
        ] {
            assert_eq!(without_formula(text.to_owned()), shown);
        }
    }
}
