//! Carries out a run, from its plan to its exit code.
//!
//! By the time a [`RunSession`] exists, everything that can be checked for free has been checked: files are read,
//! judges and targets are made, prices are known. The remaining steps must happen in this order, because a process may
//! be killed or interrupted at any point, and a resumed run must neither lose results nor pay for them twice:
//!
//! 1. The shard is selected *before* the folder is opened, so that a wrong shard or plan leaves nothing on
//!    disk.
//! 2. The folder is created, or an earlier run's folder is opened. Cases with a stored, still valid result
//!    are done.
//! 3. The stop signal and the deadline are watched, so that a wait for batches ends with them too.
//! 4. Judge batches, if there are any, are sent and awaited ([`BatchRounds`]). They only bring in replies, so an
//!    error here leaves a run that can be resumed.
//! 5. The cases run. Each is recorded before it is reported, so an observer may read its rows.
//! 6. Shutdown, also after a cancellation: running commands get [`SETTLE_TIMEOUT`] to exit, then workspaces run
//!    their teardown, and only then is the summary written. A run without a summary was killed, or is still in
//!    progress.
//! 7. Replies are flushed last. A reply that can't be stored costs money again, but does not change the result.
//!
//! Items are created lazily and more than once (`items` is a function), because a run of a million cases must
//! not hold them: sharding, batches and the run itself each go through them.
//!
//! Invariants: `info` is complete before the writer is created, except for the summary and later warnings. The exit
//! code depends only on stored results and the [`RunEnding`], so that a stored run can be concluded again. A failure
//! after the cases have ended is reported as an event, and never discards the results.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::mem::take;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assize_analysis::{
    ExitStatus, RunDecision, RunEnding, RunResult, RunSummarizer, ScoredCard, conclude_run, exit_of_run,
    exit_with_pass_rate,
};
use assize_evalfile::answers_file;
use assize_rubric::{TrialResult, UngradedKind, UngradedReason, UnitInterval};
use assize_run::{
    AnswerHistory, ItemError, ItemRelations, Recorder, RunError, RunEvent as CaseEvent, RunLimits, RunStart,
    RunTotals, ShardPlan, WorkItem,
};
use assize_store::{
    CaseErrorKind, CaseKey, CaseRecord, EarlyStop, FORMAT_VERSION, InputHash, JudgeInfo, ResumedPart,
    RunFolder, RunInfo, RunMetrics, RunSettings, RunSummary, RunWriter, ScorecardInfo, SentRequests,
    StoreError, SuiteInfo, TargetInfo,
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::batch::BatchRounds;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::EngineEvent;
use crate::exchange::{BatchExchange, ExportReport};
use crate::files::refuse_read_file;
use crate::gateway::ModelGateway;
use crate::metrics;
use crate::mode::RunMode;
use crate::options::{RunOptions, UnitOptions};
use crate::resume::{self, NEWEST_RUN, ResumedRun};
use crate::run_outcome::{FinishedRun, RunOutcome};
use crate::runs;
use crate::shard;
use crate::stopping::{WatchedWriter, conclude_watch, decided_token, note_event, watch_over};
use crate::wiring::RunWiring;
use crate::workspaces::WorkspacePool;

/// Time limit for cancelled commands to exit. It is longer than the grace period of each command.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(5);

/// Description of a run, complete before the first request is sent.
pub(crate) struct RunSession {
    /// Name of the command.
    pub(crate) command: &'static str,
    /// Word for the run's id: the name of the suite.
    pub(crate) label: String,
    pub(crate) suites: Vec<SuiteInfo>,
    /// Files that were read.
    pub(crate) inputs: Vec<PathBuf>,
    /// The shard, if it is known before the items are looked at.
    pub(crate) dealt: Option<DealtShard>,
    pub(crate) judge_infos: Vec<JudgeInfo>,
    pub(crate) target_infos: Vec<TargetInfo>,
    pub(crate) settings: RunSettings,
    pub(crate) warnings: Vec<String>,
    /// Tree of the scorecard, in a scorecard run.
    pub(crate) scorecard: Option<ScorecardInfo>,
    /// Gateway to the run's models.
    pub(crate) gateway: Arc<ModelGateway>,
    /// Workspaces of its targets; `None` if no target is run.
    pub(crate) workspaces: Option<Arc<WorkspacePool>>,
    /// Number of items.
    pub(crate) total: usize,
    /// Number of cases excluded because of errors.
    pub(crate) excluded: usize,
}

/// Shard of a plan that was made earlier.
pub(crate) struct DealtShard {
    pub(crate) plan: ShardPlan,
    /// The files as they were when the plan was made.
    pub(crate) inputs: Vec<InputHash>,
}

impl RunSession {
    /// Session of a command with these options. `wishes` are the numbers of concurrent cases that files ask
    /// for.
    pub(crate) fn new(
        command: &'static str,
        wiring: &RunWiring<'_>,
        options: &RunOptions,
        wishes: impl Iterator<Item = usize>,
    ) -> Self {
        let judging = options.judging.or(wiring.config.judging).unwrap_or_default();
        let workers = workers(options.workers, wishes.chain(wiring.config.workers));
        let deps = wiring.all_deps();

        Self {
            command,
            label: String::new(),
            suites: Vec::new(),
            inputs: Vec::new(),
            dealt: None,
            judge_infos: deps.iter().flat_map(|deps| deps.judges.infos()).fold(Vec::new(), push_unique),
            target_infos: deps.iter().flat_map(|deps| deps.targets.infos()).fold(Vec::new(), push_unique),
            settings: RunSettings {
                workers: wiring.gateway.cases_at_once(workers),
                threshold: options.threshold.map(UnitInterval::get),
                borderline: options.borderline.map(UnitInterval::get),
                judging: judging.to_string(),
                filter: Vec::new(),
                tags: Vec::new(),
                keep_going: false,
                other: options.panel_settings(wiring.gateway.notes(options)),
            },
            warnings: Vec::new(),
            scorecard: None,
            gateway: Arc::clone(&wiring.gateway),
            workspaces: None,
            total: 0,
            excluded: 0,
        }
    }

    /// Runs the items and stores the results, or writes the requests to files if they are exported.
    pub(crate) async fn carry_out<I: Iterator<Item = Result<WorkItem, ItemError>>>(
        self,
        mode: &dyn RunMode,
        items: impl Fn() -> I,
        options: &RunOptions,
        engine: &Engine,
    ) -> Result<RunOutcome, EngineError> {
        Ok(if options.exchange.export.is_some() {
            RunOutcome::Exported(Box::new(self.export(items, options, engine).await?))
        } else {
            RunOutcome::Finished(Box::new(self.perform(mode, items, options, engine).await?))
        })
    }

    /// Runs the items and stores the results.
    pub(crate) async fn perform<I: Iterator<Item = Result<WorkItem, ItemError>>>(
        mut self,
        mode: &dyn RunMode,
        items: impl Fn() -> I,
        options: &RunOptions,
        engine: &Engine,
    ) -> Result<FinishedRun, EngineError> {
        let begun = Instant::now();
        let started_at = engine.process().now();
        let run_id = runs::run_id(started_at, &self.label);
        let mut info = self.take_info(run_id, started_at.to_string())?;
        info.label.clone_from(&options.label);

        let plan = match self.dealt.take() {
            Some(dealt) => Some(dealt.plan),
            None => shard::plan(options, &items)?,
        };
        let items = || shard::select(plan.as_ref(), items());
        if let Some(plan) = &plan {
            self.limit_to(plan, &mut info);
        }
        let unit = options.unit.as_ref();
        if let Some(unit) = unit {
            take_terms(unit, &mut info)?;
        }
        let reason = unit.and_then(|unit| unit.given_up.as_deref());
        let items = || items().map(move |item| Ok(give_up(item?, reason)));

        let watch = watch_over(mode.sequence(), items(), engine)?;
        let opened = open(&mut info, options, items, engine)?;
        let OpenedRun { folder, mut writer, done, history, resumed, totals, mut summariser } = opened;
        self.gateway.begin(&info.run_id);
        self.announce(&info, &folder, engine);

        let stops = StopTokens::default();
        let watchers =
            stops.watch(engine, options.deadline.map(|limit| limit.saturating_sub(begun.elapsed())));
        let workers = NonZeroUsize::new(info.settings.workers).unwrap_or(NonZeroUsize::MIN);
        self.bring_in_batches(options, &items, workers, &done, &stops, engine).await?;
        self.gateway.begin(&info.run_id);

        engine.emit(EngineEvent::RunStarted { cases: self.total.saturating_sub(done.len()) });

        self.gateway.exposed_keys().into_iter().for_each(|warning| engine.warn(warning));
        if let Some(few) = self.gateway.few_files() {
            engine.warn(few);
        }

        let mut observe = |event: CaseEvent| {
            note_event(watch.as_ref(), &event);
            if let CaseEvent::CaseFinished { row } = &event {
                summariser.push(row);
            }

            engine.emit(event);
        };

        let start = RunStart {
            totals,
            limit: self.gateway.limit.clone(),
            refused: self.gateway.refused.clone(),
            given_up: self.gateway.given_up.clone(),
            decided: decided_token(watch.as_ref()),
            done,
            history,
        };
        let settings = RunLimits { workers, bail: mode.sequence().and_then(|sequence| sequence.bail) };
        let mut watched = WatchedWriter { writer: &mut writer, watch: watch.as_ref() };
        let (totals, ended) =
            assize_run::run(start, items(), settings, &stops.cancel, &mut watched, &mut observe).await;

        drop(watchers);

        // Cancelled commands get a chance to exit before this process does.
        let _ = tokio::time::timeout(SETTLE_TIMEOUT, assize_process::wait_for_ending_groups()).await;
        let teardown = match &self.workspaces {
            Some(workspaces) => workspaces.finish(stops.cancel.is_cancelled()).await,
            None => Vec::new(),
        };

        engine.emit(EngineEvent::RunEnded);

        let early_stop = conclude_watch(watch.as_ref(), &totals, self.total, &mut info, engine);
        let (broke_off, decision) = (ended.is_err(), early_stop.as_ref().map(RunDecision::from));
        let ending = RunEnding { broke_off, halted: totals.halted, decision, ..self.ending(&stops) };
        note_teardown(teardown, self.workspaces.as_deref(), &self.gateway, &mut info, engine);
        let (planned, sent, minimum) = (self.total, self.gateway.sent(), options.min_pass_rate);
        let ended =
            TaskEnd { totals, result: ended, ending, early_stop, planned, sent, resumed, begun, minimum };
        let exit = conclude(&ended, mode, summariser, &folder, &mut info, engine);

        match writer.finish(&mut info) {
            Ok(_) => {}
            // If storing the records failed, storing the summary fails too, and the error was already reported.
            Err(_) if matches!(ended.result, Err(RunError::Store(_))) => {}
            Err(error) => engine.emit(EngineEvent::Failure(error.to_string())),
        }

        end_replies(&self.gateway, ended.result.is_ok() && !stops.cancel.is_cancelled(), engine);

        Ok(FinishedRun { folder, info, totals: ended.totals, exit })
    }

    /// Reports that the run is open, and prepares its workspaces.
    fn announce(&self, info: &RunInfo, folder: &RunFolder, engine: &Engine) {
        engine.emit(EngineEvent::RunOpened {
            run_id: info.run_id.clone(),
            folder: folder.path().to_path_buf(),
        });
        assize_workspace::remove_abandoned(&engine.process().temp_folder);

        if let Some(workspaces) = &self.workspaces {
            workspaces.begin(&info.run_id);
        }

        // Only the summaries of these commands list the warnings.
        let is_listed = ["eval", "grade"].contains(&info.command.as_str());
        for warning in &info.warnings {
            if is_listed {
                engine.emit(EngineEvent::RunWarning(warning.clone()));
            } else {
                engine.notice(warning);
            }
        }
    }

    /// How the run ends, apart from the results of its cases.
    fn ending(&self, stops: &StopTokens) -> RunEnding {
        RunEnding {
            interrupted: stops.cancel.is_cancelled() && !stops.is_too_late(),
            too_late: stops.is_too_late(),
            over_budget: self.gateway.refusal().is_some(),
            server_given_up: self.gateway.outage().is_some(),
            excluded: self.excluded,
            ..RunEnding::default()
        }
    }

    /// Limits the run to a shard.
    fn limit_to(&mut self, plan: &ShardPlan, info: &mut RunInfo) {
        self.total = shard::own_items(plan);
        self.excluded = shard::left_out(plan, self.excluded);
        info.shard = Some(shard::describe(plan, &info.inputs));
    }

    /// Writes the requests that have no reply to files, and stores no run. Commands and programs run as usual.
    pub(crate) async fn export<I: Iterator<Item = Result<WorkItem, ItemError>>>(
        self,
        items: impl Fn() -> I,
        options: &RunOptions,
        engine: &Engine,
    ) -> Result<ExportReport, EngineError> {
        let plan = shard::plan(options, &items)?;
        let total = plan.as_ref().map_or(self.total, shard::own_items);

        self.gateway.begin_alone("export");
        assize_workspace::remove_abandoned(&engine.process().temp_folder);
        if let Some(workspaces) = &self.workspaces {
            workspaces.begin("export");
        }
        for warning in &self.warnings {
            engine.notice(warning);
        }
        engine.emit(EngineEvent::RunStarted { cases: total });

        let stops = StopTokens::default();
        let watchers = stops.watch(engine, options.deadline);
        let mut counts = ExportCounts::default();
        let workers = NonZeroUsize::new(self.settings.workers).unwrap_or(NonZeroUsize::MIN);
        let limits = RunLimits { workers, bail: None };
        let items = shard::select(plan.as_ref(), items()).map(|item| item.map(going_on));
        let (_, ended) =
            assize_run::run(RunStart::default(), items, limits, &stops.cancel, &mut counts, &mut |event| {
                engine.emit(event);
            })
            .await;

        drop(watchers);
        let _ = tokio::time::timeout(SETTLE_TIMEOUT, assize_process::wait_for_ending_groups()).await;
        if let Some(workspaces) = &self.workspaces {
            for warning in workspaces.finish(stops.cancel.is_cancelled()).await {
                engine.warn(warning);
            }
            workspaces.close();
        }
        engine.emit(EngineEvent::RunEnded);
        self.gateway.flush()?;
        ended.map_err(|error| EngineError::unreadable(error.to_string()))?;

        let interrupted = stops.cancel.is_cancelled();
        let exchange = self.gateway.exchange.as_deref().filter(|_| !interrupted);
        let (files, refused) = exchange.map(BatchExchange::finish_export).transpose()?.unwrap_or_default();
        Ok(ExportReport {
            files,
            refused,
            complete: counts.complete,
            waiting: total.saturating_sub(counts.complete),
            import: self.gateway.exchange.as_deref().and_then(BatchExchange::import_report),
            interrupted,
        })
    }

    /// Sends the judge calls of the items as batches, if that is requested, and stores their replies, so that
    /// the run finds them.
    async fn bring_in_batches<I: Iterator<Item = Result<WorkItem, ItemError>>>(
        &self,
        options: &RunOptions,
        items: &impl Fn() -> I,
        workers: NonZeroUsize,
        done: &HashMap<CaseKey, TrialResult>,
        stops: &StopTokens,
        engine: &Engine,
    ) -> Result<(), EngineError> {
        let Some((options, calls)) = options.judge_batch.as_ref().zip(self.gateway.batched.as_ref()) else {
            return Ok(());
        };

        let pass = async |cancel: &CancellationToken| {
            let start = RunStart {
                limit: self.gateway.limit.clone(),
                refused: self.gateway.refused.clone(),
                given_up: self.gateway.given_up.clone(),
                done: done.clone(),
                ..RunStart::default()
            };
            let limits = RunLimits { workers, bail: None };
            // An error here occurs again in the run, which reports it.
            let _ = assize_run::run(start, items(), limits, cancel, &mut NoRecorder, &mut |_| {}).await;
        };
        BatchRounds::new(Arc::clone(calls), options, &stops.cancel, engine).perform(pass).await
    }

    /// Builds the description of the run from the facts known before it begins.
    fn take_info(&mut self, run_id: String, started_at: String) -> Result<RunInfo, EngineError> {
        Ok(RunInfo {
            format_version: FORMAT_VERSION,
            run_id,
            assize_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at,
            command: self.command.to_owned(),
            suites: take(&mut self.suites),
            inputs: match &mut self.dealt {
                Some(dealt) => take(&mut dealt.inputs),
                None => hash_inputs(&self.inputs)?,
            },
            judges: take(&mut self.judge_infos),
            targets: take(&mut self.target_infos),
            settings: take(&mut self.settings),
            warnings: take(&mut self.warnings),
            scorecard: self.scorecard.take(),
            ..RunInfo::default()
        })
    }
}

/// Waits until replies are stored, and reports on imported ones.
fn end_replies(gateway: &ModelGateway, is_complete: bool, engine: &Engine) {
    if let Err(error) = gateway.flush().and_then(|()| gateway.end_batches(is_complete)) {
        engine.warn(error.message);
    }

    let Some(report) = gateway.exchange.as_deref().and_then(BatchExchange::import_report) else { return };
    engine.notice(report.summary());
    for problem in report.problems() {
        engine.warn(problem);
    }
}

/// Applies the conditions of the coordinator that this process runs a shard for.
fn take_terms(unit: &UnitOptions, info: &mut RunInfo) -> Result<(), EngineError> {
    let is_same = info.shard.as_ref().is_some_and(|shard| shard.plan == unit.plan);
    if !is_same {
        return Err(EngineError::unrunnable(
            "the files have changed since the plan was made; nothing was run",
        ));
    }

    info.run_id.clone_from(&unit.run_id);
    Ok(())
}

/// The item, or its failure with this reason.
fn give_up(item: WorkItem, reason: Option<&str>) -> WorkItem {
    match reason {
        None => item,
        Some(reason) => item.given_up(CaseErrorKind::Abandoned, reason),
    }
}

/// The item without the rule that its failure stops the items after it: a request that waits is not a failure.
fn going_on(item: WorkItem) -> WorkItem {
    let relations = ItemRelations { stops_at_errors: false, ..ItemRelations::clone(&item.relations) };
    WorkItem { relations: Arc::new(relations), ..item }
}

/// Counts complete results and stores none.
#[derive(Default)]
struct ExportCounts {
    complete: usize,
}

impl Recorder for ExportCounts {
    fn record(&mut self, record: &CaseRecord) -> Result<(), StoreError> {
        let waits = |reason: &UngradedReason| reason.kind == UngradedKind::Cancelled;
        let is_waiting =
            record.result.error.as_ref().is_some_and(|error| error.kind == CaseErrorKind::Cancelled)
                || record.result.depends_on_failed_case()
                || record.decisions.iter().any(|row| row.decision.ungraded.as_ref().is_some_and(waits));
        self.complete += usize::from(!is_waiting);

        Ok(())
    }
}

/// Notes failed teardown commands, kept workspaces, and the limit that stopped the run.
fn note_teardown(
    failures: Vec<String>,
    workspaces: Option<&WorkspacePool>,
    gateway: &ModelGateway,
    info: &mut RunInfo,
    engine: &Engine,
) {
    for warning in failures {
        engine.warn(&warning);
        info.warnings.push(warning);
    }

    if let Some(folder) = workspaces.and_then(WorkspacePool::close) {
        engine.warn(format!("the workspaces are kept in `{}`", folder.display()));
    }

    let is_audit = info.command.starts_with("audit ");
    if let Some(refusal) = gateway.refusal() {
        let message = if is_audit {
            format!(
                "{refusal}; run the audit again with another budget: replies that were paid for are cached"
            )
        } else {
            format!("{refusal}; `--resume` continues the run with a new budget")
        };
        // The summary of a run lists its warnings, but the report of an audit does not.
        if is_audit {
            engine.notice(&message);
        }
        info.warnings.push(message);
    }

    if let Some(outage) = gateway.outage() {
        let again = if is_audit { "run the audit again" } else { "continue with `--resume`" };
        let message = format!("stopped: {outage} Once fixed, {again}");
        if is_audit {
            engine.warn(&message);
        }
        info.warnings.push(message);
    }
}

/// Recorder of a pass whose results are not needed.
struct NoRecorder;

impl Recorder for NoRecorder {
    fn record(&mut self, _: &CaseRecord) -> Result<(), StoreError> {
        Ok(())
    }
}

/// How the cases of a run ended.
struct TaskEnd {
    totals: RunTotals,
    result: Result<(), RunError>,
    ending: RunEnding,
    early_stop: Option<EarlyStop>,
    /// Items that were planned.
    planned: usize,
    sent: SentRequests,
    /// Earlier invocations; `sent` counts only their requests.
    resumed: Option<ResumedPart>,
    begun: Instant,
    /// The share of cases that must pass.
    minimum: Option<UnitInterval>,
}

impl TaskEnd {
    /// The number of items that were not run.
    fn not_run(&self) -> usize {
        self.planned.saturating_sub(self.totals.counts.total() + self.totals.needless)
    }
}

/// Adds the summary with the exit code to the run's description.
fn conclude(
    ended: &TaskEnd,
    mode: &dyn RunMode,
    summariser: RunSummarizer,
    folder: &RunFolder,
    info: &mut RunInfo,
    engine: &Engine,
) -> ExitStatus {
    info.finished_at = Some(engine.process().now().to_string());
    let rows = ended.totals.counts;
    let mut figures = metrics::from_summariser(summariser, folder, &info.suites).ok();
    let counts = figures.as_ref().map_or(rows, |figures| metrics::counts(figures, rows));
    let run = mode.scorecard_run(folder);
    let scored = match &run {
        Ok(Some(run)) => ScoredCard::of_stored(run, &info.settings).map(Some).map_err(EngineError::from),
        Ok(None) => Ok(None),
        Err(error) => Err(error.clone()),
    };
    let mut gate = None;
    let (exit, exit_reason) = match (&info.shard, ended.minimum) {
        (None, None) => match &scored {
            Ok(Some(scored)) => scored.exit_of(ended.ending),
            Ok(None) => mode.exit(folder, counts, ended.ending),
            // Without the decisions, the scorecard can't be scored.
            Err(error) => {
                let (exit, reason) = exit_of_run(counts, RunEnding { broke_off: true, ..ended.ending });
                (exit, format!("{reason}; {error}"))
            }
        },
        (None, Some(minimum)) => {
            let ending = RunEnding { not_run: ended.not_run(), ..ended.ending };
            let (found, exit, reason) = exit_with_pass_rate(counts, ending, Some(minimum));
            gate = found;
            (exit, reason)
        }
        (Some(shard), _) => {
            if let Some(figures) = &mut figures {
                figures.remarks.insert(0, shard::remark(shard));
            }
            shard::exit(shard, mode, counts, ended.ending)
        }
    };

    // The warning is about the quotes of the whole run, so for shards it is given when they are merged.
    if info.shard.is_none() {
        info.warnings.extend(quote_warning(&ended.totals));
    }
    let card = run.as_ref().ok().and_then(Option::as_ref).zip(scored.as_ref().ok().and_then(Option::as_ref));
    let result = conclude_run(info, exit, exit_reason, ended.not_run(), card);
    let exit = result.exit;
    let summary = summary(ended, figures, result);
    info.summary = Some(RunSummary { pass_rate_gate: gate, ..summary });

    if let Err(error) = &ended.result {
        engine.emit(EngineEvent::Failure(error.to_string()));
    }

    exit
}

/// Warning about a judge, most of whose quotes are not in the material that it was shown.
pub(crate) fn quote_warning(totals: &RunTotals) -> Option<String> {
    const MIN_QUOTES: u64 = 5;

    let (found, all) = (totals.quotes_verified, totals.quotes);
    (all >= MIN_QUOTES && found * 2 < all).then(|| {
        format!(
            "only {found} of the judge's {all} quotes were found in the material; do not rely on its evidence"
        )
    })
}

/// Reasons to end a run before its cases have ended.
#[derive(Default)]
struct StopTokens {
    cancel: CancellationToken,
    too_late: Arc<AtomicBool>,
}

impl StopTokens {
    /// Watches for the stop signal, and for the end of the remaining time, until the returned set is dropped.
    fn watch(&self, engine: &Engine, left: Option<Duration>) -> JoinSet<()> {
        let mut watchers = JoinSet::new();

        let (stopped, cancel) = (engine.process().stopped(), self.cancel.clone());
        watchers.spawn(async move {
            stopped.await;
            cancel.cancel();
        });

        if let Some(left) = left {
            watchers.spawn(stop_after(left, Arc::clone(&self.too_late), self.cancel.clone()));
        }

        watchers
    }

    fn is_too_late(&self) -> bool {
        self.too_late.load(Ordering::Acquire)
    }
}

/// A run whose folder is open.
struct OpenedRun {
    folder: RunFolder,
    writer: RunWriter,
    done: HashMap<CaseKey, TrialResult>,
    history: AnswerHistory,
    /// Earlier invocations.
    resumed: Option<ResumedPart>,
    totals: RunTotals,
    /// Metrics of the cases that are done.
    summariser: RunSummarizer,
}

/// Creates the folder of a new run, or opens the folder of a run to resume. When resuming, `info` takes over the stored
/// id and start time.
fn open<I: Iterator<Item = Result<WorkItem, ItemError>>>(
    info: &mut RunInfo,
    options: &RunOptions,
    items: impl Fn() -> I,
    engine: &Engine,
) -> Result<OpenedRun, EngineError> {
    for report in &options.reports {
        refuse_read_file(&engine.process().resolve(report))?;
    }
    let run_dir = options.run_dir.as_ref().map(|folder| engine.process().resolve(folder));
    runs::check_run_dir(run_dir.as_deref())?;
    let earlier = match (&options.resume, &run_dir) {
        (None, _) => None,
        // The folder is given. If the earlier run was stopped before it created the folder, this one starts
        // from scratch.
        (Some(name), Some(target)) if name == NEWEST_RUN => {
            let folder = RunFolder::new(target);
            if matches!(folder.info(), Err(StoreError::NotARun { .. })) {
                None
            } else {
                resume::check(&folder, info)?;
                Some(folder)
            }
        }
        (Some(_), Some(_)) => {
            return Err(EngineError::usage(
                "`--resume RUN` uses the run's own folder; remove `--run-dir`, or the RUN",
            ));
        }
        (Some(name), None) => Some(resume::choose_run(name, info, engine)?),
    };
    if let Some(folder) = earlier {
        let stored = folder.info()?;
        info.run_id = stored.run_id;
        info.started_at = stored.started_at;

        let ResumedRun { writer, done, history, changed, gone, totals, figures: summariser } =
            resume::resume(&folder, info, items(), options.retry_incomplete)?;
        engine.emit(EngineEvent::Resumed {
            folder: folder.path().to_path_buf(),
            done: done.len(),
            changed,
            gone,
        });

        let sent = stored.summary.and_then(|summary| summary.sent_in_all());
        let resumed = Some(ResumedPart { kept: done.len(), sent });
        return Ok(OpenedRun { folder, writer, done, history, resumed, totals, summariser });
    }

    let folder = RunFolder::new(run_dir.unwrap_or_else(|| runs::default_folder(info, engine.process())));
    let writer = folder.create(info).map_err(|error| match &error {
        StoreError::Occupied { path } if options.resume.is_some() => EngineError::usage(format!(
            "`{}` has rows but no run.json and can't be resumed; name another folder with `--run-dir`",
            path.display()
        )),
        StoreError::Occupied { .. } => {
            let advice = "name another folder with `--run-dir`, or continue the run with `--resume`";
            EngineError::usage(format!("{error}; {advice}"))
        }
        // Another folder is probably on the same full disk, so the message suggests none.
        StoreError::Io { source, .. } if source.kind() == ErrorKind::StorageFull => {
            EngineError::storage(error.to_string())
        }
        _ => EngineError::storage(format!("{error}; name another folder with `--run-dir`")),
    })?;
    Ok(OpenedRun {
        totals: RunTotals::beside(folder.path()),
        summariser: RunSummarizer::new(folder.path()),
        folder,
        writer,
        done: HashMap::new(),
        history: AnswerHistory::default(),
        resumed: None,
    })
}

/// The number of workers from the options, or else the smallest that a file asks for.
fn workers(options: Option<NonZeroUsize>, wishes: impl Iterator<Item = usize>) -> Option<usize> {
    options.map(NonZeroUsize::get).or_else(|| wishes.min())
}

fn push_unique<T: PartialEq>(mut list: Vec<T>, item: T) -> Vec<T> {
    if !list.contains(&item) {
        list.push(item);
    }

    list
}

/// Ends the run at its deadline, unless it has already been stopped.
async fn stop_after(left: Duration, too_late: Arc<AtomicBool>, cancel: CancellationToken) {
    tokio::time::sleep(left).await;
    if !cancel.is_cancelled() {
        too_late.store(true, Ordering::Release);
        cancel.cancel();
    }
}

pub(crate) fn hash_inputs(paths: &[PathBuf]) -> Result<Vec<InputHash>, EngineError> {
    let mut hashes = Vec::with_capacity(paths.len());
    for path in paths {
        let mut hasher = blake3::Hasher::new();
        assize_files::open_file(&answers_file(path))
            .and_then(|file| hasher.update_reader(file).map(drop))
            .map_err(|error| EngineError::unreadable(format!("can't read `{}`: {error}", path.display())))?;

        hashes.push(InputHash {
            path: path.display().to_string(),
            blake3: hasher.finalize().to_hex().to_string(),
        });
    }

    Ok(hashes)
}

fn summary(ended: &TaskEnd, figures: Option<RunMetrics>, result: RunResult) -> RunSummary {
    let TaskEnd { totals, ending, early_stop, sent, resumed, begun, .. } = ended;

    RunSummary {
        not_run: ended.not_run(),
        excluded: ending.excluded,
        sent: Some(*sent),
        resumed: resumed
            .map(|part| ResumedPart { sent: part.sent.map(|earlier| earlier.plus(*sent)), ..part }),
        ..metrics::summary(totals, figures, *begun, result, early_stop.clone())
    }
}
