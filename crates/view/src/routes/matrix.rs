//! Runs, or the prompts and targets of a run, side by side: a test a row, each of them a column.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use assize_analysis::compare::{HeadlineMetric, compare_many};
use assize_analysis::matrix::{ColumnMetrics, column_title};
use assize_engine::read_together;
use assize_report::{
    criterion_counts, different_answers, excerpt, format_duration, grouped, short_criterion_name,
};
use assize_rubric::OutcomeKind;
use assize_store::{AnswerPart, ResultRow, named_case};
use axum::extract::State;
use axum::http::Uri;
use axum::response::{IntoResponse, Redirect, Response};
use parking_lot::RwLockReadGuard;
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
use crate::pages::{ChipGroup, FilterChip, MatrixCell, MatrixColumn, MatrixPage, MatrixRow};
use crate::text::{MetricText, ResultMark, range_text, sentence, visible};

/// Maximum number of columns of a page.
const MAX_COLUMNS: usize = 12;
/// Tests of a page.
const PAGE_ROWS: usize = 50;
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

/// Tests that differ between columns, by suite and id, each with the criteria that differ.
type DifferingTests = HashMap<(String, String), Vec<String>>;

/// What a column shows.
struct Column {
    side: ComparedSide,
    title: String,
    /// Position of its run among the open ones.
    run: usize,
    /// Rows of each test, by suite and id: one for each trial.
    rows: HashMap<(String, String), Vec<u32>>,
}

impl Column {
    /// Address of its cases, or of those in which a text is found.
    fn cases_url(&self, text: Option<&str>) -> String {
        let AnswerPart { target, prompt } = self.side.part.clone();
        let filter = CaseFilter { prompt, target, text: text.map(str::to_owned), ..CaseFilter::default() };
        with_query(&format!("{}/cases", run_url(&self.side.run.slug)), &filter.to_query())
    }
}

