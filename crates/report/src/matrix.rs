//! Runs, or the prompts and targets of a run, side by side: a test a row, each of them a column.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

use askama::Template;
use assize_analysis::brief_result;
use assize_analysis::compare::ComparisonSet;
use assize_analysis::matrix::{ColumnMetrics, best_first};
use assize_rubric::Verdict;
use assize_store::{
    AnswerPart, CaseRecord, QuestionIndex, ResultRow, RunFolder, RunInfo, StoreError, named_case,
};

use crate::case_block::has_failed_gate;
use crate::comparison_markdown::escape_markdown;
use crate::entry::{percent, percent_interval};
use crate::excerpt::{answer_excerpt, excerpt, short_criterion_name};
use crate::export::{ReportError, spreadsheet_text, stored_question};
use crate::html::page_of;
use crate::mark::VerdictMark;
use crate::number::{dollars, format_count, format_duration, format_score, grouped};

/// Maximum number of characters of a Markdown file, so that it fits into a comment.
const MAX_CHARACTERS: usize = assize_limits::MARKDOWN_CHARACTERS - 1_536;
/// Maximum number of different answers of a cell.
const MAX_ANSWERS: usize = 3;
/// Maximum number of criteria that are counted in the head of a column.
const MAX_COUNTS: usize = 6;
/// Maximum number of characters of an answer in Markdown.
const MAX_TEXT: usize = 320;

/// Format of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixForm {
    /// Markdown, at most as long as a comment.
    Markdown,
    /// CSV.
    Csv,
    /// An HTML page that needs no network.
    Html,
}

/// A column before its rows are read.
#[derive(Clone, Copy)]
pub struct MatrixSource<'a> {
    /// Its name.
    pub name: &'a str,
    /// Folder of its run.
    pub folder: &'a RunFolder,
    /// Description of its run.
    pub info: &'a RunInfo,
    /// Its part of the run.
    pub part: &'a AnswerPart,
    /// Changes each record before it is shown, such as to apply people's labels.
    pub prepare: &'a dyn Fn(&mut CaseRecord),
}

/// The table.
#[derive(Debug, Template)]
#[template(path = "matrix.html")]
pub struct MatrixReport {
    heads: Vec<MatrixHead>,
    says: Vec<String>,
    tests: Vec<MatrixTest>,
    has_suites: bool,
}

#[derive(Debug)]
struct MatrixHead {
    name: String,
    /// Result of its run in one line.
    result: String,
    metrics: ColumnMetrics,
    /// Conclusion against the first column; empty for that column, and without a comparison.
    against_first: String,
}

impl MatrixHead {
    fn pass_rate(&self) -> String {
        percent(&self.metrics.pass_rate)
    }

    fn interval(&self) -> String {
        percent_interval(&self.metrics.pass_rate)
    }
}

#[derive(Debug)]
struct MatrixTest {
    suite: Arc<str>,
    id: String,
    question: String,
    place: u64,
    cells: Vec<Option<MatrixCell>>,
}

/// The results of a test in a column.
#[derive(Debug, Default)]
struct MatrixCell {
    verdict: String,
    answers: Vec<String>,
    criteria: String,
}

