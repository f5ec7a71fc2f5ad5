//! The coordinator: makes a job of a plan, sees to it that every unit gets a result, and merges the results.
//!
//! It does no work itself and holds nothing that another one could not find out: units, results, spending and the
//! description of the job are with the servers. So it may die at any moment, and be started again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assize_engine::runs::RUNS_FOLDER;
use assize_engine::{
    Engine, EngineError, ExitStatus, FinishedRun, MergeOptions, MergedJob, RunFolder, RunInfo, SentRequests,
    new_run_id, workspace_fence_key,
};
use assize_llm::BudgetAmount;
use assize_rubric::{Cost, Usd, dollars, grouped};
use assize_run::ShardNumber;
use assize_store::{MergeInfo, RunSummary, StoreError};
use tokio::time::Instant;

use crate::absence::{Absence, Presence};
use crate::board::{JobBoard, SEAT_BEAT, Seat, finished};
use crate::error::ClusterError;
use crate::job::{JobLimits, JobManifest, JobPlan, JobState};
use crate::limits::LimitKeeper;
use crate::pack::unpack;
use crate::patience::{Patience, persist};
use crate::request::EvalRequest;
use crate::seam::{Cluster, JobLinks, LimitHandler, Records};
use crate::unit::{UnitName, WorkUnit, covering_units, missing_units};
use crate::worker::CLUSTER_FOLDER;

/// Time between two looks at the results.
const LOOK: Duration = Duration::from_millis(500);
/// Time between two comparisons of the queue with what is missing.
const RECONCILE: Duration = Duration::from_secs(5);

/// Time for the workers of a job whose budget is spent to say what they have sent.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Options of a run over many machines.
#[derive(Debug, Clone)]
pub struct ClusterOptions {
    /// Results in a unit of work; [`ClusterOptions::UNIT_SIZE`] unless given.
    pub unit_size: Option<u32>,
    /// Place of the results: a folder that all machines see, or the address of a bucket. Without it, the servers keep them.
    pub results: Option<String>,
    /// Time after which a unit goes to another worker, unless the one that has it says that it goes on;
    /// [`ClusterOptions::LEASE`] unless given.
    pub lease: Option<Duration>,
    /// Time without a sign of work after which the job is left to be continued later, but no less than the term of a lease;
    /// [`ClusterOptions::WORKER_WAIT`] unless given.
    pub worker_wait: Option<Duration>,
    /// Goes on with a job of the same plan that was not finished, if there is one.
    pub resume: bool,
}

impl ClusterOptions {
    /// Results in a unit of work, unless they are given.
    pub const UNIT_SIZE: u32 = 500;
    /// Time after which a unit goes to another worker, unless it is given.
    pub const LEASE: Duration = Duration::from_secs(30);
    /// Time without a sign of work after which a job is left, unless it is given.
    pub const WORKER_WAIT: Duration = Duration::from_mins(15);

    /// A new job of a plan.
    fn begin(&self, id: String, plan: JobPlan, arguments: Vec<String>, fence_key: [u8; 32]) -> JobManifest {
        let shards = self.shards(plan.items);
        let lease = self.lease.unwrap_or(Self::LEASE);
        JobManifest {
            results: self.results.clone(),
            lease_ms: milliseconds(lease),
            ..JobManifest::new(id, plan, arguments, shards, fence_key)
        }
    }

    /// Number of units of so many results.
    fn shards(&self, items: u64) -> u32 {
        let size = self.unit_size.unwrap_or(Self::UNIT_SIZE).max(1);
        u32::try_from(items.div_ceil(size.into())).unwrap_or(u32::MAX).clamp(1, ShardNumber::MOST)
    }

