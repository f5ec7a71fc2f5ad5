//! `assize score`.

use assize_analysis::conclude_run;
use assize_engine::{
    EngineError, ExitStatus, LabelOptions, RunEnding, exit_with_pass_rate, metrics, runs, stored_records,
    summary_json,
};
use assize_evalfile::load_rubric;
use assize_model::ThresholdOverrides;
use assize_report::run_warnings;
use assize_rubric::{OFFLINE_STORED_NOTICE, Rubric, UnitInterval, VerdictThresholds};
use assize_run::{RescoreResult, RunTotals, rescore};
use assize_store::{CaseRecord, ResultRow, RunFolder, RunInfo, RunSummary};

use super::{present, report};
use crate::args::{ReportFormat, ScoreArgs, ShowChoice};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Most criteria named in a warning; the others are counted.
const MAX_NAMES: usize = 5;

pub(crate) fn execute(args: &ScoreArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    check_reports(args)?;
    let folder = runs::find_run(&args.run, &context.process)?;
    let run = folder.info()?;
    check_run(&run, args, context)?;
    let (rubric, rubric_lines) = rubric(args, context)?;
    let again = |record: &CaseRecord| -> Result<RescoreResult, CommandFailure> {
        Ok(rescore(record, rubric.as_ref(), thresholds(args, rubric_lines, record)?))
    };

    let begun = std::time::Instant::now();
    let mut changes = RescoreChanges::default();
    for record in stored_records(&folder)? {
        let record = record?;
        let new = again(&record)?;
        changes.add(&record, &new, rubric.is_none());
    }

    let RescoreChanges { totals, changed, .. } = &changes;
    if totals.counts.total() == 0 {
        return Err(format!("`{}` has no finished case", folder.path().display()).into());
    }

    let figures = metrics::from_rows(&run.suites, || {
        let records = stored_records(&folder)?;
        Ok(records.map(|record| {
            Ok(again(&record?).map_err(|failure| EngineError::usage(failure.message))?.record.result)
        }))
    })?;
    let early_stop = run.summary.as_ref().and_then(|summary| summary.early_stop.clone());
    let stored_gate = run.summary.as_ref().and_then(|summary| summary.pass_rate_gate);
    let minimum = args.gate.min_pass_rate.or_else(|| UnitInterval::new(stored_gate?.minimum).ok());
    let (counts, ending) = (metrics::counts(&figures, totals.counts), RunEnding::of_stored(&run));
    let (gate, exit, reason) = exit_with_pass_rate(counts, ending, minimum);
    let reason = format!("{reason}; {changed} of {} verdicts changed", totals.counts.total());
    let not_run = run.summary.as_ref().map_or(0, |summary| summary.not_run);
    let result = conclude_run(&run, exit, reason, not_run, None);
    let summary = RunSummary {
        not_run,
        excluded: run.summary.as_ref().map_or(0, |summary| summary.excluded),
        judge_calls: 0,
        judge_calls_cached: 0,
        pass_rate_gate: gate,
        ..metrics::summary(totals, Some(figures), begun, result, early_stop)
    };

    let mut info = RunInfo {
        command: "score".to_owned(),
        label: args.output.label.clone().or_else(|| run.label.clone()),
        finished_at: Some(context.process.now().to_string()),
        warnings: run.warnings.iter().cloned().chain(changes.warnings()).collect(),
        rows: None,
        summary: Some(summary),
        ..run
    };
    print_warnings(&info, args.output.json, context);

    let mut shown = folder.path().to_path_buf();
    if let Some(target) = &args.output.run_dir {
        let mut writer = RunFolder::new(target).create(&info)?;
        for record in stored_records(&folder)? {
            let new = again(&record?)?.record;
            writer.record(&new.decisions, &new.result)?;
        }

        for question in folder.questions()? {
            writer.record_question(&question?)?;
        }

        writer.finish(&mut info)?;
        shown.clone_from(target);
        let folder = RunFolder::new(target);
        let labels = LabelOptions::default();
        report::write_files(&folder, &args.output.out, &labels, context)?;
    }

    let json = || {
        let mut summary = summary_json(&info, &shown);
        summary["verdicts_changed"] = (*changed).into();
        summary
    };
    if !args.output.delivery(false).deliver(json)? {
        // By default, prints only cases with a changed verdict or score.
        let (show, is_limited) = match args.output.show() {
            ShowChoice::Auto if changes.moved <= present::SMALL_RUN => (ShowChoice::All, true),
            show => (show, matches!(show, ShowChoice::Auto | ShowChoice::Verbose)),
        };
        let rescored = |record: Result<CaseRecord, EngineError>| {
            let record = record?;
            let new = again(&record)?.record;
            let is_shown = !is_limited || is_moved(&record.result, &new.result);
            Ok::<_, CommandFailure>(is_shown.then_some(new))
        };
        let records = || -> Result<_, CommandFailure> {
            Ok(stored_records(&folder)?.filter_map(move |record| rescored(record).transpose()))
        };
        present::run(records, &info, totals, &shown, show, context)?;
    }

    Ok(exit)
}