impl MatrixReport {
    /// Reads the rows of the columns. `compared` compares them in this order; a single column has no comparison.
    ///
    /// # Errors
    /// If rows can't be read.
    pub fn read(sources: &[MatrixSource<'_>], compared: Option<&ComparisonSet>) -> Result<Self, StoreError> {
        let mut tests: Vec<MatrixTest> = Vec::new();
        let mut known: HashMap<(Arc<str>, String), usize> = HashMap::new();
        let mut heads: Vec<MatrixHead> = Vec::new();
        let by_test = sources.iter().any(|source| source.part.prompt.is_some());
        for (at, source) in sources.iter().enumerate() {
            let mut questions = source.folder.question_index()?;
            let mut trials: BTreeMap<usize, Vec<ResultRow>> = BTreeMap::new();
            for record in source.folder.cases()? {
                let mut record = record?;
                if !source.part.takes(&record.result) {
                    continue;
                }
                (source.prepare)(&mut record);
                let row = record.result;
                let prompt = row.prompt.as_deref().filter(|_| !by_test);
                let id = named_case(row.test_id(), prompt).into_owned();
                let test = if let Some(test) = known.get(&(Arc::clone(&row.suite), id.clone())) {
                    *test
                } else {
                    known.insert((Arc::clone(&row.suite), id.clone()), tests.len());
                    let question = question_of(&mut questions, &row)?;
                    let (suite, place) = (Arc::clone(&row.suite), row.place.unwrap_or(u64::MAX));
                    let cells = sources.iter().map(|_| None).collect();
                    tests.push(MatrixTest { suite, id, question, place, cells });
                    tests.len() - 1
                };
                trials.entry(test).or_default().push(row);
            }
            for (test, mut rows) in trials {
                rows.sort_by_key(|row| row.trial);
                tests[test].cells[at] = Some(MatrixCell::of_trials(&rows));
            }

            let against = at.checked_sub(1).and_then(|at| compared?.comparisons.get(at));
            heads.push(MatrixHead {
                name: source.name.to_owned(),
                result: brief_result(source.info),
                metrics: ColumnMetrics::read(source.folder, source.info, source.part)?,
                against_first: against.map_or_else(String::new, |found| {
                    format!("{}: {}", found.pass_rate.call.words(), found.pass_rate.says)
                }),
            });
        }

        tests.sort_by_key(|test| test.place);
        let has_suites = tests.iter().any(|test| test.suite != tests[0].suite);
        let columns = heads.iter().map(|head| &head.metrics);
        let says = compared.map(|set| set.order_claims(columns)).unwrap_or_default();
        Ok(Self { heads, says, tests, has_suites })
    }

    /// Writes the table. Returns notes about omitted parts.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn write(&self, out: &mut dyn Write, form: MatrixForm) -> Result<Vec<String>, ReportError> {
        let mut omitted = 0;
        match form {
            MatrixForm::Markdown => {
                let page;
                (page, omitted) = self.markdown();
                out.write_all(page.as_bytes())?;
            }
            MatrixForm::Csv => self.write_csv(out)?,
            MatrixForm::Html => out.write_all(self.html().as_bytes())?,
        }
        let remark = || {
            let tests = format_count(omitted as u64, "test", "tests");
            format!("Markdown is cut to the length of a comment, without {tests}; CSV and HTML have all")
        };
        Ok((omitted > 0).then(remark).into_iter().collect())
    }

    /// The columns, the best first.
    fn ranked(&self) -> Vec<&MatrixHead> {
        best_first(&self.heads, |head| head.metrics.pass_rate.value)
    }

    /// Rows above the tests: a metric, with its value in each column.
    fn metrics(&self) -> Vec<(String, Vec<String>)> {
        let row = |name: &str, value: &dyn Fn(&MatrixHead) -> String| {
            (name.to_owned(), self.heads.iter().map(value).collect())
        };
        let mut rows = vec![
            row("Result of the run", &|head| head.result.clone()),
            row("Pass rate", &|head| format!("{} ({})", head.pass_rate(), head.interval())),
            row("Mean score", &|head| {
                head.metrics.mean_score.value.map_or_else(|| "undefined".to_owned(), format_score)
            }),
            row("Cost", &|head| head.metrics.cost.map_or_else(|| "unknown".to_owned(), dollars)),
            row("Time of a test, with waiting and grading", &|head| {
                format_duration(head.metrics.duration_ms)
            }),
            row("Counts against it", &|head| criterion_counts(&head.metrics.against)),
        ];
        if let [first, _, ..] = self.heads.as_slice() {
            rows.push(row(&format!("Compared with {}", first.name), &|head| head.against_first.clone()));
        }
        rows
    }

