//! Jobs as records: which ones there are, their descriptions, and who coordinates them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use assize_engine::SentRequests;
use tokio::time::Instant;

use crate::error::ClusterError;
use crate::job::{JobManifest, JobState};
use crate::patience::{Patience, persist};
use crate::seam::{Record, Records};
use crate::unit::UnitName;

/// Record with the ids of the jobs that are not done.
const OPEN_JOBS: &str = "open-jobs";
/// Workers whose refusals of a job are recorded at most.
const MOST_REFUSALS: usize = 1_000;
/// Units whose tries are recorded at most.
const MOST_TRIED: usize = 20_000;
/// Attempts at changing a record that others change as well.
const ATTEMPTS: u32 = 20;
/// Time after which a coordinator that has said nothing is taken to be gone.
pub(crate) const SEAT_TERM: Duration = Duration::from_secs(6);
/// Time between two signs of life of a coordinator.
pub(crate) const SEAT_BEAT: Duration = Duration::from_secs(2);
/// Pause between two looks at a seat that is taken.
const LOOK: Duration = Duration::from_millis(250);

/// Jobs of a cluster.
#[derive(Clone)]
pub(crate) struct JobBoard {
    records: Arc<dyn Records>,
}

impl JobBoard {
    pub(crate) fn new(records: Arc<dyn Records>) -> Self {
        Self { records }
    }

    /// Ids of the jobs that are not done, the oldest first.
    pub(crate) async fn open_jobs(&self) -> Result<Vec<String>, ClusterError> {
        let record = self.records.get(OPEN_JOBS).await?;
        record.map_or(Ok(Vec::new()), |record| read(&record))
    }

    /// Description of a job.
    ///
    /// # Errors
    /// When it can't be that of a job: its id is the name of folders on this machine.
    pub(crate) async fn job(&self, id: &str) -> Result<Option<JobManifest>, ClusterError> {
        let Some(record) = self.records.get(&job_key(id)).await? else { return Ok(None) };
        let job: JobManifest = read(&record)?;
        job.check_names()?;
        Ok(Some(job))
    }

    /// Stores the description of a job, and lists it unless it is done.
    ///
    /// # Errors
    /// When the job is done and is not to be: what was merged is not done again.
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

    /// Adds the requests of work that ended without a result.
    pub(crate) async fn add_unfinished(&self, job: &str, sent: SentRequests) -> Result<(), ClusterError> {
        self.change(&unfinished_key(job), |record| {
            let known = record.map(read).transpose()?.unwrap_or(SentRequests::NONE);
            write(&known.plus(sent)).map(Some)
        })
        .await
    }

    /// Requests of units that ended without a result, as far as their workers could tell.
    pub(crate) async fn unfinished(&self, job: &str) -> Result<SentRequests, ClusterError> {
        let record = self.records.get(&unfinished_key(job)).await?;
        record.map_or(Ok(SentRequests::NONE), |record| read(&record))
    }

    /// Notes at which addresses a worker asks the models of a job, unless another one was first; returns those of the first.
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

    /// Notes why a worker refuses a job, or, with `None`, that it does not any more.
    pub(crate) async fn note_refusal(
        &self,
        job: &str,
        worker: &str,
        why: Option<&str>,
    ) -> Result<(), ClusterError> {
        self.change(&refusals_key(job), |record| {
            let mut refusals: BTreeMap<String, String> = record.map_or(Ok(BTreeMap::new()), read)?;
            let is_new = match why {
                Some(_) if refusals.len() >= MOST_REFUSALS && !refusals.contains_key(worker) => false,
                Some(why) => refusals.insert(worker.to_owned(), why.to_owned()).as_deref() != Some(why),
                None => refusals.remove(worker).is_some(),
            };
            is_new.then(|| write(&refusals)).transpose()
        })
        .await
    }

    /// Reasons for which workers refuse a job now, by worker.
    pub(crate) async fn refusals(&self, job: &str) -> Result<BTreeMap<String, String>, ClusterError> {
        let record = self.records.get(&refusals_key(job)).await?;
        record.map_or(Ok(BTreeMap::new()), |record| read(&record))
    }

    /// Records how often a unit was handed out without a result and without a word, unless it is known to be more.
    pub(crate) async fn note_tries(
        &self,
        job: &str,
        unit: &UnitName,
        tries: u64,
    ) -> Result<(), ClusterError> {
        self.change(&tries_key(job), |record| {
            let mut all: BTreeMap<String, u64> = record.map_or(Ok(BTreeMap::new()), read)?;
            let has_room = all.len() < MOST_TRIED || all.contains_key(&unit.to_string());
            let known = all.get(&unit.to_string()).copied().unwrap_or(0);
            if known >= tries || !has_room {
                return Ok(None);
            }
            all.insert(unit.to_string(), tries);
            write(&all).map(Some)
        })
        .await
    }

