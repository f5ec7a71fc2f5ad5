//! `assize power`.

use assize_analysis::Names;
use assize_analysis::power::{Known, Wanted, learn, plan};
use assize_engine::Exit;
use assize_report::plan_cases;
use assize_rubric::Unit;
use assize_stats::Level;
use serde_json::json;

use super::compare::Part;
use crate::args::PowerArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;

/// What is wanted of a run's successor when nobody says: 0.05 to either side, and differences of 0.05.
const USUAL: (f64, f64) = (0.1, 0.05);

pub(crate) fn execute(args: &PowerArgs, context: &Context) -> Result<Exit, Failure> {
    if args.from.len() > 2 {
        return Err("`--from` takes one run, or two that are held against each other".into());
    }
    let mut names = Names::default();
    let mut runs = Vec::new();
    for name in &args.from {
        runs.push(Part::read(name, &mut names, |_| true, context)?.facts);
    }
    let known = known(args, learn(&runs, &names));
    let asked = args.width.is_some() || args.difference.is_some() || args.cases.is_some();
    let (width, difference) = match (asked, runs.is_empty()) {
        (false, false) => (Some(USUAL.0), Some(USUAL.1)),
        _ => (args.width, args.difference),
    };
    let wanted = Wanted {
        width,
        difference,
        power: args.power,
        level: Level::new(args.level).map_err(|error| error.to_string())?,
    };
    let needs = plan(&known, wanted)?;
    if needs.is_empty() {
        let message = if asked {
            "that can't be answered from what is known; `--pass-rate`, `--discordance`, `--score-sd`, `--difference-sd`, \
             `--within`, `--sensitivity`, or a run with `--from` would"
        } else {
            "say what is wanted: `--width`, `--difference` or `--cases`, or `--from` a run"
        };
        return Err(message.into());
    }
    if args.json {
        output::print_json(&json!({
            "wanted": { "width": width, "difference": difference, "power": args.power, "level": args.level },
            "known": known,
            "needs": needs,
        }));
        return Ok(Exit::Passed);
    }
    output::print(&plan_cases(&needs, context.stdout));
    let power = if difference.is_some() { format!(", power {}", args.power) } else { String::new() };
    output::print(&format!("\nlevel {}{power}\n", args.level));
    Ok(Exit::Passed)
}

/// What the command line says, else what the runs tell.
fn known(args: &PowerArgs, learned: Known) -> Known {
    let given = |unit: Option<Unit>| unit.map(Unit::get);
    let clustered = args.cluster_size.is_some();
    Known {
        pass_rate: given(args.pass_rate).or(learned.pass_rate),
        score_sd: args.score_sd.or(learned.score_sd),
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
