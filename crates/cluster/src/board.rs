//! Records of jobs: which jobs there are, their descriptions, and who coordinates them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use assize_engine::SentRequests;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::error::ClusterError;
use crate::job::{JobManifest, JobState};
use crate::patience::{Patience, persist};
use crate::seam::{Record, Records};
use crate::unit::UnitName;

/// Key of the record with the ids of unfinished jobs.
const OPEN_JOBS: &str = "open-jobs";
/// Beginning of the keys of the descriptions of jobs.
pub(crate) const JOB_KEY: &str = "job.";
/// Number of refusing workers that are recorded for a job.
const MAX_REFUSALS: usize = 1_000;
/// Number of units whose tries are recorded for a job.
const MAX_TRIED_UNITS: usize = 20_000;
/// Attempts to change a record that others change as well.
const ATTEMPTS: u32 = 20;
/// Time without a sign of life after which a coordinator counts as gone.
pub(crate) const SEAT_TERM: Duration = Duration::from_secs(6);
/// Time between two signs of life of a coordinator.
pub(crate) const SEAT_BEAT: Duration = Duration::from_secs(2);
/// How often a waiting coordinator checks whether the seat is free.
const SEAT_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Jobs of a cluster.
#[derive(Clone)]
pub(crate) struct JobBoard {
    records: Arc<dyn Records>,
}

impl JobBoard {
    pub(crate) fn new(records: Arc<dyn Records>) -> Self {
        Self { records }
    }

    /// Ids of unfinished jobs, oldest first.
    pub(crate) async fn open_jobs(&self) -> Result<Vec<String>, ClusterError> {
        let record = self.records.get(OPEN_JOBS).await?;
        record.map_or(Ok(Vec::new()), |record| read(&record))
    }

    /// Description of a job.
    ///
    /// # Errors
    /// When the record is no valid job. Its id becomes the name of folders on this machine.
    pub(crate) async fn job(&self, id: &str) -> Result<Option<JobManifest>, ClusterError> {
        let Some(record) = self.records.get(&job_key(id)).await? else { return Ok(None) };
        let job: JobManifest = read(&record)?;
        job.check_names()?;
        Ok(Some(job))
    }

    /// Stores the description of a job, and lists the job unless it is done.
    ///
    /// # Errors
    /// When the stored job is done and `job` is not: a merged job is never reopened.
    pub(crate) async fn post(&self, job: &JobManifest) -> Result<(), ClusterError> {
        let bytes = write(job)?;
        self.change(&job_key(&job.job), |found| {
            let known: Option<JobManifest> = found.map(read).transpose()?;
            if job.state != JobState::Done && known.is_some_and(|known| known.state == JobState::Done) {
                return Err(finished(&job.job));
            }
            Ok(Some(bytes.clone()))
        })
        .await?;
        self.change(OPEN_JOBS, |record| {
            let mut ids: Vec<String> = record.map_or(Ok(Vec::new()), read)?;
            let is_listed = ids.contains(&job.job);
            match job.state {
                JobState::Done => ids.retain(|id| *id != job.job),
                JobState::Running | JobState::Stopped if !is_listed => ids.push(job.job.clone()),
                JobState::Running | JobState::Stopped => return Ok(None),
            }
            write(&ids).map(Some)
        })
        .await
    }

    /// Adds the requests of a unit that ended without a result.
    pub(crate) async fn add_unfinished(&self, job: &str, sent: SentRequests) -> Result<(), ClusterError> {
        self.change(&unfinished_key(job), |record| {
            let known = record.map(read).transpose()?.unwrap_or(SentRequests::NONE);
            write(&known.plus(sent)).map(Some)
        })
        .await
    }

    /// Requests of units that ended without a result, as far as their workers could report them.
    pub(crate) async fn unfinished(&self, job: &str) -> Result<SentRequests, ClusterError> {
        let record = self.records.get(&unfinished_key(job)).await?;
        record.map_or(Ok(SentRequests::NONE), |record| read(&record))
    }

    /// Adds replies that a worker refused.
    pub(crate) async fn add_refused_replies(&self, job: &str, more: u64) -> Result<(), ClusterError> {
        self.change(&refused_key(job), |record| {
            let known: u64 = record.map(read).transpose()?.unwrap_or(0);
            write(&known.saturating_add(more)).map(Some)
        })
        .await
    }

    /// Replies that workers refused.
    pub(crate) async fn refused_replies(&self, job: &str) -> Result<u64, ClusterError> {
        let record = self.records.get(&refused_key(job)).await?;
        record.map_or(Ok(0), |record| read(&record))
    }

