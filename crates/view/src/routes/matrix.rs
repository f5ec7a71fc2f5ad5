//! Runs, or the prompts and targets of a run, side by side: a test a row, each of them a column.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use assize_analysis::NameTable;
use assize_analysis::compare::{HeadlineMetric, compare_many};
use assize_analysis::matrix::{ColumnMetrics, ColumnTally, column_title};
use assize_report::{
    FoldedTrials, TrialGroup, answer_excerpt, criterion_counts, excerpt, format_latency, grouped,
    short_criterion_name,
};
use assize_rubric::OutcomeKind;
use assize_store::{AnswerPart, named_case};
use axum::extract::State;
use axum::http::Uri;
use axum::response::{IntoResponse, Redirect, Response};
use parking_lot::{Mutex, RwLockReadGuard};
use url::form_urlencoded::Serializer;

use super::cases::criterion_cells;
use super::compare::conclusion_mark;
use super::compare_choice::ComparisonChoice;
use super::compared_run::ComparedSide;
use super::run_header::{is_live, run_result};
use crate::index::{CaseFilter, CaseStatus, CaseTableEntry, CaseTableIndex, VerdictChoice};
use crate::library::{ComparedColumns, RunLibrary};
use crate::open_run::OpenRun;
use crate::page_reply::{
    Library, PageError, matrix_url, query_value, query_values, render, run_url, with_query,
};
use crate::page_work::{PageWork, working};
use crate::pages::{ChipGroup, FilterChip, MatrixAnswer, MatrixCell, MatrixColumn, MatrixPage, MatrixRow};
use crate::text::{MetricText, ResultMark, range_text, sentence, visible};

/// Maximum number of columns of a page.
const MAX_COLUMNS: usize = 12;
/// Tests of a page.
const PAGE_ROWS: usize = 50;
/// Maximum number of trials that are named by their numbers.
const MAX_NUMBERS: usize = 5;
/// Maximum number of criteria that are chips.
const MAX_CHIPS: usize = 12;

pub(crate) async fn page(State(library): Library, uri: Uri) -> Result<Response, PageError> {
    if query_value(&uri, "from").is_some() {
        // The list of runs has the newest first, and the oldest is the one to compare with.
        let mut runs = query_values(&uri, "run");
        runs.reverse();
        return Ok(Redirect::to(&matrix_url(&runs)).into_response());
    }

    working("Side by side", "Reading the cases of all runs to compare them", move |work| {
        Ok(render(&matrix_page(&library, &uri, work)?))
    })
    .await
}

/// Value of the key `differ` for any difference; others are criteria.
const ANY: &str = "1";

/// Outcome and score of a decision, and whether it counts against the answer.
type DecisionMark = (OutcomeKind, Option<f32>, bool);

/// Tests that differ between columns, each with the criteria that differ.
type DifferingTests<'v> = HashMap<u32, Vec<&'v str>>;

/// Between suite and test in a name of a test.
const BETWEEN: char = '\u{1f}';

/// What a column shows.
struct Column {
    side: ComparedSide,
    title: String,
    /// Position of its run among the open ones.
    run: usize,
    /// Its rows, each after the number of its test: sorted by test and trial.
    rows: Vec<(u32, u32)>,
}

impl Column {
    /// Rows of a test: one for each trial.
    fn rows_of(&self, test: u32) -> impl Iterator<Item = u32> {
        let begin = self.rows.partition_point(|(other, _)| *other < test);
        self.rows[begin..].iter().take_while(move |(other, _)| *other == test).map(|(_, row)| *row)
    }

    /// Address of its cases, or of those in which a text is found.
    fn cases_url(&self, text: Option<&str>) -> String {
        let AnswerPart { target, prompt } = self.side.part.clone();
        let filter = CaseFilter { prompt, target, text: text.map(str::to_owned), ..CaseFilter::default() };
        with_query(&format!("{}/cases", run_url(&self.side.run.slug)), &filter.to_query())
    }
}

