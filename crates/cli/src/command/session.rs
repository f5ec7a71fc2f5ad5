//! Life of a run from its plan to its exit code, shared by `eval`, `grade` and `scorecard run`.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assize_analysis::{Summariser, mean_of};
use assize_rubric::{Judging, Repeat};
use assize_run::{Event, RunError, Settings, Start, Totals, WorkItem};
use assize_store::{
    CardInfo, CaseKey, CaseRecord, FORMAT_VERSION, InputHash, JudgeInfo, RunFigures, RunFolder, RunInfo,
    RunSettings, RunSummary, RunWriter, StoreError, SuiteInfo, TargetInfo,
};
use tokio_util::sync::CancellationToken;

use super::figures;
use super::resume::{self, NEWEST, Resumed};
use super::runs::RUNS_FOLDER;
use super::shape::{Finished, Ordinary, Shape};
use crate::access::Access;
use crate::args::RunArgs;
use crate::context::Context;
use crate::exit::{Ending, Exit};
use crate::output;
use crate::progress::Progress;
use crate::workplaces::Workplaces;

/// Number of cases whose planned order is kept for printing.
const MAX_ORDER: usize = 64;
/// Time limit for cancelled commands to exit, longer than the grace period of each.
const SETTLE: Duration = Duration::from_secs(5);

/// Everything that is known about a run before it starts.
pub(crate) struct Session {
    /// Name of the command.
    pub(crate) command: &'static str,
    /// Word for the run's id: the suite's name.
    pub(crate) label: String,
    pub(crate) suites: Vec<SuiteInfo>,
    /// Files that were read.
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) judge_infos: Vec<JudgeInfo>,
    pub(crate) target_infos: Vec<TargetInfo>,
    pub(crate) settings: RunSettings,
    pub(crate) warnings: Vec<String>,
    /// Tree of the scorecard, in a scorecard run.
    pub(crate) scorecard: Option<CardInfo>,
    /// Gateway to the models.
    pub(crate) access: Arc<Access>,
    /// Workspaces of the targets; `None` if no target is run.
    pub(crate) workplaces: Option<Arc<Workplaces>>,
    /// Number of items.
    pub(crate) total: usize,
    /// Number of cases excluded because of errors.
    pub(crate) left_out: usize,
}

impl Session {
    /// Runs the items, stores and prints the results.
    pub(crate) fn perform<I: Iterator<Item = Result<WorkItem, String>>>(
        self,
        items: impl Fn() -> I,
        args: &RunArgs,
        context: &Context,
    ) -> Result<Exit, String> {
        self.perform_as(&Ordinary::default(), items, args, context)
    }