    /// Records the addresses at which a worker calls the models of a job, unless another worker was first.
    /// Returns the recorded ones.
    pub(crate) async fn agree_on_addresses(
        &self,
        job: &str,
        own: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, ClusterError> {
        let key = format!("addresses.{job}");
        self.change(&key, |record| if record.is_some() { Ok(None) } else { write(own).map(Some) }).await?;
        let record = self.records.get(&key).await?;
        record.map_or_else(|| Ok(own.clone()), |record| read(&record))
    }

    /// Records why a worker refuses a job; `None` removes its refusal.
    pub(crate) async fn note_refusal(
        &self,
        job: &str,
        worker: &str,
        why: Option<&str>,
    ) -> Result<(), ClusterError> {
        self.change(&refusals_key(job), |record| {
            let mut refusals: BTreeMap<String, String> = record.map_or(Ok(BTreeMap::new()), read)?;
            let is_new = match why {
                Some(_) if refusals.len() >= MAX_REFUSALS && !refusals.contains_key(worker) => false,
                Some(why) => refusals.insert(worker.to_owned(), why.to_owned()).as_deref() != Some(why),
                None => refusals.remove(worker).is_some(),
            };
            is_new.then(|| write(&refusals)).transpose()
        })
        .await
    }

    /// Why workers refuse a job now, by worker.
    pub(crate) async fn refusals(&self, job: &str) -> Result<BTreeMap<String, String>, ClusterError> {
        let record = self.records.get(&refusals_key(job)).await?;
        record.map_or(Ok(BTreeMap::new()), |record| read(&record))
    }

    /// Records how often a unit was tried: leased without a result and without a word. A smaller number than
    /// the recorded one is ignored.
    pub(crate) async fn note_tries(
        &self,
        job: &str,
        unit: &UnitName,
        tries: u64,
    ) -> Result<(), ClusterError> {
        self.change(&tries_key(job), |record| {
            let mut all: BTreeMap<String, u64> = record.map_or(Ok(BTreeMap::new()), read)?;
            let has_room = all.len() < MAX_TRIED_UNITS || all.contains_key(&unit.to_string());
            let known = all.get(&unit.to_string()).copied().unwrap_or(0);
            if known >= tries || !has_room {
                return Ok(None);
            }
            all.insert(unit.to_string(), tries);
            write(&all).map(Some)
        })
        .await
    }

    /// Number of tries of each unit that was tried.
    pub(crate) async fn tries(&self, job: &str) -> Result<BTreeMap<UnitName, u64>, ClusterError> {
        let record = self.records.get(&tries_key(job)).await?;
        let all: BTreeMap<String, u64> = record.map_or(Ok(BTreeMap::new()), |record| read(&record))?;
        Ok(all.into_iter().filter_map(|(name, tries)| Some((name.parse().ok()?, tries))).collect())
    }

    /// Shows that a worker is active on a job. If another worker replaces the record first, its record shows the same.
    pub(crate) async fn show_work(&self, job: &str, worker: &str) -> Result<(), ClusterError> {
        let key = work_key(job);
        let revision = self.records.get(&key).await?.map_or(0, |record| record.revision);
        self.records.replace(&key, worker.as_bytes().to_vec(), revision).await.map(drop)
    }

    /// A number that changes with each sign of work on a job; 0 before the first.
    pub(crate) async fn work_shown(&self, job: &str) -> Result<u64, ClusterError> {
        Ok(self.records.get(&work_key(job)).await?.map_or(0, |record| record.revision))
    }

    /// Changes a record, and retries if another process changes it in between; `to` returns `None` to leave
    /// the record unchanged.
    async fn change(
        &self,
        key: &str,
        to: impl Fn(Option<&Record>) -> Result<Option<Vec<u8>>, ClusterError>,
    ) -> Result<(), ClusterError> {
        for _ in 0..ATTEMPTS {
            let found = self.records.get(key).await?;
            let Some(bytes) = to(found.as_ref())? else { return Ok(()) };
            let revision = found.map_or(0, |record| record.revision);
            if self.records.replace(key, bytes, revision).await?.is_some() {
                return Ok(());
            }
        }

        Err(ClusterError::Unreachable(format!("the record `{key}` keeps being changed by others")))
    }
}

/// The refusal of a job that another coordinator has finished.
pub(crate) fn finished(job: &str) -> ClusterError {
    ClusterError::Refused(format!("another coordinator has finished job {job} in the meantime"))
}

fn job_key(id: &str) -> String {
    format!("{JOB_KEY}{id}")
}

fn unfinished_key(job: &str) -> String {
    format!("unfinished.{job}")
}

fn refusals_key(job: &str) -> String {
    format!("refusals.{job}")
}

fn refused_key(job: &str) -> String {
    format!("refused.{job}")
}

fn tries_key(job: &str) -> String {
    format!("tries.{job}")
}

fn work_key(job: &str) -> String {
    format!("work.{job}")
}

fn read<T: serde::de::DeserializeOwned>(record: &Record) -> Result<T, ClusterError> {
    serde_json::from_slice(&record.bytes).map_err(|error| {
        ClusterError::Refused(format!(
            "a record of the cluster was written by another version of assize; install the same build on all machines: {error}"
        ))
    })
}

fn write<T: serde::Serialize>(value: &T) -> Result<Vec<u8>, ClusterError> {
    serde_json::to_vec(value).map_err(|error| ClusterError::storage("write a record", error))
}

/// The right to coordinate a job. Its holder shows signs of life; without them for [`SEAT_TERM`], another
/// coordinator may take it.
pub(crate) struct Seat {
    records: Arc<dyn Records>,
    key: String,
    holder: String,
    beats: u64,
    revision: u64,
    sign: SeatSign,
}

/// When the last recorded sign of life was sent.
#[derive(Debug, Clone)]
pub(crate) struct SeatSign(Arc<Mutex<Instant>>);

impl SeatSign {
    /// True while no other coordinator can have taken the seat.
    pub(crate) fn is_held(&self) -> bool {
        self.0.lock().elapsed() < SEAT_TERM
    }

