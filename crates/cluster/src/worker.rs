//! A worker takes units of jobs, runs each with the normal engine, and stores the results.
//!
//! A worker may be killed, stopped for minutes (a suspended laptop, a paused virtual machine) or cut off from
//! the servers at any point, and the run must still equal a run on one machine. The unit of work is therefore a
//! shard and not a call: the engine runs it as usual, with its caches, panels and limits, and only finished
//! units leave the machine. These rules make that safe:
//!
//! - A unit is leased, not taken. The worker extends the lease every third of its term. When the term has
//!   passed on the worker's own clock without an extension, the worker treats the unit as lost and stops the
//!   run, because another worker may already have it. Clocks of two machines are never compared.
//! - A finished result is stored even if the lease was lost. Storing creates a file only if there is none, so
//!   of two results of a unit the first one counts and the second is dropped. Two workers on one unit cost
//!   time, never a wrong row. They rarely cost money: replies are shared through the servers, under the id of
//!   the shard, before the unit is done.
//! - A worker that fails and can say so (full disk, wrong key, spent budget) puts the unit back as a new
//!   message. Such a failure is not the unit's fault and does not count as a try.
//! - If the workers of a unit vanish without a word, the unit may be the cause. After two such tries it is halved, and
//!   each half runs on its own, until a single group of cases remains, which is abandoned with a row that gives the
//!   reason. A retry limit without halving would abandon up to a whole shard because of one case.
//! - Servers that don't answer are retried with [`Patience`]; only errors that a retry can't cure end the
//!   worker.
//!
//! A unit runs on a thread of its own ([`JoinedJob::start`]), so that a busy run can't delay the extensions of
//! its lease.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assize_engine::{
    CancellationToken, Engine, EngineError, ExitStatus, FinishedRun, PreparedPlan, ProgramUse, RunOutcome,
    Sharing, UnitOptions,
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

/// Folder for unfinished files of workers and coordinators, below the working folder.
pub(crate) const CLUSTER_FOLDER: &str = ".assize/cluster";
/// Pause between two looks for a job.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// How long to wait for a unit before the state of the job is checked again.
const LEASE_WAIT: Duration = Duration::from_secs(2);
/// Time limit for reporting the requests of a unit that has no result, and for storing its replies.
const REPORT_TIMEOUT: Duration = Duration::from_secs(5);
/// Number of tries after which a unit is halved. A try is a lease that ended without a result and without a
/// word.
const MAX_TRIES: u64 = 2;
/// Units in a row that this worker fails to run before it stops.
const MAX_FAILURES: u32 = 5;

/// First and longest wait before a refused job is tried again; its files may have been updated by then.
const FIRST_REFUSAL_WAIT: Duration = Duration::from_secs(5);
const LONGEST_REFUSAL_WAIT: Duration = Duration::from_mins(1);

/// Options of a worker.
#[derive(Debug, Clone, Default)]
pub struct WorkerOptions {
    /// Time without work after which the worker stops; `None` waits for the next job.
    pub idle: Option<Duration>,
    /// Location of the results as this machine sees it; replaces the location in the job.
    pub results: Option<String>,
    /// Joins jobs even if other workers call the models at another address.
    pub any_address: bool,
    /// Permissions of files on this machine. Consent is not part of a job.
    pub programs: ProgramUse,
}

/// Something that happened to a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerEvent {
    /// It has joined a job.
    Joined {
        /// Id of the job.
        job: String,
        /// Number of results of the whole plan.
        items: u64,
    },
    /// A unit is done.
    UnitDone {
        /// Name of the unit.
        unit: String,
        /// Number of results in the unit.
        items: usize,
    },
    /// A message for the person who runs the worker.
    Warning(String),
}

/// Why a worker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerEnd {
    /// It received a stop signal.
    Stopped,
    /// There was no work for [`WorkerOptions::idle`].
    Idle,
}

/// A worker.
pub struct Worker<'a> {
    /// The machines that it works with.
    pub cluster: Arc<dyn Cluster>,
    /// The engine that runs the units.
    pub engine: Engine,
    /// Parses the arguments of jobs.
    pub arguments: &'a ArgumentReader,
    /// Options.
    pub options: WorkerOptions,
    /// Receives the events of this worker.
    pub observe: &'a (dyn Fn(WorkerEvent) + Sync),
}

/// How the work on a unit ended.
enum UnitEnd {
    Done,
    /// The unit went back to the queue; this does not count as a try.
    GivenBack,
    /// The job was stopped, or its budget is spent.
    JobEnded,
    /// The lease expired: another worker may have the unit.
    Lost,
}

