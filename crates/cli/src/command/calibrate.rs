//! `assize calibrate`.

use assize_analysis::calibrate::{
    CalibrationGateResult, CalibrationMaterial, CalibrationOptions, GivenRates, JudgeReadOptions,
    RescaleError, SplitChoice, calibrate, check_calibration_gates, is_person, label_filter, rescale,
};
use assize_analysis::labels::{ColumnRole, LabelRow};
use assize_analysis::orders::count_orders;
use assize_engine::calibration::MeasuredRun;
use assize_engine::{ExitStatus, concluded_info, runs};
use assize_report::{
    CalibrationDetail, calibration_json, fit_screen, orders_json, render_calibration, render_orders,
    render_rescaling, rescaling_json,
};
use assize_rubric::LabelSplit;
use assize_stats::agreement::RatingScale;

use super::compared_run::warn_of_missing;
use super::{agreement, criteria, drift, labels, noise, panel_rates, power};
use crate::args::{CalibrateArgs, CalibrateCommand, CalibrateCommandArgs};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(crate) fn execute(
    args: &CalibrateCommandArgs,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    match &args.command {
        None => judge(&args.calibrate, context),
        Some(CalibrateCommand::Agreement(args)) => agreement::print(&args.files, &args.table, context),
        Some(CalibrateCommand::Criteria(args)) => criteria::execute(args, context),
        Some(CalibrateCommand::Drift(args)) => drift::execute(args, context),
        Some(CalibrateCommand::Noise(args)) => noise::execute(args, context),
        Some(CalibrateCommand::Panel(args)) => panel_rates::execute(args, context),
        Some(CalibrateCommand::Power(args)) => power::execute(args, context),
    }
}

/// Lowest confidence level with which limits are checked. Below it, the lower ends of intervals are so close to
/// the estimate, and so few labels reach a limit, that the check would no longer guard against luck.
const MIN_GATE_LEVEL: f64 = 0.8;

/// Measures a judge.
fn judge(args: &CalibrateArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    if args.labels.is_empty() && (args.run.is_none() || args.sensitivity.is_none()) {
        return Err(
            "give labels to measure the judge with (`--labels FILE`), or its known error rates (`--sensitivity` and `--specificity`)"
                .into(),
        );
    }

    if args.pairs {
        return pairs(args, context);
    }

    let measured = measured(args, context)?;
    let options = options(args, measured.scale);
    if args.rescale {
        let found = rescale(measured.material, &options).map_err(|error| match error {
            RescaleError::Material(error) => labels::format_material_error(error),
            other => other.to_string(),
        })?;
        output::print_either(
            args.table.json,
            || rescaling_json(&found),
            || render_rescaling(&found, context.stdout),
        );
        return Ok(ExitStatus::Passed);
    }

    let (requests, on) = (args.limits.requests(), args.limits.gate_on);
    if !requests.is_empty() && args.table.level.get() < MIN_GATE_LEVEL {
        return Err(format!(
            "limits (`--min-…`) need a confidence level of at least {MIN_GATE_LEVEL}, found {}: at a lower one, a few lucky pairs could \
             pass; raise `--level`",
            args.table.level.get()
        )
        .into());
    }

    let mut found = calibrate(measured.material, &options).map_err(labels::format_material_error)?;
    found.notes.extend(measured.notes);
    found.is_partial = measured.is_partial;
    let gates = check_calibration_gates(&found, &requests, on);
    if args.table.json {
        output::print_json(&calibration_json(&found, &gates, on));
    } else {
        let detail = CalibrationDetail {
            all_metrics: args.verbose,
            biases: true,
            explained: true,
            rows: usize::MAX,
            gates: &gates,
            gate_basis: on,
        };
        let levels = detail.levels().take(if args.verbose { 1 } else { usize::MAX });
        output::print(&fit_screen(levels, |detail| render_calibration(&found, detail, context.stdout)));
    }

    Ok(ExitStatus::strongest(gates.iter().map(|gate| match gate {
        CalibrationGateResult { undecided: true, .. } => ExitStatus::Incomplete,
        CalibrationGateResult { passed: true, .. } => ExitStatus::Passed,
        _ => ExitStatus::Failed,
    })))
}