    /// Refuses to go on with a job that was begun with other options: its units and results are what they are.
    fn check(&self, job: &JobManifest) -> Result<(), ClusterError> {
        let differs = if self.results.is_some() && self.results != job.results {
            "--results"
        } else if self.unit_size.is_some() && self.shards(job.plan.items) != job.shards {
            "--unit-size"
        } else if self.lease.is_some_and(|lease| milliseconds(lease) != job.lease_ms) {
            "--lease"
        } else {
            return Ok(());
        };

        Err(ClusterError::Refused(format!(
            "job {} was begun with another `{differs}`; continue it with the same one, or without the option",
            job.job
        )))
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Something that happened to a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobEvent {
    /// Units are handed out.
    Begun {
        /// Id of the job.
        job: String,
        /// Number of shards.
        shards: u32,
        /// True if it was begun earlier.
        goes_on: bool,
    },
    /// Another coordinator shows signs of life; this one waits for its end.
    Waiting,
    /// Somebody has asked to stop: workers are told to break off.
    Stopping,
    /// Some units are done.
    Progress {
        /// Shards without a missing part.
        done: u32,
        /// All shards.
        shards: u32,
    },
    /// Workers that refuse the job now, and the reason of one of them. They look again from time to time.
    Refused {
        /// Number of workers.
        workers: usize,
        /// Reason of the first.
        reason: String,
    },
    /// No worker has shown a sign of work for a while.
    NoWorker {
        /// Time without a sign.
        waited: Duration,
        /// Time without a sign after which the job is left.
        limit: Duration,
    },
    /// Something that a person has to know.
    Warning(String),
}

/// Failure of a run over many machines.
#[derive(Debug, thiserror::Error)]
pub enum ClusterRunError {
    /// The plan, the files or the merging.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The servers or the results.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// It was asked to stop. What is done is kept.
    #[error(
        "stopped; workers take no more units of job {0}; continue it with the same command and `--resume`"
    )]
    Stopped(String),
    /// No worker came, or none was left. What is done is kept.
    #[error(
        "no worker has worked on job {job} for {waited:?}{}; continue it with the same command and `--resume`, and wait longer \
         with `--worker-wait`",
        refused(.refusals)
    )]
    NoWorker {
        /// Id of the job.
        job: String,
        /// Time without a sign of work.
        waited: Duration,
        /// Reasons of the workers that refuse the job.
        refusals: Vec<String>,
    },
}

fn refused(refusals: &[String]) -> String {
    match refusals {
        [] => String::new(),
        [only] => format!(" (a worker refuses it: {only})"),
        [first, ..] => format!(" ({} workers refuse it, one because: {first})", refusals.len()),
    }
}

/// A coordinator.
pub struct Coordinator<'a> {
    /// Machines that it works with.
    pub cluster: Arc<dyn Cluster>,
    /// Engine that plans and merges.
    pub engine: Engine,
    /// Options.
    pub options: ClusterOptions,
    /// Told what happens.
    pub observe: &'a dyn Fn(JobEvent),
}

/// Reason why no more units are handed out.
enum JobEnd {
    Complete,
    OverBudget,
    Stopped,
    /// No worker has shown a sign of work for this long.
    NoWorker(Duration),
}

