//! `assize scorecard trend`.

use assize_analysis::{ScorecardMethod, ScorecardTrendPoint, scorecard_trend_point};
use assize_engine::{
    ExitStatus, LabelOptions, concluded_info,
    runs::{self, RUNS_FOLDER},
};
use assize_report::render_scorecard_trend;
use assize_store::RunFolder;
use serde_json::json;

use super::load::load_labelled;
use crate::args::TrendCardsArgs;
use crate::command::trend::stored_runs_like;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(super) fn trend(args: &TrendCardsArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let named = args.runs.iter().map(|name| Ok((name.clone(), runs::find_run(name, &context.process)?)));
    let mut chosen = named.collect::<Result<Vec<(String, RunFolder)>, CommandFailure>>()?;
    if chosen.is_empty() {
        // Those of the scorecard that ran last.
        (chosen, _) = stored_runs_like(|info| Some(info.scorecard.as_ref()?.name.clone()), context);
    }
    if chosen.is_empty() {
        return Err(format!(
            "no run of a scorecard in `{RUNS_FOLDER}` yet; `assize scorecard run` creates one, or name the folders of runs"
        ).into());
    }
    if let Some(last) = args.last {
        chosen.drain(..chosen.len().saturating_sub(last.get()));
    }

    let mut points: Vec<ScorecardTrendPoint> = Vec::new();
    let mut before: Option<ScorecardMethod> = None;
    for (label, folder) in chosen {
        let info = concluded_info(&folder, &context.process)?;
        crate::command::compared_run::warn_of_missing(&info, &label, "counted", context);

        let run = load_labelled(&folder, &LabelOptions::default(), context)?.run;
        let (point, method) = scorecard_trend_point(label, &info, &run, before.as_ref(), args.treat_missing)
            .map_err(|error| error.to_string())?;
        points.push(point);
        before = Some(method);
    }

    let json = || json!({ "runs": points });
    output::print_either(args.json, json, || render_scorecard_trend(&points, context.stdout));

    Ok(ExitStatus::Passed)
}
