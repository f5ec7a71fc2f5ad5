//! Runs, or the targets or prompts of a run, side by side: a test a row, a run, target or prompt a column.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use assize_analysis::compare::{ComparisonSet, Conclusion, HeadlineMetric, RunComparison, compare_many};
use assize_report::{format_duration, grouped};
use assize_rubric::Usd;
use assize_store::{AnswerPart, EstimatedMetric, PartTable, RunMetrics, named_case};
use axum::extract::State;
use axum::http::Uri;
use axum::response::{IntoResponse, Redirect, Response};
use parking_lot::RwLockReadGuard;
use url::form_urlencoded::Serializer;

use super::cases::{answer_excerpt, criterion_cells, excerpt, score_text, short_name};
use super::compare::conclusion_mark;
use super::compare_choice::ComparisonChoice;
use super::compared_run::ComparedSide;
use super::run::summary_of;
use super::{Library, PageError, query_value, query_values, render, run_url, with_query};
use crate::index::{CaseFilter, CaseStatus, CaseTableEntry, CaseTableIndex};
use crate::library::RunLibrary;
use crate::open_run::OpenRun;
use crate::page_work::{PageWork, working};
use crate::pages::{
    ChipGroup, FilterChip, MatrixAnswer, MatrixCell, MatrixColumn, MatrixPage, MatrixRow, RankedColumn,
};
use crate::text::{MetricText, ResultMark, visible};

/// Most columns of a page.
const MAX_COLUMNS: usize = 12;
/// Tests of a page.
const PAGE_ROWS: usize = 50;
/// Most different answers of a cell.
const MAX_ANSWERS: usize = 3;
/// Most criteria that are chips.
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

/// Address of the page with these columns, each a run, `RUN@TARGET` or `RUN@PROMPT`.
pub(super) fn matrix_url(columns: &[String]) -> String {
    let pairs = columns.iter().map(|name| ("run", name));
    format!("/matrix?{}", Serializer::new(String::new()).extend_pairs(pairs).finish())
}

/// Tests that differ between columns, by suite and id, each with the criteria that differ.
type DifferingTests = HashMap<(String, String), Vec<String>>;

/// What a column shows.
struct Column {
    side: ComparedSide,
    /// Position of its run among the open ones.
    run: usize,
    /// Rows of each test, by suite and id: one for each trial.
    rows: HashMap<(String, String), Vec<u32>>,
}