impl Coordinator<'_> {
    /// Has a request carried out by workers. `arguments` is the request as workers read it.
    ///
    /// # Errors
    /// When files have problems, the servers can't be used, or somebody asks to stop.
    pub async fn run(
        &self,
        request: &EvalRequest,
        arguments: Vec<String>,
    ) -> Result<FinishedRun, ClusterRunError> {
        let identity = self.engine.identify(&request.mode, &request.options, false).await?;
        let fence_key = workspace_fence_key(self.engine.process())?;
        let limits = JobLimits::of_plan(&identity);
        let board = JobBoard::new(self.cluster.records());
        let plan = JobPlan::new(&identity);

        let found = if self.options.resume { find_open(&board, &plan, &arguments).await? } else { None };
        if let Some(found) = &found {
            self.options.check(found)?;
        }
        if found.is_none()
            && let Some(finished) = self.find_finished(&board, &plan, &arguments, request).await?
        {
            return Ok(finished);
        }
        self.check_run_dir(request, &identity.hash, found.as_ref())?;
        let part = if found.is_none() { self.merged_part(request, &identity.hash) } else { None };
        let goes_on = found.is_some();
        let mut job = found.unwrap_or_else(|| {
            let id = new_run_id(self.engine.process().now(), &identity.label);
            self.options.begin(id, plan, arguments, fence_key)
        });
        job.limits = limits;
        job.state = JobState::Running;

        let holder = uuid::Uuid::new_v4().simple().to_string();
        let records = self.cluster.records();
        let seat =
            Seat::take(records, &job.job, holder.clone(), || (self.observe)(JobEvent::Waiting)).await?;
        let mut patience = Patience::default();
        let now = persist(&mut patience, || board.job(&job.job)).await?;
        if now.is_some_and(|now| now.state == JobState::Done) {
            seat.leave().await;
            // Its coordinator may have written the run to the very folder that this one would.
            let folder = RunFolder::new(self.run_dir(&job, request));
            if folder.info().is_ok_and(|info| is_result_of(&info, &job))
                && let Some(finished) = self.engine.finished_run(folder)?
            {
                return Ok(finished);
            }
            return Err(finished(&job.job).into());
        }
        let links = match persist(&mut patience, || self.cluster.open(&job)).await {
            Ok(links) => links,
            Err(error) => {
                seat.leave().await;
                return Err(error.into());
            }
        };
        if let Some(part) = &part {
            persist(&mut patience, || carry_over(&board, self.cluster.records(), &job.job, part)).await?;
        }
        persist(&mut patience, || board.post(&job)).await?;
        (self.observe)(JobEvent::Begun { job: job.job.clone(), shards: job.shards, goes_on });

        let folder = self.engine.process().working_folder.join(CLUSTER_FOLDER).join(&job.job);
        let staging = folder.join(format!("results-{holder}"));
        let result = self.see_through(&job, &board, &links, seat, &staging, request).await;
        // Of a job that is done, nothing is needed that others of this machine may have left, either.
        let _ = std::fs::remove_dir_all(if result.is_ok() { &folder } else { &staging });
        result
    }

    /// The run of a job that is done, if `--run-dir` names it.
    async fn find_finished(
        &self,
        board: &JobBoard,
        plan: &JobPlan,
        arguments: &[String],
        request: &EvalRequest,
    ) -> Result<Option<FinishedRun>, ClusterRunError> {
        let Some(named) = request.options.run.run_dir.as_ref().filter(|_| self.options.resume) else {
            return Ok(None);
        };
        let folder = RunFolder::new(self.engine.process().resolve(named));
        let Ok(info) = folder.info() else { return Ok(None) };
        let of_job = |merged: &MergeInfo| {
            merged.job.is_some() && merged.plan == plan.hash && merged.missing.is_empty()
        };
        if !info.merged.as_ref().is_some_and(of_job) {
            return Ok(None);
        }
        let mut patience = Patience::default();
        let job = persist(&mut patience, || board.job(&info.run_id)).await?;
        if job.is_some_and(|job| job.plan != *plan || job.arguments != arguments) {
            return Ok(None);
        }

        Ok(self.engine.finished_run(folder)?)
    }

    /// Summary of what an earlier job of this plan, with other options, has left in the folder of the run.
    fn merged_part(&self, request: &EvalRequest, plan: &str) -> Option<RunSummary> {
        let named = request.options.run.run_dir.as_ref().filter(|_| self.options.resume)?;
        let info = RunFolder::new(self.engine.process().resolve(named)).info().ok()?;
        is_part_of(&info, plan).then_some(info.summary).flatten()
    }

    /// Refuses a folder that holds another run, before anything is spent. What was merged of this plan before its budget was
    /// raised may be replaced, and so may what a coordinator has merged that died before it could say so.
    fn check_run_dir(
        &self,
        request: &EvalRequest,
        plan: &str,
        found: Option<&JobManifest>,
    ) -> Result<(), EngineError> {
        let Some(named) = &request.options.run.run_dir else { return Ok(()) };
        let folder = RunFolder::new(self.engine.process().resolve(named));
        match folder.info() {
            Err(StoreError::NotARun { .. }) => Ok(()),
            Ok(info) if self.options.resume && is_part_of(&info, plan) => Ok(()),
            Ok(info) if found.is_some_and(|job| is_result_of(&info, job)) => Ok(()),
            Ok(_) => Err(EngineError::usage(format!(
                "`{}` holds another run; name another folder with `--run-dir`",
                folder.path().display()
            ))),
            Err(error) => Err(error.into()),
        }
    }

    /// Folder of the merged run.
    fn run_dir(&self, job: &JobManifest, request: &EvalRequest) -> PathBuf {
        let named = request.options.run.run_dir.clone();
        let folder = named.unwrap_or_else(|| Path::new(RUNS_FOLDER).join(&job.job));
        self.engine.process().resolve(folder)
    }

    async fn see_through(
        &self,
        job: &JobManifest,
        board: &JobBoard,
        links: &JobLinks,
        seat: Seat,
        staging: &Path,
        request: &EvalRequest,
    ) -> Result<FinishedRun, ClusterRunError> {
        let mut patience = Patience::default();
        let records = self.cluster.records();
        let keeper =
            persist(&mut patience, || LimitKeeper::open(Arc::clone(&records), &job.job, job.limits)).await?;
        let keeper = Arc::new(keeper);
        let is_seated = Arc::new(AtomicBool::new(true));
        let handler = limit_handler(&keeper, &is_seated);
        let serving =
            persist(&mut patience, || self.cluster.serve_limits(&job.job, Arc::clone(&handler))).await?;

        let done = BTreeSet::new();
        let mut watch =
            JobWatch { job, board, links, keeper: &keeper, is_seated: &is_seated, staging, seat, done };
        let end = watch.until_end(self, request.options.run.deadline).await?;
        let JobWatch { mut seat, done, .. } = watch;
        // One that was held up finds out here that somebody else merges.
        while let Err(error) = seat.beat().await {
            patience.wait(error).await?;
        }
        let is_complete = matches!(end, JobEnd::Complete);
        if !is_complete {
            let stopped = JobManifest { state: JobState::Stopped, ..job.clone() };
            persist(&mut patience, || board.post(&stopped)).await?;
        }
        if matches!(end, JobEnd::Stopped) {
            keeper.stop();
        }
        if matches!(end, JobEnd::OverBudget | JobEnd::Stopped) {
            // Workers give back what they do not use, and say what they have sent.
            tokio::time::sleep(LAST_WORDS).await;
        }
        if matches!(end, JobEnd::OverBudget)
            && let Some(need) = keeper.refused().await
        {
            let what = budget_words(job.limits, keeper.used().await, need);
            (self.observe)(JobEvent::Warning(what));
        }
        drop(serving);
        persist(&mut patience, || keeper.close()).await?;

        let merged = match end {
            JobEnd::Stopped => Err(ClusterRunError::Stopped(job.job.clone())),
            JobEnd::NoWorker(waited) => {
                // The reasons only help: servers that are away now don't change what happened.
                let refusals = board.refusals(&job.job).await.unwrap_or_default();
                let refusals = refusals.into_values().collect();
                Err(ClusterRunError::NoWorker { job: job.job.clone(), waited, refusals })
            }
            JobEnd::Complete | JobEnd::OverBudget => {
                let facts = MergedJob {
                    id: job.job.clone(),
                    over_budget: !is_complete,
                    unfinished: persist(&mut patience, || board.unfinished(&job.job)).await?,
                    spent: keeper.used().await,
                };
                Ok(self.merge((job, links, staging), done, request, facts, &mut seat).await?)
            }
        };
        if is_complete {
            let done = JobManifest { state: JobState::Done, ..job.clone() };
            persist(&mut patience, || board.post(&done)).await?;
            // The results are merged: what can't be removed now is only in the way.
            if let Err(error) = self.cluster.remove(job).await {
                (self.observe)(JobEvent::Warning(error.to_string()));
            }
        }
        seat.leave().await;

        merged
    }

    /// Merges the results into the run that one process would have made.
    async fn merge(
        &self,
        (job, links, staging): (&JobManifest, &JobLinks, &Path),
        mut done: BTreeSet<UnitName>,
        request: &EvalRequest,
        facts: MergedJob,
        seat: &mut Seat,
    ) -> Result<FinishedRun, ClusterRunError> {
        let mut patience = Patience::default();
        done.extend(persist(&mut patience, || results(links)).await?);
        let covering = covering_units(job.shards, &done);
        if covering.is_empty() {
            let spent = spent_words(facts.unfinished, facts.spent);
            let what = format!(
                "the budget was too small for a single unit of work: {spent}. Continue with `--resume` and a larger one; \
                 a new job with a smaller `--unit-size` stores results earlier"
            );
            return Err(EngineError { exit: ExitStatus::OverBudget, ..EngineError::usage(what) }.into());
        }
        let mut beaten = Instant::now();
        for unit in &covering {
            while let Err(error) = fetch(links, unit, staging).await {
                patience.wait(error).await?;
                seat.renew().await?;
            }
            if beaten.elapsed() >= SEAT_BEAT {
                seat.renew().await?;
                beaten = Instant::now();
            }
        }

        // Beside its place, and moved there when it is whole: a coordinator that dies leaves no half of a run.
        let target = self.run_dir(job, request);
        let draft = draft_of(&target, staging);
        let runs = covering.iter().map(|unit| staging.join(unit.to_string()).display().to_string()).collect();
        let options = MergeOptions {
            runs,
            run_dir: Some(draft.clone()),
            allow_missing: facts.over_budget,
            job: Some(facts),
            ..MergeOptions::default()
        };
        let engine = self.engine.clone();
        let mut merging = tokio::task::spawn_blocking(move || engine.merge(&options));
        let merged = loop {
            tokio::select! {
                merged = &mut merging => break merged,
                () = tokio::time::sleep(SEAT_BEAT) => seat.renew().await?,
            }
        };
        let merged = merged.map_err(|error| EngineError::usage(format!("merging failed: {error}")))?;
        let merged = merged.inspect_err(|_| drop(std::fs::remove_dir_all(&draft)))?;
        let folder = place(&draft, target, job)?;

        Ok(FinishedRun { folder, ..merged })
    }
}

