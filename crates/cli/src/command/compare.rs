//! `assize compare`.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use assize_analysis::calibrate::{CalibrationMaterial, SplitChoice, label_filter};
use assize_analysis::compare::{
    AllowedAspects, AnytimeComparison, CaseNumbers, ComparisonAspect, ComparisonGateResult,
    ComparisonGateStatus, ComparisonGates, ComparisonOptions, ComparisonSet, Conclusion, HeadlineMetric,
    LabelledDifference, RunComparison, VerdictFlip, check_comparison_gates, compare_anytime,
    compare_labelled, compare_many, find_unbound,
};
use assize_analysis::{CaseFact, NameTable, RunFacts};
use assize_engine::calibration::MeasuredRun;
use assize_engine::{ExitStatus, concluded_info, read_together, runs, stored_records};
use assize_report::html::comparison_page;
use assize_report::{
    ComparisonLimits, ExportFormat, ReportStyle, escape_lines, fit_screen, render_anytime, render_comparison,
    render_comparison_markdown, wrap_message,
};
use assize_stats::{ConfidenceLevel, multiplicity::PValueAdjustment};
use assize_store::{AnswerPart, CaseRecord, RunFolder, RunInfo};
use serde_json::json;

use super::labels::{format_material_error, read_plain_label_rows};
use super::{compare_watch, pairwise, rescoring, trend};
use crate::args::{AdjustChoice, CompareArgs, CompareCommand, CompareCommandArgs, ReportFormat};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Most changed cases of each kind that a report explains.
const MAX_REPORTED_FLIPS: usize = 200;

/// A run in the comparison, as the user named it.
pub(super) struct ComparedRun {
    pub(super) folder: RunFolder,
    pub(super) info: RunInfo,
    pub(super) part: AnswerPart,
    pub(super) facts: RunFacts,
    /// The cases in the order in which they finished.
    pub(super) order: Vec<CaseNumbers>,
}

impl ComparedRun {
    /// Reads a run and keeps what metrics need of its rows. `takes` says which suites count.
    pub(super) fn read(
        name: &str,
        names: &mut NameTable,
        takes: impl Fn(&str) -> bool,
        context: &CliContext,
    ) -> Result<Self, CommandFailure> {
        Self::read_with(name, names, |record| takes(&record.result.suite).then_some(record), context)
    }

    /// Like [`Self::read`]; `prepare` changes or excludes records before they are reduced.
    pub(super) fn read_with(
        name: &str,
        names: &mut NameTable,
        prepare: impl FnMut(CaseRecord) -> Option<CaseRecord>,
        context: &CliContext,
    ) -> Result<Self, CommandFailure> {
        let (folder, part) = runs::find_answers(name, &context.process)?;
        Self::read_rows(name, folder, part, names, prepare, context)
    }

    /// Like [`Self::read_with`], for several runs at the same time.
    pub(super) fn read_all(
        runs: &[String],
        prepare: impl Fn(CaseRecord) -> Option<CaseRecord> + Sync,
        context: &CliContext,
    ) -> Result<(Vec<Self>, NameTable), CommandFailure> {
        let mut found = Vec::with_capacity(runs.len());
        for name in runs {
            let (folder, part) = runs::find_answers(name, &context.process)?;
            found.push((name, folder, part));
        }
        let reads = read_together(&found, |(name, folder, part)| {
            let mut names = NameTable::default();
            Self::read_rows(name, folder.clone(), part.clone(), &mut names, &prepare, context)
                .map(|run| (run, names))
        });

        let mut names = NameTable::default();
        let mut all = Vec::with_capacity(found.len());
        for read in reads {
            let (mut run, own) = read?;
            let numbers = names.absorb(&own);
            run.facts.renumber(&numbers);
            for (suite, case, prompt, _) in &mut run.order {
                (*suite, *case) = (numbers[*suite as usize], numbers[*case as usize]);
                *prompt = prompt.map(|prompt| numbers[prompt as usize]);
            }
            all.push(run);
        }
        // Answers to one prompt are compared with others test by test.
        if all.iter().any(|run| run.part.prompt.is_some()) {
            all.iter_mut().try_for_each(|run| run.pair_by_test(&names))?;
        }
        Ok((all, names))
    }