fn matrix_page(library: &RunLibrary, uri: &Uri, work: &PageWork) -> Result<MatrixPage, PageError> {
    let names = query_values(uri, "run");
    if names.len() < 2 || names.len() > MAX_COLUMNS {
        return Err(PageError::refused(format!(
            "Check 2 to {MAX_COLUMNS} runs of the list to see them side by side."
        )));
    }
    let sides: Vec<ComparedSide> =
        names.iter().map(|name| ComparedSide::open(library, name)).collect::<Result<_, _>>()?;
    let set = compare_columns(library, &sides, work)?;

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
    let by_test = sides.iter().any(|side| side.part.prompt.is_some());
    let mut columns = Vec::new();
    let mut tests: Vec<(String, String)> = Vec::new();
    for (side, run) in sides.into_iter().zip(places) {
        let (index, rows) = (&*indexes[run], rows_of(&runs[run], &indexes[run], &side)?);
        let mut column = Column { side, run, rows: HashMap::new() };
        for row in rows.iter() {
            let Some(entry) = index.get(*row) else { continue };
            let prompt = entry.prompt.filter(|_| !by_test);
            let key = (
                index.name(entry.suite).to_owned(),
                named_case(entry.test_id(), prompt.map(|at| index.name(at))).into_owned(),
            );
            let of_test = column.rows.entry(key.clone()).or_default();
            if of_test.is_empty() && !columns.iter().any(|other: &Column| other.rows.contains_key(&key)) {
                tests.push(key);
            }
            of_test.push(*row);
        }
        columns.push(column);
    }

    let view = MatrixView { library, columns: &columns, indexes: &indexes, runs: &runs };
    let criterion = query_value(uri, "criterion");
    let is_different = query_value(uri, "differ").is_some() || criterion.is_some();
    let all = tests.len();
    let (differing, chips) = view.chips(&tests, uri);
    if is_different {
        tests.retain(|test| match &criterion {
            Some(name) => differing.get(test).is_some_and(|names| names.contains(name)),
            None => differing.contains_key(test),
        });
    }

    let page = query_value(uri, "page").and_then(|page| page.parse::<usize>().ok()).unwrap_or(1).max(1);
    let begin = (page - 1).saturating_mul(PAGE_ROWS);
    let several_suites = tests.iter().any(|(suite, _)| Some(suite) != tests.first().map(|(suite, _)| suite));
    let shown = tests.iter().skip(begin).take(PAGE_ROWS);
    let rows = shown.map(|test| view.row(test, several_suites)).collect::<Result<_, PageError>>()?;
    let of_page = |page: usize| {
        let mut query = Serializer::new(String::new());
        query.extend_pairs(pairs_without_page(uri)).append_pair("page", &page.to_string());
        with_query("/matrix", &query.finish())
    };
    let heads = view.heads(&set)?;
    let mut ranked: Vec<&(MatrixColumn, Option<f64>)> = heads.iter().collect();
    ranked.sort_by(|a, b| b.1.unwrap_or(-1.0).total_cmp(&a.1.unwrap_or(-1.0)));
    let ranked = ranked
        .into_iter()
        .map(|(column, _)| RankedColumn { name: column.name.clone(), pass_rate: column.pass_rate.clone() });

    Ok(MatrixPage {
        ranked: ranked.collect(),
        says: what_the_order_is_worth(&set),
        columns: heads.into_iter().map(|(column, _)| column).collect(),
        chips,
        rows,
        counts: format!("{} of {} tests", grouped(tests.len() as u64), grouped(all as u64)),
        before: (page > 1).then(|| of_page(page - 1)),
        after: (begin.saturating_add(PAGE_ROWS) < tests.len()).then(|| of_page(page + 1)),
    })
}

fn pairs_without_page(uri: &Uri) -> Vec<(String, String)> {
    let query = uri.query().unwrap_or_default();
    let pairs = url::form_urlencoded::parse(query.as_bytes()).into_owned();
    pairs.filter(|(key, _)| key != "page").collect()
}

/// Rows of the column, in the order of the files.
fn rows_of(run: &OpenRun, index: &CaseTableIndex, side: &ComparedSide) -> Result<Arc<Vec<u32>>, PageError> {
    let filter = part_filter(&side.part);
    Ok(run.select(index, &filter, None)?)
}

/// Compares each column with the first and with each other, or returns the comparison if it is still in memory.
fn compare_columns(
    library: &RunLibrary,
    sides: &[ComparedSide],
    work: &PageWork,
) -> Result<Arc<ComparisonSet>, PageError> {
    let key: Vec<String> = sides.iter().map(|side| format!("{}\n{}", side.name, side.length())).collect();
    let key = key.join("\n");
    if let Some(known) = library.known_set(&key) {
        return Ok(known);
    }

    let mut choice = ComparisonChoice::default();
    choice.options.headline = HeadlineMetric::PassRate;
    work.begin(sides.iter().map(ComparedSide::length).sum());
    let (mut facts, names) = ComparedSide::facts_of(sides, &choice, work)?;
    let base = facts.remove(0);
    let set = Arc::new(compare_many(&base, &facts, &names, &choice.options));
    library.keep_set(key, Arc::clone(&set));
    Ok(set)
}

