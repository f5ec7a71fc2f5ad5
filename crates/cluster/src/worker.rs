//! A worker: takes units of jobs, runs each with the normal engine, and stores the results.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assize_engine::{
    CancellationToken, Engine, EngineError, ExitStatus, FinishedRun, PreparedPlan, RunOutcome, Sharing,
    UnitOptions,
};
use assize_run::ShardNumber;
use tokio::time::Instant;

use crate::board::JobBoard;
use crate::error::ClusterError;
use crate::job::{JobManifest, JobState};
use crate::limits::LimitShare;
use crate::pack::pack;
use crate::patience::{Patience, persist};
use crate::request::{ArgumentReader, EvalRequest};
use crate::seam::{Cluster, JobLinks, UnitLease};
use crate::unit::WorkUnit;

/// Folder of what workers and coordinators have in the making, in the working folder.
pub(crate) const CLUSTER_FOLDER: &str = ".assize/cluster";
/// Pause between two looks for a job.
const LOOK: Duration = Duration::from_millis(500);
/// Wait for a unit before the state of the job is looked at again.
const LEASE_WAIT: Duration = Duration::from_secs(2);
/// Time for telling what was sent for a unit that has no result, and for sharing the replies.
const TELLING: Duration = Duration::from_secs(5);
/// Times that a unit is handed out without a result and without a word before it is halved.
const TRIES: u64 = 2;
/// Units in a row that this worker could not run, after which it leaves.
const MOST_FAILURES: u32 = 5;

/// First and longest wait before a job that was refused is looked at again: its files may have been brought up to date.
const FIRST_REFUSAL: Duration = Duration::from_secs(5);
const LONGEST_REFUSAL: Duration = Duration::from_mins(1);

/// Options of a worker.
#[derive(Debug, Clone, Default)]
pub struct WorkerOptions {
    /// Time without work after which the worker leaves; without it, it waits for the next job.
    pub idle: Option<Duration>,
    /// Place of the results as this machine sees it, instead of the one that the coordinator names.
    pub results: Option<String>,
    /// Joins jobs whose models other workers ask at another address.
    pub any_address: bool,
}

/// Something that happened to a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerEvent {
    /// It works on a job.
    Joined {
        /// Id of the job.
        job: String,
        /// Results of the whole plan.
        items: u64,
    },
    /// A unit is done.
    UnitDone {
        /// Name of the unit.
        unit: String,
        /// Results in it.
        items: usize,
    },
    /// Something that a person has to know.
    Warning(String),
}

/// Ending of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerEnd {
    /// It was asked to stop.
    Stopped,
    /// There was no work for as long as it was to wait.
    Idle,
}

/// A worker.
pub struct Worker<'a> {
    /// Machines that it works with.
    pub cluster: Arc<dyn Cluster>,
    /// Engine that runs the units.
    pub engine: Engine,
    /// Reader of the arguments of jobs.
    pub arguments: &'a ArgumentReader,
    /// Options.
    pub options: WorkerOptions,
    /// Told what happens.
    pub observe: &'a (dyn Fn(WorkerEvent) + Sync),
}

/// Fate of a unit.
enum UnitEnd {
    Done,
    /// It goes back to the queue, and does not count as tried.
    GivenBack,
    /// The job was stopped, or its budget is spent.
    JobEnded,
    /// The lease ran out: somebody else has the unit.
    Lost,
}

/// Result of the run of a unit.
enum UnitRun {
    Finished(Box<FinishedRun>),
    Failed(EngineError),
}