    /// Runs the items in the mode of a command that has its own exit code and output.
    pub(crate) fn perform_as<I: Iterator<Item = Result<WorkItem, String>>>(
        self,
        shape: &dyn Shape,
        items: impl Fn() -> I,
        args: &RunArgs,
        context: &Context,
    ) -> Result<Exit, String> {
        let begun = Instant::now();
        let started_at = Context::now();
        let run_id = run_id(started_at, &self.label);
        let mut info = RunInfo {
            format_version: FORMAT_VERSION,
            run_id,
            assize_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: started_at.to_string(),
            finished_at: None,
            command: self.command.to_owned(),
            suites: self.suites,
            inputs: hashes(&self.inputs)?,
            judges: self.judge_infos,
            targets: self.target_infos,
            settings: self.settings,
            warnings: self.warnings,
            scorecard: self.scorecard,
            summary: None,
        };
        let Opened { folder, mut writer, done, totals, mut figures, mut order } =
            open(&mut info, args, &items, context)?;
        self.access.begin(&info.run_id);
        assize_workspace::sweep(&std::env::temp_dir());
        if let Some(places) = &self.workplaces {
            places.begin(&info.run_id);
        }
        if !args.quiet {
            for warning in &info.warnings {
                output::warn(warning, context);
            }
        }

        let workers = NonZeroUsize::new(info.settings.workers).unwrap_or(NonZeroUsize::MIN);
        let mut progress = Progress::new(
            self.total.saturating_sub(done.len()),
            args.quiet || args.json && !context.live_progress,
            context.live_progress,
        );
        let in_order = !order.is_empty();
        let mut observe = |event: Event| {
            progress.observe(&event);
            if let Event::CaseFinished { row } = &event {
                figures.push(row);
            }
            if let Event::CaseStarted { suite, case_id } = &event
                && !in_order
                && order.len() < MAX_ORDER
            {
                order.push((suite.to_string(), case_id.to_string()));
            }
        };
        if let Some(few) = self.access.few_files() {
            output::warn(few, context);
        }
        let cancel = CancellationToken::new();
        let too_late = Arc::new(AtomicBool::new(false));
        let runtime = runtime()?;
        let (totals, ended, teardown) = runtime.block_on(async {
            let watcher = tokio::spawn(watch_for_interrupt(cancel.clone()));
            let left = args.deadline.map(|deadline| deadline.saturating_sub(begun.elapsed()));
            let alarm =
                left.map(|left| tokio::spawn(ring_after(left, Arc::clone(&too_late), cancel.clone())));
            let start = Start { totals, limit: self.access.limit().clone(), done };
            let bail = shape.sequence().and_then(|sequence| sequence.bail);
            let settings = Settings { workers, bail };
            let result =
                assize_run::run_from(start, items(), settings, &cancel, &mut writer, &mut observe).await;
            watcher.abort();
            if let Some(alarm) = alarm {
                alarm.abort();
            }
            // Cancelled commands get a chance to exit before this process does.
            let _ = tokio::time::timeout(SETTLE, assize_process::settled()).await;
            let teardown = match &self.workplaces {
                Some(places) => places.finish(cancel.is_cancelled()).await,
                None => Vec::new(),
            };
            (result.0, result.1, teardown)
        });
        progress.finish();
        for warning in teardown {
            output::warn(&warning, context);
            info.warnings.push(warning);
        }
        if let Some(folder) = self.workplaces.as_ref().and_then(|places| places.close()) {
            output::warn(&format!("the workspaces are kept in `{}`", folder.display()), context);
        }
        // A hanging DNS lookup must not delay the end.
        runtime.shutdown_background();

        if let Some(refusal) = self.access.refusal() {
            let message = format!("{refusal}; `--resume` goes on with another budget");
            if !args.quiet {
                output::warn(&message, context);
            }
            info.warnings.push(message);
        }
        let ending = Ending {
            interrupted: cancel.is_cancelled() && !too_late.load(Ordering::Acquire),
            too_late: too_late.load(Ordering::Acquire),
            over_budget: self.access.limit().is_cancelled(),
            broke_off: ended.is_err(),
            halted: totals.halted,
            left_out: self.left_out,
        };
        info.finished_at = Some(Context::now().to_string());
        let figures = figures::of_taken(figures, &folder).ok();
        let counts =
            figures.as_ref().map_or(totals.counts, |figures| figures::counts(figures, totals.counts));
        let (exit, exit_reason) = shape.exit(&folder, counts, ending);
        info.summary = Some(summary(&totals, figures, self.total, self.left_out, begun, exit, exit_reason));
        if let Err(error) = &ended {
            output::complain(&error.to_string(), context);
        }
        match writer.finish(&info) {
            Ok(_) => {}
            // If storing the records failed, so does storing the summary; the error was already printed.
            Err(_) if matches!(ended, Err(RunError::Store(_))) => {}
            Err(error) => output::complain(&error.to_string(), context),
        }
        if let Err(message) = self.access.flush() {
            output::warn(&message, context);
        }
        shape.show(
            &Finished { folder: &folder, info: &info, totals: &totals, order: &order },
            args,
            context,
        )?;
        Ok(exit)
    }
}

/// A run that is ready to start or to be resumed.
struct Opened {
    folder: RunFolder,
    writer: RunWriter,
    done: HashMap<CaseKey, Repeat>,
    totals: Totals,
    /// Metrics accumulated from the resumed cases.
    figures: Summariser,
    /// The first cases as planned; empty when the order is unknown before they start.
    order: Vec<(String, String)>,
}

/// Creates the folder of a new run, or opens that of a run to be resumed, whose id and start time `info` then
/// takes over.
fn open<I: Iterator<Item = Result<WorkItem, String>>>(
    info: &mut RunInfo,
    args: &RunArgs,
    items: impl Fn() -> I,
    context: &Context,
) -> Result<Opened, String> {
    let earlier = match (&args.resume, &args.out) {
        (None, _) => None,
        // The folder is given; if the earlier run was stopped before it created the folder, this one starts
        // afresh.
        (Some(name), Some(out)) if name == NEWEST => {
            let folder = RunFolder::at(out);
            if matches!(folder.info(), Err(StoreError::NotARun { .. })) {
                None
            } else {
                resume::check(&folder, info)?;
                Some(folder)
            }
        }
        (Some(_), Some(_)) => {
            return Err(
                "`--resume RUN` goes on in the run's own folder; leave out `--out`, or the RUN".to_owned()
            );
        }
        (Some(name), None) => Some(resume::choose(name, info, context)?),
    };
    if let Some(folder) = earlier {
        let stored = folder.info().map_err(|error| error.to_string())?;
        info.run_id = stored.run_id;
        info.started_at = stored.started_at;
        let Resumed { writer, done, changed, gone, totals, figures, order } =
            resume::resume(&folder, info, items(), MAX_ORDER)?;
        if !args.quiet {
            let mut text =
                format!("going on with {}: {} cases are done", folder.path().display(), done.len());
            if changed > 0 {
                let _ = write!(text, "; {changed} done before changed since, and are run again");
            }
            if gone > 0 {
                let _ = write!(text, "; {gone} done before are no longer among them");
            }
            text.push('\n');
            output::say(&text);
        }
        return Ok(Opened { folder, writer, done, totals, figures, order });
    }
    let folder = RunFolder::at(match &args.out {
        Some(folder) => folder.clone(),
        None => PathBuf::from(RUNS_FOLDER).join(&info.run_id),
    });
    let writer = folder.create(info).map_err(|error| match error {
        StoreError::Occupied { path } if args.resume.is_some() => {
            format!(
                "`{}` holds rows, but no run.json to go on with; name another folder with `--out`",
                path.display()
            )
        }
        StoreError::Occupied { .. } => {
            format!("{error}; name another folder with `--out`, or go on with it with `--resume`")
        }
        other => format!("{other}; name another folder with `--out`"),
    })?;
    Ok(Opened {
        folder,
        writer,
        done: HashMap::new(),
        totals: Totals::default(),
        figures: Summariser::new(),
        order: Vec::new(),
    })
}

