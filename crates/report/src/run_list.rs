//! List of stored runs, one per line.
//!
//! A row can be used to name its run on the command line, so its name and short id are never cut; other
//! columns are. If a table would not fit even so, each run takes two lines, and no value is lost.

use assize_analysis::brief_result;
use assize_store::{RunFolder, RunInfo};
use serde_json::{Value, json};

use crate::cost::{format_cost, spent};
use crate::number::{NO_VALUE, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::style::{ReportStyle, ReportTone};
use crate::table::{ReportColumn, fits_beside, render_table};

/// Length of the time at the beginning of an id, such as `20260102-153012`.
const TIME_LENGTH: usize = 15;

/// A stored run in a list.
#[derive(Debug, Clone)]
pub struct ListedRun {
    /// Name for the command line, such as `last~1`.
    pub name: String,
    /// Name of its folder.
    pub id: String,
    /// Shortest beginning of the id that commands accept for this run and no other.
    pub short_id: String,
    /// Description of the run, or why it can't be read.
    pub info: Result<RunInfo, String>,
}

impl ListedRun {
    /// A run in a folder. `name` is its name for the command line; `info` is its description with its present
    /// conclusion, or why it can't be read.
    pub fn new(name: String, folder: &RunFolder, info: Result<RunInfo, String>) -> Self {
        let id = folder.path().file_name().map(|id| id.to_string_lossy().into_owned()).unwrap_or_default();
        Self { name, short_id: id.clone(), id, info }
    }

    /// Shortens the ids of all runs of a folder so that they stay distinct, and keep at least the time at the
    /// beginning.
    pub fn shorten_ids(runs: &mut [Self]) {
        let mut ids: Vec<String> = runs.iter().map(|run| run.id.clone()).collect();
        ids.sort();
        let shared = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
        for run in runs {
            let at = ids.partition_point(|id| *id < run.id);
            let neighbours = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
            let longest = neighbours.filter_map(|at| Some(shared(&run.id, ids.get(at)?))).max().unwrap_or(0);
            run.short_id = run.id.chars().take(TIME_LENGTH.max(longest + 1)).collect();
        }
    }
}

/// Renders runs in the order given, one per line; if one of them does not fit on a line, all take two.
pub fn render_run_list(runs: &[ListedRun], style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let columns = [
        ReportColumn::left("run"),
        ReportColumn::left("short id"),
        ReportColumn::cut("suite"),
        ReportColumn::cut("judge"),
        ReportColumn::right("passed"),
        ReportColumn::right("spent"),
        ReportColumn::left("result"),
    ];
    let rows: Vec<Vec<ReportPiece>> = runs.iter().map(row).collect();
    if fits_beside(&page, &columns, &rows) {
        render_table(&mut page, 0, &columns, &rows);
    } else {
        for run in runs {
            render_narrow(&mut page, run);
        }
    }

    page.finish()
}

/// Texts about one run.
struct RunCells {
    suite: String,
    judge: String,
    passed: String,
    spent: String,
    result: (ReportTone, String),
}

impl RunCells {
    /// Formats the texts about a run.
    fn new(run: &ListedRun) -> Self {
        let Ok(info) = &run.info else { return Self::unreadable() };
        let judges: Vec<&str> = info.judges.iter().map(|judge| &*judge.identity.name).collect();
        let summary = info.summary.as_ref();
        let spent = summary.map(|summary| {
            let cost = spent(info, summary);
            cost.map_or_else(|| NO_VALUE.to_owned(), |cost| format_cost(cost.total(), cost.to_partial()))
        });

        Self {
            suite: sanitize::sanitize_name(&info.title()),
            judge: first_and_more(&judges),
            passed: summary.map_or_else(String::new, |summary| {
                format!("{}/{}", grouped(summary.counts.pass as u64), grouped(summary.counts.total() as u64))
            }),
            spent: spent.unwrap_or_default(),
            result: (ReportTone::of_exit_code(summary.map(|summary| summary.exit_code)), brief_result(info)),
        }
    }

    fn unreadable() -> Self {
        Self {
            suite: String::new(),
            judge: String::new(),
            passed: String::new(),
            spent: String::new(),
            result: (ReportTone::Bad, "unreadable".to_owned()),
        }
    }
}

fn row(run: &ListedRun) -> Vec<ReportPiece> {
    let cells = RunCells::new(run);
    vec![
        ReportPiece::plain(&run.name),
        ReportPiece::untrusted_name(ReportTone::Plain, &run.short_id),
        ReportPiece::untrusted_name(ReportTone::Strong, &cells.suite),
        ReportPiece::untrusted_name(ReportTone::Plain, &cells.judge),
        ReportPiece::new(ReportTone::Strong, cells.passed),
        ReportPiece::plain(cells.spent),
        ReportPiece::new(cells.result.0, cells.result.1),
    ]
}

/// Renders a run in two parts: its name and id, then the rest, wrapped.
fn render_narrow(page: &mut ReportPage, run: &ListedRun) {
    let cells = RunCells::new(run);
    let (tone, result) = cells.result;
    page.add_line(&[
        ReportPiece::plain(format!("{:<8}", run.name)),
        ReportPiece::untrusted_name(ReportTone::Plain, &run.short_id),
    ]);

    let passed = if cells.passed.is_empty() { cells.passed } else { format!("{} passed", cells.passed) };
    // These facts follow the result, after a comma.
    let mut facts = vec![String::new()];
    let known = [cells.suite, passed, cells.judge, cells.spent].into_iter();
    facts.extend(known.filter(|fact| !fact.is_empty() && fact != NO_VALUE));
    let facts = facts.join(", ");
    page.add_text(
        &[ReportPiece::plain("        ")],
        &[
            ReportPiece::new(tone, result),
            ReportPiece::untrusted(ReportTone::Dim, &facts, sanitize::MAX_REASON),
        ],
    );
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
            "label": info.label,
            "suites": info.suites.iter().map(|suite| &suite.name).collect::<Vec<_>>(),
            "judges": info.judges.iter().map(|judge| &judge.identity.name).collect::<Vec<_>>(),
            "targets": info.targets.iter().map(|target| &target.name).collect::<Vec<_>>(),
            "counts": summary.map(|summary| summary.counts),
            "pass_rate": pass_rate(info),
            "mean_score": summary.and_then(|summary| summary.mean_score.as_ref()).map(|mean| mean.mean),
            "cost_usd": summary.and_then(|summary| summary.cost_usd),
            "spent_usd": summary.and_then(|summary| spent(info, summary)?.total()),
            "shard": info.shard.as_ref().map(|shard| json!({ "number": shard.number, "count": shard.count })),
            "merged_from": info.merged.as_ref().map(|merged| &merged.shards),
            "exit_code": summary.map(|summary| summary.exit_code),
            "exit_reason": summary.map(|summary| &summary.exit_reason),
            "conclusion": summary.map(|summary| &summary.conclusion),
        })
    });
    Value::Array(runs.collect())
}

fn pass_rate(info: &RunInfo) -> Option<f64> {
    info.summary.as_ref()?.figures.as_ref()?.pass_rate.value
}

fn first_and_more(names: &[&str]) -> String {
    match names {
        [] => NO_VALUE.to_owned(),
        [only] => sanitize::sanitize_name(only),
        [first, rest @ ..] => format!("{} +{}", sanitize::sanitize_name(first), rest.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_name_one_run_each() {
        let run = |id: &str| ListedRun {
            name: String::new(),
            id: id.to_owned(),
            short_id: String::new(),
            info: Err(String::new()),
        };
        let mut runs =
            ["20260102-153012-a-1", "20260102-153013-a-1", "20260102-153013-b-2", "mine", "mine-2"].map(run);
        ListedRun::shorten_ids(&mut runs);
        let short: Vec<&str> = runs.iter().map(|run| run.short_id.as_str()).collect();
        assert_eq!(short, ["20260102-153012", "20260102-153013-a", "20260102-153013-b", "mine", "mine-2"]);
    }
}