/// Sentences about the order of the columns.
fn what_the_order_is_worth(set: &ComparisonSet) -> Vec<String> {
    let is_certain = |call: Conclusion| matches!(call, Conclusion::Better | Conclusion::Worse);
    let certain = match set.matrix.as_slice() {
        [] => set.comparisons.iter().filter(|one| is_certain(one.pass_rate.call)).count(),
        matrix => matrix.iter().flatten().flatten().filter(|one| is_certain(one.call)).count() / 2,
    };
    let columns = set.runs.len();
    let pairs = columns * (columns - 1) / 2;

    let mut lines = vec![match certain {
        0 => "No difference of two is certain: this order is not evidence.".to_owned(),
        _ if pairs == 1 => "The difference is certain, test by test.".to_owned(),
        1 => format!(
            "1 of {pairs} differences of two is certain, test by test; p values are adjusted by Holm's method."
        ),
        _ => format!(
            "{certain} of {pairs} differences of two are certain, test by test; p values are adjusted by Holm's method."
        ),
    }];
    lines.extend(set.selection.as_ref().map(|chosen| chosen.says.clone()));
    lines
}

/// The columns with their indexes.
struct MatrixView<'a> {
    library: &'a RunLibrary,
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

    /// The heads of the columns, each with its pass rate.
    fn heads(&self, set: &ComparisonSet) -> Result<Vec<(MatrixColumn, Option<f64>)>, PageError> {
        let names: Vec<String> = self.columns.iter().map(|column| column.side.name.clone()).collect();
        let mut heads = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            let side = &column.side;
            let summary = match &side.info.summary {
                Some(summary) => summary.clone(),
                None => summary_of(&side.run, &side.info)?,
            };
            let figures = summary.figures.as_ref();
            let [pass, mean] = rates(figures, &side.part);
            let against: Option<&RunComparison> = at.checked_sub(1).and_then(|at| set.comparisons.get(at));

            let all: Vec<&CaseTableEntry> =
                column.rows.values().flatten().filter_map(|row| self.indexes[column.run].get(*row)).collect();
            let costs: Vec<f64> = all.iter().filter_map(|entry| entry.cost).map(Usd::as_dollars).collect();
            let is_known = costs.len() == all.len();
            let time = all.iter().map(|entry| entry.duration_ms).sum::<u64>() / (all.len().max(1) as u64);
            let mut order = names.clone();
            let first = order.remove(at);
            order.insert(0, first);

            let filter = part_filter(&side.part);
            heads.push((
                MatrixColumn {
                    name: self.column_name(column),
                    url: with_query(&format!("{}/cases", run_url(side.run.slug())), &filter.to_query()),
                    pass_rate: pass.map(MetricText::rate).unwrap_or_default(),
                    mean_score: mean.map(MetricText::score).unwrap_or_default(),
                    cost: if is_known {
                        assize_report::dollars(costs.iter().sum())
                    } else {
                        "cost unknown".to_owned()
                    },
                    time: format_duration(time),
                    against_first: against
                        .map(|found| (conclusion_mark(found.pass_rate.call), visible(&found.pass_rate.says))),
                    compare_url: ComparisonChoice::default().url(&names[0], &side.name),
                    first_url: matrix_url(&order),
                },
                pass.and_then(|rate| rate.value),
            ));
        }
        Ok(heads)
    }

    /// The target and prompt, the answers file, or the run: what tells the columns apart.
    fn column_name(&self, column: &Column) -> String {
        let is_one_run = self.runs.len() == 1;
        let AnswerPart { target, prompt } = &column.side.part;
        let part: Vec<String> = [target, prompt].into_iter().flatten().map(|name| visible(name)).collect();
        let part = Some(part.join(" ")).filter(|part| !part.is_empty());
        match (part, column.side.info.answers_file()) {
            (Some(part), _) if is_one_run => part,
            (None, Some(path)) => format!(
                "{} {}",
                visible(path.rsplit(['/', '\\']).next().unwrap_or(path)),
                self.run_name(column)
            ),
            (Some(part), _) => format!("{part} {}", self.run_name(column)),
            (None, None) => self.run_name(column),
        }
    }

    fn run_name(&self, column: &Column) -> String {
        let slug = column.side.run.slug();
        let run = self.library.list().into_iter().find(|run| run.slug == slug);
        visible(&run.map_or_else(|| slug.to_owned(), |run| run.name))
    }

    /// For each test that differs, the criteria that differ; and the chips that filter by them.
    fn chips(&self, tests: &[(String, String)], uri: &Uri) -> (DifferingTests, Vec<ChipGroup>) {
        let mut differing = HashMap::new();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for test in tests {
            let mut verdicts: Vec<Vec<CaseStatus>> = Vec::new();
            let mut marks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
            for column in self.columns {
                let index = &self.indexes[column.run];
                // A test that a column lacks does not differ there.
                if !column.rows.contains_key(test) {
                    continue;
                }
                verdicts.push(self.entries(column, test).map(|(_, entry)| entry.verdict).collect());
                let mut own: BTreeMap<&str, String> = BTreeMap::new();
                for (_, entry) in self.entries(column, test) {
                    for one in &entry.criteria {
                        own.entry(index.name(one.name)).or_default().push(one.mark());
                    }
                }
                for (name, signs) in own {
                    marks.entry(name).or_default().push(signs);
                }
            }
            let is_all = |signs: &Vec<String>| signs.len() == verdicts.len();
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

        let query = Serializer::new(String::new()).extend_pairs(pairs_without_page(uri)).finish();
        let chip = |text: String, sets: &[(&str, &str)]| FilterChip::new(text, None, sets, "/matrix", &query);
        let mut named: Vec<(String, usize)> = counts.into_iter().collect();
        named.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let mut chips = vec![chip(format!("any difference {}", differing.len()), &[("differ", "1")])];
        chips.extend(
            named
                .iter()
                .take(MAX_CHIPS)
                .map(|(name, count)| chip(format!("{} {count}", short_name(name)), &[("criterion", name)])),
        );
        (differing, vec![ChipGroup { label: "Differs in", chips }])
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
        let mut answers: Vec<MatrixAnswer> = Vec::new();
        for (row, entry) in &trials {
            let Some(stored) = run.folder().result_at(entry.offset)? else { continue };
            if question.is_empty() {
                let asked = run.question(&stored)?.and_then(|asked| asked.question);
                *question = excerpt(asked.as_deref().unwrap_or_default());
            }
            let text = answer_excerpt(&stored);
            match answers.iter_mut().find(|answer| answer.text == text) {
                Some(same) => same.trials += 1,
                None => answers.push(MatrixAnswer {
                    url: format!("{}/cases/{}", run_url(run.slug()), row + 1),
                    text,
                    trials: 1,
                }),
            }
        }

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
        let more = answers.len().saturating_sub(MAX_ANSWERS);
        answers.truncate(MAX_ANSWERS);
        // Of several trials, the criteria of the first that did not pass say why.
        let shown = trials
            .iter()
            .find(|(_, entry)| entry.verdict != CaseStatus::Pass)
            .map_or(first, |(_, entry)| entry);
        Ok(Some(MatrixCell {
            mark,
            score: if trials.len() == 1 { score_text(first) } else { String::new() },
            answers,
            more,
            criteria: criterion_cells(index, shown).0,
        }))
    }
}