/// Reads the records of a run, with errors as text.
pub(crate) fn stored(folder: &RunFolder) -> Result<impl Iterator<Item = Result<CaseRecord, String>>, String> {
    let cases = folder.cases().map_err(|error| error.to_string())?;
    Ok(cases.map(|record| record.map_err(|error| error.to_string())))
}

/// Number of workers: the command line's, else the smallest configured one.
pub(crate) fn workers(command: Option<NonZeroUsize>, wishes: impl Iterator<Item = usize>) -> Option<usize> {
    command.map(NonZeroUsize::get).or_else(|| wishes.min())
}

/// Name of the judging mode in records.
pub(crate) fn judging_name(judging: Judging) -> String {
    judging.to_string()
}

pub(super) fn runtime() -> Result<tokio::runtime::Runtime, String> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("can't start: {error}"))
}

/// Ends the run at its deadline, unless it ended before.
async fn ring_after(left: Duration, too_late: Arc<AtomicBool>, cancel: CancellationToken) {
    tokio::time::sleep(left).await;
    if !cancel.is_cancelled() {
        too_late.store(true, Ordering::Release);
        cancel.cancel();
    }
}

/// Ends the run in an orderly way on an interrupt or a termination signal.
pub(super) async fn watch_for_interrupt(cancel: CancellationToken) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else { return };
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    let _ = tokio::signal::ctrl_c().await;
    cancel.cancel();
}

/// Creates an id such as `20260102-153012-label-1a2b`: it sorts by time, and two runs within one second
/// differ.
fn run_id(started_at: jiff::Timestamp, label: &str) -> String {
    let mut word: String =
        label.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    word.truncate(32);
    let word = word.trim_matches('-');
    let word = if word.is_empty() { "run" } else { word };
    let suffix = &uuid::Uuid::new_v4().simple().to_string()[..4];
    format!("{}-{word}-{suffix}", started_at.strftime("%Y%m%d-%H%M%S"))
}

fn hashes(paths: &[PathBuf]) -> Result<Vec<InputHash>, String> {
    let mut hashes = Vec::with_capacity(paths.len());
    for path in paths {
        let mut hasher = blake3::Hasher::new();
        std::fs::File::open(path)
            .and_then(|file| hasher.update_reader(file).map(drop))
            .map_err(|error| format!("can't read `{}`: {error}", path.display()))?;
        hashes.push(InputHash {
            path: path.display().to_string(),
            blake3: hasher.finalize().to_hex().to_string(),
        });
    }
    Ok(hashes)
}

fn summary(
    totals: &Totals,
    figures: Option<RunFigures>,
    planned: usize,
    left_out: usize,
    begun: Instant,
    exit: Exit,
    exit_reason: String,
) -> RunSummary {
    RunSummary {
        counts: totals.counts,
        not_run: planned.saturating_sub(totals.counts.total() + totals.needless),
        left_out,
        mean_score: figures
            .as_ref()
            .map_or_else(|| totals.mean_score(), |figures| mean_of(&figures.mean_score)),
        figures,
        tokens: totals.tokens,
        cost_usd: totals.cost.whole(),
        cost_partial: totals.cost.partial(),
        judge_calls: totals.judge_calls,
        judge_calls_cached: totals.judge_calls_cached,
        criteria_ungraded: totals.criteria_ungraded,
        criteria_truncated: totals.criteria_truncated,
        criteria: totals.criteria,
        panel: totals.panel(),
        duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        exit_code: exit.code(),
        exit_reason,
    }
}

/// The object that `--json` prints.
pub(crate) fn summary_json(info: &RunInfo, folder: &Path) -> serde_json::Value {
    let Some(summary) = &info.summary else { return serde_json::Value::Null };
    serde_json::json!({
        "run_id": info.run_id,
        "run_dir": folder.display().to_string(),
        "counts": summary.counts,
        "not_run": summary.not_run,
        "left_out": summary.left_out,
        "mean_score": summary.mean_score,
        "figures": summary.figures,
        "judges": info.judges,
        "tokens": summary.tokens,
        "cost_usd": summary.cost_usd,
        "cost_partial": summary.cost_partial,
        "judge_calls": summary.judge_calls,
        "judge_calls_cached": summary.judge_calls_cached,
        "criteria": summary.criteria,
        "criteria_ungraded": summary.criteria_ungraded,
        "panel": summary.panel,
        "criteria_truncated": summary.criteria_truncated,
        "warnings": info.warnings,
        "exit_code": summary.exit_code,
        "exit_reason": summary.exit_reason,
    })
}
