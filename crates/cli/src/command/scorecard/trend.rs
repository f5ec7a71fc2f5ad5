//! `assize scorecard trend`.

use assize_analysis::{ScorecardMethod, ScorecardTrendPoint, scorecard_trend_point};
use assize_engine::{
    ExitStatus, LabelOptions,
    runs::{self, RUNS_FOLDER},
};
use assize_report::render_scorecard_trend;
use assize_store::{RunFolder, RunInfo};
use serde_json::{Value, json};

use super::compare::side;
use super::load::load_labelled;
use crate::args::TrendCardsArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(super) fn trend(args: &TrendCardsArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let mut chosen = if args.runs.is_empty() { stored_runs(context)? } else { named_runs(args, context)? };
    if let Some(last) = args.last {
        chosen.drain(..chosen.len().saturating_sub(last.get()));
    }

    let mut points: Vec<ScorecardTrendPoint> = Vec::new();
    let mut before: Option<ScorecardMethod> = None;
    for (label, folder, info) in chosen {
        crate::command::compared_run::warn_of_missing(&info, &label, "counted", context);

        let run = load_labelled(&folder, &LabelOptions::default(), context)?.run;
        let missing = args.treat_missing;
        let (point, method) = scorecard_trend_point(label, info.started_at, &run, before.as_ref(), missing)
            .map_err(|error| error.to_string())?;
        points.push(point);
        before = Some(method);
    }

    let json = || json!({ "runs": points.iter().map(point_json).collect::<Vec<Value>>() });
    output::print_either(args.json, json, || render_scorecard_trend(&points, context.stdout));

    Ok(ExitStatus::Passed)
}

type StoredRun = (String, RunFolder, RunInfo);

fn named_runs(args: &TrendCardsArgs, context: &CliContext) -> Result<Vec<StoredRun>, CommandFailure> {
    args.runs
        .iter()
        .map(|name| {
            let folder = runs::find_run(name, &context.process)?;
            let info = folder.info()?;
            Ok((name.clone(), folder, info))
        })
        .collect()
}

/// Stored runs of the same scorecard as the newest scorecard run; oldest first.
fn stored_runs(context: &CliContext) -> Result<Vec<StoredRun>, CommandFailure> {
    let mut wanted: Option<String> = None;
    let mut chosen = Vec::new();
    for folder in runs::newest_first(&context.process) {
        let Ok(info) = folder.info() else { continue };
        // A run of only one shard is not comparable.
        if info.shard.is_some() {
            continue;
        }

        let Some(name) = info.scorecard.as_ref().map(|card| card.name.clone()) else { continue };
        if *wanted.get_or_insert_with(|| name.clone()) == name {
            let label = folder.path().file_name().map(|name| name.to_string_lossy().into_owned());
            chosen.push((label.unwrap_or_default(), folder, info));
        }
    }

    if chosen.is_empty() {
        return Err(format!(
            "no run of a scorecard in `{RUNS_FOLDER}` yet; `assize scorecard run` creates one, or name the folders of runs"
        ).into());
    }

    chosen.reverse();
    Ok(chosen)
}

fn point_json(point: &ScorecardTrendPoint) -> Value {
    let nodes: Vec<Value> = point
        .nodes
        .iter()
        .map(|node| {
            let mut value = side(node.side);
            value["code"] = node.code.clone().into();
            value["kind"] = node.kind.name().into();
            value["hard_gate"] = node.hard_gate.into();
            value["gate_failed"] = node.side.gate_failed.into();
            value
        })
        .collect();

    json!({
        "run": point.label,
        "started_at": point.started_at,
        "cases": point.cases,
        "weight_set": point.weight_set,
        "changed": point.changed,
        "nodes": nodes,
    })
}