/// Budget that ended a job, with what counts as spent and what the next call needed.
fn budget_words(limits: JobLimits, used: BudgetAmount, need: BudgetAmount) -> String {
    let usd = |amount: Usd| dollars(amount.as_dollars());
    let tokens = |amount: u64| format!("{} tokens", grouped(amount));
    let calls = |amount: u64| format!("{} calls", grouped(amount));
    let parts = [
        limits.budget().usd.map(|whole| [whole, used.usd, need.usd].map(usd)),
        limits.calls.map(|whole| [whole, used.calls, need.calls].map(calls)),
        limits.tokens.map(|whole| [whole, used.tokens, need.tokens].map(tokens)),
    ];
    let parts = parts.into_iter().flatten().map(|[whole, used, need]| {
        format!("of {whole}, {used} count as spent, and the next call may take {need}")
    });

    format!("the budget does not allow another call: {}", parts.collect::<Vec<_>>().join("; "))
}

/// Requests and cost of work without a result, in words.
fn spent_words(sent: SentRequests, counted: BudgetAmount) -> String {
    let known = Cost::from_parts(sent.cost_usd, sent.cost_partial).lower_bound();
    let mut text =
        format!("{} requests were sent, for {}", grouped(sent.requests), dollars(known.as_dollars()));
    if counted.usd > known {
        let counted = dollars(counted.usd.as_dollars());
        text = format!("{text}; {counted} count as spent, with what was lent to workers");
    }
    text
}

