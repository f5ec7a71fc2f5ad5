//! The coordinator turns a plan into a job, makes sure that every unit gets a result, and merges the results.
//!
//! It does no work on units and keeps no state that another coordinator could not recover: units, results,
//! spending and the description of the job are stored with the servers. It may therefore die at any moment and
//! be started again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
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

use crate::board::{JobBoard, SEAT_BEAT, Seat, SeatSign, finished};
use crate::error::ClusterError;
use crate::event::JobEvent;
use crate::job::{JobLimits, JobManifest, JobPlan, JobState};
use crate::limits::LimitKeeper;
use crate::patience::{Patience, persist};
use crate::request::EvalRequest;
use crate::seam::{Cluster, JobLinks, LimitHandler, Records};
use crate::unit::{UnitName, covering_units};
use crate::watch::{JobEnd, JobWatch, fetch, results};
use crate::worker::CLUSTER_FOLDER;
use crate::worker::refused_replies;

/// How long the workers of a job that ended early get to report their requests.
const FINAL_REPORT_WAIT: Duration = Duration::from_secs(2);

/// Options of a run over many machines.
#[derive(Debug, Clone)]
pub struct ClusterOptions {
    /// Results in a unit of work; [`ClusterOptions::UNIT_SIZE`] unless given.
    pub unit_size: Option<u32>,
    /// Location of the results: a folder that all machines see, or the address of a bucket. `None` keeps them
    /// on the servers.
    pub results: Option<String>,
    /// Time after which a unit goes to another worker unless its lease is extended; [`ClusterOptions::LEASE`]
    /// unless given.
    pub lease: Option<Duration>,
    /// Time without a sign of work after which the coordinator stops the job, to be continued later. Never less
    /// than the lease. [`ClusterOptions::WORKER_WAIT`] unless given.
    pub worker_wait: Option<Duration>,
    /// Continues an unfinished job of the same plan, if there is one.
    pub resume: bool,
}

impl ClusterOptions {
    /// Default number of results in a unit of work.
    pub const UNIT_SIZE: u32 = 500;
    /// Default time after which a unit goes to another worker.
    pub const LEASE: Duration = Duration::from_secs(30);
    /// Default time without a sign of work after which the job is stopped.
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

    /// Number of units for this many results.
    fn shards(&self, items: u64) -> u32 {
        let size = self.unit_size.unwrap_or(Self::UNIT_SIZE).max(1);
        u32::try_from(items.div_ceil(size.into())).unwrap_or(u32::MAX).clamp(1, ShardNumber::MAX)
    }

    /// Refuses to continue a job with other options: its units and results exist already.
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

/// Failure of a run over many machines.
#[derive(Debug, thiserror::Error)]
pub enum ClusterRunError {
    /// The plan, the files or the merge failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The servers or the stored results failed.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The user stopped it. Finished units are kept.
    #[error("stopped; workers take no more units of job {0}")]
    Stopped(String),
    /// No worker came, or none was left. Finished units are kept.
    #[error("no worker has worked on job {job} for {waited:?}{}", refused(.refusals))]
    NoWorker {
        /// Id of the job.
        job: String,
        /// Time without a sign of work.
        waited: Duration,
        /// Why workers refused the job.
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
    /// The machines that it works with.
    pub cluster: Arc<dyn Cluster>,
    /// The engine that plans and merges.
    pub engine: Engine,
    /// Options.
    pub options: ClusterOptions,
    /// True for an argument that affects decisions or scores. A job is continued even if its other arguments
    /// differ.
    pub decides: &'a dyn Fn(&str) -> bool,
    /// Receives the events of the job.
    pub observe: &'a dyn Fn(JobEvent),
}

impl Coordinator<'_> {
    /// Has workers carry out a request. `arguments` is the request in the form that workers parse.
    ///
    /// # Errors
    /// When files have problems, the servers can't be used, or the user stops it.
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