fn split(args: &CalibrateArgs) -> SplitChoice {
    match (args.holdout, args.split) {
        (Some(share), _) => SplitChoice::Holdout(share),
        (None, Some(LabelSplit::Train)) => SplitChoice::Train,
        (None, Some(_)) => SplitChoice::Test,
        (None, None) => SplitChoice::NotSeen,
    }
}

fn options(args: &CalibrateArgs, scale: Option<RatingScale>) -> CalibrationOptions {
    CalibrationOptions {
        truth: args.truth,
        scale: args.table.scale.clone().or(scale),
        resampling: args.table.resampling(),
        assume_random: args.assume_random,
        given: args.sensitivity.zip(args.specificity).map(|(sensitivity, specificity)| GivenRates {
            sensitivity: sensitivity.rate,
            sensitivity_n: sensitivity.n,
            specificity: specificity.rate,
            specificity_n: specificity.n,
        }),
        items_independent: args.items_independent,
        epsilon: args.epsilon,
        worst_case: !args.limits.requests().is_empty(),
    }
}

/// Judged and labelled items of the run, or of the files if no run is named.
fn measured(args: &CalibrateArgs, context: &CliContext) -> Result<MeasuredRun, CommandFailure> {
    let keep = label_filter(split(args), &args.exclude);
    let Some(run) = &args.run else {
        let rows = labels::read_label_rows(&args.labels, &args.table, &[ColumnRole::Case])?;
        need_a_judge(args, &rows)?;

        let reading = JudgeReadOptions {
            threshold: args.threshold,
            rater: args.judge_is.as_deref(),
            likeliest: args.likeliest,
        };
        let material =
            CalibrationMaterial::from_rows(&rows, &reading, keep).map_err(labels::format_material_error)?;
        return Ok(MeasuredRun { material, scale: None, notes: Vec::new(), is_partial: false });
    };

    let folder = runs::find_run(run, &context.process)?;
    let info = concluded_info(&folder, &context.process)?;
    warn_of_missing(&info, run, "measured", context);
    let mut measured = MeasuredRun::read(&folder, &info)?;
    if !args.labels.is_empty() {
        let rows = labels::read_label_rows(&args.labels, &args.table, &[ColumnRole::Case])?;
        measured.material.attach_labels(&rows, keep).map_err(labels::format_material_error)?;
    }

    Ok(measured)
}

fn need_a_judge(args: &CalibrateArgs, rows: &[LabelRow]) -> Result<(), CommandFailure> {
    let judged =
        |row: &LabelRow| row.judge.is_some() || row.probability.is_some() || !row.probabilities.is_empty();
    let named =
        |name: &str| rows.iter().flat_map(|row| &row.labels).any(|(who, _)| is_person(who.as_deref(), name));
    match &args.judge_is {
        Some(name) if named(name) => Ok(()),
        Some(name) => {
            let mut raters: Vec<&str> =
                rows.iter().flat_map(|row| &row.labels).filter_map(|(who, _)| who.as_deref()).collect();
            raters.sort_unstable();
            raters.dedup();
            raters.truncate(10);

            Err(format!(
                "no label is from `{name}`; the labels are from {}",
                assize_report::escape_unsafe(&raters.join(", "))
            )
            .into())
        }
        None if rows.iter().any(judged) => Ok(()),
        None => Err("the tables hold no verdicts of a judge: name a run, a column \
                     (`--columns judge=COLUMN`) or a rater (`--judge-is NAME`)"
            .into()),
    }
}

fn pairs(args: &CalibrateArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let needed = [ColumnRole::Preferred, ColumnRole::First, ColumnRole::Second];
    let rows = labels::read_label_rows(&args.labels, &args.table, &needed)?;
    let found =
        count_orders(&rows, args.table.level).map_err(|problems| labels::format_problems(&problems))?;
    output::print_either(args.table.json, || orders_json(&found), || render_orders(&found, context.stdout));

    Ok(ExitStatus::Passed)
}
