//! Metrics over runs of the same suites.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assize_analysis::brief_result;
use assize_analysis::compare::MetricUnit;
use assize_analysis::trend::{MethodFingerprint, TrendPoint};
use assize_engine::{read_together, read_trend};
use assize_report::chart::trend_chart;
use assize_report::grouped;
use assize_stats::ConfidenceLevel;
use assize_store::RowsFile;
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;

use super::compared_run::ComparedSide;
use crate::library::RunLibrary;
use crate::page_reply::{Library, PageError, compare_url, query_value, render, run_url};
use crate::page_work::{PageWork, working};
use crate::pages::{TrendLine, TrendPage};
use crate::text::{MetricText, ResultMark, minute, visible};

/// Maximum number of runs that are shown; the newest ones are.
const MAX_RUNS: usize = 20;
/// Character between the names of suites in addresses.
const SEPARATOR: &str = "\u{1f}";

pub(crate) async fn page(State(library): Library, uri: Uri) -> Result<Response, PageError> {
    let suites = query_value(&uri, "suites");
    let what = "Reading the cases of the runs";
    working("Trend", what, move |work| Ok(render(&trend_page(&library, suites, work)))).await
}

fn trend_page(library: &RunLibrary, wanted: Option<String>, work: &PageWork) -> TrendPage {
    // By suites; each run with its start time.
    let mut groups: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut newest = None;
    for run in library.list() {
        // A run of only one shard is not comparable.
        let Ok(info) = run.info else { continue };
        if info.shard.is_some() {
            continue;
        }

        let suites: BTreeSet<&str> = info.suites.iter().map(|suite| suite.name.as_str()).collect();
        let key = suites.into_iter().collect::<Vec<_>>().join(SEPARATOR);
        newest.get_or_insert_with(|| key.clone());
        groups.entry(key).or_default().push((info.started_at.clone(), run.slug));
    }

    let chosen = wanted.or(newest).unwrap_or_default();
    let runs = groups.get(&chosen).cloned().unwrap_or_default();
    let mut notices = Vec::new();
    if runs.len() > MAX_RUNS {
        notices.push(format!("The newest {MAX_RUNS} of {} runs are shown.", grouped(runs.len() as u64)));
    }
    let slugs = oldest_first(runs);

    let key = trend_key(library, &slugs);
    let points = if let Some(known) = library.trend.find(&key) {
        known
    } else {
        let before = notices.len();
        let points = Arc::new(read_points(library, &slugs, &mut notices, work));
        // Warnings are not cached: a trend with warnings is computed again, so that they are shown each time.
        if notices.len() == before {
            library.trend.keep(key, Arc::clone(&points));
        }
        points
    };
    let pictured = |metric: fn(&TrendPoint) -> &assize_store::EstimatedMetric| {
        points.iter().map(|(_, point)| (metric(point), !point.changed.is_empty())).collect::<Vec<_>>()
    };
    let times: Vec<&str> = points.iter().map(|(_, point)| point.started_at.as_str()).collect();
    let rate_picture =
        trend_chart("Pass rate", MetricUnit::Rate, &pictured(|point| &point.pass_rate), &times);
    let score_picture =
        trend_chart("Mean score", MetricUnit::Score, &pictured(|point| &point.mean_score), &times);
    let before = std::iter::once(None).chain(points.iter().map(|(slug, _)| Some(slug.clone())));
    let mut lines: Vec<TrendLine> = points
        .iter()
        .zip(before)
        .map(|((slug, point), before)| TrendLine {
            url: run_url(slug),
            label: visible(slug),
            result: ResultMark::of_run(point.exit_code, &point.result),
            when: minute(&point.started_at),
            cases: grouped(point.cases as u64),
            incomplete: point.incomplete,
            rate: MetricText::rate(&point.pass_rate),
            score: MetricText::score(&point.mean_score),
            changed: point.changed.iter().map(|change| visible(&change.says)).collect(),
            compare: before.map(|before| compare_url(&before, slug)),
        })
        .collect();
    lines.reverse();

    let shown = |key: &String| visible(&key.replace(SEPARATOR, ", "));
    let suites = groups.keys().map(|key| (key.clone(), shown(key), *key == chosen)).collect();
    TrendPage { suites, rate_picture, score_picture, points: lines, notices }
}

/// Sorts the newest runs by start time. Named runs come in the order in which they were named, others newest
/// first.
fn oldest_first(mut runs: Vec<(String, String)>) -> Vec<String> {
    runs.sort_by(|a, b| b.0.cmp(&a.0));
    runs.truncate(MAX_RUNS);
    runs.into_iter().rev().map(|(_, slug)| slug).collect()
}

/// Key of a trend: its runs, the size of each run's rows in bytes, and its present result, which labels can change.
fn trend_key(library: &RunLibrary, slugs: &[String]) -> String {
    let part = |slug: &String| {
        let folder = library.folder(slug);
        let length = folder.as_ref().map_or(0, |folder| folder.rows_length(RowsFile::Results));
        let info = folder.and_then(|folder| library.info(&folder).ok());
        format!("{slug}\n{length}\n{}\n", info.map(|info| brief_result(&info)).unwrap_or_default())
    };
    slugs.iter().map(part).collect()
}

/// Reads a few runs at a time, so that memory does not grow with their number.
fn read_points(
    library: &RunLibrary,
    slugs: &[String],
    notices: &mut Vec<String>,
    work: &PageWork,
) -> Vec<(String, TrendPoint)> {
    work.begin(slugs.len() as u64);
    let reads = read_together(slugs, |slug| {
        let side = ComparedSide::open(library, slug)?;
        let reader = read_trend(&side.run.folder, &side.part, |_| true)?;
        work.add(1);
        Ok::<_, PageError>((reader, side.info))
    });

    let mut points: Vec<(String, TrendPoint)> = Vec::new();
    let mut before: Option<MethodFingerprint> = None;
    for (slug, read) in slugs.iter().zip(reads) {
        let point = read.and_then(|(reader, info)| {
            if reader.is_empty() {
                return Err(PageError::refused("it holds no finished case."));
            }
            let point = reader.finish(slug.clone(), &info, before.as_ref(), ConfidenceLevel::P95);
            point.map_err(|error| PageError::refused(error.to_string()))
        });
        match point {
            Ok((point, fingerprint)) => {
                points.push((slug.clone(), point));
                before = Some(fingerprint);
            }
            Err(error) => notices.push(visible(&format!("{slug} is excluded: {}", error.message))),
        }
    }

    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_in_the_order_of_their_starts() {
        let run = |start: &str, slug: &str| (start.to_owned(), slug.to_owned());
        let named =
            vec![run("2026-01-01", "before"), run("2026-01-03", "after"), run("2026-01-02", "between")];
        assert_eq!(oldest_first(named), ["before", "between", "after"]);

        let many = (0..30).map(|at| run(&format!("{at:02}"), &at.to_string())).collect();
        let shown = oldest_first(many);
        assert_eq!((shown.len(), &*shown[0], &*shown[19]), (MAX_RUNS, "10", "29"));
    }
}