impl Worker<'_> {
    /// Works until it is stopped, or idle for as long as it was to be.
    ///
    /// # Errors
    /// When this machine can't run units.
    pub async fn work(&self) -> Result<WorkerEnd, ClusterError> {
        let board = JobBoard::new(self.cluster.records());
        let stopped = CancellationToken::new();
        let signal = self.engine.process().stopped();
        let watch = tokio::spawn({
            let stopped = stopped.clone();
            async move {
                signal.await;
                stopped.cancel();
            }
        });

        let mut state = WorkerState {
            id: uuid::Uuid::new_v4().simple().to_string(),
            joined: Vec::new(),
            refused: BTreeMap::new(),
            patience: Patience::default(),
            failures: 0,
            idle_since: Instant::now(),
        };
        let end = loop {
            if stopped.is_cancelled() {
                break WorkerEnd::Stopped;
            }
            let jobs = self.running_jobs(&board, &mut state).await?;
            for job in &jobs {
                let wait = if jobs.len() == 1 { LEASE_WAIT } else { LOOK };
                if !stopped.is_cancelled() {
                    self.take_turn(job, wait, &board, &stopped, &mut state).await?;
                }
            }
            if self.options.idle.is_some_and(|idle| state.idle_since.elapsed() >= idle) {
                break WorkerEnd::Idle;
            }
            if jobs.is_empty() {
                tokio::select! {
                    () = tokio::time::sleep(LOOK) => {}
                    () = stopped.cancelled() => {}
                }
            }
        };
        watch.abort();

        Ok(end)
    }

    /// Jobs that are to be worked on, the oldest first, without those that were refused.
    async fn running_jobs<'w>(
        &'w self,
        board: &JobBoard,
        state: &mut WorkerState<'w>,
    ) -> Result<Vec<JobManifest>, ClusterError> {
        let mut running = Vec::new();
        let mut patience = Patience::default();
        for id in persist(&mut patience, || board.open_jobs()).await? {
            if state.refused.get(&id).is_some_and(|refused| Instant::now() < refused.again) {
                continue;
            }
            let job = persist(&mut patience, || board.job(&id)).await?;
            running.extend(job.filter(|job| job.state == JobState::Running));
        }
        state
            .refused
            .retain(|id, refused| Instant::now() < refused.again || running.iter().any(|job| job.job == *id));
        // A job that goes on after a stop, or with other limits, is joined anew, and so is one whose files have changed.
        state.joined.retain(|joined| {
            let goes_on = running.contains(&joined.job) && !joined.share.stopped().is_cancelled();
            goes_on && joined.plan.is_current()
        });

        Ok(running)
    }

    /// Works on one unit of a job, if there is one within this time.
    async fn take_turn<'w>(
        &'w self,
        job: &JobManifest,
        wait: Duration,
        board: &JobBoard,
        stopped: &CancellationToken,
        state: &mut WorkerState<'w>,
    ) -> Result<(), ClusterError> {
        if state.joined.iter().all(|joined| joined.job != *job) {
            match self.join(job, board).await {
                Ok(joined) => {
                    if state.refused.remove(&job.job).is_some() {
                        // Who reads of a refusal that is over looks again.
                        let _ = board.note_refusal(&job.job, &state.id, None).await;
                    }
                    (self.observe)(WorkerEvent::Joined { job: job.job.clone(), items: job.plan.items });
                    state.joined.push(joined);
                }
                Err(ClusterError::Refused(why)) => {
                    // Its coordinator only hears of it: that a server is away now changes nothing.
                    let _ = board.note_refusal(&job.job, &state.id, Some(&why)).await;
                    let before = state.refused.get(&job.job);
                    if before.is_none_or(|before| before.why != why) {
                        (self.observe)(WorkerEvent::Warning(why.clone()));
                    }
                    let wait = before.map_or(FIRST_REFUSAL, |before| (before.wait * 2).min(LONGEST_REFUSAL));
                    let refused = RefusedJob { why, wait, again: Instant::now() + wait };
                    state.refused.insert(job.job.clone(), refused);
                    return Ok(());
                }
                Err(error) => return state.patience.wait(error).await,
            }
        }
        let Some(joined) = state.joined.iter().find(|joined| joined.job == *job) else { return Ok(()) };
        let leased = tokio::select! {
            leased = joined.links.queue.lease(wait) => leased,
            () = stopped.cancelled() => return Ok(()),
        };
        let lease = match leased {
            Ok(Some(lease)) => lease,
            Ok(None) => {
                state.patience = Patience::default();
                return Ok(());
            }
            Err(error) => return state.patience.wait(error).await,
        };

        // The term begins no later than now: the servers hand out a unit before it arrives here.
        let end = joined.process((lease, Instant::now()), board, stopped).await;
        state.idle_since = Instant::now();
        match end {
            Ok(UnitEnd::Done) => state.failures = 0,
            Ok(UnitEnd::Lost) => {}
            Ok(UnitEnd::JobEnded) => tokio::time::sleep(LOOK).await,
            Ok(UnitEnd::GivenBack) => {
                state.failures += 1;
                let failures = state.failures;
                if failures >= MOST_FAILURES {
                    return Err(ClusterError::Refused(format!(
                        "this worker failed to run {failures} units in a row, so it stops; start it again when the cause that \
                         the warnings name is repaired"
                    )));
                }
                tokio::time::sleep(LOOK * 2u32.pow(failures)).await;
            }
            Err(ClusterError::Unreachable(why)) => {
                (self.observe)(WorkerEvent::Warning(why));
                tokio::time::sleep(LOOK).await;
            }
            Err(error) => return Err(error),
        }

        Ok(())
    }

    /// Checks that the job is about the files of this machine, and gets its links.
    async fn join(&self, job: &JobManifest, board: &JobBoard) -> Result<JoinedJob<'_>, ClusterError> {
        job.check_version()?;
        let request = (self.arguments)(&job.arguments).map_err(ClusterError::Refused)?;
        let fence_key = job.fence_key()?;

        let mut described = job.clone();
        if self.options.results.is_some() && job.results.is_some() {
            described.results.clone_from(&self.options.results);
        }
        let mut patience = Patience::default();
        let links = persist(&mut patience, || self.cluster.open(&described)).await?;

        // An id of its own for each job: an old one would not know what it has got of the limits.
        let id = uuid::Uuid::new_v4().simple().to_string();
        let budget = job.limits.budget();
        let has_budget = budget != assize_engine::Budget::default();
        let share = LimitShare::start(id.clone(), job.limits, Arc::clone(&links.limits));
        let engine = self.engine.clone().with_sharing(Sharing {
            fence_key,
            replies: Arc::clone(&links.replies),
            budget: has_budget.then(|| Arc::clone(&share) as _),
            rate: Some(Arc::clone(&share) as _),
        });

        let mut request = request;
        request.options.run.spending.budget = budget;
        let plan = prepare(&engine, &request, job.shards).await.map_err(|error| {
            ClusterError::Refused(format!("job {} can't be worked on here: {}", job.job, error.message))
        })?;
        job.check_plan(plan.identity())?;
        if !self.options.any_address {
            let own = &plan.identity().addresses;
            let agreed = persist(&mut patience, || board.agree_on_addresses(&job.job, own)).await?;
            check_addresses(&job.job, &agreed, own)?;
        }

        let folder = self.engine.process().working_folder.join(CLUSTER_FOLDER).join(&job.job);
        Ok(JoinedJob {
            worker: self,
            job: job.clone(),
            engine,
            request,
            plan: Arc::new(plan),
            links,
            share,
            id,
            folder,
        })
    }
}

