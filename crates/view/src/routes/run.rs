//! A run: its metrics, and its progress while it is running.

use std::sync::Arc;
use std::time::Instant;

use assize_report::{
    DerivedMetricText, answer_excerpt, derived_metric_texts, excerpt, format_duration, format_rate,
    format_run_time, grouped, rate_interval_title, run_warnings, short_criterion_name,
};
use assize_store::{PartMetrics, RunInfo, RunMetrics, RunSummary, StoreError};
use axum::extract::{Path, State};
use axum::response::Response;

use super::cases::case_rows;
use super::criteria::{all_rates, criterion_lines};
use super::measurement::audit_page;
use super::run_header::{earlier_run, is_live, run_header, summary_of};
use super::runs::judge_names;
use crate::index::{CaseFilter, CaseStatus, CaseTableIndex, OutcomeChoice, VerdictChoice};
use crate::library::RunLibrary;
use crate::open_run::OpenRun;
use crate::page_reply::{Library, PageError, blocking, compare_url, open_run, render, run_url, with_query};
use crate::pages::{
    CaseLink, CountLink, FailingCriterion, FailingExample, MetricLine, RunPage, RunProgressText,
};
use crate::text::{MetricText, ResultMark, sentence, visible};

/// Maximum number of criteria that are shown next to the metrics.
const MAX_CRITERIA: usize = 8;
/// Maximum number of failed cases, and of criteria that count against results, in the lists.
const MAX_FAILURES: usize = 12;
const MAX_FAILING_CRITERIA: usize = 5;

pub(crate) async fn page(State(library): Library, Path(slug): Path<String>) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let info = library.info(&run.folder)?;
        if let Some(page) = audit_page(&run, &info)? {
            return Ok(render(&page));
        }

        Ok(render(&run_page(&library, &run, &info)?))
    })
    .await
}

fn run_page(library: &RunLibrary, run: &Arc<OpenRun>, info: &RunInfo) -> Result<RunPage, PageError> {
    let summary = summary_of(run, info)?;
    let is_live = is_live(run, info);
    let is_card = info.scorecard.is_some();
    let figures = summary.figures.as_ref();

    let mut notes: Vec<String> = Vec::new();
    if let Some(figures) = figures {
        notes.extend([&figures.pass_rate.says, &figures.mean_score.says].into_iter().cloned());
        notes.extend(figures.remarks.iter().chain(&figures.precision_notes).cloned());
        notes.extend(figures.noise.iter().map(|noise| noise.says.clone()));
        notes.extend(figures.decision_noise.iter().map(|noise| noise.says.clone()));
        notes.extend(figures.pairwise.iter().map(|pairwise| pairwise.says.clone()));
    }
    notes.retain(|note| !note.trim().is_empty());
    let mut conclusion: Vec<String> = summary.conclusion.lines().into_iter().map(|line| line.text).collect();
    if info.summary.is_some() {
        let rule = match (&summary.pass_rate_gate, summary.exit_code) {
            (None, 1) if !is_card => ": the run passes if every case passes",
            _ => "",
        };
        conclusion.insert(0, format!("{}{rule} (exit code {})", summary.exit_reason, summary.exit_code));
    }

    let mut warnings: Vec<String> = run_warnings(info).into_iter().map(str::to_owned).collect();
    if info.finished_at.is_none() && !is_live {
        let text = "The run did not end; what follows is about the cases that were finished. `--resume` continues it.";
        warnings.insert(0, text.to_owned());
    }

    if let Some(lost) = lost_rows(run, info)? {
        warnings.insert(0, lost);
    }

    // Before the index is locked, which this does too.
    let progress = if is_live { progress_text(run, info, &summary)? } else { RunProgressText::default() };
    let index = run.index()?;
    let mut criteria = criterion_lines(&run.slug, &index, &summary);
    let more_criteria = criteria.len().saturating_sub(MAX_CRITERIA);
    criteria.truncate(MAX_CRITERIA);
    let is_repeated = index.entries.iter().any(|entry| entry.trial > 1);
    let not_passed = CaseFilter {
        verdicts: vec![VerdictChoice::Fail, VerdictChoice::Incomplete, VerdictChoice::Borderline],
        ..CaseFilter::default()
    };
    // While a run is in progress, its progress names the newest ones.
    let failing = if is_live { Arc::default() } else { run.select(&index, &not_passed, None)? };
    let failures = if is_live { Vec::new() } else { failing_criteria(run, &index, &summary, &failing)? };

    Ok(RunPage {
        header: run_header(run, info, "run"),
        is_live,
        progress,
        // What releases a scorecard is its gates; rates of cases would look like a decision.
        pass_rate: figures.filter(|_| !is_card).map(|figures| MetricText::rate(&figures.pass_rate)),
        mean_score: figures.filter(|_| !is_card).map(|figures| MetricText::score(&figures.mean_score)),
        counts: verdict_counts(&run.slug, &index),
        counts_results: is_repeated || info.targets.len() > 1,
        conclusion: conclusion.iter().map(|line| visible(line)).collect(),
        failures,
        failing: case_rows(run, &index, &failing, 0, MAX_FAILURES)?,
        failing_count: failing.len(),
        failing_url: with_query(&format!("{}/cases", run_url(&run.slug)), &not_passed.to_query()),
        facts: facts(info, &summary),
        notes: notes.iter().map(|note| visible(note)).collect(),
        warnings: warnings.iter().map(|warning| visible(warning)).collect(),
        parts: part_lines(&run.slug, &summary),
        derived: derived_lines(&summary),
        attempts: attempt_lines(&summary),
        rate_interval: rate_interval_title(&summary),
        criteria,
        more_criteria,
        compare: earlier_run(library, &run.slug, info)
            .map(|earlier| (visible(&earlier.slug), compare_url(&earlier.slug, &run.slug))),
    })
}