fn matrix_page(library: &RunLibrary, uri: &Uri, work: &PageWork) -> Result<MatrixPage, PageError> {
    let shown_runs = query_values(uri, "run");
    let sides: Vec<ComparedSide> = match shown_runs.as_slice() {
        [only] => ComparedSide::columns_of(library, only)?,
        names => names.iter().map(|name| ComparedSide::open(library, name)).collect::<Result<_, _>>()?,
    };
    if sides.len() < 2 || sides.len() > MAX_COLUMNS {
        return Err(PageError::refused(format!(
            "Check 2 to {MAX_COLUMNS} runs of the list to see them side by side."
        )));
    }
    let titles = column_titles(library, &sides);
    let compared = compare_columns(library, &sides, &titles, work)?;

    let mut runs: Vec<Arc<OpenRun>> = Vec::new();
    let mut places = Vec::new();
    for side in &sides {
        let known = runs.iter().position(|run| Arc::ptr_eq(run, &side.run));
        places.push(known.unwrap_or_else(|| {
            runs.push(Arc::clone(&side.run));
            runs.len() - 1
        }));
    }
    // Each index is locked once: a second lock could wait for ever.
    let indexes: Vec<RwLockReadGuard<'_, CaseTableIndex>> =
        runs.iter().map(|run| run.index()).collect::<Result<_, _>>()?;
    // Answers to one prompt stand beside those to others, test by test.
    let by_test = sides.iter().any(|side| side.part.prompt.is_some());
    let mut columns = Vec::new();
    let mut names = NameTable::default();
    for ((side, title), run) in sides.into_iter().zip(titles).zip(places) {
        let index = &*indexes[run];
        let rows = runs[run].select(index, &CaseFilter::default(), None)?;
        let mut column = Column { side, title, run, rows: Vec::with_capacity(rows.len()) };
        for row in rows.iter() {
            let entry = index.get(*row).filter(|entry| index.is_in(entry, &column.side.part));
            let Some(entry) = entry else { continue };
            let prompt = entry.prompt.filter(|_| !by_test);
            let name = named_case(entry.test_id(), prompt.map(|at| index.name(at)));
            let test = names.intern(&format!("{}{BETWEEN}{name}", index.name(entry.suite)));
            column.rows.push((test, *row));
        }
        column.rows.sort_by_key(|(test, row)| (*test, index.get(*row).map(|entry| entry.trial)));
        columns.push(column);
    }

    let view = MatrixView { columns: &columns, names: &names, indexes: &indexes, runs: &runs };
    let all = names.count();
    let mut tests: Vec<u32> = (0..all as u32).collect();
    let (differing, chips) = view.chips(&tests, uri);
    match query_value(uri, "differ").as_deref() {
        None => {}
        Some(ANY) => tests.retain(|test| differing.contains_key(test)),
        Some(name) => {
            tests.retain(|test| differing.get(test).is_some_and(|names| names.contains(&name)));
        }
    }
    let filter = CaseFilter::from_query(uri.query().unwrap_or_default());
    if filter != CaseFilter::default() {
        // A test with such a result in any column.
        let mut found = Vec::new();
        for (run, index) in runs.iter().zip(&indexes) {
            let rows = run.select(index, &filter, None)?;
            found.push(rows.iter().copied().collect::<HashSet<u32>>());
        }
        let has = |column: &Column, test| column.rows_of(test).any(|row| found[column.run].contains(&row));
        tests.retain(|test| columns.iter().any(|column| has(column, *test)));
    }

    let page = query_value(uri, "page").and_then(|page| page.parse::<usize>().ok()).unwrap_or(1).max(1);
    let begin = (page - 1).saturating_mul(PAGE_ROWS);
    let first = tests.first().map(|test| view.suite_and_id(*test).0);
    let several_suites = tests.iter().any(|test| Some(view.suite_and_id(*test).0) != first);
    let shown = tests.iter().skip(begin).take(PAGE_ROWS);
    let rows = shown.map(|test| view.row(*test, several_suites)).collect::<Result<_, PageError>>()?;
    let of_page = |page: usize| {
        let mut query = Serializer::new(String::new());
        query.extend_pairs(pairs_without(uri, &["page"])).append_pair("page", &page.to_string());
        with_query("/matrix", &query.finish())
    };

    Ok(MatrixPage {
        says: compared.set.order_claims(compared.metrics.iter()).iter().map(|line| sentence(line)).collect(),
        columns: view.heads(&compared),
        chips,
        text: filter.text.unwrap_or_default(),
        kept: pairs_without(uri, &["page", "q"]),
        rows,
        all_url: matrix_url(&shown_runs),
        counts: format!("{} of {} tests", grouped(tests.len() as u64), grouped(all as u64)),
        before: (page > 1).then(|| of_page(page - 1)),
        after: (begin.saturating_add(PAGE_ROWS) < tests.len()).then(|| of_page(page + 1)),
    })
}

