//! Runs, or the prompts and targets of a run, side by side: a test a row, each of them a column.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

use askama::Template;
use assize_analysis::compare::{ComparisonOptions, HeadlineMetric, compare_many};
use assize_analysis::matrix::{ColumnMetrics, ColumnTally, best_first};
use assize_analysis::{CaseFact, NameTable, RunFacts, brief_result};
use assize_rubric::Verdict;
use assize_store::{AnswerPart, CaseRecord, ResultRow, RunFolder, RunInfo, named_case};

use crate::case_block::has_failed_gate;
use crate::comparison_markdown::escape_markdown;
use crate::entry::{percent, percent_interval};
use crate::excerpt::{answer_excerpt, excerpt, short_criterion_name};
use crate::export::{MARKDOWN_MARK, ReportError, spreadsheet_text, stored_question};
use crate::html::page_of;
use crate::mark::VerdictMark;
use crate::number::{dollars, format_count, format_latency, format_score, grouped};

/// Maximum number of characters of a Markdown file, so that it fits into a comment.
const MAX_CHARACTERS: usize = assize_limits::MARKDOWN_CHARACTERS - 1_536;
/// Maximum number of different answers of a cell; `view.css` has a place for each.
const MAX_ANSWERS: usize = 5;
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
    /// The first columns that can't be compared because they have no case in common.
    unpaired: Option<String>,
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
    /// Reads the rows of the columns, and compares each with the first.
    ///
    /// # Errors
    /// If rows can't be read, or a column has a case more than once.
    pub fn read(sources: &[MatrixSource<'_>]) -> Result<Self, ReportError> {
        let mut tests: Vec<MatrixTest> = Vec::new();
        let mut known: HashMap<(Arc<str>, String), usize> = HashMap::new();
        let (mut columns, mut facts, mut names) = (Vec::new(), Vec::new(), NameTable::default());
        let by_test = sources.iter().any(|source| source.part.prompt.is_some());
        for (at, source) in sources.iter().enumerate() {
            let mut questions = source.folder.question_index()?;
            let mut tally = ColumnTally::new(source.info, source.part);
            let mut cases = Vec::new();
            let mut trials: BTreeMap<usize, Vec<MatrixTrial>> = BTreeMap::new();
            for record in source.folder.cases()? {
                let mut record = record?;
                if !source.part.takes(&record.result) {
                    continue;
                }
                tally.push(&record.result);
                (source.prepare)(&mut record);
                if !record.result.is_later_attempt() {
                    cases.push(CaseFact::from_record(&record, &mut names));
                }
                let row = record.result;
                let prompt = row.prompt.as_deref().filter(|_| !by_test);
                let id = named_case(row.test_id(), prompt).into_owned();
                let test = *known.entry((Arc::clone(&row.suite), id.clone())).or_insert(tests.len());
                if test == tests.len() {
                    let question = stored_question(&mut questions, &row)?.and_then(|row| row.question);
                    let question = excerpt(&question.unwrap_or_default());
                    let (suite, place) = (Arc::clone(&row.suite), row.place.unwrap_or(u64::MAX));
                    let cells = sources.iter().map(|_| None).collect();
                    tests.push(MatrixTest { suite, id, question, place, cells });
                }
                trials.entry(test).or_default().push(MatrixTrial::new(&row));
            }
            for (test, mut trials) in trials {
                trials.sort_by_key(|trial| trial.number);
                tests[test].cells[at] = MatrixCell::of_trials(&trials);
            }

            let of_run = RunFacts::new(source.name.to_owned(), cases, &names);
            let of_run = of_run.and_then(|run| if by_test { run.by_test(&names) } else { Ok(run) });
            let of_run = of_run.map_err(|error| ReportError::Unsupported(error.to_string()))?;
            facts.push(of_run.of_run(source.info));
            columns.push(tally.finish(source.info)?);
        }

        let options =
            ComparisonOptions { headline: HeadlineMetric::PassRate, ..ComparisonOptions::default() };
        let compared = (facts.len() > 1).then(|| compare_many(&facts[0], &facts[1..], &names, &options));
        let comparisons = || compared.iter().flat_map(|set| &set.comparisons);
        let unpaired = comparisons().find(|found| found.common == 0);
        let says = compared.as_ref().map(|set| set.order_claims(columns.iter())).unwrap_or_default();
        let against =
            comparisons().map(|found| format!("{}: {}", found.pass_rate.call.words(), found.pass_rate.says));
        let against = std::iter::once(String::new()).chain(against);
        let heads =
            sources.iter().zip(columns).zip(against).map(|((source, metrics), against_first)| MatrixHead {
                name: source.name.to_owned(),
                result: brief_result(source.info),
                metrics,
                against_first,
            });

        tests.sort_by_key(|test| test.place);
        Ok(Self {
            heads: heads.collect(),
            says,
            has_suites: tests.iter().any(|test| test.suite != tests[0].suite),
            unpaired: unpaired
                .map(|found| format!("`{}` and `{}` have no case in common", found.base, found.candidate)),
            tests,
        })
    }

    /// Why the columns can't all be compared, if so.
    pub fn warning(&self) -> Option<&str> {
        self.unpaired.as_deref()
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
            row("Latency", &|head| format_latency(head.metrics.latency_ms)),
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
        let mut page = format!("{MARKDOWN_MARK} -->\n\n## Side by side\n\n");
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

/// The trials of a test in a column, folded into one cell.
#[derive(Debug)]
pub struct FoldedTrials {
    /// All of them.
    pub all: TrialGroup,
    /// Those with equal answers, for the first few answers.
    pub by_answer: Vec<TrialGroup>,
    /// Number of further answers.
    pub more: usize,
}

/// Trials of a test.
#[derive(Debug)]
pub struct TrialGroup {
    /// Beginning of the answer of the first of them.
    pub answer: String,
    /// Their positions.
    pub trials: Vec<usize>,
    /// Number of those that pass.
    pub passed: usize,
    /// Position of the one whose criteria are shown as the reason: the first that did not pass, or else the first.
    pub shown: usize,
}

impl FoldedTrials {
    /// Folds trials, each by its answer and whether it passes; `None` if there are none.
    pub fn new<'r>(trials: impl Iterator<Item = (&'r str, bool)>) -> Option<Self> {
        let mut passed = Vec::new();
        let mut known: Vec<(&str, Vec<usize>)> = Vec::new();
        for (at, (answer, passes)) in trials.enumerate() {
            passed.push(passes);
            match known.iter_mut().find(|(other, _)| *other == answer) {
                Some((_, trials)) => trials.push(at),
                None => known.push((answer, vec![at])),
            }
        }
        let group = |answer: &str, trials: Vec<usize>| {
            let shown = *trials.iter().find(|at| !passed[**at]).or(trials.first())?;
            let passed = trials.iter().filter(|at| passed[**at]).count();
            Some(TrialGroup { answer: answer.to_owned(), trials, passed, shown })
        };
        let all = group(known.first()?.0, (0..passed.len()).collect())?;
        let more = known.len().saturating_sub(MAX_ANSWERS);
        let first = known.into_iter().take(MAX_ANSWERS);
        Some(Self {
            all,
            by_answer: first.filter_map(|(answer, trials)| group(answer, trials)).collect(),
            more,
        })
    }
}

