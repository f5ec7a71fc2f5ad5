//! Jobs: the samples of a request being graded, and their results as they arrive.
//!
//! A job is separate from the connection that requested it, for three reasons: a streamed reply reads results while
//! others are still being graded, a repeated request (see `idempotency`) reads the results of a job that already runs,
//! and a stopping server waits for jobs, not for connections. Results are stored in the order in which they finish, and
//! any number of readers read them by number.
//!
//! Invariants:
//!
//! - Every sample gets exactly one result. If a job is stopped ([`Job::give_up`], a deadline, a spent budget), criteria
//!   without a decision are ungraded, but every sample still gets a result.
//! - The count that readers wait for never decreases, though samples finish on several threads
//!   ([`FinishedCount::raise`]).
//! - Queue places, the client's quota and the memory of the body are released when the job has ended, not when
//!   the reply is sent: a client that disconnects does not free them early.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use assize_engine::{GradingSample, GradingStop, PreparedRubric, SamplePlace};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::api::{CompareMode, GradeSummary, OnUngraded, RewardKind, SampleResult};
use crate::telemetry::TraceParent;

/// Beginning of the reason with which a deadline stops calls.
pub(crate) const DEADLINE_REASON: &str = "the deadline";

/// A sample and the rubric to grade it by.
#[derive(Clone)]
pub(crate) struct JobSample {
    pub(crate) place: SamplePlace,
    /// Trace of the request.
    pub(crate) trace: Option<TraceParent>,
    pub(crate) sample: GradingSample,
    pub(crate) rubric: Arc<PreparedRubric>,
}

/// A request that is ready to be graded.
pub(crate) struct JobPlan {
    pub(crate) samples: Vec<JobSample>,
    pub(crate) reward: RewardKind,
    pub(crate) on_ungraded: OnUngraded,
    pub(crate) deadline: Option<Duration>,
    /// How samples of a group are compared with each other.
    pub(crate) compare: Option<CompareMode>,
}

/// The work on a request. Any number of readers can follow its results, which are stored in the order in which
/// they finish.
pub(crate) struct Job {
    pub(crate) on_ungraded: OnUngraded,
    /// Number of samples.
    pub(crate) total: usize,
    /// Number of samples and decisions that the results will have.
    pub(crate) results: usize,
    begun: Instant,
    finished: Mutex<Vec<Arc<SampleResult>>>,
    /// Number of finished samples. When it equals `total`, no more results come.
    news: FinishedCount,
    /// Signal that ends the work.
    pub(crate) stop: GradingStop,
    duration_ms: AtomicUsize,
}

impl Job {
    /// A job none of whose samples is graded.
    pub(crate) fn new(plan: &JobPlan, stop: GradingStop) -> Self {
        Self {
            on_ungraded: plan.on_ungraded,
            total: plan.samples.len(),
            results: plan.samples.iter().map(|sample| 1 + sample.rubric.criteria()).sum(),
            begun: Instant::now(),
            finished: Mutex::new(Vec::with_capacity(plan.samples.len())),
            news: FinishedCount::default(),
            stop,
            duration_ms: AtomicUsize::new(0),
        }
    }

    /// A job without samples, whose results count as this many.
    #[cfg(test)]
    pub(crate) fn finished(results: usize) -> Self {
        Self { total: 0, ..Self::unfinished(results) }
    }

    /// A job with one sample that is never graded, whose results count as this many.
    #[cfg(test)]
    pub(crate) fn unfinished(results: usize) -> Self {
        Self {
            on_ungraded: OnUngraded::Null,
            total: 1,
            results,
            begun: Instant::now(),
            finished: Mutex::default(),
            news: FinishedCount::default(),
            stop: GradingStop::new(),
            duration_ms: AtomicUsize::new(0),
        }
    }

    /// Ends the work: undecided criteria become ungraded, with this reason.
    pub(crate) fn give_up(&self, reason: &str) {
        self.stop.stop(reason);
    }

    /// True once every sample has its result.
    pub(crate) fn is_done(&self) -> bool {
        *self.news.0.borrow() == self.total
    }

    /// Number of samples that have their results.
    pub(crate) fn finished_count(&self) -> usize {
        self.finished.lock().len()
    }

    /// True if the job is done and something is ungraded, so that the same request may succeed if repeated.
    pub(crate) fn has_failed(&self) -> bool {
        let finished = self.finished.lock();
        finished.len() == self.total && finished.iter().any(|result| result.error.is_some())
    }

    /// Waits for results after the first `seen`, and returns them. Returns none if all were seen.
    pub(crate) async fn next(&self, seen: usize) -> Vec<Arc<SampleResult>> {
        if seen < self.total {
            let mut news = self.news.0.subscribe();
            let _ = news.wait_for(|count| *count > seen).await;
        }

        let finished = self.finished.lock();
        finished.get(seen..).unwrap_or_default().to_vec()
    }

    /// Waits for all results; returns them in the order of the samples.
    pub(crate) async fn all(&self) -> Vec<Arc<SampleResult>> {
        let mut news = self.news.0.subscribe();
        let _ = news.wait_for(|count| *count == self.total).await;

        let mut all = self.finished.lock().clone();
        all.sort_by_key(|result| result.index);
        all
    }

    /// Totals of the results.
    pub(crate) fn summary<'r>(&self, results: impl IntoIterator<Item = &'r SampleResult>) -> GradeSummary {
        let mut summary = GradeSummary::default();
        for result in results {
            summary.add(result, self.on_ungraded);
        }
        summary.duration_ms = self.duration_ms.load(Ordering::Acquire) as u64;

        summary
    }

    /// Stores the result of a sample.
    pub(crate) fn finish(&self, result: SampleResult) {
        let count = {
            let mut finished = self.finished.lock();
            finished.push(Arc::new(result));
            finished.len()
        };
        if count == self.total {
            let millis = usize::try_from(self.begun.elapsed().as_millis()).unwrap_or(usize::MAX);
            self.duration_ms.store(millis, Ordering::Release);
        }
        self.news.raise(count);
    }
}

/// Number of finished samples, for readers to wait on.
#[derive(Default)]
struct FinishedCount(watch::Sender<usize>);

impl FinishedCount {
    /// Sets the count, unless it is larger already. Two samples that finish at once may raise it in either
    /// order; if it could decrease, a reader waiting for the last sample would wait forever.
    fn raise(&self, count: usize) {
        self.0.send_if_modified(|known| {
            let is_news = count > *known;
            *known = count.max(*known);
            is_news
        });
    }
}

/// Gives a job up when its request is dropped. A job with an idempotency key continues, because its client may
/// ask again.
pub(crate) struct JobGuard {
    pub(crate) job: Arc<Job>,
    goes_on: bool,
}

impl JobGuard {
    pub(crate) fn new(job: Arc<Job>, goes_on: bool) -> Self {
        Self { job, goes_on }
    }
}

impl Drop for JobGuard {
    fn drop(&mut self) {
        if !self.goes_on && !self.job.is_done() {
            self.job.give_up("the client went away");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_told_late_takes_nothing_back() {
        let finished = FinishedCount::default();
        let mut reader = finished.0.subscribe();

        finished.raise(2);
        finished.raise(1);

        assert!(reader.has_changed().unwrap());
        assert_eq!(*reader.borrow_and_update(), 2);
        finished.raise(2);
        assert!(!reader.has_changed().unwrap(), "nothing is told twice");
    }
}
