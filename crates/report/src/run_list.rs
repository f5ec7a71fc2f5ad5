//! List of stored runs, one per line.

use assize_store::{RunFolder, RunInfo};
use serde_json::{Value, json};

use crate::number::{self, dollars, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::style::{ReportStyle, ReportTone};
use crate::table::{ReportColumn, render_table};

/// Width from which on the list is a table; narrower pages have two lines for each run.
const WIDE: usize = 72;

/// Sign for a list without names.
const NONE: &str = "–";

/// A stored run of a list.
#[derive(Debug, Clone)]
pub struct ListedRun {
    /// Name by which commands take it, such as `last~1`.
    pub name: String,
    /// Name of its folder.
    pub id: String,
    /// Description of the run, or why it can't be read.
    pub info: Result<RunInfo, String>,
}

impl ListedRun {
    /// Run of a folder, under the name by which commands take it.
    pub fn new(name: String, folder: &RunFolder) -> Self {
        Self {
            name,
            id: folder.path().file_name().map(|id| id.to_string_lossy().into_owned()).unwrap_or_default(),
            info: folder.info().map_err(|error| error.to_string()),
        }
    }
}

/// Renders runs in the order given, each in one line, on narrow pages in two.
pub fn render_run_list(runs: &[ListedRun], style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let years = has_several_years(runs);
    if page.columns() < WIDE {
        for run in runs {
            render_narrow(&mut page, &run.name, RunCells::new(run, years));
        }

        return page.finish();
    }

    let columns = [
        ReportColumn::left("run"),
        ReportColumn::left("when"),
        ReportColumn::cut("suite"),
        ReportColumn::cut("judge"),
        ReportColumn::right("cases"),
        ReportColumn::right("passed"),
        ReportColumn::right("cost"),
        ReportColumn::left("result"),
    ];
    let rows: Vec<Vec<ReportPiece>> =
        runs.iter().map(|run| row(&run.name, RunCells::new(run, years))).collect();
    render_table(&mut page, 0, &columns, &rows);

    page.finish()
}

/// Texts about one run.
struct RunCells {
    when: String,
    suite: String,
    judge: String,
    cases: String,
    passed: String,
    cost: String,
    result: (ReportTone, String),
}

impl RunCells {
    /// Texts about a run, with the year only if runs of several years are listed.
    fn new(run: &ListedRun, years: bool) -> Self {
        let Ok(info) = &run.info else { return Self::unreadable(run) };
        let suites: Vec<&str> = info.suites.iter().map(|suite| suite.name.as_str()).collect();
        let judges: Vec<&str> = info.judges.iter().map(|judge| &*judge.identity.name).collect();
        let summary = info.summary.as_ref();
        let cost = summary.map(|summary| match (summary.cost_usd, summary.cost_partial) {
            (Some(cost), _) => dollars(cost.as_dollars()),
            (None, Some(partial)) if partial.at_least_usd.as_dollars() > 0.0 => {
                format!("≥ {}", dollars(partial.at_least_usd.as_dollars()))
            }
            _ => "unknown".to_owned(),
        });

        Self {
            when: minute(&info.started_at, years),
            suite: first_and_more(&suites),
            judge: first_and_more(&judges),
            cases: summary.map_or_else(String::new, |summary| grouped(summary.counts.total() as u64)),
            passed: pass_rate(info).map_or_else(String::new, number::format_rate),
            cost: cost.unwrap_or_default(),
            result: result_of_part(info),
        }
    }

    fn unreadable(run: &ListedRun) -> Self {
        Self {
            when: String::new(),
            suite: run.id.clone(),
            judge: String::new(),
            cases: String::new(),
            passed: String::new(),
            cost: String::new(),
            result: (ReportTone::Bad, "unreadable".to_owned()),
        }
    }
}

fn row(name: &str, cells: RunCells) -> Vec<ReportPiece> {
    vec![
        ReportPiece::plain(name),
        ReportPiece::new(ReportTone::Dim, cells.when),
        ReportPiece::untrusted_name(ReportTone::Strong, &cells.suite),
        ReportPiece::untrusted_name(ReportTone::Plain, &cells.judge),
        ReportPiece::plain(cells.cases),
        ReportPiece::new(ReportTone::Strong, cells.passed),
        ReportPiece::plain(cells.cost),
        ReportPiece::new(cells.result.0, cells.result.1),
    ]
}

/// Renders a run in lines: its name, suite and result; then the rest, wrapped.
fn render_narrow(page: &mut ReportPage, name: &str, cells: RunCells) {
    let (tone, result) = cells.result;
    page.add_split_line(
        &[
            ReportPiece::plain(format!("{name:<8}")),
            ReportPiece::untrusted_name(ReportTone::Strong, &cells.suite),
        ],
        &[ReportPiece::new(tone, result)],
    );

    let of = |cases: &str| if cases == "1" { "1 case".to_owned() } else { format!("{cases} cases") };
    let passed = match (cells.passed.as_str(), cells.cases.as_str()) {
        ("", "") => String::new(),
        ("", cases) => of(cases),
        (passed, cases) => format!("{passed} of {}", of(cases)),
    };
    let facts = [cells.when, passed, cells.judge, cells.cost];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty() && fact != NONE).collect();
    if !facts.is_empty() {
        page.add_text(
            &[ReportPiece::plain("        ")],
            &[ReportPiece::untrusted(ReportTone::Dim, &facts.join(", "), sanitize::MAX_REASON)],
        );
    }
}