        let found = if self.options.resume { self.find_open(&board, &plan, &arguments).await? } else { None };
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
            self.options.begin(id, plan, arguments.clone(), fence_key)
        });
        // Arguments that don't affect decisions may differ from the earlier job.
        job.arguments = arguments;
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
            // The coordinator that finished the job may have written the run to the folder that this one would
            // use.
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
        // Once the job is done, files that earlier coordinators left on this machine are useless too.
        let _ = std::fs::remove_dir_all(if result.is_ok() { &folder } else { &staging });
        result
    }

    /// True if the job has this plan and the same deciding arguments.
    fn is_same_work(&self, job: &JobManifest, plan: &JobPlan, arguments: &[String]) -> bool {
        let deciding =
            |all: &[String]| all.iter().filter(|one| (self.decides)(one)).cloned().collect::<Vec<_>>();
        job.plan == *plan && deciding(&job.arguments) == deciding(arguments)
    }

    /// The newest unfinished job of this plan, if there is one.
    async fn find_open(
        &self,
        board: &JobBoard,
        plan: &JobPlan,
        arguments: &[String],
    ) -> Result<Option<JobManifest>, ClusterError> {
        let mut patience = Patience::default();
        let ids = persist(&mut patience, || board.open_jobs()).await?;
        for id in ids.iter().rev() {
            let job = persist(&mut patience, || board.job(id)).await?;
            let is_meant =
                |job: &JobManifest| job.state != JobState::Done && self.is_same_work(job, plan, arguments);
            if let Some(job) = job.filter(is_meant) {
                job.check_version()?;
                return Ok(Some(job));
            }
        }

        Ok(None)
    }

    /// The finished run of such a job, if `--run-dir` names it.
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
        if job.is_some_and(|job| !self.is_same_work(&job, plan, arguments)) {
            return Ok(None);
        }

        Ok(self.engine.finished_run(folder)?)
    }

    /// Summary of the incomplete run that an earlier job of this plan, with other options, left in the run
    /// folder.
    fn merged_part(&self, request: &EvalRequest, plan: &str) -> Option<RunSummary> {
        let named = request.options.run.run_dir.as_ref().filter(|_| self.options.resume)?;
        let info = RunFolder::new(self.engine.process().resolve(named)).info().ok()?;
        is_part_of(&info, plan).then_some(info.summary).flatten()
    }

    /// Refuses a folder that holds another run, before any worker starts. An incomplete run of this plan may be
    /// replaced (its budget was raised), and so may a run that a coordinator merged before it died without marking the
    /// job as done.
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
            Ok(info) if is_part_of(&info, plan) => Err(EngineError::usage(format!(
                "`{}` holds the merged part of a run of these cases; continue that run with `--resume`, or name another folder \
                 with `--run-dir`",
                folder.path().display()
            ))),
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
        let handler = limit_handler(&keeper, seat.sign.clone());
        let serving =
            persist(&mut patience, || self.cluster.serve_limits(&job.job, Arc::clone(&handler))).await?;

        let mut watch = JobWatch::begin(self.observe, job, board, links, &keeper, staging, seat);
        let stopped = self.engine.process().stopped();
        let wait = self.options.worker_wait.unwrap_or(ClusterOptions::WORKER_WAIT);
        let end = watch.until_end(stopped, wait, request.options.run.deadline).await?;
        let JobWatch { mut seat, done, .. } = watch;
        // A coordinator that was suspended notices here that another one has taken over and merges.
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
            // Workers return unused budget, and report their requests.
            tokio::time::sleep(FINAL_REPORT_WAIT).await;
        }
        if matches!(end, JobEnd::OverBudget)
            && let Some(need) = keeper.refused().await
        {
            let what = budget_message(job.limits, keeper.used().await, need);
            (self.observe)(JobEvent::Warning(what));
        }
        drop(serving);
        persist(&mut patience, || keeper.close()).await?;

        let merged = match end {
            JobEnd::Stopped => Err(ClusterRunError::Stopped(job.job.clone())),
            JobEnd::NoWorker(waited) => {
                // The reasons are only extra information: if they can't be read, the outcome is the same.
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
                tokio::select! {
                    biased;
                    merged = self.merge((job, links, staging), done, request, facts, &mut seat) => merged,
                    () = self.engine.process().stopped() => Err(ClusterRunError::Stopped(job.job.clone())),
                }
            }
        };
        let refused = self.cluster.refused().results;
        if refused > 0 {
            let (results, were) = if refused == 1 { ("result", "was") } else { ("results", "were") };
            (self.observe)(JobEvent::Warning(format!(
                "{refused} stored {results} {were} refused: not signed with the secret of the job, so somebody else wrote or \
                 changed them"
            )));
        }
        // Only for a message.
        let replies = board.refused_replies(&job.job).await.unwrap_or_default();
        if replies > 0 {
            (self.observe)(JobEvent::Warning(refused_replies(replies)));
        }
        if is_complete && merged.is_ok() {
            let done = JobManifest { state: JobState::Done, ..job.clone() };
            persist(&mut patience, || board.post(&done)).await?;
            // The results are merged, so a failure to clean up is only worth a warning.
            if let Err(error) = self.cluster.remove(job).await {
                (self.observe)(JobEvent::Warning(error.to_string()));
            }
        }
        seat.leave().await;

        merged
    }

    /// Merges the results into the run that one process would have written.
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
            let spent = spent_message(facts.unfinished, facts.spent);
            let what = format!(
                "the budget was too small for a single unit of work: {spent}. Continue with `--resume` and a larger budget; \
                 without `--resume`, a smaller `--unit-size` stores results earlier"
            );
            return Err(EngineError { exit: ExitStatus::OverBudget, ..EngineError::usage(what) }.into());
        }
        let mut beaten = Instant::now();
        for unit in &covering {
            while let Err(error) = fetch(links, unit, staging).await {
                if let ClusterError::Damaged(why) = error {
                    // The units can't be run again now: the job is stopped, so workers take no more of it.
                    let name = unit.to_string();
                    persist(&mut patience, || links.results.discard(&name)).await?;
                    let what =
                        format!("{why}; it was removed. Continue with `--resume`, which runs the unit again");
                    return Err(ClusterError::Damaged(what).into());
                }
                patience.wait(error).await?;
                seat.renew().await?;
            }
            if beaten.elapsed() >= SEAT_BEAT {
                seat.renew().await?;
                beaten = Instant::now();
            }
        }

        // Merge next to the target folder and rename at the end, so that a coordinator that dies leaves no
        // partial run.
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
        let merged = merged.map_err(EngineError::internal)?;
        let merged = merged.inspect_err(|_| drop(std::fs::remove_dir_all(&draft)))?;
        let folder = move_into_place(&draft, target, job)?;

        Ok(FinishedRun { folder, ..merged })
    }
}

