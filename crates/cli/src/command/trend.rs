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
        let label = &run.label;
        super::compared_run::warn_of_missing(&run.info, label, "shown", context);

        let point = read.map_err(CommandFailure::from).and_then(|reader| {
            if reader.is_empty() {
                let wanted = match (&run.part.target, suite) {
                    (Some(target), _) => format!("no answers from target `{target}`"),
                    (None, Some(suite)) => format!("no finished case of the suite `{suite}`"),
                    (None, None) => "no finished case".to_owned(),
                };
                return Err(format!("`{label}` has {wanted}").into());
            }
            let point = reader.finish(label.clone(), &run.info, before.as_ref(), ConfidenceLevel::P95);
            point.map_err(|error| error.to_string().into())
        });
        match point {
            Ok((point, fingerprint)) => {
                points.push(point);
                before = Some(fingerprint);
            }
            Err(failure) if run.named => return Err(failure),
            Err(failure) => output::print_warning(&format!("skipped: {}", failure.message), context),
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

/// Stored runs that have the same key as the newest run with a key, each with the name of its folder, oldest first; and the
/// number of other runs.
pub(super) fn stored_runs_like<K: Clone + PartialEq>(
    key: impl Fn(&RunInfo) -> Option<K>,
    context: &CliContext,
) -> (Vec<(String, RunFolder)>, usize) {
    let (mut wanted, mut chosen, mut others) = (None, Vec::new(), 0);
    for folder in runs::newest_first(&context.process) {
        let label =
            folder.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match folder.info() {
            Err(error) => output::print_warning(&format!("`{label}` is skipped: {error}"), context),
            // A run of only one shard is not comparable.
            Ok(info) if info.shard.is_some() => {}
            Ok(info) => {
                let own = key(&info);
                wanted = wanted.or_else(|| own.clone());
                if own.is_some() && own == wanted { chosen.push((label, folder)) } else { others += 1 }
            }
        }
    }

    chosen.reverse();
    (chosen, others)
}

/// Stored runs with the given suite, or with the same suites as the newest run; oldest first.
fn stored_runs(args: &CompareArgs, context: &CliContext) -> Result<Vec<TrendRun>, CommandFailure> {
    let suites_of = |info: &RunInfo| {
        let suites: BTreeSet<String> = info.suites.iter().map(|suite| suite.name.clone()).collect();
        match &args.suite {
            Some(suite) => suites.contains(suite).then(BTreeSet::new),
            None => Some(suites),
        }
    };
    let (found, others) = stored_runs_like(suites_of, context);
    let mut chosen = Vec::new();
    for (label, folder) in found {
        let part = AnswerPart { target: args.target.clone(), prompt: None };
        match concluded_info(&folder, &context.process) {
            Ok(info) => chosen.push(TrendRun { folder, info, part, label, named: false }),
            Err(error) => output::print_warning(&format!("`{label}` is skipped: {error}"), context),
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

    Ok(chosen)
}