/// How the run of a unit ended.
enum UnitRun {
    Finished(Box<FinishedRun>),
    Failed(EngineError),
}

impl Worker<'_> {
    /// Works until it is stopped, or has been idle for [`WorkerOptions::idle`].
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
            unread: BTreeSet::new(),
            refused_replies: 0,
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
                let wait = if jobs.len() == 1 { LEASE_WAIT } else { POLL_INTERVAL };
                if !stopped.is_cancelled() {
                    self.take_turn(job, wait, &board, &stopped, &mut state).await?;
                }
            }
            if self.options.idle.is_some_and(|idle| state.idle_since.elapsed() >= idle) {
                break WorkerEnd::Idle;
            }
            if jobs.is_empty() {
                tokio::select! {
                    () = tokio::time::sleep(POLL_INTERVAL) => {}
                    () = stopped.cancelled() => {}
                }
            }
        };
        watch.abort();

        Ok(end)
    }

    /// The running jobs, oldest first, without those that this worker has refused and may not retry yet.
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
            if job.is_none() && state.unread.insert(id.clone()) {
                (self.observe)(WorkerEvent::Warning(format!(
                    "job {id} is listed without a description that this worker accepts: it was removed, or is not signed with \
                     the secret of this worker"
                )));
            }
            running.extend(job.filter(|job| job.state == JobState::Running));
        }
        state
            .refused
            .retain(|id, refused| Instant::now() < refused.again || running.iter().any(|job| job.job == *id));
        // Join a job again when it continues after a stop, when its limits changed, or when its files on this
        // machine changed.
        state.joined.retain(|joined| {
            let goes_on = running.contains(&joined.job) && !joined.share.stopped().is_cancelled();
            goes_on && joined.plan.is_current()
        });

        Ok(running)
    }

    /// Works on one unit of a job, if one can be leased within `wait`.
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
                        // Only for the coordinator's messages, so a failure does not matter.
                        let _ = board.note_refusal(&job.job, &state.id, None).await;
                    }
                    (self.observe)(WorkerEvent::Joined { job: job.job.clone(), items: job.plan.items });
                    state.joined.push(joined);
                }
                Err(ClusterError::Refused(why)) => {
                    // The refusal is only reported to the coordinator, so a failure does not matter.
                    let _ = board.note_refusal(&job.job, &state.id, Some(&why)).await;
                    let before = state.refused.get(&job.job);
                    if before.is_none_or(|before| before.why != why) {
                        (self.observe)(WorkerEvent::Warning(why.clone()));
                    }
                    let wait = before
                        .map_or(FIRST_REFUSAL_WAIT, |before| (before.wait * 2).min(LONGEST_REFUSAL_WAIT));
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

        // The servers start the term when they hand out the unit, which is before this moment.
        let end = joined.process(lease, Instant::now(), board, stopped).await;
        state.idle_since = Instant::now();
        let replies = self.cluster.refused().replies;
        if replies > state.refused_replies {
            let more = replies - state.refused_replies;
            (self.observe)(WorkerEvent::Warning(refused_replies(more)));
            // Only the summary needs this: servers that are away must not hold up the work.
            let report = board.add_refused_replies(&job.job, more);
            let _ = tokio::time::timeout(REPORT_TIMEOUT, report).await;
            state.refused_replies = replies;
        }
        match end {
            Ok(UnitEnd::Done) => state.failures = 0,
            Ok(UnitEnd::Lost) => {}
            Ok(UnitEnd::JobEnded) => tokio::time::sleep(POLL_INTERVAL).await,
            Ok(UnitEnd::GivenBack) => {
                state.failures += 1;
                let failures = state.failures;
                if failures >= MAX_FAILURES {
                    return Err(ClusterError::Refused(format!(
                        "this worker failed to run {failures} units in a row, so it stops; start it again when the cause that \
                         the warnings name is repaired"
                    )));
                }
                tokio::time::sleep(POLL_INTERVAL * 2u32.pow(failures)).await;
            }
            Err(ClusterError::Unreachable(why)) => {
                (self.observe)(WorkerEvent::Warning(why));
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            Err(error) => return Err(error),
        }

        Ok(())
    }

    /// Checks that the plan of the job matches the files of this machine, and opens the links of the job.
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

        // A new id for each job: under an old id, the coordinator would count budget that this share has not
        // received.
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
        request.options.run.programs = self.options.programs;
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

/// Message about replies that were refused.
pub(crate) fn refused_replies(number: u64) -> String {
    let (replies, were) = if number == 1 { ("reply", "was") } else { ("replies", "were") };
    format!(
        "{number} stored {replies} {were} refused and asked for again: not signed with the secret of the job, so somebody else \
         wrote or changed them"
    )
}

/// Refuses a job if other workers call its models at another address: workers share replies, and those may come
/// from other models.
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
    /// Id of this worker in the lists of workers that refuse a job.
    id: String,
    joined: Vec<JoinedJob<'a>>,
    /// Jobs that this machine can't work on now, by id.
    refused: BTreeMap<String, RefusedJob>,
    /// Jobs without a description that is accepted.
    unread: BTreeSet<String>,
    /// Refused replies that were reported.
    refused_replies: u64,
    patience: Patience,
    /// Number of units in a row that failed to run.
    failures: u32,
    idle_since: Instant,
}