fn matrix_page(library: &RunLibrary, uri: &Uri, work: &PageWork) -> Result<MatrixPage, PageError> {
    let names = query_values(uri, "run");
    let sides: Vec<ComparedSide> = match names.as_slice() {
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
    let mut tests: Vec<(String, String)> = Vec::new();
    for ((side, title), run) in sides.into_iter().zip(titles).zip(places) {
        let index = &*indexes[run];
        let rows = runs[run].select(index, &CaseFilter::default(), None)?;
        let mut column = Column { side, title, run, rows: HashMap::new() };
        for row in rows.iter() {
            let entry = index.get(*row).filter(|entry| index.is_in(entry, &column.side.part));
            let Some(entry) = entry else { continue };
            let prompt = entry.prompt.filter(|_| !by_test);
            let name = named_case(entry.test_id(), prompt.map(|at| index.name(at)));
            let key = (index.name(entry.suite).to_owned(), name.into_owned());
            let of_test = column.rows.entry(key.clone()).or_default();
            if of_test.is_empty() && !columns.iter().any(|other: &Column| other.rows.contains_key(&key)) {
                tests.push(key);
            }
            of_test.push(*row);
        }
        columns.push(column);
    }

    let view = MatrixView { columns: &columns, indexes: &indexes, runs: &runs };
    let all = tests.len();
    let (differing, chips) = view.chips(&tests, uri);
    match query_value(uri, "differ").as_deref() {
        None => {}
        Some(ANY) => tests.retain(|test| differing.contains_key(test)),
        Some(name) => {
            tests.retain(|test| differing.get(test).is_some_and(|names| names.iter().any(|one| one == name)));
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
        let has = |column: &Column, row: &u32| found[column.run].contains(row);
        tests.retain(|test| {
            columns.iter().any(|column| {
                column.rows.get(test).is_some_and(|rows| rows.iter().any(|row| has(column, row)))
            })
        });
    }

    let page = query_value(uri, "page").and_then(|page| page.parse::<usize>().ok()).unwrap_or(1).max(1);
    let begin = (page - 1).saturating_mul(PAGE_ROWS);
    let several_suites = tests.iter().any(|(suite, _)| Some(suite) != tests.first().map(|(suite, _)| suite));
    let shown = tests.iter().skip(begin).take(PAGE_ROWS);
    let rows = shown.map(|test| view.row(test, several_suites)).collect::<Result<_, PageError>>()?;
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
    work.begin(sides.iter().map(ComparedSide::length).sum());
    let (mut facts, names) = ComparedSide::facts_of(sides, &choice, work)?;
    for (facts, title) in facts.iter_mut().zip(titles) {
        facts.label.clone_from(title);
    }
    let base = facts.remove(0);
    let metrics = read_together(sides, |side| {
        ColumnMetrics::read(&side.run.folder, &side.info, &side.part).map_err(PageError::from)
    });
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
    indexes: &'a [RwLockReadGuard<'a, CaseTableIndex>],
    runs: &'a [Arc<OpenRun>],
}

impl MatrixView<'_> {
    fn entries<'c>(
        &'c self,
        column: &'c Column,
        test: &(String, String),
    ) -> impl Iterator<Item = (u32, &'c CaseTableEntry)> {
        let rows = column.rows.get(test).into_iter().flatten();
        rows.filter_map(|row| Some((*row, self.indexes[column.run].get(*row)?)))
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
                time: format_duration(metrics.duration_ms),
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
    fn chips(&self, tests: &[(String, String)], uri: &Uri) -> (DifferingTests, Vec<ChipGroup>) {
        let mut differing = HashMap::new();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut results = VerdictChoice::ALL.map(|choice| (choice, 0));
        for test in tests {
            for (choice, count) in &mut results {
                let mut all = self.columns.iter().flat_map(|column| self.entries(column, test));
                *count += usize::from(all.any(|(_, entry)| choice.takes(entry)));
            }
            let mut verdicts: Vec<Vec<CaseStatus>> = Vec::new();
            let mut marks: BTreeMap<&str, Vec<Vec<DecisionMark>>> = BTreeMap::new();
            for column in self.columns {
                let index = &self.indexes[column.run];
                // A test that a column lacks does not differ there.
                if !column.rows.contains_key(test) {
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
            let moved: Vec<String> = moved.map(|(name, _)| (*name).to_owned()).collect();
            if !moved.is_empty() || verdicts.iter().any(|one| *one != verdicts[0]) {
                for name in &moved {
                    *counts.entry(name.clone()).or_default() += 1;
                }
                differing.insert(test.clone(), moved);
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
        let mut named: Vec<(String, usize)> = counts.into_iter().collect();
        named.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let mut chips = vec![chip("any difference".to_owned(), differing.len(), &[("differ", ANY)])];
        let named = named.iter().take(MAX_CHIPS);
        chips
            .extend(named.map(|(name, count)| chip(short_criterion_name(name), *count, &[("differ", name)])));
        let groups = [("In any column", results), ("Differs in", chips)];
        (differing, groups.map(|(label, chips)| ChipGroup { label, chips }).into())
    }

    fn row(&self, test: &(String, String), several_suites: bool) -> Result<MatrixRow, PageError> {
        let mut question = String::new();
        let mut cells = Vec::new();
        for column in self.columns {
            cells.push(self.cell(column, test, &mut question)?);
        }
        let suite = if several_suites { visible(&test.0) } else { String::new() };
        Ok(MatrixRow { id: visible(&test.1), suite, question, cells })
    }

    fn cell(
        &self,
        column: &Column,
        test: &(String, String),
        question: &mut String,
    ) -> Result<Option<MatrixCell>, PageError> {
        let (run, index) = (&self.runs[column.run], &self.indexes[column.run]);
        let trials: Vec<(u32, &CaseTableEntry)> = self.entries(column, test).collect();
        let Some((_, first)) = trials.first() else { return Ok(None) };
        let stored = trials.iter().map(|(_, entry)| run.folder.result_at(entry.offset));
        let stored: Vec<ResultRow> = stored.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        if let Some(row) = stored.first().filter(|_| question.is_empty()) {
            let asked = run.question(row)?.and_then(|asked| asked.question);
            *question = excerpt(asked.as_deref().unwrap_or_default());
        }
        let case_url = |row: u32| format!("{}/cases/{}", run_url(&run.slug), row + 1);
        let (answers, more) = different_answers(&stored);

        let passed = trials.iter().filter(|(_, entry)| entry.verdict == CaseStatus::Pass).count();
        let mark = match trials.len() {
            1 => ResultMark::of_status(first.verdict),
            all => {
                let (class, sign) = match passed {
                    0 => ("bad", "✗"),
                    passed if passed == all => ("good", "✓"),
                    _ => ("middling", "≈"),
                };
                ResultMark::new(class, sign, format!("{passed} of {all} pass"))
            }
        };
        // If there are several trials, the criteria of the first one that did not pass are shown as the reason.
        let shown = trials.iter().find(|(_, entry)| entry.verdict != CaseStatus::Pass).unwrap_or(&trials[0]);
        Ok(Some(MatrixCell {
            mark,
            score: if trials.len() == 1 { range_text(first.score, first.bounds) } else { String::new() },
            answers: answers.into_iter().map(|answer| (case_url(trials[answer.first].0), answer)).collect(),
            more,
            more_url: column.cases_url(stored.first().map(|row| &*row.case_id)),
            case_url: case_url(shown.0),
            criteria: criterion_cells(index, shown.1, run.people(index)?.of(shown.0)).0,
        }))
    }
}
