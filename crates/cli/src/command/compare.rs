//! `assize compare`.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::PathBuf;

use assize_analysis::calibrate::{CalibrationMaterial, SplitChoice, label_filter};
use assize_analysis::compare::{
    AnytimeComparison, ComparisonGateResult, ComparisonGates, ComparisonOptions, ComparisonSet,
    HeadlineMetric, LabelledDifference, check_comparison_gates, compare_anytime, compare_labelled,
    compare_many, find_unbound,
};
use assize_analysis::{NameTable, RunFacts};
use assize_engine::ExitStatus;
use assize_engine::calibration::MeasuredRun;
use assize_report::html::comparison_page;
use assize_report::{
    ComparisonLimits, ExportFormat, ReportStyle, escape_lines, fit_screen, render_anytime, render_comparison,
    render_comparison_markdown, wrap_message,
};
use assize_stats::ConfidenceLevel;
use assize_store::CaseRecord;
use serde_json::json;

use super::compared_run::{
    ComparedRun, anytime_json, exit_of_gates, look_up_reasons, options, refuse, warn_of_missing,
};
use super::labels::{format_material_error, read_plain_label_rows};
use super::{compare_watch, pairwise, rescoring, trend};
use crate::args::{AdjustChoice, CompareArgs, CompareCommand, CompareCommandArgs, ReportFormat};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(crate) fn execute(args: &CompareCommandArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    match &args.command {
        Some(CompareCommand::Pairwise(args)) => pairwise::execute(args, context),
        None if args.compare.trend => trend::execute(&args.compare, context),
        None if args.compare.watch => compare_watch::execute(&args.compare, context),
        None => compare(&args.compare, context),
    }
}

fn compare(args: &CompareArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    if let Some(option) = args.idle_trend_option() {
        let help = match option {
            "--target" => "; `RUN@NAME` compares the answers of one target",
            _ => "",
        };
        return Err(format!("`{option}` belongs to `compare --trend`{help}").into());
    }

    let [base, others @ ..] = args.runs.as_slice() else {
        return Err("name the runs to compare, such as `assize compare last~1 last`".into());
    };
    if others.is_empty() {
        return Err(format!(
            "name a second run to compare `{base}` with, such as `assize compare last~1 last`"
        )
        .into());
    }

    let scoring = args.rescore.as_ref().map(|from| rescoring::find(from, &others[0], context)).transpose()?;
    let scored = |record: CaseRecord| match &scoring {
        Some(scoring) => Some(scoring.cases.apply(&record).unwrap_or(record)),
        None => Some(record),
    };
    let (mut read, names) = ComparedRun::read_all(&args.runs, scored, context)?;
    read.iter_mut().for_each(ComparedRun::label_by_id);
    let mut candidates = read.split_off(1);
    let Some(base) = read.pop() else { return Err("name the runs to compare".into()) };
    for (same, name) in candidates.iter().zip(others) {
        if same.info.run_id == base.info.run_id && same.part == base.part {
            let message = if name == &args.runs[0] {
                format!("`{name}` is compared with itself: nothing can differ")
            } else {
                format!("`{}` and `{name}` are the same run: nothing can differ", args.runs[0])
            };
            output::print_warning(&message, context);
        }
    }

    let options = options(args)?;

    for part in std::iter::once(&base).chain(&candidates) {
        warn_of_missing(&part.info, &part.facts.label, "compared", context);
    }

    let facts: Vec<RunFacts> = candidates.iter_mut().map(|part| std::mem::take(&mut part.facts)).collect();
    let mut many = compare_many(&base.facts, &facts, &names, &options);
    for found in &many.comparisons {
        if found.common == 0 {
            return Err(format!(
                "`{}` and `{}` share no case; cases are paired by suite and id. Suites: {} / {}",
                found.base,
                found.candidate,
                suites(&base.facts, &names),
                facts
                    .iter()
                    .find(|run| run.label == found.candidate)
                    .map_or(String::new(), |run| suites(run, &names)),
            )
            .into());
        }
    }

    many.rescored_with = scoring.map(|scoring| scoring.source);
    refuse(&many)?;
    many.labelled = labelled(args, &base, &candidates, &many, options.level)?;
    tell_of_derived(std::iter::once(&base).chain(&candidates));
    let is_early = base.facts.ended_by_result || facts.iter().any(|run| run.ended_by_result);
    if is_early {
        for metric in [HeadlineMetric::Score, HeadlineMetric::PassRate] {
            let found = anytime(&base, &facts, &candidates, metric, &options)?;
            for (comparison, (_, found)) in many.comparisons.iter_mut().zip(&found) {
                comparison.use_anytime(metric, found, &options);
            }
        }
    }
    let anytime =
        if args.anytime { anytime(&base, &facts, &candidates, args.metric, &options)? } else { Vec::new() };
    drop(facts);

    let limit = args.flips.unwrap_or(if args.json { 1000 } else { 10 });
    for (found, part) in many.comparisons.iter_mut().zip(&candidates) {
        look_up_reasons(found, &base, part, limit)?;
    }

    let gates = ComparisonGates {
        fail_on: args.fail_on,
        max_drop: args.max_drop,
        no_regression: args.fail_on_regression,
        strict: args.strict,
    };

    let results = check_comparison_gates(&many, &gates);
    let exit = exit_of_gates(&results);

    let shown = ShownComparison { many: &many, results: &results, anytime: &anytime, exit };
    show(args, &shown, limit, context)?;
    Ok(exit)
}