/// Refuses a job whose models other workers ask at another address: its replies could not be shared, and might be those of other
/// models.
fn check_addresses(job: &str, agreed: &BTreeSet<String>, own: &BTreeSet<String>) -> Result<(), ClusterError> {
    if agreed == own {
        return Ok(());
    }

    let list = |addresses: &BTreeSet<String>| addresses.iter().cloned().collect::<Vec<_>>().join(", ");
    Err(ClusterError::Refused(format!(
        "the first worker of job {job} calls {}, and this one {}; give both the same address, such as `OPENAI_BASE_URL`, or start \
         this one with `--any-address` if they lead to the same models",
        list(agreed),
        list(own)
    )))
}

/// State of a worker between units.
struct WorkerState<'a> {
    /// Id of this worker among those that refuse jobs.
    id: String,
    joined: Vec<JoinedJob<'a>>,
    /// Jobs that this machine can't work on now, by their ids.
    refused: BTreeMap<String, RefusedJob>,
    patience: Patience,
    /// Units in a row that could not be run.
    failures: u32,
    idle_since: Instant,
}

/// Job that a machine can't work on, until its files are those of the job.
struct RefusedJob {
    why: String,
    /// Wait before the next look, and its end.
    wait: Duration,
    again: Instant,
}

/// Job as a worker works on it.
struct JoinedJob<'a> {
    worker: &'a Worker<'a>,
    job: JobManifest,
    engine: Engine,
    request: EvalRequest,
    /// Plan of the job, made once for all its units.
    plan: Arc<PreparedPlan>,
    links: JobLinks,
    share: Arc<LimitShare>,
    /// Id of this worker in this job.
    id: String,
    /// Folder of what is in the making.
    folder: PathBuf,
}

