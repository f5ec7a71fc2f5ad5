//! `assize compare --trend`.

use std::collections::BTreeSet;

use assize_analysis::trend::{MethodFingerprint, TrendPoint};
use assize_engine::{
    ExitStatus, concluded_info, read_together, read_trend,
    runs::{self, RUNS_FOLDER},
};
use assize_report::{TREND_ROWS, fit_screen, render_trend};
use assize_stats::ConfidenceLevel;
use assize_store::{AnswerPart, RunFolder, RunInfo};
use serde_json::json;

use crate::args::CompareArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// A run to show.
struct TrendRun {
    folder: RunFolder,
    info: RunInfo,
    part: AnswerPart,
    label: String,
    /// True if the user named it: then unreadable parts are errors instead of warnings.
    named: bool,
}

pub(super) fn execute(args: &CompareArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let mut chosen =
        if args.runs.is_empty() { stored_runs(args, context)? } else { named_runs(args, context)? };
    if let Some(last) = args.last {
        chosen.drain(..chosen.len().saturating_sub(last.get()));
    }

    let mut points: Vec<TrendPoint> = Vec::new();
    let mut before: Option<MethodFingerprint> = None;
    let suite = args.suite.as_deref();
    let takes = |name: &str| suite.is_none_or(|wanted| wanted == name);
    let reads = read_together(&chosen, |run| read_trend(&run.folder, &run.part, takes));
    for (run, read) in chosen.iter().zip(reads) {
        let (label, named, started_at) = (run.label.clone(), run.named, run.info.started_at.clone());
        super::compared_run::warn_of_missing(&run.info, &label, "shown", context);

        let read = read.map_err(CommandFailure::from).and_then(|reader| match &run.part.target {
            Some(target) if reader.is_empty() => {
                let shown = run.folder.path().display();
                Err(format!("`{shown}` has no answers from target `{target}`").into())
            }
            _ => Ok(reader),
        });
        let reader = match read {
            Ok(reader) => reader,
            Err(failure) if named => return Err(failure),
            Err(failure) => {
                output::print_warning(&format!("`{label}` is skipped: {}", failure.message), context);
                continue;
            }
        };
        if reader.is_empty() {
            let suite =
                args.suite.as_deref().map(|suite| format!(" of the suite `{suite}`")).unwrap_or_default();
            output::print_warning(&format!("`{label}` is skipped: it has no finished case{suite}"), context);

            continue;
        }

        match reader.finish(label.clone(), started_at, before.as_ref(), ConfidenceLevel::P95) {
            Ok((point, fingerprint)) => {
                points.push(point);
                before = Some(fingerprint);
            }
            Err(error) if named => return Err(error.to_string().into()),
            Err(error) => output::print_warning(&format!("`{label}` is skipped: {error}"), context),
        }
    }

    if points.is_empty() {
        return Err("none of these runs has a finished case".into());
    }

    let levels = TREND_ROWS.into_iter().take(if args.verbose { 1 } else { TREND_ROWS.len() });
    let json = || json!({ "level": ConfidenceLevel::P95.get(), "runs": points });
    let text = || fit_screen(levels, |rows| render_trend(&points, rows, context.stdout));
    output::print_either(args.json, json, text);

    Ok(ExitStatus::Passed)
}

fn named_runs(args: &CompareArgs, context: &CliContext) -> Result<Vec<TrendRun>, CommandFailure> {
    args.runs
        .iter()
        .map(|name| {
            let (folder, mut part) = runs::find_answers(name, &context.process)?;
            let info = concluded_info(&folder, &context.process)?;
            part.target = part.target.or_else(|| args.target.clone());
            Ok(TrendRun { folder, info, part, label: name.clone(), named: true })
        })
        .collect()
}

/// Stored runs with the given suite, or with the same suites as the newest run; oldest first.
fn stored_runs(args: &CompareArgs, context: &CliContext) -> Result<Vec<TrendRun>, CommandFailure> {
    let mut wanted: Option<BTreeSet<String>> = args.suite.clone().map(|suite| BTreeSet::from([suite]));
    let mut chosen = Vec::new();
    let mut others = 0usize;
    for folder in runs::newest_first(&context.process) {
        let label =
            folder.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let info = match concluded_info(&folder, &context.process) {
            Ok(info) => info,
            Err(error) => {
                output::print_warning(&format!("`{label}` is skipped: {error}"), context);
                continue;
            }
        };

        // A run of only one shard is not comparable.
        if info.shard.is_some() {
            continue;
        }

        let suites: BTreeSet<String> = info.suites.iter().map(|suite| suite.name.clone()).collect();
        let wanted = wanted.get_or_insert_with(|| suites.clone());
        let fits = if args.suite.is_some() { wanted.is_subset(&suites) } else { *wanted == suites };
        if fits {
            let part = AnswerPart { target: args.target.clone(), prompt: None };
            chosen.push(TrendRun { folder, info, part, label, named: false });
        } else {
            others += 1;
        }
    }

    if chosen.is_empty() {
        return Err(match &args.suite {
            Some(suite) if others > 0 => format!("no run in `{RUNS_FOLDER}` holds a suite `{suite}`").into(),
            _ => runs::no_runs(&context.process).into(),
        });
    }

    if others > 0 {
        let runs = if others == 1 { "run" } else { "runs" };
        let notice =
            format!("skipped {others} {runs} of other suites; select them with `--suite NAME` or by name\n");
        output::print_notice(&notice, context);
    }

    chosen.reverse();
    Ok(chosen)
}