    fn test_name(&self, test: &MatrixTest) -> String {
        if self.has_suites { format!("{} {}", test.suite, test.id) } else { test.id.clone() }
    }

    /// The table as Markdown, and the number of tests that are omitted.
    fn markdown(&self) -> (String, usize) {
        let text = |text: &str| escape_markdown(text, MAX_TEXT);
        let line = |first: &str, cells: &mut dyn Iterator<Item = String>| {
            cells.fold(format!("| {first} |"), |line, cell| format!("{line} {cell} |")) + "\n"
        };
        let mut page = String::from("## Side by side\n\n");
        page += &line("", &mut self.heads.iter().map(|head| text(&head.name)));
        page += &line("---", &mut self.heads.iter().map(|_| "---".to_owned()));
        for (name, values) in self.metrics() {
            page += &line(&format!("**{}**", text(&name)), &mut values.iter().map(|value| text(value)));
        }
        if self.heads.len() > 1 {
            let name = |head: &&MatrixHead| {
                format!("{} {} ({})", text(&head.name), head.pass_rate(), head.interval())
            };
            let names: Vec<String> = self.ranked().iter().map(name).collect();
            let _ = writeln!(page, "\nBest first: {}.", names.join(", "));
        }
        for line in &self.says {
            let _ = writeln!(page, "\n{}", text(line));
        }

        page.push('\n');
        page += &line("Test", &mut self.heads.iter().map(|head| text(&head.name)));
        page += &line("---", &mut self.heads.iter().map(|_| "---".to_owned()));
        let mut characters = page.chars().count();
        for (at, test) in self.tests.iter().enumerate() {
            let cell = |cell: &Option<MatrixCell>| match cell {
                None => "not there".to_owned(),
                Some(cell) => {
                    let parts = std::iter::once(format!("**{}**", text(&cell.verdict)));
                    let parts = parts.chain(cell.answers.iter().map(|answer| text(answer)));
                    let parts = parts.chain((!cell.criteria.is_empty()).then(|| text(&cell.criteria)));
                    parts.collect::<Vec<_>>().join("<br>")
                }
            };
            let question = (!test.question.is_empty()).then(|| format!("<br>{}", text(&test.question)));
            let first = text(&self.test_name(test)) + &question.unwrap_or_default();
            let row = line(&first, &mut test.cells.iter().map(cell));
            characters += row.chars().count();
            if characters > MAX_CHARACTERS {
                let left = self.tests.len() - at;
                let _ = writeln!(
                    page,
                    "\n**Cut to the {} characters of a comment.** Omitted: {}.",
                    grouped(MAX_CHARACTERS as u64),
                    format_count(left as u64, "test", "tests")
                );
                return (page, left);
            }
            page += &row;
        }
        (page, 0)
    }

    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        const PARTS: [&str; 3] = ["result", "answer", "criteria"];
        let mut table = csv::Writer::from_writer(out);
        let mut record = |head: [&str; 4], cells: &mut dyn Iterator<Item = String>| {
            let head = head.map(str::to_owned).into_iter();
            table.write_record(head.chain(cells).map(|cell| spreadsheet_text(&cell)))
        };
        let mut names = self.heads.iter().flat_map(|head| PARTS.map(|part| format!("{} {part}", head.name)));
        record(["row", "suite", "test", "question"], &mut names)?;
        for (name, values) in self.metrics() {
            let mut cells = values.into_iter().flat_map(|value| [value, String::new(), String::new()]);
            record(["metric", "", &name, ""], &mut cells)?;
        }
        for test in &self.tests {
            let mut cells = test.cells.iter().flat_map(|cell| match cell {
                Some(cell) => [cell.verdict.clone(), cell.answers.join("\n"), cell.criteria.clone()],
                None => std::array::from_fn(|_| String::new()),
            });
            record(["test", &test.suite, &test.id, &test.question], &mut cells)?;
        }
        table.flush()
    }

    fn html(&self) -> String {
        page_of("Side by side – assize", [self.render()])
    }
}

