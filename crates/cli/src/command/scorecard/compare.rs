//! `assize scorecard compare`.

use assize_analysis::{NodeSide, ScorecardRun, compare_scorecards};
use assize_engine::{ExitStatus, runs};
use assize_report::render_scorecard_comparison;
use serde_json::{Value, json};

use crate::args::CompareCardsArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(super) fn compare(args: &CompareCardsArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let read = |name: &str| -> Result<ScorecardRun, CommandFailure> {
        let folder = runs::find_run(name, &context.process)?;
        Ok(ScorecardRun::read(&folder).map_err(|error| error.to_string())?)
    };
    let (base, candidate) = (read(&args.base)?, read(&args.candidate)?);
    let found = compare_scorecards(&base, &candidate, args.treat_missing.policy())
        .map_err(|error| error.to_string())?;
    if found.shared == 0 {
        return Err("the runs have no case in common".into());
    }
    if !args.json {
        output::print(&render_scorecard_comparison(&found, context.stdout));
        return Ok(ExitStatus::Passed);
    }

    let nodes: Vec<Value> = found
        .nodes
        .iter()
        .map(|node| {
            let interval = node.interval.as_ref();
            json!({
                "code": node.code,
                "kind": node.kind.name(),
                "base": side(node.base),
                "candidate": side(node.candidate),
                "difference": node.difference,
                "low": interval.ok().map(|interval| interval.low),
                "high": interval.ok().map(|interval| interval.high),
                "level": 0.95,
                "method": interval.map_or_else(
                    |undefined| format!("no interval, because {undefined}"),
                    |interval| interval.method.name().to_owned(),
                ),
                "pairs": node.pairs,
            })
        })
        .collect();

    output::print_json(&json!({
        "base": args.base,
        "candidate": args.candidate,
        "cases": found.shared,
        "cases_only_in_base": found.only_base,
        "cases_only_in_candidate": found.only_candidate,
        "nodes": nodes,
        "parts_only_in_base": found.gone,
        "parts_only_in_candidate": found.new,
        "parts_that_differ": found.changed,
    }));
    Ok(ExitStatus::Passed)
}

fn side(side: NodeSide) -> Value {
    json!({
        "score": side.score,
        "score_low": side.bounds.map(|(low, _)| low),
        "score_high": side.bounds.map(|(_, high)| high),
        "standing": side.standing,
    })
}
