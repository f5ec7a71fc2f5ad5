//! `assize calibrate power`.

use assize_analysis::RunFacts;
use assize_analysis::power::{PlanningInputs, WantedPrecision, estimate_inputs, plan_sample_size};
use assize_engine::ExitStatus;
use assize_report::render_plan;
use assize_rubric::UnitInterval;
use assize_stats::{ConfidenceLevel, McNemarVariant};
use serde_json::json;

use super::compared_run::ComparedRun;
use crate::args::PowerArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Default goal for the next run: an interval of 0.05 to either side, and differences of 0.05.
const DEFAULT_GOAL: (f64, f64) = (0.1, 0.05);

pub(super) fn execute(args: &PowerArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    if args.from.len() > 2 {
        return Err("`--from` takes one run, or two runs of the same cases".into());
    }

    let (runs, names) = ComparedRun::read_all(&args.from, Some, context)?;
    let runs: Vec<RunFacts> = runs.into_iter().map(|run| run.facts).collect();

    let known = known(args, estimate_inputs(&runs, &names));
    let asked = args.width.is_some() || args.difference.is_some() || args.cases.is_some();
    let (width, difference) = match (asked, runs.is_empty()) {
        (false, false) => (Some(DEFAULT_GOAL.0), Some(DEFAULT_GOAL.1)),
        _ => (args.width, args.difference),
    };
    let wanted = WantedPrecision {
        width,
        difference,
        power: args.power,
        level: ConfidenceLevel::new(args.level).map_err(|error| error.to_string())?,
        variant: if args.mid_p { McNemarVariant::MidP } else { McNemarVariant::Exact },
    };

    let needs = plan_sample_size(&known, wanted)?;
    if needs.is_empty() {
        let message = if asked {
            "more input is needed: add `--pass-rate`, `--discordance`, `--score-sd`, `--difference-sd`, `--within` or `--sensitivity`, or a run with `--from`"
        } else {
            "name a goal: `--width`, `--difference` or `--cases`, or a run with `--from`"
        };
        return Err(message.into());
    }

    if args.json {
        output::print_json(&json!({
            "wanted": { "width": width, "difference": difference, "power": args.power, "level": args.level, "mid_p": args.mid_p },
            "known": known,
            "needs": needs,
        }));
        return Ok(ExitStatus::Passed);
    }

    output::print(&render_plan(&needs, context.stdout));
    let power = if difference.is_some() { format!(", power {}", args.power) } else { String::new() };
    output::print(&format!("\nlevel {}{power}\n", args.level));

    Ok(ExitStatus::Passed)
}

/// Planning inputs from the command line, completed from the runs.
fn known(args: &PowerArgs, learned: PlanningInputs) -> PlanningInputs {
    let given = |unit: Option<UnitInterval>| unit.map(UnitInterval::get);
    let clustered = args.cluster_size.is_some();
    PlanningInputs {
        pass_rate: given(args.pass_rate).or(learned.pass_rate),
        cautious_rate: learned.cautious_rate.filter(|_| args.pass_rate.is_none()),
        score_sd: args.score_sd.or(learned.score_sd),
        clustered_verdicts: learned.clustered_verdicts.filter(|_| args.pass_rate.is_none() && !clustered),
        score_spread: learned.score_spread.filter(|_| args.score_sd.is_none()),
        difference_sd: args.difference_sd.or(learned.difference_sd),
        discordance: given(args.discordance).or(learned.discordance),
        between: args.between.or(learned.between),
        within: args.within.or(learned.within),
        cluster_size: args.cluster_size,
        cluster_correlation: given(args.icc),
        design_effect: learned.design_effect.filter(|_| !clustered),
        sensitivity: given(args.sensitivity),
        specificity: given(args.specificity),
        cases: args.cases.or(learned.cases),
    }
}
