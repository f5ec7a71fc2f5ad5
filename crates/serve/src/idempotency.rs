//! Repeated requests: the same client with the same idempotency key gets the results of its first request.
//!
//! A client that retries after a lost connection must not pay for a second grading. The memory therefore holds jobs,
//! not replies: a retry while the first request is still running waits for the same job. A job in progress is never
//! forgotten, even above the limits, because a repeated request would be graded twice. Finished jobs are forgotten,
//! oldest first, by age, number, and total size. A job with a failure is not reused: the retry grades again.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use assize_limits::REPLAY_TIME as MAX_AGE;
use assize_limits::REPLAYED_REQUESTS as MAX_JOBS;
use assize_limits::REPLAYED_RESULTS as MAX_RESULTS;
use axum::http::StatusCode;
use parking_lot::{Mutex, MutexGuard};

use crate::job::Job;
use crate::problem::ApiError;

/// A request with an idempotency key.
pub(crate) struct ReplayRequest {
    key: ReplayKey,
    /// Hash of the body.
    body: blake3::Hash,
}

/// Name of the client, and the idempotency key.
type ReplayKey = (Arc<str>, String);

/// Jobs by their idempotency keys.
#[derive(Default)]
pub(crate) struct ReplayMemory(Mutex<ReplayState>);

#[derive(Default)]
struct ReplayState {
    jobs: HashMap<ReplayKey, Replay>,
    /// Keys, oldest first.
    order: VecDeque<ReplayKey>,
    results: usize,
}

struct Replay {
    body: blake3::Hash,
    job: Arc<Job>,
    since: Instant,
}

impl ReplayRequest {
    pub(crate) fn new(client: &Arc<str>, key: String, body: &[u8]) -> Self {
        Self { key: (Arc::clone(client), key), body: blake3::hash(body) }
    }
}

impl ReplayMemory {
    /// The job of a key, or an error if the key was used for another request; `None` for a new key.
    pub(crate) fn find(&self, request: &ReplayRequest) -> Option<Result<Arc<Job>, ApiError>> {
        self.state().find(request)
    }

    /// The job of a key, or the job that `start` creates. The second result is true if the job was already known.
    ///
    /// # Errors
    /// The errors of `start`, and when the key was used for another request.
    pub(crate) fn find_or(
        &self,
        request: ReplayRequest,
        start: impl FnOnce() -> Result<Arc<Job>, ApiError>,
    ) -> Result<(Arc<Job>, bool), ApiError> {
        let mut state = self.state();
        if let Some(known) = state.find(&request) {
            return Ok((known?, true));
        }

        let job = start()?;
        state.results += job.results();
        state.order.push_back(request.key.clone());
        state
            .jobs
            .insert(request.key, Replay { body: request.body, job: Arc::clone(&job), since: Instant::now() });
        Ok((job, false))
    }

    fn state(&self) -> MutexGuard<'_, ReplayState> {
        self.0.lock()
    }
}

impl ReplayState {
    fn find(&mut self, request: &ReplayRequest) -> Option<Result<Arc<Job>, ApiError>> {
        self.forget_old();

        let known = self.jobs.get(&request.key)?;
        if known.body != request.body {
            let message = "this Idempotency-Key was used for another request";
            return Some(Err(ApiError::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "idempotency_conflict",
                message,
            )));
        }
        if known.job.has_failed() {
            self.forget(&request.key);
            return None;
        }

        Some(Ok(Arc::clone(&known.job)))
    }

    /// Forgets a failed job, so that a retry is graded again.
    fn forget(&mut self, key: &ReplayKey) {
        if let Some(replay) = self.jobs.remove(key) {
            self.results = self.results.saturating_sub(replay.job.results());
            self.order.retain(|other| other != key);
        }
    }

    /// Forgets the oldest finished jobs. A job in progress is never forgotten: its repeated request would be
    /// graded twice.
    fn forget_old(&mut self) {
        while let Some((at, replay)) = self.oldest_done() {
            let is_old = replay.since.elapsed() > MAX_AGE;
            // A single job above the limit stays until another one is remembered.
            let are_many = self.jobs.len() >= MAX_JOBS || (self.results > MAX_RESULTS && self.jobs.len() > 1);
            if !is_old && !are_many {
                break;
            }

            if let Some(replay) = self.order.remove(at).and_then(|key| self.jobs.remove(&key)) {
                self.results = self.results.saturating_sub(replay.job.results());
            }
        }
    }

    /// The oldest finished job, with its position in the order.
    fn oldest_done(&self) -> Option<(usize, &Replay)> {
        let known = self.order.iter().map(|key| self.jobs.get(key)).enumerate();
        known.filter_map(|(at, replay)| Some((at, replay?))).find(|(_, replay)| replay.job.is_done())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remembers a job with this many results under a numbered key.
    fn remember(memory: &ReplayMemory, number: usize, results: usize) -> bool {
        remember_job(memory, number, Job::finished(results))
    }

    fn remember_job(memory: &ReplayMemory, number: usize, job: Job) -> bool {
        let request = ReplayRequest::new(&"client".into(), format!("key-{number}"), b"body");
        let started = || Ok(Arc::new(job));
        memory.find_or(request, started).unwrap_or_else(|_| panic!("the key was used for another request")).1
    }

    #[test]
    fn the_oldest_requests_are_forgotten() {
        let memory = ReplayMemory::default();
        for number in 0..=MAX_JOBS {
            assert!(!remember(&memory, number, 1));
        }
        assert!(remember(&memory, MAX_JOBS, 1), "the newest is known");
        assert!(!remember(&memory, 0, 1), "the oldest is not");
    }

    #[test]
    fn long_requests_are_forgotten_sooner() {
        let memory = ReplayMemory::default();
        for number in 0..20 {
            assert!(!remember(&memory, number, MAX_RESULTS / 10));
        }
        assert!(remember(&memory, 19, 1) && !remember(&memory, 8, 1));

        assert!(!remember(&memory, 20, 2 * MAX_RESULTS));
        assert!(remember(&memory, 20, 1), "a long one is remembered by itself");
        assert!(!remember(&memory, 21, 1) && !remember(&memory, 20, 1));
    }

    #[test]
    fn a_request_that_is_being_graded_is_never_forgotten() {
        let memory = ReplayMemory::default();
        assert!(!remember_job(&memory, 0, Job::unfinished(2 * MAX_RESULTS)));
        for number in 1..5 {
            assert!(!remember(&memory, number, MAX_RESULTS));
        }
        assert!(remember(&memory, 0, 1));
    }
}