/// Message that the budget ended the job: what counts as spent, and what the next call needed.
fn budget_message(limits: JobLimits, used: BudgetAmount, need: BudgetAmount) -> String {
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

/// Message about requests and cost of work without a result.
fn spent_message(sent: SentRequests, counted: BudgetAmount) -> String {
    let known = Cost::from_parts(sent.cost_usd, sent.cost_partial).lower_bound();
    let mut text =
        format!("{} requests were sent, for {}", grouped(sent.requests), dollars(known.as_dollars()));
    if counted.usd > known {
        let counted = dollars(counted.usd.as_dollars());
        text = format!("{text}; {counted} count as spent, with what was lent to workers");
    }
    text
}

/// Starts the ledger of a new job with the amount that an earlier job of the plan has spent, because the new job gets
/// the earlier replies from the cache for free.
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

/// True for an incomplete merged run of this plan.
fn is_part_of(info: &RunInfo, plan: &str) -> bool {
    info.merged.as_ref().is_some_and(|merged| merged.plan == plan && !merged.missing.is_empty())
}

/// True for a run that another coordinator merged from the same job.
fn is_result_of(info: &RunInfo, job: &JobManifest) -> bool {
    info.run_id == job.job && info.merged.as_ref().is_some_and(|merged| merged.plan == job.plan.hash)
}

/// Draft folder next to the run folder, used by this coordinator only.
fn draft_of(target: &Path, staging: &Path) -> PathBuf {
    let [name, own] = [target, staging].map(|path| path.file_name().unwrap_or_default().to_string_lossy());
    target.with_file_name(format!(".{name}-{own}"))
}

/// Moves a merged run into its folder. Replaces an incomplete run of the same plan, and a run of this job by a
/// coordinator that died right after merging.
fn move_into_place(draft: &Path, target: PathBuf, job: &JobManifest) -> Result<RunFolder, ClusterError> {
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

fn limit_handler(keeper: &Arc<LimitKeeper>, sign: SeatSign) -> LimitHandler {
    let keeper = Arc::clone(keeper);
    Arc::new(move |request| {
        let (keeper, sign) = (Arc::clone(&keeper), sign.clone());
        Box::pin(async move {
            // Two coordinators at once would grant the same rate twice. Checked for each request, because a
            // process that was suspended may answer one before it notices that its seat has expired.
            if sign.is_held() { keeper.answer(&request).await } else { None }
        })
    })
}