/// The criteria that count against most results, each with a case that did not pass because of it, if there is one.
fn failing_criteria(
    run: &OpenRun,
    index: &CaseTableIndex,
    summary: &RunSummary,
    failing: &[u32],
) -> Result<Vec<FailingCriterion>, StoreError> {
    let mut rates = all_rates(summary);
    rates.retain(|rate| rate.failures().is_some_and(|count| count > 0));

    let shown = rates.into_iter().take(MAX_FAILING_CRITERIA).map(|rate| {
        let name = index.name_of_rate(rate);
        let count = rate.failures().unwrap_or_default();
        let filter = CaseFilter::of_criterion(name.clone(), Some(rate.suite.clone()), OutcomeChoice::Against);
        Ok(FailingCriterion {
            text: sentence(rate.text.trim()),
            count,
            of: rate.rate.n,
            share: format_rate(count as f64 / rate.rate.n.max(1) as f64),
            cases_url: with_query(&format!("{}/cases", run_url(&run.slug)), &filter.to_query()),
            example: failing_example(run, index, &name, failing)?,
            name: short_criterion_name(&name),
        })
    });
    shown.collect()
}

/// The first of these rows that a criterion counts against.
fn failing_example(
    run: &OpenRun,
    index: &CaseTableIndex,
    name: &str,
    rows: &[u32],
) -> Result<Option<FailingExample>, StoreError> {
    let Some(number) = index.number(name) else { return Ok(None) };
    let found = rows.iter().find_map(|row| {
        let entry = index.get(*row)?;
        let is_against = entry.criteria.iter().any(|one| one.name == number && one.is_missed());
        is_against.then_some((*row, entry))
    });
    let Some((row, entry)) = found else { return Ok(None) };
    let Some(stored) = run.folder.result_at(entry.offset)? else { return Ok(None) };
    let mut criteria =
        stored.graders.iter().flat_map(|grader| grader.criteria.iter().map(move |one| (grader, one)));
    let decided = criteria.find(|(grader, one)| format!("{}/{}", grader.name, one.id) == name);

    Ok(Some(FailingExample {
        url: format!("{}/cases/{}", run_url(&run.slug), row + 1),
        id: visible(&entry.id),
        answer: answer_excerpt(&stored),
        reason: decided.map_or_else(String::new, |(_, one)| excerpt(&one.reason)),
    }))
}

/// Warning that a finished run does not have the rows it ended with; `None` if all are there.
pub(super) fn lost_rows(run: &OpenRun, info: &RunInfo) -> Result<Option<String>, PageError> {
    let Some(counts) = info.rows.as_ref().filter(|_| info.finished_at.is_some()) else { return Ok(None) };
    let (found, expected) = (run.index()?.len() as u64, counts.results);
    let path = run.folder.path().join("results.jsonl");
    Ok((found != expected).then(|| StoreError::RowsLost { path, found, expected }.to_string()))
}

/// Number of cases by verdict, each with a link to them.
fn verdict_counts(slug: &str, index: &CaseTableIndex) -> Vec<CountLink> {
    use CaseStatus::{Borderline, Fail, Incomplete, Pass, Skipped};
    let counts = [Pass, Borderline, Fail, Incomplete, Skipped].map(|status| (status, index.count(status)));
    let shown = counts.into_iter().filter(|(status, count)| *count > 0 || matches!(status, Pass | Fail));
    let links = shown.map(|(status, count)| {
        let verdicts = VerdictChoice::from_name(status.name()).into_iter().collect();
        let filter = CaseFilter { verdicts, ..CaseFilter::default() };
        CountLink {
            url: with_query(&format!("{}/cases", run_url(slug)), &filter.to_query()),
            mark: ResultMark::of_status(status),
            count: grouped(count as u64),
        }
    });
    links.collect()
}

