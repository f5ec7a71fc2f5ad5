//! Watches a job until it ends.
//!
//! The list of stored results decides which units are done; the queue only distributes work. Every few seconds the
//! coordinator compares the plan with both, and publishes each unit that has neither a result nor a place in the queue.
//! A queue that loses or doubles messages, and a worker or coordinator that dies between two steps, therefore cost time
//! but no results. The order matters: the queue is listed before the results, since a unit that leaves the queue in
//! between has its result already.
//!
//! Results are fetched while the job runs. This spreads the transfer, and damaged results are found while workers can
//! still run their units again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use crate::absence::{Absence, Presence};
use crate::board::{JobBoard, SEAT_BEAT, Seat};
use crate::error::ClusterError;
use crate::event::JobEvent;
use crate::gather::unpack_stored;
use crate::job::JobManifest;
use crate::limits::LimitKeeper;
use crate::patience::Patience;
use crate::seam::JobLinks;
use crate::unit::{UnitName, WorkUnit, covering_units, missing_units};

/// Shortest time between two looks at the results.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Time between two comparisons of the queue with the missing units.
const RECONCILE_INTERVAL: Duration = Duration::from_secs(5);

/// Number of results fetched between two looks.
const MAX_FETCHED_AT_ONCE: usize = 64;

/// Why no more units are handed out.
pub(crate) enum JobEnd {
    Complete,
    OverBudget,
    Stopped,
    /// No worker has shown a sign of work for this long.
    NoWorker(Duration),
}

/// A job that its coordinator watches.
pub(crate) struct JobWatch<'a> {
    /// Receives the events of the job.
    observe: &'a dyn Fn(JobEvent),
    job: &'a JobManifest,
    board: &'a JobBoard,
    links: &'a JobLinks,
    keeper: &'a LimitKeeper,
    staging: &'a Path,
    pub(crate) seat: Seat,
    /// When this watch last renewed the seat.
    beaten: Instant,
    /// Units whose results were listed. A result is never removed, but servers that were suspended may list
    /// fewer.
    pub(crate) done: BTreeSet<UnitName>,
    /// Units whose results are on this machine.
    fetched: BTreeSet<UnitName>,
    /// Units whose damaged results were removed.
    discarded: BTreeSet<UnitName>,
    /// The number of complete shards that was last reported.
    reported_shards: Option<u32>,
    /// When the queue was last compared with the missing units.
    reconciled: Option<Instant>,
    patience: Patience,
}

/// The workers of a job, as the coordinator last saw them.
struct WorkerWatch {
    looked: Instant,
    /// The number of refusing workers that was last reported.
    refusals: usize,
    absence: Absence,
}

impl<'a> JobWatch<'a> {
    pub(crate) fn begin(
        observe: &'a dyn Fn(JobEvent),
        job: &'a JobManifest,
        board: &'a JobBoard,
        links: &'a JobLinks,
        keeper: &'a LimitKeeper,
        staging: &'a Path,
        seat: Seat,
    ) -> Self {
        Self {
            observe,
            job,
            board,
            links,
            keeper,
            staging,
            seat,
            beaten: Instant::now(),
            done: BTreeSet::new(),
            fetched: BTreeSet::new(),
            discarded: BTreeSet::new(),
            reported_shards: None,
            reconciled: None,
            patience: Patience::default(),
        }
    }

    fn tell(&self, event: JobEvent) {
        (self.observe)(event);
    }