    fn read_rows(
        name: &str,
        folder: RunFolder,
        part: AnswerPart,
        names: &mut NameTable,
        mut prepare: impl FnMut(CaseRecord) -> Option<CaseRecord>,
        context: &CliContext,
    ) -> Result<Self, CommandFailure> {
        let info = concluded_info(&folder, &context.process)?;
        let mut cases = Vec::new();
        for record in stored_records(&folder)? {
            let record = record?;
            if record.result.is_later_attempt() {
                continue;
            }
            if part.takes(&record.result) {
                cases.extend(prepare(record).map(|record| CaseFact::from_record(&record, names)));
            }
        }

        let order = cases.iter().map(CaseFact::numbers).collect();
        let facts =
            RunFacts::new(name.to_owned(), cases, names).map_err(|error| error.to_string())?.of_run(&info);
        Ok(Self { folder, info, part, facts, order })
    }

    /// Pairs its cases by their tests, for a comparison with answers to another prompt.
    pub(super) fn pair_by_test(&mut self, names: &NameTable) -> Result<(), CommandFailure> {
        let facts = std::mem::replace(&mut self.facts, empty());
        self.facts = facts.by_test(names).map_err(|error| error.to_string())?;
        self.order.iter_mut().for_each(|(_, _, prompt, _)| *prompt = None);
        Ok(())
    }

    /// Labels a run that was given as `last` or `last~N` by its id, because these names soon mean another run.
    fn label_by_id(&mut self) {
        let label = &mut self.facts.label;
        let name = label.split('@').next().unwrap_or_default();
        if name == "last" || name.starts_with("last~") {
            *label = format!("{}{}", self.info.run_id, self.part);
        }
    }
}

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

    let facts: Vec<RunFacts> =
        candidates.iter_mut().map(|part| std::mem::replace(&mut part.facts, empty())).collect();
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

/// Warns of a run without all its cases: it did not end, or stopped early. `verb` says what is done with the
/// cases it has.
pub(super) fn warn_of_missing(info: &RunInfo, label: &str, verb: &str, context: &CliContext) {
    let warn = |text: &str| {
        output::print_warning(&format!("`{label}` {text}: only its finished cases are {verb}"), context);
    };
    if info.finished_at.is_none() {
        warn("has not finished");
    } else if info.ended_by_result() {
        warn("was stopped because its result was clear, so only its anytime interval is valid");
    }

    let Some(summary) = &info.summary else { return };
    let is_decided =
        [ExitStatus::Passed, ExitStatus::Failed].iter().any(|exit| exit.code() == summary.exit_code);
    if !is_decided {
        output::print_warning(&format!("`{label}`: {}", summary.exit_reason), context);
    }
    for line in summary.conclusion.lines() {
        output::print_warning(&format!("`{label}`: {}", line.text), context);
    }
}

/// Compares a run with a baseline, with the default methods. Differences in how they were measured cause
/// warnings and are marked in the comparison.
pub(super) fn with_baseline(
    base: &str,
    candidate: &str,
    context: &CliContext,
) -> Result<ComparisonSet, CommandFailure> {
    let runs = [base.to_owned(), candidate.to_owned()];
    let (mut read, names) = ComparedRun::read_all(&runs, Some, context)?;
    read.iter_mut().for_each(ComparedRun::label_by_id);
    let (Some(mut candidate), Some(base)) = (read.pop(), read.pop()) else {
        return Err("a run was not read".into());
    };
    warn_of_missing(&base.info, &base.facts.label, "compared", context);

    let facts = [std::mem::replace(&mut candidate.facts, empty())];
    let mut set = compare_many(&base.facts, &facts, &names, &ComparisonOptions::default());
    for found in &mut set.comparisons {
        if found.common == 0 {
            return Err(format!("`{}` and `{}` have no case in common", found.base, found.candidate).into());
        }
        look_up_reasons(found, &base, &candidate, MAX_REPORTED_FLIPS)?;
    }
    let problems = problems(&set, |_| true);
    if !problems.is_empty() {
        let lines: Vec<&str> = problems.iter().map(|(_, text)| text.as_str()).collect();
        output::print_warning(&format!("{NOT_COMPARABLE}\n{}", lines.join("\n")), context);
    }

    Ok(set)
}