fn pairs_without(uri: &Uri, keys: &[&str]) -> Vec<(String, String)> {
    let query = uri.query().unwrap_or_default();
    let pairs = url::form_urlencoded::parse(query.as_bytes()).into_owned();
    pairs.filter(|(key, _)| !keys.contains(&key.as_str())).collect()
}

/// What tells the columns apart: prompt and target, the answers file, or the run.
fn column_titles(library: &RunLibrary, sides: &[ComparedSide]) -> Vec<String> {
    let is_one_run = sides.iter().all(|side| Arc::ptr_eq(&side.run, &sides[0].run));
    let runs = library.list();
    let title = |side: &ComparedSide| {
        let run = runs.iter().find(|run| run.slug == side.run.slug);
        let run = run.map_or_else(|| &side.run.slug, |run| &run.name);
        column_title(&side.part, &side.info, run, is_one_run)
    };
    sides.iter().map(title).collect()
}

/// Compares each column with the first and with each other, or returns the comparison if it is still in memory.
fn compare_columns(
    library: &RunLibrary,
    sides: &[ComparedSide],
    titles: &[String],
    work: &PageWork,
) -> Result<Arc<ComparedColumns>, PageError> {
    let key: Vec<String> = sides.iter().map(|side| format!("{}\n{}", side.name, side.length())).collect();
    let key = key.join("\n");
    if let Some(known) = library.set.find(&key) {
        return Ok(known);
    }

    let mut choice = ComparisonChoice::default();
    choice.options.headline = HeadlineMetric::PassRate;
    let tally = |side: &ComparedSide| Mutex::new(ColumnTally::new(&side.info, &side.part));
    let tallies: Vec<Mutex<ColumnTally>> = sides.iter().map(tally).collect();
    let (mut facts, names) =
        ComparedSide::facts_of(sides, &choice, work, |at, row| tallies[at].lock().push(row))?;
    for (facts, title) in facts.iter_mut().zip(titles) {
        facts.label.clone_from(title);
    }
    let base = facts.remove(0);
    let metrics = tallies.into_iter().zip(sides).map(|(tally, side)| tally.into_inner().finish(&side.info));
    let compared = Arc::new(ComparedColumns {
        set: compare_many(&base, &facts, &names, &choice.options),
        metrics: metrics.into_iter().collect::<Result<_, _>>()?,
    });
    library.set.keep(key, Arc::clone(&compared));
    Ok(compared)
}

/// The columns with their indexes.
struct MatrixView<'a> {
    columns: &'a [Column],
    /// Names of the tests.
    names: &'a NameTable,
    indexes: &'a [RwLockReadGuard<'a, CaseTableIndex>],
    runs: &'a [Arc<OpenRun>],
}