impl TrialGroup {
    /// How many of several trials pass: `3 of 5 pass`.
    pub fn words(&self) -> String {
        format!("{} of {} pass", self.passed, self.trials.len())
    }
}

/// What a cell needs of a trial.
#[derive(Debug)]
struct MatrixTrial {
    number: u32,
    passes: bool,
    verdict: String,
    answer: String,
    criteria: String,
}

impl MatrixTrial {
    fn new(row: &ResultRow) -> Self {
        let mark = VerdictMark::for_case(row);
        let score = row.score.map_or_else(String::new, |score| format!(" {}", format_score(score)));
        let verdict = format!("{} {}{score}", mark.sign, mark.word);
        let (answer, criteria) = (answer_excerpt(row), criteria_text(row));
        Self { number: row.trial, passes: row.verdict == Verdict::Pass, verdict, answer, criteria }
    }
}

impl MatrixCell {
    /// The trials of a test; equal answers are shown once.
    fn of_trials(trials: &[MatrixTrial]) -> Option<Self> {
        let answers = trials.iter().map(|trial| (trial.answer.as_str(), trial.passes));
        let FoldedTrials { all, by_answer, more } = FoldedTrials::new(answers)?;
        let shown = by_answer.into_iter().map(|group| match group.trials.len() {
            1 => group.answer,
            trials => format!("{} ({trials} times)", group.answer),
        });
        let rest =
            (more > 0).then(|| format!("and {}", format_count(more as u64, "other answer", "other answers")));
        let verdict = if let [only] = trials { only.verdict.clone() } else { all.words() };
        let criteria = trials[all.shown].criteria.clone();
        Some(Self { verdict, answers: shown.chain(rest).collect(), criteria })
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
