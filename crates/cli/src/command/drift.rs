//! `assize calibrate drift`: whether a judge changed between runs.

use assize_analysis::drift::{AnchorRun, judge_drift};
use assize_engine::{ExitStatus, runs, stored_records};
use assize_report::{drift_json, render_drift};

use crate::args::DriftArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(super) fn execute(args: &DriftArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let mut found = Vec::new();
    for name in &args.runs {
        let mut run = AnchorRun::new(name);
        for record in stored_records(&runs::find_run(name, &context.process)?)? {
            let record = record?;
            if args.suite.as_deref().is_none_or(|suite| *suite == *record.result.suite) {
                run.add_record(&record);
            }
        }
        found.push(run);
    }

    let report = judge_drift(&found).map_err(|_| {
        "no two of these runs judged the same answers by the same criteria: keep a suite with given answers (`output`) and judge it in \
         every run, without the reply cache (`assize eval --no-cache`)"
    })?;
    output::print_either(args.json, || drift_json(&report), || render_drift(&report, context.stdout));

    let has_changed = report.changed_at.is_some() && args.fail_on_drift;
    Ok(if has_changed { ExitStatus::Failed } else { ExitStatus::Passed })
}