/// An answer that one or several trials of a test gave.
#[derive(Debug)]
pub struct TrialAnswer {
    /// Its beginning.
    pub text: String,
    /// Number of trials that gave it.
    pub trials: usize,
    /// Position of the first of them.
    pub first: usize,
}

/// The different answers of the trials of a test, and the number of those beyond the first few.
pub fn different_answers(rows: &[ResultRow]) -> (Vec<TrialAnswer>, usize) {
    let mut answers: Vec<TrialAnswer> = Vec::new();
    for (first, row) in rows.iter().enumerate() {
        let text = answer_excerpt(row);
        match answers.iter_mut().find(|known| known.text == text) {
            Some(known) => known.trials += 1,
            None => answers.push(TrialAnswer { text, trials: 1, first }),
        }
    }
    let more = answers.len().saturating_sub(MAX_ANSWERS);
    answers.truncate(MAX_ANSWERS);
    (answers, more)
}

fn question_of(questions: &mut QuestionIndex, row: &ResultRow) -> Result<String, StoreError> {
    let question = stored_question(questions, row)?.and_then(|row| row.question);
    Ok(excerpt(&question.unwrap_or_default()))
}

impl MatrixCell {
    /// The trials of a test; equal answers are shown once.
    fn of_trials(rows: &[ResultRow]) -> Self {
        let (answers, more) = different_answers(rows);
        let shown = answers.into_iter().map(|answer| match answer.trials {
            1 => answer.text,
            trials => format!("{} ({trials} times)", answer.text),
        });
        let rest =
            (more > 0).then(|| format!("and {}", format_count(more as u64, "other answer", "other answers")));

        // If there are several trials, the criteria of the first one that did not pass are shown as the reason.
        let failed = rows.iter().find(|row| row.verdict != Verdict::Pass);
        let verdict = match rows {
            [row] => {
                let mark = VerdictMark::for_case(row);
                let score = row.score.map_or_else(String::new, |score| format!(" {}", format_score(score)));
                format!("{} {}{score}", mark.sign, mark.word)
            }
            rows => {
                let passed = rows.iter().filter(|row| row.verdict == Verdict::Pass).count();
                format!("{passed} of {} pass", rows.len())
            }
        };
        Self {
            verdict,
            answers: shown.chain(rest).collect(),
            criteria: failed.or(rows.first()).map(criteria_text).unwrap_or_default(),
        }
    }
}

/// Names of criteria with their numbers of results, the first few of them: `refund 6, polite 2`.
pub fn criterion_counts(counts: &[(String, u64)]) -> String {
    let named =
        counts.iter().map(|(name, count)| format!("{} {}", short_criterion_name(name), grouped(*count)));
    let mut named: Vec<String> = named.collect();
    if named.len() > MAX_COUNTS {
        let more = named.split_off(MAX_COUNTS).len();
        named.push(format!("and {more} more"));
    }
    named.join(", ")
}

/// The criteria of a result, each with its sign: `✓ polite, gate ✗ refund, 7/10 tone`.
fn criteria_text(row: &ResultRow) -> String {
    let all = row.graders.iter().flat_map(|grader| grader.criteria.iter().map(move |one| (grader, one)));
    let words = all.map(|(grader, one)| {
        let mark = VerdictMark::for_criterion(one, grader.negate);
        let gate = if has_failed_gate(row, &grader.name, &one.id) { "gate " } else { "" };
        let penalty = if one.weight < 0.0 { "penalty " } else { "" };
        let sign = if mark.sign == "•" { &*mark.word } else { mark.sign };
        format!("{gate}{sign} {penalty}{}", short_criterion_name(&format!("{}/{}", grader.name, one.id)))
    });
    words.collect::<Vec<_>>().join(", ")
}
