//! `assize scorecard compare`.

use assize_analysis::compare::ComparisonGateResult;
use assize_analysis::{
    ScorecardComparison, ScorecardRun, brief_result, check_scorecard_gates, compare_scorecards,
};
use assize_engine::{ExitStatus, LabelOptions, concluded_info, runs};
use assize_report::{render_scorecard_comparison, render_scorecard_comparison_markdown};
use serde_json::{Value, json};

use super::load::load_labelled;
use crate::args::{CompareCardsArgs, ReportFormat};
use crate::command::compared_run::{exit_of_gates, warn_of_missing};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output::{self, ResultOutput};

pub(super) fn compare(args: &CompareCardsArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let read = |name: &str| -> Result<(ScorecardRun, String), CommandFailure> {
        let folder = runs::find_run(name, &context.process)?;
        let info = concluded_info(&folder, &context.process)?;
        warn_of_missing(&info, name, "compared", context);
        Ok((load_labelled(&folder, &LabelOptions::default(), context)?.run, brief_result(&info)))
    };
    let ((base, base_result), (candidate, result)) = (read(&args.base)?, read(&args.candidate)?);
    let sides = [(args.base.as_str(), base_result.as_str()), (args.candidate.as_str(), result.as_str())];
    let found =
        compare_scorecards(&base, &candidate, args.treat_missing).map_err(|error| error.to_string())?;
    if found.shared == 0 {
        return Err("the runs have no case in common".into());
    }

    let results = check_scorecard_gates(&found, &args.fail_on, &args.allow, &args.candidate);
    for file in args.out.iter().filter(|file| file.format != ReportFormat::Json) {
        output::write_text(&file.path, &render_scorecard_comparison_markdown(&found, &results, sides))?;
    }

    let delivery = ResultOutput { json: args.json, quiet: false, out: &args.out };
    if !delivery.deliver(|| comparison_json(sides, &found, &results))? {
        output::print(&render_scorecard_comparison(&found, &results, sides, context.stdout));
    }

    Ok(exit_of_gates(&results))
}

/// The comparison as JSON.
fn comparison_json(
    [(base, base_result), (candidate, candidate_result)]: [(&str, &str); 2],
    found: &ScorecardComparison,
    gates: &[ComparisonGateResult],
) -> Value {
    let nodes: Vec<Value> = found
        .nodes
        .iter()
        .map(|node| {
            let compared = &node.compared;
            json!({
                "code": node.code,
                "kind": node.kind.name(),
                "base": node.base,
                "candidate": node.candidate,
                "difference": node.difference,
                "low": compared.low,
                "high": compared.high,
                "level": compared.level,
                "method": compared.interval_method,
                "undefined": compared.undefined,
                "p": compared.p,
                "p_adjusted": compared.p_adjusted,
                "test": compared.test,
                "conclusion": compared.call,
                "pairs": compared.n,
            })
        })
        .collect();

    json!({
        "base": base,
        "candidate": candidate,
        "base_result": base_result,
        "candidate_result": candidate_result,
        "cases": found.shared,
        "cases_only_in_base": found.only_base,
        "cases_only_in_candidate": found.only_candidate,
        "nodes": nodes,
        "parts_only_in_base": found.gone,
        "parts_only_in_candidate": found.new,
        "parts_that_differ": found.changed,
        "measured_differently": found.measured,
        "gates": gates,
    })
}