/// Has what an earlier job of the plan has spent count in a new one, whose replies come from the cache.
async fn carry_over(
    board: &JobBoard,
    records: Arc<dyn Records>,
    job: &str,
    part: &RunSummary,
) -> Result<(), ClusterError> {
    let Some(sent) = part.sent else { return Ok(()) };
    let tokens = part.tokens.input.unwrap_or_default() + part.tokens.output.unwrap_or_default();
    let usd = Cost::from_parts(sent.cost_usd, sent.cost_partial).lower_bound();
    let used = BudgetAmount { calls: sent.requests + sent.given_up, tokens, usd };
    if LimitKeeper::begin_with(records, job, used).await? {
        board.add_unfinished(job, sent).await?;
    }
    Ok(())
}

/// True for what was merged of this plan while units were missing.
fn is_part_of(info: &RunInfo, plan: &str) -> bool {
    info.merged.as_ref().is_some_and(|merged| merged.plan == plan && !merged.missing.is_empty())
}

/// True for what another coordinator has merged of this very job.
fn is_result_of(info: &RunInfo, job: &JobManifest) -> bool {
    info.run_id == job.job && info.merged.as_ref().is_some_and(|merged| merged.plan == job.plan.hash)
}

/// Folder beside the place of a run, of this coordinator alone.
fn draft_of(target: &Path, staging: &Path) -> PathBuf {
    let own = staging.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    target.with_file_name(format!(".{name}-{own}"))
}

/// Moves a merged run to its place, where there may be what was merged while units were missing, or by a coordinator that died
/// right after that.
fn place(draft: &Path, target: PathBuf, job: &JobManifest) -> Result<RunFolder, ClusterError> {
    let failed = |error: std::io::Error| {
        ClusterError::storage(&format!("write the run to `{}`", target.display()), error)
    };
    let folder = RunFolder::new(&target);
    if folder.info().is_ok_and(|info| is_part_of(&info, &job.plan.hash) || is_result_of(&info, job)) {
        std::fs::remove_dir_all(&target).map_err(failed)?;
    }
    std::fs::rename(draft, &target).map_err(failed)?;

    Ok(folder)
}