fn facts(info: &RunInfo, summary: &RunSummary) -> Vec<(&'static str, String)> {
    let quotes = summary.quotes.zip(summary.quotes_found).filter(|(all, _)| *all > 0);
    let tokens = [summary.tokens.input, summary.tokens.output].map(|count| count.map(grouped));
    let targets: Vec<String> = info
        .targets
        .iter()
        .map(|target| match &target.model {
            Some(model) => format!("{} ({model})", target.name),
            None => target.name.clone(),
        })
        .collect();
    let calls = match summary.judge_calls_cached {
        0 => grouped(summary.judge_calls),
        cached => format!("{}, {} from the cache", grouped(summary.judge_calls), grouped(cached)),
    };
    let time = info.finished_at.is_some().then(|| format_run_time(info, summary));

    let values = [
        ("Judge", Some(judge_names(info)).filter(|names| !names.is_empty())),
        ("Target", Some(visible(&targets.join(", "))).filter(|names| !names.is_empty())),
        ("Cost", Some(assize_report::format_cost(summary.cost_usd, summary.cost_partial))),
        ("Time", time),
        ("Judge calls", Some(calls)),
        (
            "Tokens",
            match tokens {
                [Some(input), Some(output)] => Some(format!("{input} in, {output} out")),
                _ => None,
            },
        ),
        ("Criteria", Some(grouped(summary.criteria)).filter(|_| summary.criteria > 0)),
        ("Ungraded", Some(grouped(summary.criteria_ungraded)).filter(|_| summary.criteria_ungraded > 0)),
        ("Quotes found", quotes.map(|(all, found)| format!("{} of {}", grouped(found), grouped(all)))),
        ("Not run", Some(grouped(summary.not_run as u64)).filter(|_| summary.not_run > 0)),
        ("Version", Some(visible(&info.assize_version))),
    ];
    values.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn part_lines(slug: &str, summary: &RunSummary) -> Vec<(&'static str, &'static str, Vec<MetricLine>)> {
    let tables = summary.figures.iter().flat_map(RunMetrics::tables);
    let tables = tables.filter(|(_, parts)| !parts.is_empty());
    tables
        .map(|(kind, parts)| {
            let (heading, kind) =
                if kind == "prompt" { ("Prompts", "Prompt") } else { ("Targets", "Target") };
            let cases = |name: &str| {
                let name = Some(name.to_owned());
                let filter = match kind {
                    "Prompt" => CaseFilter { prompt: name, ..CaseFilter::default() },
                    _ => CaseFilter { target: name, ..CaseFilter::default() },
                };
                with_query(&format!("{}/cases", run_url(slug)), &filter.to_query())
            };
            let line = |(name, part): (Option<&str>, &PartMetrics)| MetricLine {
                name: name.map_or_else(|| "given answers".to_owned(), visible),
                url: name.map(cases).unwrap_or_default(),
                first: MetricText::rate(&part.pass_rate),
                second: MetricText::score(&part.mean_score),
            };
            (heading, kind, parts.into_iter().map(line).collect())
        })
        .collect()
}

fn derived_lines(summary: &RunSummary) -> Vec<DerivedMetricText> {
    let derived = summary.figures.as_ref().map(|figures| figures.derived.as_slice()).unwrap_or_default();
    derived_metric_texts(derived).into_iter().map(|text| text.escaped(visible)).collect()
}

fn attempt_lines(summary: &RunSummary) -> Vec<MetricLine> {
    let trials = summary.figures.iter().flat_map(|figures| &figures.trials);
    trials
        .flat_map(|trials| &trials.pass_k)
        .map(|row| MetricLine {
            name: row.k.to_string(),
            url: String::new(),
            first: MetricText::rate(&row.any),
            second: MetricText::rate(&row.all),
        })
        .collect()
}

fn progress_text(run: &OpenRun, info: &RunInfo, summary: &RunSummary) -> Result<RunProgressText, PageError> {
    let index = run.index()?;
    let done = index.len();
    // Several targets or trials give a case several results, and their planned number is not stored.
    let planned: usize = info.suites.iter().map(|suite| suite.cases).sum();
    let is_plain = info.targets.len() <= 1 && index.entries.iter().all(|entry| entry.trial == 1);
    let total = if is_plain && planned >= done { planned } else { 0 };
    let rate = run.rate(done, Instant::now()).filter(|rate| *rate > 0.0);
    let left = rate
        .filter(|_| total > 0)
        .map(|rate| format_duration((total.saturating_sub(done) as f64 / rate * 1000.0) as u64));

    let not_passed = index.entries.iter().enumerate().rev();
    let not_passed = not_passed.filter(|(_, entry)| {
        matches!(entry.verdict, CaseStatus::Fail | CaseStatus::Incomplete | CaseStatus::Borderline)
    });
    let failures = not_passed.take(MAX_FAILURES).map(|(row, entry)| {
        let missed = entry.criteria.iter().filter(|criterion| criterion.is_missed());
        let missed: Vec<String> = missed.map(|criterion| visible(index.name(criterion.name))).collect();
        CaseLink {
            url: format!("{}/cases/{}", run_url(&run.slug), row + 1),
            id: visible(&entry.id),
            mark: ResultMark::of_status(entry.verdict),
            note: missed.join(", "),
        }
    });

    Ok(RunProgressText {
        done,
        total,
        counts: verdict_counts(&run.slug, &index),
        rate: rate.map_or_else(String::new, |rate| format!("{rate:.1}")),
        left: left.unwrap_or_default(),
        spend: assize_report::format_cost(summary.cost_usd, summary.cost_partial),
        failures: failures.collect(),
    })
}