impl MatrixView<'_> {
    fn entries<'c>(
        &'c self,
        column: &'c Column,
        test: u32,
    ) -> impl Iterator<Item = (u32, &'c CaseTableEntry)> {
        column.rows_of(test).filter_map(|row| Some((row, self.indexes[column.run].get(row)?)))
    }

    /// The names of a test.
    fn suite_and_id(&self, test: u32) -> (&str, &str) {
        self.names.text(test).split_once(BETWEEN).unwrap_or_default()
    }

    /// The heads of the columns.
    fn heads(&self, compared: &ComparedColumns) -> Vec<MatrixColumn> {
        let names: Vec<String> = self.columns.iter().map(|column| column.side.name.clone()).collect();
        let head = |(at, (column, metrics)): (usize, (&Column, &ColumnMetrics))| {
            let side = &column.side;
            let against = at.checked_sub(1).and_then(|at| compared.set.comparisons.get(at));
            let mut order = names.clone();
            let first = order.remove(at);
            order.insert(0, first);
            MatrixColumn {
                name: visible(&column.title),
                url: column.cases_url(None),
                result: run_result(&side.info, is_live(&side.run, &side.info)),
                pass_rate: MetricText::rate(&metrics.pass_rate),
                rate: metrics.pass_rate.value,
                mean_score: MetricText::score(&metrics.mean_score),
                cost: metrics.cost.map_or_else(|| "cost unknown".to_owned(), assize_report::dollars),
                latency: format_latency(metrics.latency_ms),
                against: criterion_counts(&metrics.against),
                against_first: against
                    .map(|found| (conclusion_mark(found.pass_rate.call), visible(&found.pass_rate.says))),
                compare_url: ComparisonChoice::default().url(&names[0], &side.name),
                first_url: matrix_url(&order),
            }
        };
        self.columns.iter().zip(&compared.metrics).enumerate().map(head).collect()
    }

    /// For each test that differs, the criteria that differ; and the chips that filter by them.
    fn chips(&self, tests: &[u32], uri: &Uri) -> (DifferingTests<'_>, Vec<ChipGroup>) {
        let mut differing = HashMap::new();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut results = VerdictChoice::ALL.map(|choice| (choice, 0));
        for test in tests.iter().copied() {
            for (choice, count) in &mut results {
                let mut all = self.columns.iter().flat_map(|column| self.entries(column, test));
                *count += usize::from(all.any(|(_, entry)| choice.takes(entry)));
            }
            let mut verdicts: Vec<Vec<CaseStatus>> = Vec::new();
            let mut marks: BTreeMap<&str, Vec<Vec<DecisionMark>>> = BTreeMap::new();
            for column in self.columns {
                let index = &self.indexes[column.run];
                // A test that a column lacks does not differ there.
                if column.rows_of(test).next().is_none() {
                    continue;
                }
                verdicts.push(self.entries(column, test).map(|(_, entry)| entry.verdict).collect());
                let mut own: BTreeMap<&str, Vec<DecisionMark>> = BTreeMap::new();
                for (_, entry) in self.entries(column, test) {
                    for one in &entry.criteria {
                        let mark = (one.outcome, one.points, one.is_missed());
                        own.entry(index.name(one.name)).or_default().push(mark);
                    }
                }
                for (name, signs) in own {
                    marks.entry(name).or_default().push(signs);
                }
            }
            let is_all = |signs: &Vec<_>| signs.len() == verdicts.len();
            let moved =
                marks.iter().filter(|(_, signs)| !is_all(signs) || signs.iter().any(|one| *one != signs[0]));
            let moved: Vec<&str> = moved.map(|(name, _)| *name).collect();
            if !moved.is_empty() || verdicts.iter().any(|one| *one != verdicts[0]) {
                for name in &moved {
                    *counts.entry(name).or_default() += 1;
                }
                differing.insert(test, moved);
            }
        }

        let query = Serializer::new(String::new()).extend_pairs(pairs_without(uri, &["page"])).finish();
        let chip = |text: String, count: usize, sets: &[(&str, &str)]| {
            FilterChip::new(text, Some(grouped(count as u64)), sets, "/matrix", &query)
        };
        let results = results.into_iter().filter(|(_, count)| *count > 0);
        let results = results
            .map(|(choice, count)| chip(choice.name().to_owned(), count, &[("verdict", choice.name())]))
            .collect();
        let mut named: Vec<(&str, usize)> = counts.into_iter().collect();
        named.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let mut chips = vec![chip("any difference".to_owned(), differing.len(), &[("differ", ANY)])];
        let named = named.iter().take(MAX_CHIPS);
        chips
            .extend(named.map(|(name, count)| chip(short_criterion_name(name), *count, &[("differ", name)])));
        let groups = [("In any column", results), ("Differs in", chips)];
        (differing, groups.map(|(label, chips)| ChipGroup { label, chips }).into())
    }

    fn row(&self, test: u32, several_suites: bool) -> Result<MatrixRow, PageError> {
        let mut question = String::new();
        let mut cells = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            cells.push(self.cell(at, column, test, &mut question)?);
        }
        let (suite, id) = self.suite_and_id(test);
        let suite = if several_suites { visible(suite) } else { String::new() };
        Ok(MatrixRow { id: visible(id), suite, question, cells })
    }

    fn cell(
        &self,
        at: usize,
        column: &Column,
        test: u32,
        question: &mut String,
    ) -> Result<Option<MatrixCell>, PageError> {
        let (run, index) = (&self.runs[column.run], &self.indexes[column.run]);
        let (mut trials, mut stored) = (Vec::new(), Vec::new());
        for (row, entry) in self.entries(column, test) {
            if let Some(result) = run.folder.result_at(entry.offset)? {
                trials.push((row, entry));
                stored.push(result);
            }
        }
        let answers: Vec<String> = stored.iter().map(answer_excerpt).collect();
        let passes = trials.iter().map(|(_, entry)| entry.verdict == CaseStatus::Pass);
        let folded = FoldedTrials::new(answers.iter().map(String::as_str).zip(passes));
        let Some(FoldedTrials { all, by_answer, more }) = folded else { return Ok(None) };
        if question.is_empty() {
            let asked = run.question(&stored[0])?.and_then(|asked| asked.question);
            *question = excerpt(asked.as_deref().unwrap_or_default());
        }

        let mark = |group: &TrialGroup| match (group.trials.as_slice(), group.passed) {
            ([only], _) => ResultMark::of_status(trials[*only].1.verdict),
            (_, 0) => ResultMark::new("bad", "✗", group.words()),
            (all, passed) if all.len() == passed => ResultMark::new("good", "✓", group.words()),
            _ => ResultMark::new("middling", "≈", group.words()),
        };
        let is_split = by_answer.len() > 1;
        let people = run.people(index)?;
        let is_open = |group: &TrialGroup| group.passed < group.trials.len();
        let first = by_answer.iter().position(is_open).unwrap_or(0);
        let answer = |(number, group): (usize, TrialGroup)| {
            let (row, entry) = trials[group.shown];
            let numbers: Vec<String> =
                group.trials.iter().map(|at| trials[*at].1.trial.to_string()).collect();
            MatrixAnswer {
                mark: mark(&group),
                score: if numbers.len() == 1 { range_text(entry.score, entry.bounds) } else { String::new() },
                trials: match numbers.len() {
                    _ if stored.len() == 1 => String::new(),
                    1 => format!("trial {}", numbers[0]),
                    2..=MAX_NUMBERS => format!("trials {}", numbers.join(", ")),
                    several => format!("{} trials", grouped(several as u64)),
                },
                is_first: number == first,
                url: format!("{}/cases/{}", run_url(&run.slug), row + 1),
                criteria: criterion_cells(index, entry, people.of(row)).0,
                text: group.answer,
            }
        };
        Ok(Some(MatrixCell {
            name: format!("trials-{at}-{}", trials[0].0),
            mark: is_split.then(|| mark(&all)),
            more_url: column.cases_url(Some(&stored[0].case_id)),
            answers: by_answer.into_iter().enumerate().map(answer).collect(),
            more,
        }))
    }
}
