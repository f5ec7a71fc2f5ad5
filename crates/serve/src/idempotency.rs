//! Requests that are sent again: the same key of the same client gets the results of the first time.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::job::Job;

/// Jobs that are remembered.
const MAX_JOBS: usize = 1_024;
/// Samples of remembered jobs together: their results are held in memory.
const MAX_SAMPLES: usize = 65_536;
/// Time for which a job is remembered, unless something in it failed.
const MEMORY: Duration = Duration::from_hours(1);

/// Name of the client and its key.
type ReplayKey = (Arc<str>, String);

/// Jobs by their idempotency keys.
#[derive(Default)]
pub(crate) struct ReplayMemory(Mutex<ReplayState>);

#[derive(Default)]
struct ReplayState {
    jobs: HashMap<ReplayKey, Replay>,
    /// Keys, oldest first.
    order: VecDeque<ReplayKey>,
    samples: usize,
}

struct Replay {
    /// Hash of the request.
    request: blake3::Hash,
    job: Arc<Job>,
    since: Instant,
}

/// Something known about a key.
pub(crate) enum ReplayFound {
    /// A job of this very request.
    Job(Arc<Job>),
    /// Another request used the key.
    Conflict,
    /// Nothing: the job that was made now is remembered.
    New(Arc<Job>),
}

impl ReplayMemory {
    /// The job of a key, or the one that `start` makes now.
    ///
    /// # Errors
    /// Those of `start`.
    pub(crate) fn find_or<E>(
        &self,
        client: &Arc<str>,
        key: &str,
        request: blake3::Hash,
        start: impl FnOnce() -> Result<Arc<Job>, E>,
    ) -> Result<ReplayFound, E> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.forget_old();

        let key = (Arc::clone(client), key.to_owned());
        let known = state.jobs.get(&key);
        if let Some(known) = known.filter(|known| known.request != request || !known.job.has_failed()) {
            let is_same = known.request == request;
            return Ok(if is_same {
                ReplayFound::Job(Arc::clone(&known.job))
            } else {
                ReplayFound::Conflict
            });
        }

        let job = start()?;
        state.forget(&key);
        state.samples += job.total();
        state.order.push_back(key.clone());
        state.jobs.insert(key, Replay { request, job: Arc::clone(&job), since: Instant::now() });
        Ok(ReplayFound::New(job))
    }
}

impl ReplayState {
    /// Forgets a job that failed: it is not what the client gets if it asks again.
    fn forget(&mut self, key: &ReplayKey) {
        if let Some(replay) = self.jobs.remove(key) {
            self.samples = self.samples.saturating_sub(replay.job.total());
            self.order.retain(|other| other != key);
        }
    }

    fn forget_old(&mut self) {
        while let Some(key) = self.order.front() {
            let is_old = self.jobs.get(key).is_none_or(|replay| replay.since.elapsed() > MEMORY);
            if !is_old && self.jobs.len() < MAX_JOBS && self.samples <= MAX_SAMPLES {
                break;
            }

            if let Some(replay) = self.order.pop_front().and_then(|key| self.jobs.remove(&key)) {
                self.samples = self.samples.saturating_sub(replay.job.total());
            }
        }
    }
}