/// A job that this machine refused, and when to try it again.
struct RefusedJob {
    why: String,
    /// Last wait, and when it ends.
    wait: Duration,
    again: Instant,
}

/// A job that this worker has joined.
struct JoinedJob<'a> {
    worker: &'a Worker<'a>,
    job: JobManifest,
    engine: Engine,
    request: EvalRequest,
    /// Plan of the job, made once for all of its units.
    plan: Arc<PreparedPlan>,
    links: JobLinks,
    share: Arc<LimitShare>,
    /// Id of this worker in this job.
    id: String,
    /// Folder for unfinished files.
    folder: PathBuf,
}

impl Drop for JoinedJob<'_> {
    fn drop(&mut self) {
        // Fails unless the folder is empty: other workers of this machine may still use it.
        let _ = std::fs::remove_dir(&self.folder);
    }
}

impl JoinedJob<'_> {
    /// Works on a unit that was leased at `leased`.
    async fn process(
        &self,
        lease: Box<dyn UnitLease>,
        leased: Instant,
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
            // A coordinator that publishes the unit again reads here how often it was tried.
            persist(&mut patience, || board.note_tries(&self.job.job, &unit.name, tries)).await?;
        }
        if leased.elapsed() >= self.links.queue.lease_term() {
            // The servers did not answer for so long that the lease has expired.
            self.warn_of_lost_lease(&name);
            return Ok(UnitEnd::Lost);
        }
        if tries >= MAX_TRIES && unit.given_up.is_none() {
            self.split(&*lease, tries).await?;
            return Ok(UnitEnd::Done);
        }

        let folder = self.folder.join(format!("{name}-{}", self.id));
        let _ = std::fs::remove_dir_all(&folder);
        let end = self.run_and_store(&*lease, leased, &folder, board, stopped).await;
        let _ = std::fs::remove_dir_all(&folder);
        end
    }

    /// Warns that another worker may have the unit.
    fn warn_of_lost_lease(&self, name: &str) {
        (self.worker.observe)(WorkerEvent::Warning(format!(
            "the lease of unit {name} has expired: another worker may have it"
        )));
    }

    async fn run_and_store(
        &self,
        lease: &dyn UnitLease,
        leased: Instant,
        folder: &Path,
        board: &JobBoard,
        stopped: &CancellationToken,
    ) -> Result<UnitEnd, ClusterError> {
        let unit = lease.unit();
        let name = unit.name.to_string();
        let stop = stopped.child_token();
        let run = self.start(unit, folder, stop.clone());
        let (run, was_lost, has_ended) = self.hold(lease, leased, run, &stop, board).await?;

        if let UnitRun::Finished(finished) = &run
            && !is_complete(finished)
            && let Some(sent) = finished.info.summary.as_ref().and_then(|summary| summary.sent)
        {
            // Only the summary needs this: servers that are away must not hold up the unit.
            let report = board.add_unfinished(&self.job.job, sent);
            let _ = tokio::time::timeout(REPORT_TIMEOUT, report).await;
        }

        match run {
            UnitRun::Finished(finished) if is_complete(&finished) => {
                let items = finished.totals.counts.total();
                let storing = async {
                    let bytes = pack(folder.to_path_buf()).await?;
                    let mut patience = Patience::default();
                    // Store it even if the lease is lost: it is as good as the result of any other worker, and
                    // it is ready.
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
                self.warn_of_lost_lease(&name);
                Ok(UnitEnd::Lost)
            }
            run => {
                let is_spent = matches!(&run, UnitRun::Finished(run) if run.exit == ExitStatus::OverBudget);
                let why = match run {
                    UnitRun::Failed(error) => Some(error.message),
                    UnitRun::Finished(finished) if !stop.is_cancelled() => failure_message(*finished),
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

    /// Runs a unit on a thread of its own: the future of a run can't move between threads.
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
            // The same run id for all workers of a shard, so that a reply paid for by one of them counts as
            // paid for by the unit.
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

    /// Extends the lease while the unit runs, and stops the run when the lease is lost or the job ends. Returns
    /// the run, whether the lease was lost, and whether the job ended.
    async fn hold(
        &self,
        lease: &dyn UnitLease,
        leased: Instant,
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
                // Waits for both at once, because the result of the extension must arrive before the lease expires.
                let (state, _) = tokio::join!(
                    tokio::time::timeout(term / 3, board.job(&self.job.job)),
                    tokio::time::timeout(term / 3, board.show_work(&self.job.job, &self.id)),
                );
                let is_over = matches!(state, Ok(Ok(Some(job))) if job.state != JobState::Running);
                (matches!(extended, Ok(Ok(()))).then_some(begun), is_over)
            };
            tokio::select! {
                // `biased`: a process that was suspended must notice first that its lease has expired.
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

    /// Extends the lease while the result is stored: slow storage must not lead to a second run of the unit.
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
                // A failed extension is retried in the next round; the lease may still hold.
                _ = round => {}
            }
        }
    }

    /// Puts a unit back into the queue for other workers. This attempt does not count as a try, earlier ones
    /// do. If the process dies between the two steps, the coordinator publishes the unit again.
    async fn give_back(&self, lease: &dyn UnitLease) -> Result<(), ClusterError> {
        // Store the replies first: the next worker then need not pay for them again, and this process may be
        // about to end.
        let settled = tokio::time::timeout(REPORT_TIMEOUT, self.links.replies.settled());
        let _ = self.extend_during(lease, settled).await;
        let unit = WorkUnit { tries: earlier_tries(lease), ..lease.unit().clone() };
        lease.complete().await?;
        let tag = uuid::Uuid::new_v4().simple().to_string();
        self.links.queue.publish(&[unit], &tag).await
    }

    /// Halves a unit whose workers vanish. A unit that can't be halved is published once more as abandoned.
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
            let what = format!("unit {name} ended {MAX_TRIES} workers; it is split in half and run again");
            (self.worker.observe)(WorkerEvent::Warning(what));
            return Ok(());
        }

        let reason = format!("abandoned: {tries} workers ended while they worked on it");
        let given_up = WorkUnit { given_up: Some(reason), ..unit.clone() };
        lease.complete().await?;
        self.links.queue.publish(&[given_up], "given-up").await?;
        (self.worker.observe)(WorkerEvent::Warning(format!(
            "unit {name} ended {MAX_TRIES} workers; it is abandoned"
        )));
        Ok(())
    }
}