fn part_filter(part: &AnswerPart) -> CaseFilter {
    let AnswerPart { target, prompt } = part.clone();
    CaseFilter { target, prompt, ..CaseFilter::default() }
}

/// Pass rate and mean score of a run, or of a target or prompt. Those of a target with one of several prompts are not stored.
fn rates<'f>(figures: Option<&'f RunMetrics>, part: &AnswerPart) -> [Option<&'f EstimatedMetric>; 2] {
    let Some(figures) = figures else { return [None; 2] };
    let [targets, prompts] = figures.tables().map(|(_, parts)| parts);
    let found = |parts: PartTable<'f>, wanted: &str| {
        let found = parts.into_iter().find(|(name, _)| *name == Some(wanted));
        found.map(|(_, part)| [Some(&part.pass_rate), Some(&part.mean_score)])
    };
    let whole = [Some(&figures.pass_rate), Some(&figures.mean_score)];
    match (&part.target, &part.prompt) {
        (Some(target), None) => found(targets, target).unwrap_or(whole),
        (None, Some(prompt)) => found(prompts, prompt).unwrap_or(whole),
        (Some(_), Some(prompt)) if targets.is_empty() => found(prompts, prompt).unwrap_or(whole),
        (Some(_), Some(_)) => [None; 2],
        (None, None) => whole,
    }
}