/// The job of this plan that was not finished, if there is one.
async fn find_open(
    board: &JobBoard,
    plan: &JobPlan,
    arguments: &[String],
) -> Result<Option<JobManifest>, ClusterError> {
    let mut patience = Patience::default();
    let ids = persist(&mut patience, || board.open_jobs()).await?;
    for id in ids.iter().rev() {
        let job = persist(&mut patience, || board.job(id)).await?;
        let is_meant = |job: &JobManifest| {
            job.state != JobState::Done && job.plan == *plan && job.arguments == arguments
        };
        if let Some(job) = job.filter(is_meant) {
            job.check_version()?;
            return Ok(Some(job));
        }
    }

    Ok(None)
}

fn limit_handler(keeper: &Arc<LimitKeeper>, is_seated: &Arc<AtomicBool>) -> LimitHandler {
    let (keeper, is_seated) = (Arc::clone(keeper), Arc::clone(is_seated));
    Arc::new(move |request| {
        let (keeper, is_seated) = (Arc::clone(&keeper), Arc::clone(&is_seated));
        Box::pin(async move {
            // Two coordinators at once would grant the same rate twice.
            if is_seated.load(Ordering::Acquire) { keeper.answer(&request).await } else { None }
        })
    })
}

/// A job as its coordinator watches it.
struct JobWatch<'a> {
    job: &'a JobManifest,
    board: &'a JobBoard,
    links: &'a JobLinks,
    keeper: &'a LimitKeeper,
    is_seated: &'a AtomicBool,
    staging: &'a Path,
    seat: Seat,
    /// Results that were seen. None goes away, but servers that were held up may list fewer.
    done: BTreeSet<UnitName>,
}