/// Compares each candidate with the base, case by case in the order in which cases finished.
fn anytime(
    base: &ComparedRun,
    facts: &[RunFacts],
    candidates: &[ComparedRun],
    metric: HeadlineMetric,
    options: &ComparisonOptions,
) -> Result<Vec<(String, AnytimeComparison)>, CommandFailure> {
    facts
        .iter()
        .zip(candidates)
        .map(|(facts, part)| {
            let found =
                compare_anytime(&base.facts, facts, &part.order, metric, options.margin, options.level);
            Ok((facts.label.clone(), found.map_err(|reason| reason.to_string())?))
        })
        .collect()
}

/// Corrects the differences of the candidates from the base by people's labels, if there are any.
fn labelled(
    args: &CompareArgs,
    base: &ComparedRun,
    candidates: &[ComparedRun],
    many: &ComparisonSet,
    level: ConfidenceLevel,
) -> Result<Vec<LabelledDifference>, CommandFailure> {
    if args.labels.is_empty() {
        return Ok(Vec::new());
    }
    let mut shared = Vec::new();
    let mut own: HashMap<&str, Vec<PathBuf>> = HashMap::new();
    for text in &args.labels {
        match text.split_once('=').filter(|(run, _)| args.runs.iter().any(|name| name == run)) {
            Some((run, path)) => own.entry(run).or_default().push(path.into()),
            None => shared.push(PathBuf::from(text)),
        }
    }

    let shared = read_plain_label_rows(&shared)?;
    let read = |part: &ComparedRun, name: &str| -> Result<CalibrationMaterial, CommandFailure> {
        let mut material = MeasuredRun::read(&part.folder, &part.info)?.material;
        if part.part.prompt.is_some() {
            return Err(format!(
                "`{name}`: with `--labels`, compare whole runs or targets: labels do not name prompts"
            )
            .into());
        }
        if let Some(target) = &part.part.target {
            material.items.retain(|item| *item.key.system == **target);
        }
        let mut rows = shared.clone();
        rows.extend(read_plain_label_rows(own.get(name).map_or(&[], Vec::as_slice))?);
        let keep = label_filter(SplitChoice::NotSeen, &[]);
        material
            .attach_labels(&rows, keep)
            .map_err(|error| format!("labels of `{name}`: {}", format_material_error(error)))?;
        Ok(material)
    };
    let base_material = read(base, &args.runs[0])?;
    let mut materials = Vec::with_capacity(candidates.len());
    for ((part, name), found) in candidates.iter().zip(&args.runs[1..]).zip(&many.comparisons) {
        let material = read(part, name)?;
        if let Some(row) = find_unbound(&shared, &base_material, &material) {
            return Err(format!(
                "{}: the label of case `{}` does not say which run's answer it is about: `assize review` stores that, and \
                 `--labels RUN=FILE` says it of a whole file, such as `--labels {name}=FILE`",
                row.place, escape_lines(&row.case)
            )
            .into());
        }
        materials.push((found.candidate.clone(), material));
    }
    Ok(compare_labelled(&base_material, &materials, args.assume_random, level))
}

/// Names the derived metrics of the runs, which are not part of a comparison.
fn tell_of_derived<'r>(runs: impl Iterator<Item = &'r ComparedRun>) {
    let derived: BTreeSet<&str> = runs
        .flat_map(|run| &run.info.suites)
        .flat_map(|suite| &suite.derived_metrics)
        .map(|metric| metric.name.as_str())
        .collect();
    if !derived.is_empty() {
        let names: Vec<String> =
            derived.into_iter().map(|name| format!("`{}`", escape_lines(name))).collect();
        output::print_message(&format!(
            "derived metrics have no interval and are not compared: {}\n",
            names.join(", ")
        ));
    }
}