    /// Units that were handed out without a result and without a word, and how often.
    pub(crate) async fn tries(&self, job: &str) -> Result<BTreeMap<UnitName, u64>, ClusterError> {
        let record = self.records.get(&tries_key(job)).await?;
        let all: BTreeMap<String, u64> = record.map_or(Ok(BTreeMap::new()), |record| read(&record))?;
        Ok(all.into_iter().filter_map(|(name, tries)| Some((name.parse().ok()?, tries))).collect())
    }

    /// Shows that somebody works on a job. If another worker was faster, that shows as much.
    pub(crate) async fn show_work(&self, job: &str, worker: &str) -> Result<(), ClusterError> {
        let key = work_key(job);
        let revision = self.records.get(&key).await?.map_or(0, |record| record.revision);
        self.records.replace(&key, worker.as_bytes().to_vec(), revision).await.map(drop)
    }

    /// Number that changes with each sign of work on a job; 0 before the first.
    pub(crate) async fn work_shown(&self, job: &str) -> Result<u64, ClusterError> {
        Ok(self.records.get(&work_key(job)).await?.map_or(0, |record| record.revision))
    }

    /// Changes a record, again and again as long as others are faster; `None` leaves it as it is.
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

/// Refusal of a job that somebody else has finished.
pub(crate) fn finished(job: &str) -> ClusterError {
    ClusterError::Refused(format!("another coordinator has finished job {job} in the meantime"))
}

fn job_key(id: &str) -> String {
    format!("job.{id}")
}

fn unfinished_key(job: &str) -> String {
    format!("unfinished.{job}")
}

fn refusals_key(job: &str) -> String {
    format!("refusals.{job}")
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

/// Right to coordinate a job. Whoever has it shows signs of life; without them for a while, somebody else may take it.
pub(crate) struct Seat {
    records: Arc<dyn Records>,
    key: String,
    holder: String,
    beats: u64,
    revision: u64,
    sign: SeatSign,
}

/// Last sign of life of a coordinator that was recorded.
#[derive(Debug, Clone)]
pub(crate) struct SeatSign(Arc<Mutex<Instant>>);

impl SeatSign {
    /// True while nobody else can have taken the seat.
    pub(crate) fn is_held(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).elapsed() < SEAT_TERM
    }

    fn set(&self, shown: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = shown;
    }
}

impl Seat {
    /// Takes the seat, once nobody else shows signs of life.
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
                // Taken by this one, which did not hear of it.
                (Some(record), _) if record.bytes.starts_with(holder.as_bytes()) => record.revision,
                (Some(record), Some((before, since))) if record == before && since.elapsed() > SEAT_TERM => {
                    record.revision
                }
                (Some(record), before) => {
                    if before.as_ref().is_none_or(|(before, _)| before != record) {
                        seen = Some((record.clone(), Instant::now()));
                        waits();
                    }
                    tokio::time::sleep(LOOK).await;
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

    /// Its last sign of life, for those who act in its name.
    pub(crate) fn sign(&self) -> SeatSign {
        self.sign.clone()
    }

    /// Shows a sign of life.
    ///
    /// # Errors
    /// When somebody else has taken it.
    pub(crate) async fn beat(&mut self) -> Result<(), ClusterError> {
        let shown = Instant::now();
        self.beats += 1;
        let bytes = format!("{} {}", self.holder, self.beats).into_bytes();
        let Some(revision) = self.records.replace(&self.key, bytes, self.revision).await? else {
            let found = self.records.get(&self.key).await?;
            let mine = found.filter(|record| record.bytes.starts_with(self.holder.as_bytes()));
            // An answer was lost.
            self.revision = mine.ok_or_else(ClusterError::taken_over)?.revision;
            return Ok(());
        };
        self.revision = revision;
        self.sign.set(shown);

        Ok(())
    }

    /// Shows a sign of life, if the servers can be reached now.
    ///
    /// # Errors
    /// When somebody else has taken it.
    pub(crate) async fn renew(&mut self) -> Result<(), ClusterError> {
        match self.beat().await {
            Err(ClusterError::Unreachable(_)) => Ok(()),
            shown => shown,
        }
    }

    /// Leaves the seat to whoever comes next.
    pub(crate) async fn leave(self) {
        // Without it, the next one waits a little.
        let _ = self.records.replace(&self.key, Vec::new(), self.revision).await;
    }
}