impl JobWatch<'_> {
    /// Waits until every unit has a result, the budget is spent, nobody works any more, or somebody asks to stop.
    async fn until_end(
        &mut self,
        coordinator: &Coordinator<'_>,
        deadline: Option<Duration>,
    ) -> Result<JobEnd, ClusterRunError> {
        let begun = Instant::now();
        let mut stopped = coordinator.engine.process().stopped();
        let mut patience = Patience::default();
        let mut fetched = BTreeSet::new();
        let mut shown = None;
        let mut reconciled: Option<Instant> = None;
        let (mut workers_seen, mut refusals) = (Instant::now(), 0);
        let wait = coordinator.options.worker_wait.unwrap_or(ClusterOptions::WORKER_WAIT);
        let mut absence = Absence::begin(wait, self.job.lease_term());
        let mut beaten = Instant::now();
        loop {
            if beaten.elapsed() >= SEAT_BEAT || !self.seat.is_held() {
                match self.seat.beat().await {
                    Ok(()) => beaten = Instant::now(),
                    Err(error) => patience.wait(error).await?,
                }
            }
            self.is_seated.store(self.seat.is_held(), Ordering::Release);

            let looked = Instant::now();
            match results(self.links).await {
                Err(error) => {
                    (coordinator.observe)(JobEvent::Warning(error.to_string()));
                    patience.wait(error).await?;
                }
                Ok(listed) => {
                    patience = Patience::default();
                    self.done.extend(listed);
                    let missing = missing_units(self.job.shards, &self.done);
                    for unit in self
                        .done
                        .iter()
                        .filter(|unit| !fetched.contains(*unit))
                        .take(FETCHED_AT_ONCE)
                        .cloned()
                        .collect::<Vec<_>>()
                    {
                        if fetch(self.links, &unit, self.staging).await.is_ok() {
                            fetched.insert(unit);
                        }
                    }
                    let open: BTreeSet<u32> = missing.iter().map(|unit| unit.shard).collect();
                    let complete = self.job.shards - u32::try_from(open.len()).unwrap_or(u32::MAX);
                    if shown != Some(complete) {
                        shown = Some(complete);
                        let shards = self.job.shards;
                        (coordinator.observe)(JobEvent::Progress { done: complete, shards });
                    }
                    if missing.is_empty() {
                        return Ok(JobEnd::Complete);
                    }
                    if reconciled.is_none_or(|at| at.elapsed() >= RECONCILE) {
                        if let Err(error) = self.reconcile(&missing).await {
                            (coordinator.observe)(JobEvent::Warning(error.to_string()));
                        } else {
                            reconciled = Some(Instant::now());
                        }
                    }
                }
            }
            if self.keeper.refused().await.is_some() {
                return Ok(JobEnd::OverBudget);
            }
            if workers_seen.elapsed() >= RECONCILE {
                refusals = self.tell_refusals(coordinator, refusals).await;
                if self.is_abandoned(coordinator, &mut absence).await {
                    return Ok(JobEnd::NoWorker(absence.limit()));
                }
                workers_seen = Instant::now();
            }
            if deadline.is_some_and(|deadline| begun.elapsed() >= deadline) {
                return Ok(JobEnd::Stopped);
            }

            // A list of many results takes a while: no more than a tenth of the time goes into it.
            let pause = (looked.elapsed() * 9).clamp(LOOK, SEAT_BEAT);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = &mut stopped => {
                    (coordinator.observe)(JobEvent::Stopping);
                    return Ok(JobEnd::Stopped);
                }
            }
        }
    }

    /// Tells which workers refuse the job, if there are more than the last time; returns their number.
    async fn tell_refusals(&self, coordinator: &Coordinator<'_>, told: usize) -> usize {
        // It is only told: a server that is away now is asked again.
        let Ok(refusals) = self.board.refusals(&self.job.job).await else { return told };
        let workers = refusals.len();
        if let Some((_, reason)) = refusals.into_iter().next().filter(|_| workers > told) {
            (coordinator.observe)(JobEvent::Refused { workers, reason });
        }

        workers
    }

    /// True if there was no sign of work for as long as is waited; a person is told before.
    async fn is_abandoned(&self, coordinator: &Coordinator<'_>, absence: &mut Absence) -> bool {
        let shown = self.board.work_shown(&self.job.job).await.ok();
        match absence.note(shown.map(|shown| (shown, self.done.len()))) {
            Presence::Quiet => false,
            Presence::Missed(waited) => {
                (coordinator.observe)(JobEvent::NoWorker { waited, limit: absence.limit() });
                false
            }
            Presence::GivenUp => true,
        }
    }

    /// Hands out again what has no result and is not in the queue: units that were never published, because a coordinator
    /// died, that a worker took out and could not put back, and that the servers have lost.
    async fn reconcile(&self, missing: &[UnitName]) -> Result<(), ClusterError> {
        if self.links.queue.depth().await? >= missing.len() as u64 {
            return Ok(());
        }
        // First the queue: a unit that is completed after that has a result.
        let queued: BTreeSet<UnitName> = self.links.queue.names().await?.into_iter().collect();
        let mut done = results(self.links).await?;
        done.extend(self.done.iter().cloned());
        // The parts of a unit come right after it in the order of names.
        let is_queued = |unit: &UnitName| {
            let next = queued.range(unit..).next();
            next.is_some_and(|next| next.shard == unit.shard && next.part.is_within(&unit.part))
        };
        let lost = missing_units(self.job.shards, &done);
        let lost: Vec<UnitName> =
            lost.into_iter().filter(|unit| missing.binary_search(unit).is_ok() && !is_queued(unit)).collect();
        if lost.is_empty() {
            return Ok(());
        }
        let tries = self.board.tries(&self.job.job).await?;
        let tries_of = |unit: &UnitName| tries.get(unit).copied().unwrap_or(0);
        let units: Vec<WorkUnit> =
            lost.into_iter().map(|name| WorkUnit { tries: tries_of(&name), ..WorkUnit::new(name) }).collect();
        let tag = uuid::Uuid::new_v4().simple().to_string();

        self.links.queue.publish(&units, &tag).await
    }
}

/// Results that are fetched between two looks.
const FETCHED_AT_ONCE: usize = 64;

async fn results(links: &JobLinks) -> Result<BTreeSet<UnitName>, ClusterError> {
    let names = links.results.names().await?;
    // What others have put there is none of ours.
    Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
}

/// Fetches a result, unless it is here already.
async fn fetch(links: &JobLinks, unit: &UnitName, staging: &Path) -> Result<(), ClusterError> {
    let folder: PathBuf = staging.join(unit.to_string());
    if folder.exists() {
        return Ok(());
    }

    let bytes = links.results.get(&unit.to_string()).await?;
    unpack(&bytes, &folder)
}