impl Drop for JoinedJob<'_> {
    fn drop(&mut self) {
        // Other workers of this machine may have their parts of it: only an empty folder can be removed.
        let _ = std::fs::remove_dir(&self.folder);
    }
}

impl JoinedJob<'_> {
    /// Works on a unit whose lease was taken at this time.
    async fn process(
        &self,
        (lease, leased): (Box<dyn UnitLease>, Instant),
        board: &JobBoard,
        stopped: &CancellationToken,
    ) -> Result<UnitEnd, ClusterError> {
        let unit = lease.unit().clone();
        let name = unit.name.to_string();
        let mut patience = Patience::default();
        if persist(&mut patience, || self.links.results.contains(&name)).await? {
            lease.complete().await?;
            return Ok(UnitEnd::Done);
        }
        let tries = earlier_tries(&*lease);
        if tries > 0 {
            let times = if tries == 1 { "a worker" } else { "workers" };
            (self.worker.observe)(WorkerEvent::Warning(format!(
                "unit {name} is run again: {times} vanished with it, or lost its lease"
            )));
            // Whoever puts the unit into the queue again finds out here how often it was tried.
            persist(&mut patience, || board.note_tries(&self.job.job, &unit.name, tries)).await?;
        }
        if leased.elapsed() >= self.links.queue.lease_term() {
            // Servers that were away have held it up until here.
            self.tell_lost(&name);
            return Ok(UnitEnd::Lost);
        }
        if tries >= TRIES && unit.given_up.is_none() {
            self.split(&*lease, tries).await?;
            return Ok(UnitEnd::Done);
        }

        let folder = self.folder.join(format!("{name}-{}", self.id));
        let _ = std::fs::remove_dir_all(&folder);
        let end = self.run_and_store((&*lease, leased), &folder, board, stopped).await;
        let _ = std::fs::remove_dir_all(&folder);
        end
    }

    /// Tells that somebody else may have a unit.
    fn tell_lost(&self, name: &str) {
        (self.worker.observe)(WorkerEvent::Warning(format!(
            "the lease of unit {name} has expired: another worker may have it"
        )));
    }

    async fn run_and_store(
        &self,
        (lease, leased): (&dyn UnitLease, Instant),
        folder: &Path,
        board: &JobBoard,
        stopped: &CancellationToken,
    ) -> Result<UnitEnd, ClusterError> {
        let unit = lease.unit();
        let name = unit.name.to_string();
        let stop = stopped.child_token();
        let run = self.start(unit, folder, stop.clone());
        let (run, was_lost, has_ended) = self.hold((lease, leased), run, &stop, board).await?;

        if let UnitRun::Finished(finished) = &run
            && !is_complete(finished)
            && let Some(sent) = finished.info.summary.as_ref().and_then(|summary| summary.sent)
        {
            // Only for the summary: a server that is away must not hold up the unit.
            let told = board.add_unfinished(&self.job.job, sent);
            let _ = tokio::time::timeout(TELLING, told).await;
        }

        match run {
            UnitRun::Finished(finished) if is_complete(&finished) => {
                let items = finished.totals.counts.total();
                let storing = async {
                    let bytes = pack(folder.to_path_buf()).await?;
                    let mut patience = Patience::default();
                    // Stored also when the lease is lost: it is as good as that of somebody else, and here now.
                    persist(&mut patience, || self.links.results.create(&name, bytes.clone())).await?;
                    persist(&mut patience, || lease.complete()).await
                };
                if was_lost {
                    storing.await?;
                } else {
                    self.extend_during(lease, storing).await?;
                }
                (self.worker.observe)(WorkerEvent::UnitDone { unit: name, items });
                Ok(UnitEnd::Done)
            }
            _ if was_lost => {
                self.tell_lost(&name);
                Ok(UnitEnd::Lost)
            }
            run => {
                let is_spent = matches!(&run, UnitRun::Finished(run) if run.exit == ExitStatus::OverBudget);
                let why = match run {
                    UnitRun::Failed(error) => Some(error.message),
                    UnitRun::Finished(finished) if !stop.is_cancelled() => failure_words(*finished),
                    UnitRun::Finished(_) => None,
                };
                self.give_back(lease).await?;
                if has_ended || is_spent || stopped.is_cancelled() {
                    return Ok(UnitEnd::JobEnded);
                }
                if let Some(why) = why {
                    (self.worker.observe)(WorkerEvent::Warning(format!(
                        "unit {name} goes back to the queue: {why}"
                    )));
                }
                Ok(UnitEnd::GivenBack)
            }
        }
    }

    /// Runs a unit on a thread of its own: a run is a task that stays where it is.
    fn start(
        &self,
        unit: &WorkUnit,
        folder: &Path,
        stop: CancellationToken,
    ) -> tokio::task::JoinHandle<UnitRun> {
        let engine = self.engine.clone().with_stop(stop);
        let mut request = self.request.clone();
        let run = &mut request.options.run;
        run.run_dir = Some(folder.to_path_buf());
        run.shard = ShardNumber::new(unit.name.shard, self.job.shards).ok();
        run.unit = Some(UnitOptions {
            part: unit.name.part.clone(),
            plan: self.job.plan.hash.clone(),
            // The same for all that work on the shard: what one of them bought is bought by the unit.
            run_id: format!("{}-{}", self.job.job, unit.name.shard),
            given_up: unit.given_up.clone(),
        });

        let plan = Arc::clone(&self.plan);
        let runtime = tokio::runtime::Handle::current();
        tokio::task::spawn_blocking(move || {
            let running = engine.evaluate_prepared(&plan, &request.mode, &request.options);
            let outcome = runtime.block_on(running);
            match outcome {
                Ok(RunOutcome::Finished(finished)) => UnitRun::Finished(finished),
                Ok(_) => UnitRun::Failed(EngineError::usage("the arguments of the job ask for no run")),
                Err(error) => UnitRun::Failed(error),
            }
        })
    }

    /// Extends the lease while the unit runs, and stops the run when the lease is lost or the job ends. Returns also
    /// whether that was so.
    async fn hold(
        &self,
        (lease, leased): (&dyn UnitLease, Instant),
        mut run: tokio::task::JoinHandle<UnitRun>,
        stop: &CancellationToken,
        board: &JobBoard,
    ) -> Result<(UnitRun, bool, bool), ClusterError> {
        let term = self.links.queue.lease_term();
        let mut held = leased;
        let (mut was_lost, mut has_ended) = (false, false);
        loop {
            let round = async {
                tokio::time::sleep(term / 3).await;
                let begun = Instant::now();
                let extended = tokio::time::timeout(term / 3, lease.extend()).await;
                // Both at once: a lease that was extended must be known to be before it runs out.
                let (state, _) = tokio::join!(
                    tokio::time::timeout(term / 3, board.job(&self.job.job)),
                    tokio::time::timeout(term / 3, board.show_work(&self.job.job, &self.id)),
                );
                let is_over = matches!(state, Ok(Ok(Some(job))) if job.state != JobState::Running);
                (matches!(extended, Ok(Ok(()))).then_some(begun), is_over)
            };
            tokio::select! {
                // A process that was held up finds out first that its time is over.
                biased;
                () = tokio::time::sleep_until(held + term), if !was_lost => was_lost = true,
                ended = &mut run => {
                    let ended = ended.map_err(|error| ClusterError::Refused(format!("a run failed: {error}")))?;
                    return Ok((ended, was_lost, has_ended));
                }
                () = self.share.stopped().cancelled(), if !has_ended => has_ended = true,
                (extended, is_over) = round => {
                    held = extended.unwrap_or(held);
                    has_ended |= is_over;
                }
            }
            if was_lost || has_ended {
                stop.cancel();
            }
        }
    }

    /// Extends the lease while the result is stored: a place that takes it slowly must not lead to another run of the unit.
    async fn extend_during<T>(&self, lease: &dyn UnitLease, storing: impl Future<Output = T>) -> T {
        let term = self.links.queue.lease_term();
        tokio::pin!(storing);
        loop {
            let round = async {
                tokio::time::sleep(term / 3).await;
                tokio::time::timeout(term / 3, lease.extend()).await
            };
            tokio::select! {
                stored = &mut storing => return stored,
                // One that could not be extended is tried again: it is not worse than not to try.
                _ = round => {}
            }
        }
    }

    /// Puts a unit back for others. This attempt does not count, those before it do. If this process dies in between, the
    /// coordinator does it.
    async fn give_back(&self, lease: &dyn UnitLease) -> Result<(), ClusterError> {
        // Whoever takes it next finds what was paid for, and this process may be about to end.
        let settled = tokio::time::timeout(TELLING, self.links.replies.settled());
        let _ = self.extend_during(lease, settled).await;
        let unit = WorkUnit { tries: earlier_tries(lease), ..lease.unit().clone() };
        lease.complete().await?;
        let tag = uuid::Uuid::new_v4().simple().to_string();
        self.links.queue.publish(&[unit], &tag).await
    }

    /// Halves a unit that ends its workers, down to a case, which is given up.
    async fn split(&self, lease: &dyn UnitLease, tries: u64) -> Result<(), ClusterError> {
        let unit = lease.unit();
        let size = async |part: &WorkUnit| {
            let mut request = self.request.clone();
            request.options.run.shard = ShardNumber::new(part.name.shard, self.job.shards).ok();
            request.options.run.unit =
                Some(UnitOptions { part: part.name.part.clone(), ..UnitOptions::default() });
            let identity = identify(&self.engine, &request).await;
            identity.map(|identity| identity.own_items).map_err(|error| ClusterError::Refused(error.message))
        };

        let halves = unit.name.halves().map(WorkUnit::new);
        let (whole, first) = (size(unit).await?, size(&halves[0]).await?);
        let name = &unit.name;
        if first > 0 && first < whole {
            self.links.queue.publish(&halves, "half").await?;
            lease.complete().await?;
            let what = format!("unit {name} ended {TRIES} workers; it is split in half and run again");
            (self.worker.observe)(WorkerEvent::Warning(what));
            return Ok(());
        }

        let reason = format!("abandoned: {tries} workers ended while they worked on it");
        let given_up = WorkUnit { given_up: Some(reason), ..unit.clone() };
        lease.complete().await?;
        self.links.queue.publish(&[given_up], "given-up").await?;
        (self.worker.observe)(WorkerEvent::Warning(format!(
            "unit {name} ended {TRIES} workers; it is abandoned"
        )));
        Ok(())
    }
}