const fn adjusted_by(choice: AdjustChoice) -> Option<&'static str> {
    match choice {
        AdjustChoice::Holm => Some("Holm"),
        AdjustChoice::Bh => Some("Benjamini-Hochberg"),
        AdjustChoice::None => None,
    }
}

fn suites(run: &RunFacts, names: &NameTable) -> String {
    let suites: std::collections::BTreeSet<&str> =
        run.cases.iter().map(|case| names.text(case.suite)).collect();
    if suites.is_empty() {
        return "none".to_owned();
    }

    suites.into_iter().map(|suite| format!("`{suite}`")).collect::<Vec<_>>().join(", ")
}

/// Style of text in files.
const PLAIN: ReportStyle = ReportStyle { color: false, unicode: true, width: ReportStyle::UNLIMITED };

/// A comparison with its gates and the resulting exit code.
struct ShownComparison<'a> {
    many: &'a ComparisonSet,
    results: &'a [ComparisonGateResult],
    /// Anytime comparisons of each candidate; empty unless asked for.
    anytime: &'a [(String, AnytimeComparison)],
    exit: ExitStatus,
}

impl ShownComparison<'_> {
    /// The anytime comparisons as text.
    fn anytime_text(&self, style: ReportStyle) -> String {
        self.anytime.iter().map(|(name, found)| render_anytime(name, found, style)).collect()
    }

    /// The comparison as JSON.
    fn to_json(&self, args: &CompareArgs) -> Result<serde_json::Value, CommandFailure> {
        let mut value =
            serde_json::to_value(self.many).map_err(|error| format!("can't print JSON: {error}"))?;
        value["settings"] = json!({
            "level": args.level,
            "margin": args.margin,
            "adjusted_by": adjusted_by(args.adjust),
            "bootstrap": args.bootstrap,
            "seed": args.seed,
        });

        if args.anytime {
            let entry = |(name, found): &(String, AnytimeComparison)| anytime_json(name, found);
            value["anytime"] = self.anytime.iter().map(entry).collect();
        }
        value["gates"] = json!(self.results);
        value["exit_code"] = self.exit.code().into();

        Ok(value)
    }
}

fn show(
    args: &CompareArgs,
    shown: &ShownComparison<'_>,
    limit: usize,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    let limits = ComparisonLimits { flips: limit, ..ComparisonLimits::default() };
    let adjusted = adjusted_by(args.adjust);
    let gates = gate_lines(shown.many, shown.results);
    let below = shown.anytime_text(PLAIN) + &gates;
    for file in &args.out {
        let text = match file.format {
            ReportFormat::Json => format!("{:#}\n", shown.to_json(args)?),
            ReportFormat::Export(ExportFormat::Html) => comparison_page(shown.many, adjusted, &below),
            ReportFormat::Export(_) | ReportFormat::Matrix(_) => {
                render_comparison_markdown(shown.many, adjusted, limits) + &below
            }
        };
        output::write_text(&file.path, &text)?;
    }
    output::print_written(&args.out);

    if args.json {
        output::print_json(&shown.to_json(args)?);
        return Ok(());
    }

    if args.markdown {
        output::print(&(render_comparison_markdown(shown.many, adjusted, limits) + &below));
    } else {
        let is_full = args.verbose || args.flips.is_some();
        let levels = limits.levels().take(if is_full { 1 } else { usize::MAX });
        let anytime = shown.anytime_text(context.stdout);
        let gates = wrap_message(&gates, context.stdout);
        let text =
            |limits| render_comparison(shown.many, adjusted, limits, context.stdout) + &anytime + &gates;
        output::print(&fit_screen(levels, text));
    }

    Ok(())
}

/// A line for each gate, after an empty line; empty without gates.
fn gate_lines(many: &ComparisonSet, results: &[ComparisonGateResult]) -> String {
    let mut lines = String::new();
    for result in results {
        let which =
            if many.comparisons.len() > 1 { format!(" ({})", result.candidate) } else { String::new() };
        let _ = write!(lines, "\n{}{which} {}: {}", result.gate, result.hold.word(), result.says);
    }

    if !lines.is_empty() {
        lines.push('\n');
    }

    lines
}