/// Refuses runs that can't be scored here, and warns of one that did not end.
fn check_run(run: &RunInfo, args: &ScoreArgs, context: &CliContext) -> Result<(), CommandFailure> {
    let name = &args.run;
    if run.scorecard.is_some() {
        return Err(format!("this is the run of a scorecard; use `assize scorecard score {name}`").into());
    }
    if run.summary.is_some() {
        return Ok(());
    }

    if args.output.run_dir.is_some() {
        return Err(format!(
            "the run `{name}` did not finish, so its rescored results can't be stored; finish it first: add `--resume` to the command that started it"
        )
        .into());
    }
    output::print_warning(
        &format!("the run `{name}` did not end; only its finished cases are scored"),
        context,
    );

    Ok(())
}

/// Prints the warnings of a run, unless the summary that follows on the terminal contains them.
fn print_warnings(info: &RunInfo, json: bool, context: &CliContext) {
    if context.summary_on_terminal(json) {
        return;
    }
    let is_repeated = |warning: &&str| context.summary_follows(json) && *warning == OFFLINE_STORED_NOTICE;
    for warning in run_warnings(info).into_iter().filter(|warning| !is_repeated(warning)) {
        output::print_warning(warning, context);
    }
}

/// Refuses reports that need the rows of a run if none is stored.
fn check_reports(args: &ScoreArgs) -> Result<(), CommandFailure> {
    let needs_rows = args.output.out.iter().find(|file| file.format != ReportFormat::Json);
    match needs_rows.filter(|_| args.output.run_dir.is_none()) {
        None => Ok(()),
        Some(file) => {
            let path = file.path.display();
            Err(format!("{path}: this format is made of stored rows; store them with `--run-dir DIR`").into())
        }
    }
}

/// The rubric given on the command line, with its thresholds.
fn rubric(
    args: &ScoreArgs,
    context: &CliContext,
) -> Result<(Option<Rubric>, ThresholdOverrides), CommandFailure> {
    let Some(path) = &args.rubric else { return Ok((None, ThresholdOverrides::default())) };
    let loaded = load_rubric(path, &context.process.load_options(&[]));
    output::print_diagnostics(&loaded.diagnostics, &loaded.sources, context);

    match loaded.rubric {
        Some(grader) => Ok((Some(Rubric::clone(&grader.rubric)), loaded.thresholds)),
        None => Err("the rubric has errors; nothing was scored".into()),
    }
}

/// The thresholds of a case. The command line overrides the rubric, and the rubric overrides the stored
/// thresholds. `None` if thresholds don't apply to the stored case.
fn thresholds(
    args: &ScoreArgs,
    rubric: ThresholdOverrides,
    record: &CaseRecord,
) -> Result<Option<VerdictThresholds>, CommandFailure> {
    let Some(stored) = record.decisions.first().map(|row| row.thresholds) else { return Ok(None) };
    let pass = args.threshold.or(rubric.pass).unwrap_or(stored.pass());
    let thresholds = match args.borderline.or(rubric.borderline) {
        Some(borderline) => {
            VerdictThresholds::new(pass, Some(borderline)).map_err(|error| error.to_string())?
        }
        None => VerdictThresholds::with_optional_borderline(pass, stored.borderline()),
    };
    Ok(Some(thresholds))
}

/// Returns true if the verdict or score of a case changed.
fn is_moved(before: &ResultRow, after: &ResultRow) -> bool {
    before.verdict != after.verdict || before.score != after.score
}

/// Differences between the stored and the new results.
#[derive(Default)]
struct RescoreChanges {
    totals: RunTotals,
    unanswered: NameList,
    dropped: NameList,
    /// Number of changed verdicts.
    changed: usize,
    /// Number of cases whose verdict or score changed.
    moved: usize,
    /// False if a new rubric had no effect on any case.
    touched: bool,
}

impl RescoreChanges {
    fn add(&mut self, record: &CaseRecord, new: &RescoreResult, same_rubric: bool) {
        self.touched |= same_rubric || new.record.decisions != record.decisions || !new.unanswered.is_empty();
        self.changed += usize::from(new.record.result.verdict != record.result.verdict);
        self.moved += usize::from(is_moved(&record.result, &new.record.result));
        self.unanswered.add(&new.unanswered);
        self.dropped.add(&new.dropped);

        self.totals.add(&new.record);
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.touched {
            warnings.push(
                "the rubric changes nothing: none of its criteria is in the run with other settings"
                    .to_owned(),
            );
        }

        if let Some(names) = self.unanswered.list() {
            warnings.push(format!(
                "no stored decision for {names}, which are ungraded until you run the cases again"
            ));
        }
        if let Some(names) = self.dropped.list() {
            warnings.push(format!("decisions excluded, because the rubric no longer has {names}"));
        }

        warnings
    }
}

/// Counts distinct criterion names, and keeps the first few.
#[derive(Default)]
struct NameList {
    kept: Vec<String>,
    more: bool,
}

impl NameList {
    fn add(&mut self, names: &[(std::sync::Arc<str>, assize_rubric::CriterionId)]) {
        for (_, id) in names {
            let name = format!("`{id}`");
            if self.kept.contains(&name) {
                continue;
            }

            if self.kept.len() < MAX_NAMES {
                self.kept.push(name);
            } else {
                self.more = true;
            }
        }
    }

    fn list(&self) -> Option<String> {
        let text = self.kept.join(", ");
        match (self.kept.is_empty(), self.more) {
            (true, _) => None,
            (false, false) => Some(text),
            (false, true) => Some(format!("{text} and others")),
        }
    }
}