/// Exit code for the results of the gates.
pub(crate) fn exit_of_gates(results: &[ComparisonGateResult]) -> ExitStatus {
    ExitStatus::strongest(results.iter().map(|result| match result.hold {
        ComparisonGateStatus::Held => ExitStatus::Passed,
        ComparisonGateStatus::Failed => ExitStatus::Failed,
        ComparisonGateStatus::Undecided => ExitStatus::Incomplete,
        ComparisonGateStatus::Inconclusive => ExitStatus::Inconclusive,
    }))
}

pub(super) fn options(args: &CompareArgs) -> Result<ComparisonOptions, CommandFailure> {
    Ok(ComparisonOptions {
        is_stopped: false,
        level: ConfidenceLevel::new(args.level).map_err(|error| error.to_string())?,
        margin: args.margin,
        headline: args.metric,
        adjustment: match args.adjust {
            AdjustChoice::Holm => Some(PValueAdjustment::Holm),
            AdjustChoice::Bh => Some(PValueAdjustment::BenjaminiHochberg),
            AdjustChoice::None => None,
        },
        bootstrap: args.bootstrap,
        mid_p: args.mid_p,
        seed: args.seed,
        allowed: args.allow.iter().fold(AllowedAspects::NONE, |allowed, respect| match respect {
            Some(respect) => allowed.with(*respect),
            None => AllowedAspects::ALL,
        }),
    })
}

const fn adjusted_by(choice: AdjustChoice) -> Option<&'static str> {
    match choice {
        AdjustChoice::Holm => Some("Holm"),
        AdjustChoice::Bh => Some("Benjamini-Hochberg"),
        AdjustChoice::None => None,
    }
}

fn empty() -> RunFacts {
    RunFacts { label: String::new(), cases: Vec::new(), ended_by_result: false, has_judges: false }
}

fn suites(run: &RunFacts, names: &NameTable) -> String {
    let suites: std::collections::BTreeSet<&str> =
        run.cases.iter().map(|case| names.text(case.suite)).collect();
    if suites.is_empty() {
        return "none".to_owned();
    }

    suites.into_iter().map(|suite| format!("`{suite}`")).collect::<Vec<_>>().join(", ")
}

/// Beginning of the error about runs that were measured differently.
const NOT_COMPARABLE: &str = "these runs are not comparable, because they were not measured in the same way";

/// Refuses runs whose headline metric was measured differently, so that they are not compared by accident.
/// Other metrics that differ are left out of the comparison, which names them.
pub(super) fn refuse(many: &ComparisonSet) -> Result<(), CommandFailure> {
    let is_withheld = |found: &RunComparison| found.headline_difference().call == Conclusion::NotComparable;
    let problems = problems(many, is_withheld);
    let Some(first) = many.comparisons.iter().find(|found| is_withheld(found)) else { return Ok(()) };

    let mut respects: Vec<&str> = problems.iter().map(|(respect, _)| respect.name()).collect();
    respects.sort_unstable();
    respects.dedup();
    let mut ways = Vec::new();
    if respects.iter().any(|name| ["rubric", "thresholds"].contains(name)) && many.rescored_with.is_none() {
        ways.push("score both alike with `--rescore`".to_owned());
    }
    let other = match first.headline {
        HeadlineMetric::Score => (&first.pass_rate, "pass-rate"),
        HeadlineMetric::PassRate => (&first.score, "score"),
    };
    if other.0.call != Conclusion::NotComparable {
        ways.push(format!("compare what is comparable with `--metric {}`", other.1));
    }
    ways.push(format!("compare them anyway with `--allow {}`", respects.join(",")));

    let lines: Vec<&str> = problems.iter().map(|(_, text)| text.as_str()).collect();
    Err(format!("{NOT_COMPARABLE}\n{}\nrun one of them again, {}", lines.join("\n"), join_ways(&ways)).into())
}

