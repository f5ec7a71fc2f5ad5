//! The list of runs.

use assize_engine::runs::RUNS_FOLDER;
use assize_report::grouped;
use assize_store::{RunInfo, RunMetrics};
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;

use super::run_header::{run_result, suite_names};
use crate::library::{LibraryRun, RunLibrary};
use crate::page_reply::{Library, PageError, blocking, query_value, render, run_url};
use crate::pages::{RunLine, RunsPage};
use crate::text::{MetricText, ResultMark, minute, visible};

pub(crate) async fn page(State(library): Library, uri: Uri) -> Result<Response, PageError> {
    let query = query_value(&uri, "q").unwrap_or_default();
    blocking(move || Ok(render(&runs_page(&library, query)))).await
}

fn runs_page(library: &RunLibrary, query: String) -> RunsPage {
    let wanted = query.to_lowercase();
    let all = library.list();
    let count = all.len();
    let runs: Vec<RunLine> = all
        .into_iter()
        .map(|run| run_line(library, run))
        .filter(|run| {
            let texts = [&run.slug, &run.name, &run.suites, &run.judges, &run.result.word];
            wanted.is_empty() || texts.iter().any(|text| text.to_lowercase().contains(&wanted))
        })
        .collect();

    RunsPage { hidden: count - runs.len(), runs, query, folder: RUNS_FOLDER.to_owned() }
}

fn run_line(library: &RunLibrary, run: LibraryRun) -> RunLine {
    let (slug, name) = (visible(&run.slug), visible(&run.name));
    let url = run_url(&run.slug);
    let info = match run.info {
        Ok(info) => info,
        Err(error) => {
            return RunLine {
                url,
                slug,
                name,
                result: ResultMark::new("bad", "✗", "unreadable"),
                error: Some(visible(&error)),
                ..RunLine::default()
            };
        }
    };

    let is_running = info.finished_at.is_none()
        && library.folder(&run.slug).is_some_and(|folder| folder.is_being_written());
    // A running run shows the numbers of its finished cases, like its own page.
    let current = is_running.then(|| library.open(&run.slug)).flatten();
    let current = current.and_then(|open| open.current_summary().ok());
    let summary = info.summary.as_ref().or(current.as_ref());
    // What releases a scorecard is its gates; rates of cases would look like a decision.
    let summary_of_cases = summary.filter(|_| info.scorecard.is_none());
    let figures: Option<&RunMetrics> = summary_of_cases.and_then(|summary| summary.figures.as_ref());

    RunLine {
        url,
        slug,
        name,
        when: minute(&info.started_at),
        suites: suite_names(&info) + &part_of_plan(&info),
        judges: judge_names(&info),
        cases: summary.map_or_else(String::new, |summary| grouped(summary.counts.total() as u64)),
        passed: figures.map(|figures| MetricText::rate(&figures.pass_rate)).unwrap_or_default(),
        score: figures.map(|figures| MetricText::score(&figures.mean_score)).unwrap_or_default(),
        cost: summary.map_or_else(String::new, |summary| {
            assize_report::format_cost(summary.cost_usd, summary.cost_partial)
        }),
        result: run_result(&info, is_running),
        reason: info.summary.as_ref().map_or_else(String::new, |summary| visible(&summary.exit_reason)),
        error: None,
    }
}

/// The shard of a plan that a run is, to follow the names of its suites.
fn part_of_plan(info: &RunInfo) -> String {
    info.shard.as_ref().map_or_else(String::new, |shard| format!(", shard {}/{}", shard.number, shard.count))
}

/// Names of the judges of a run.
pub(super) fn judge_names(info: &RunInfo) -> String {
    let names: Vec<String> = info.judges.iter().map(|judge| visible(&judge.identity.name)).collect();
    names.join(", ")
}