    fn set(&self, shown: Instant) {
        *self.0.lock() = shown;
    }
}

impl Seat {
    /// Takes the seat once no other coordinator shows signs of life. Calls `waits` whenever one does.
    pub(crate) async fn take(
        records: Arc<dyn Records>,
        job: &str,
        holder: String,
        waits: impl Fn(),
    ) -> Result<Self, ClusterError> {
        let key = format!("seat.{job}");
        let mut seen: Option<(Record, Instant)> = None;
        let mut patience = Patience::default();
        loop {
            let found = persist(&mut patience, || records.get(&key)).await?;
            let revision = match (&found, &seen) {
                (None, _) => 0,
                (Some(record), _) if record.bytes.is_empty() => record.revision,
                // Taken by this coordinator, but the reply was lost.
                (Some(record), _) if record.bytes.starts_with(holder.as_bytes()) => record.revision,
                (Some(record), Some((before, since))) if record == before && since.elapsed() > SEAT_TERM => {
                    record.revision
                }
                (Some(record), before) => {
                    if before.as_ref().is_none_or(|(before, _)| before != record) {
                        seen = Some((record.clone(), Instant::now()));
                        waits();
                    }
                    tokio::time::sleep(SEAT_POLL_INTERVAL).await;
                    continue;
                }
            };

            let shown = Instant::now();
            let bytes = format!("{holder} 0").into_bytes();
            match records.replace(&key, bytes, revision).await {
                Ok(Some(revision)) => {
                    let sign = SeatSign(Arc::new(Mutex::new(shown)));
                    return Ok(Self { records, key, holder, beats: 0, revision, sign });
                }
                Ok(None) => {}
                Err(error) => patience.wait(error).await?,
            }
        }
    }

    /// The holder's last sign of life, for code that acts on behalf of the seat.
    pub(crate) fn sign(&self) -> SeatSign {
        self.sign.clone()
    }

    /// Shows a sign of life.
    ///
    /// # Errors
    /// When another coordinator has taken the seat.
    pub(crate) async fn beat(&mut self) -> Result<(), ClusterError> {
        let shown = Instant::now();
        self.beats += 1;
        let bytes = format!("{} {}", self.holder, self.beats).into_bytes();
        let Some(revision) = self.records.replace(&self.key, bytes, self.revision).await? else {
            let found = self.records.get(&self.key).await?;
            let mine = found.filter(|record| record.bytes.starts_with(self.holder.as_bytes()));
            // The write succeeded, but its reply was lost.
            self.revision = mine.ok_or_else(ClusterError::taken_over)?.revision;
            return Ok(());
        };
        self.revision = revision;
        self.sign.set(shown);

        Ok(())
    }

    /// Shows a sign of life; servers that are away now are no error.
    ///
    /// # Errors
    /// When another coordinator has taken the seat.
    pub(crate) async fn renew(&mut self) -> Result<(), ClusterError> {
        match self.beat().await {
            Err(ClusterError::Unreachable(_)) => Ok(()),
            shown => shown,
        }
    }

    /// Frees the seat for the next coordinator.
    pub(crate) async fn leave(self) {
        // If this fails, the next one waits for [`SEAT_TERM`].
        let _ = self.records.replace(&self.key, Vec::new(), self.revision).await;
    }
}