fn join_ways(ways: &[String]) -> String {
    match ways {
        [ways @ .., last] if !ways.is_empty() => format!("{}, or {last}", ways.join(", ")),
        ways => format!("or {}", ways.join("")),
    }
}

/// Differences that were not allowed, each with a line about it, in the comparisons that `takes` accepts.
fn problems(many: &ComparisonSet, takes: impl Fn(&RunComparison) -> bool) -> Vec<(ComparisonAspect, String)> {
    let mut problems = Vec::new();
    for found in many.comparisons.iter().filter(|found| takes(found)) {
        for mismatch in found.mismatches.iter().filter(|mismatch| !mismatch.allowed) {
            let how = if mismatch.base.is_empty() {
                String::new()
            } else {
                format!(": {} / {}", mismatch.base, mismatch.candidate)
            };
            let moved = match mismatch.moved {
                0 => String::new(),
                moved => format!(
                    "\n  ids are row numbers, and {moved} of these inputs have another one in `{}`: rows were added, removed or moved; give the rows ids (`--columns id=COLUMN`)",
                    found.candidate,
                ),
            };
            let text = format!(
                "  {}: in {} of {} cases of `{}` {}; the first is `{}`{how}; {}{moved}",
                mismatch.respect.name(),
                mismatch.cases,
                found.common,
                found.candidate,
                mismatch.respect.describe(),
                mismatch.first_case,
                mismatch.describe_touched(),
            );
            problems.push((mismatch.respect, text));
        }
    }

    problems
}

/// Reads both runs again for the reasons of the changed cases that are shown.
fn look_up_reasons(
    found: &mut RunComparison,
    base: &ComparedRun,
    candidate: &ComparedRun,
    limit: usize,
) -> Result<(), CommandFailure> {
    let flips: Vec<&mut VerdictFlip> = {
        let (lost, gained) = (&mut found.regressions, &mut found.improvements);
        lost.iter_mut().take(limit).chain(gained.iter_mut().take(limit)).collect()
    };
    if flips.is_empty() {
        return Ok(());
    }

    // The cases of runs with one selected prompt are named by their tests alone.
    let by_prompt = flips.iter().any(|flip| flip.prompt.is_some());
    let mut wanted: HashMap<_, &mut VerdictFlip> = flips
        .into_iter()
        .map(|flip| {
            let prompt: Option<Arc<str>> = flip.prompt.as_deref().map(Arc::from);
            ((Arc::from(flip.suite.as_str()), Arc::from(flip.case_id.as_str()), prompt, flip.trial), flip)
        })
        .collect();
    for (part, from_candidate) in [(base, false), (candidate, true)] {
        for row in part.folder.results()? {
            let row = row?;
            if !part.part.takes(&row) {
                continue;
            }
            let prompt = row.prompt.clone().filter(|_| by_prompt);
            if let Some(flip) = wanted.get_mut(&(row.suite.clone(), row.test_id().clone(), prompt, row.trial))
            {
                flip.copy_reasons(&row, from_candidate);
            }
        }
    }

    Ok(())
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
            let of = |(name, found): &(String, AnytimeComparison)| anytime_json(name, found);
            value["anytime"] = self.anytime.iter().map(of).collect();
        }
        value["gates"] = json!(self.results);
        value["exit_code"] = self.exit.code().into();

        Ok(value)
    }
}

/// An anytime comparison as JSON.
pub(super) fn anytime_json(candidate: &str, found: &AnytimeComparison) -> serde_json::Value {
    let mut value = json!(found);
    value["candidate"] = candidate.into();
    value
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
        let word = match result.hold {
            ComparisonGateStatus::Held => "passed",
            ComparisonGateStatus::Failed => "FAILED",
            ComparisonGateStatus::Undecided => "incomplete",
            ComparisonGateStatus::Inconclusive => "inconclusive",
        };

        let which =
            if many.comparisons.len() > 1 { format!(" ({})", result.candidate) } else { String::new() };
        let _ = write!(lines, "\n{}{which} {word}: {}", result.gate, result.says);
    }

    if !lines.is_empty() {
        lines.push('\n');
    }

    lines
}