    /// Waits until every unit has a result, the budget is spent, no worker has worked for `wait`, the user
    /// stops the job (`stopped`), or `deadline` has passed.
    pub(crate) async fn until_end(
        &mut self,
        stopped: impl Future<Output = ()>,
        wait: Duration,
        deadline: Option<Duration>,
    ) -> Result<JobEnd, ClusterError> {
        let begun = Instant::now();
        tokio::pin!(stopped);
        let absence = Absence::begin(wait, self.job.lease_term());
        let mut workers = WorkerWatch { looked: Instant::now(), refusals: 0, absence };
        loop {
            self.show_life().await?;

            let looked = Instant::now();
            if self.look_at_results().await? {
                return Ok(JobEnd::Complete);
            }
            if self.keeper.refused().await.is_some() {
                return Ok(JobEnd::OverBudget);
            }
            if workers.looked.elapsed() >= RECONCILE_INTERVAL && self.look_at_workers(&mut workers).await {
                return Ok(JobEnd::NoWorker(workers.absence.limit()));
            }
            if deadline.is_some_and(|deadline| begun.elapsed() >= deadline) {
                return Ok(JobEnd::Stopped);
            }

            // Listing many results takes a while: spend no more than a tenth of the time on it.
            let pause = (looked.elapsed() * 9).clamp(MIN_POLL_INTERVAL, SEAT_BEAT);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = &mut stopped => {
                    self.tell(JobEvent::Stopping);
                    return Ok(JobEnd::Stopped);
                }
            }
        }
    }

    /// Renews the seat when that is due.
    async fn show_life(&mut self) -> Result<(), ClusterError> {
        if self.beaten.elapsed() < SEAT_BEAT && self.seat.sign().is_held() {
            return Ok(());
        }

        match self.seat.beat().await {
            Ok(()) => {
                self.beaten = Instant::now();
                Ok(())
            }
            Err(error) => self.patience.wait(error).await,
        }
    }

    /// Lists the results, fetches some of them, and publishes lost units again. Returns true if all results are
    /// there.
    async fn look_at_results(&mut self) -> Result<bool, ClusterError> {
        match results(self.links).await {
            Ok(listed) => {
                self.patience = Patience::default();
                self.done.extend(listed);
            }
            Err(error) => {
                self.tell(JobEvent::Warning(error.to_string()));
                self.patience.wait(error).await?;
                return Ok(false);
            }
        }

        let some = self.done.difference(&self.fetched).take(MAX_FETCHED_AT_ONCE).cloned().collect();
        self.fetch_each(some).await?;
        if missing_units(self.job.shards, &self.done).is_empty() {
            let rest = covering_units(self.job.shards, &self.done);
            let rest = rest.into_iter().filter(|unit| !self.fetched.contains(unit)).collect();
            self.fetch_each(rest).await?;
        }
        let missing = missing_units(self.job.shards, &self.done);
        self.report_progress(&missing);
        if missing.is_empty() {
            return Ok(true);
        }
        if self.reconciled.is_none_or(|at| at.elapsed() >= RECONCILE_INTERVAL) {
            match self.reconcile(&missing).await {
                Ok(()) => self.reconciled = Some(Instant::now()),
                Err(error) => self.tell(JobEvent::Warning(error.to_string())),
            }
        }

        Ok(false)
    }

    /// Fetches results that are not on this machine yet. A result that can't be fetched now is fetched before
    /// the merge. A damaged result is removed as long as workers can run its unit again.
    async fn fetch_each(&mut self, units: Vec<UnitName>) -> Result<(), ClusterError> {
        for unit in units {
            self.show_life().await?;
            match fetch(self.links, &unit, self.staging).await {
                Ok(()) => {
                    self.fetched.insert(unit);
                }
                Err(ClusterError::Damaged(why)) => self.discard(unit, why).await?,
                Err(_) => {}
            }
        }

        Ok(())
    }

    /// Removes a result that is damaged.
    ///
    /// # Errors
    /// When a result of this unit was damaged before. A unit whose result was damaged twice is not run a third
    /// time.
    async fn discard(&mut self, unit: UnitName, why: String) -> Result<(), ClusterError> {
        if self.discarded.contains(&unit) {
            return Err(ClusterError::Damaged(format!(
                "{why}, for the second time. When the place of the results works again, run the same command with `--resume`"
            )));
        }
        match self.links.results.discard(&unit.to_string()).await {
            Ok(()) => {
                self.tell(JobEvent::Warning(format!("{why}; the unit runs again")));
                self.done.remove(&unit);
                self.reconciled = None;
                self.discarded.insert(unit);
                Ok(())
            }
            Err(ClusterError::Unreachable(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Reports how many shards are complete, if that has changed.
    fn report_progress(&mut self, missing: &[UnitName]) {
        let open: BTreeSet<u32> = missing.iter().map(|unit| unit.shard).collect();
        let shards = self.job.shards;
        let done = shards - u32::try_from(open.len()).unwrap_or(u32::MAX);
        if self.reported_shards != Some(done) {
            self.reported_shards = Some(done);
            self.tell(JobEvent::Progress { done, shards });
        }
    }

    /// Reports workers that refuse the job. Returns true if no worker has worked on it for the longest wait.
    async fn look_at_workers(&self, workers: &mut WorkerWatch) -> bool {
        workers.refusals = self.report_refusals(workers.refusals).await;
        let is_abandoned = self.is_abandoned(&mut workers.absence).await;
        workers.looked = Instant::now();

        is_abandoned
    }

    /// Reports how many workers refuse the job, if there are more than `reported`; returns their number.
    async fn report_refusals(&self, reported: usize) -> usize {
        // Only for a message: if the servers are away now, the next look asks again.
        let Ok(refusals) = self.board.refusals(&self.job.job).await else { return reported };
        let workers = refusals.len();
        if let Some((_, reason)) = refusals.into_iter().next().filter(|_| workers > reported) {
            self.tell(JobEvent::Refused { workers, reason });
        }

        workers
    }

    /// True if there was no sign of work for the longest wait. Warns earlier than that.
    async fn is_abandoned(&self, absence: &mut Absence) -> bool {
        let shown = self.board.work_shown(&self.job.job).await.ok();
        match absence.note(shown.map(|shown| (shown, self.done.len()))) {
            Presence::Quiet => false,
            Presence::Missed(waited) => {
                self.tell(JobEvent::NoWorker { waited, limit: absence.limit() });
                false
            }
            Presence::GivenUp => true,
        }
    }

    /// Publishes units again that have no result and are not in the queue: a coordinator died before it
    /// published them, a worker took them out and could not put them back, or the servers lost them.
    async fn reconcile(&self, missing: &[UnitName]) -> Result<(), ClusterError> {
        if self.links.queue.depth().await? >= missing.len() as u64 {
            return Ok(());
        }
        // List the queue before the results: a unit that is completed in between then has a result.
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

/// Units that have a result.
pub(crate) async fn results(links: &JobLinks) -> Result<BTreeSet<UnitName>, ClusterError> {
    let names = links.results.names().await?;
    // Other files in the same folder are not ours.
    Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
}

/// Fetches a result, unless it is on this machine already.
pub(crate) async fn fetch(links: &JobLinks, unit: &UnitName, staging: &Path) -> Result<(), ClusterError> {
    let folder: PathBuf = staging.join(unit.to_string());
    if folder.exists() {
        return Ok(());
    }

    unpack_stored(&*links.results, unit, folder).await
}