/// Reason why a run did not come to all its cases, with an example of what went wrong.
fn failure_words(run: FinishedRun) -> Option<String> {
    let summary = run.info.summary?;
    let example = run.totals.incomplete.first().map(|reason| reason.example.clone());
    let why = summary.exit_reason;

    Some(match example {
        Some(example) => format!("{why}: {example}"),
        None => why,
    })
}

/// Times that a unit was handed out before this lease, without a result and without a word.
fn earlier_tries(lease: &dyn UnitLease) -> u64 {
    lease.unit().tries + lease.deliveries().saturating_sub(1)
}

/// Plan of a request as this process makes it, if it can carry it out.
async fn prepare(engine: &Engine, request: &EvalRequest, shards: u32) -> Result<PreparedPlan, EngineError> {
    let (engine, request) = (engine.clone(), request.clone());
    let runtime = tokio::runtime::Handle::current();
    let prepared = tokio::task::spawn_blocking(move || {
        runtime.block_on(engine.prepare(&request.mode, &request.options, shards))
    });

    prepared.await.unwrap_or_else(|error| Err(EngineError::usage(format!("planning failed: {error}"))))
}

/// Reading of a request by this process: which plan it is, and if it could be carried out.
async fn identify(
    engine: &Engine,
    request: &EvalRequest,
) -> Result<assize_engine::PlanIdentity, EngineError> {
    let (engine, request) = (engine.clone(), request.clone());
    let runtime = tokio::runtime::Handle::current();
    let identified = tokio::task::spawn_blocking(move || {
        runtime.block_on(engine.identify(&request.mode, &request.options, true))
    });

    identified.await.unwrap_or_else(|error| Err(EngineError::usage(format!("planning failed: {error}"))))
}

/// True if the run came to all its cases.
fn is_complete(run: &FinishedRun) -> bool {
    let is_whole = run.info.summary.as_ref().is_some_and(|summary| summary.not_run == 0);
    is_whole && run.info.rows.is_some()
}