/// Returns true if runs were started in different years.
fn has_several_years(runs: &[ListedRun]) -> bool {
    let mut years = runs.iter().filter_map(|run| run.info.as_ref().ok()?.started_at.get(..4));
    years.next().is_some_and(|first| years.any(|year| year != first))
}

/// Converts runs to JSON.
pub fn run_list_json(runs: &[ListedRun]) -> Value {
    let runs = runs.iter().map(|run| {
        let info = match &run.info {
            Ok(info) => info,
            Err(error) => return json!({ "run": run.id, "name": run.name, "error": error }),
        };
        let summary = info.summary.as_ref();
        json!({
            "run": run.id,
            "name": run.name,
            "command": info.command,
            "started_at": info.started_at,
            "finished_at": info.finished_at,
            "suites": info.suites.iter().map(|suite| &suite.name).collect::<Vec<_>>(),
            "judges": info.judges.iter().map(|judge| &judge.identity.name).collect::<Vec<_>>(),
            "targets": info.targets.iter().map(|target| &target.name).collect::<Vec<_>>(),
            "counts": summary.map(|summary| summary.counts),
            "pass_rate": pass_rate(info),
            "mean_score": summary.and_then(|summary| summary.mean_score.as_ref()).map(|mean| mean.mean),
            "cost_usd": summary.and_then(|summary| summary.cost_usd),
            "shard": info.shard.as_ref().map(|shard| json!({ "number": shard.number, "count": shard.count })),
            "merged_from": info.merged.as_ref().map(|merged| &merged.shards),
            "exit_code": summary.map(|summary| summary.exit_code),
            "exit_reason": summary.map(|summary| &summary.exit_reason),
        })
    });
    Value::Array(runs.collect())
}

fn pass_rate(info: &RunInfo) -> Option<f64> {
    info.summary.as_ref()?.figures.as_ref()?.pass_rate.value
}

/// Result of a run in a word, by its exit code.
fn result(info: &RunInfo) -> (ReportTone, String) {
    let (tone, word) = match info.summary.as_ref().map(|summary| summary.exit_code) {
        None => (ReportTone::Open, "stopped"),
        Some(0) => (ReportTone::Good, "passed"),
        Some(1) => (ReportTone::Bad, "failed"),
        Some(3) => (ReportTone::Open, "incomplete"),
        Some(4) => (ReportTone::Open, "budget"),
        Some(130) => (ReportTone::Open, "interrupted"),
        Some(other) => return (ReportTone::Open, format!("exit {other}")),
    };

    (tone, word.to_owned())
}

/// The result, with the part of a plan that the run is about.
fn result_of_part(info: &RunInfo) -> (ReportTone, String) {
    let (tone, word) = result(info);
    let part = match (&info.shard, &info.merged) {
        (Some(shard), _) => format!(", shard {}/{}", shard.number, shard.count),
        (None, Some(merged)) if !merged.missing.is_empty() => {
            format!(", {} of {} shards", merged.shards.len(), merged.count)
        }
        _ => String::new(),
    };

    (tone, word + &part)
}

fn first_and_more(names: &[&str]) -> String {
    match names {
        [] => NONE.to_owned(),
        [only] => sanitize::sanitize_name(only),
        [first, rest @ ..] => format!("{} +{}", sanitize::sanitize_name(first), rest.len()),
    }
}

/// `2026-01-02 15:30` of a time in RFC 3339, or that without the year.
fn minute(time: &str, year: bool) -> String {
    match (time.get(..10), time.get(5..10), time.get(11..16)) {
        (Some(day), _, Some(minute)) if year => format!("{day} {minute}"),
        (_, Some(day), Some(minute)) => format!("{day} {minute}"),
        _ => time.to_owned(),
    }
}