/// Why a run did not finish all its cases, with one example.
fn failure_message(run: FinishedRun) -> Option<String> {
    let summary = run.info.summary?;
    let example = run.totals.incomplete.first().map(|reason| reason.example.clone());
    let why = summary.exit_reason;

    Some(match example {
        Some(example) => format!("{why}: {example}"),
        None => why,
    })
}

/// How often the unit was leased before this lease without a result and without a word.
fn earlier_tries(lease: &dyn UnitLease) -> u64 {
    lease.unit().tries + lease.deliveries().saturating_sub(1)
}

/// Plans a request for execution.
async fn prepare(engine: &Engine, request: &EvalRequest, shards: u32) -> Result<PreparedPlan, EngineError> {
    let (engine, request) = (engine.clone(), request.clone());
    let runtime = tokio::runtime::Handle::current();
    let prepared = tokio::task::spawn_blocking(move || {
        runtime.block_on(engine.prepare(&request.mode, &request.options, shards))
    });

    prepared.await.unwrap_or_else(|error| Err(EngineError::internal(error)))
}

/// Identifies the plan of a request without preparing to run it.
async fn identify(
    engine: &Engine,
    request: &EvalRequest,
) -> Result<assize_engine::PlanIdentity, EngineError> {
    let (engine, request) = (engine.clone(), request.clone());
    let runtime = tokio::runtime::Handle::current();
    let identified = tokio::task::spawn_blocking(move || {
        runtime.block_on(engine.identify(&request.mode, &request.options, true))
    });

    identified.await.unwrap_or_else(|error| Err(EngineError::internal(error)))
}

/// True if all cases of the run have finished.
fn is_complete(run: &FinishedRun) -> bool {
    let is_whole = run.info.summary.as_ref().is_some_and(|summary| summary.not_run == 0);
    is_whole && run.info.rows.is_some()
}
