//! Jobs: the samples of a batch being graded, and their results as they arrive.

use std::sync::Arc;
use std::time::Duration;

use assize_engine::{
    GradeSummary, GradingSample, GradingStop, OnUngraded, PreparedRubric, RewardKind, SamplePlace,
    SampleResult, UngradedPolicy,
};
use parking_lot::{Condvar, Mutex, MutexGuard};
use pyo3::prelude::*;
use pyo3::types::PyList;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::failure::{LibraryError, ungraded_error};
use crate::grader_core::GraderCore;
use crate::result_data::ResultData;
use crate::results::{GradedResult, Results};

/// Maximum number of ungraded samples that an error describes.
const MAX_DESCRIBED: usize = 5;

/// A sample and the rubric to grade it by.
pub(crate) struct JobSample {
    pub(crate) place: SamplePlace,
    pub(crate) sample: GradingSample,
    pub(crate) rubric: Arc<PreparedRubric>,
}

/// A batch that is ready to be graded.
pub(crate) struct JobPlan {
    pub(crate) samples: Vec<JobSample>,
    pub(crate) reward: RewardKind,
    pub(crate) on_ungraded: OnUngraded,
    pub(crate) deadline: Option<Duration>,
    /// Function to call when there is news.
    pub(crate) notify: Option<Py<PyAny>>,
    /// True to notify about each result, and not only about the end.
    pub(crate) notify_each: bool,
}

/// The state of a job, shared with the tasks that work on it.
struct JobShared {
    on_ungraded: OnUngraded,
    stop: GradingStop,
    progress: Mutex<JobProgress>,
    changed: Condvar,
    notify: Option<Py<PyAny>>,
    notify_each: bool,
}

#[derive(Default)]
struct JobProgress {
    results: Vec<Arc<ResultData>>,
    /// Number of results that were taken one by one.
    taken: usize,
    /// True if Python was notified since then.
    notified: bool,
    /// How the job ended; `None` while it runs.
    ended: Option<Result<(), String>>,
}

/// Samples that are being graded.
#[pyclass(frozen, module = "assize_native")]
pub(crate) struct Job {
    process: u32,
    shared: Arc<JobShared>,
}

impl Job {
    /// Starts the work, on the threads of the runtime.
    pub(crate) fn start(runtime: &Runtime, core: Arc<GraderCore>, plan: JobPlan) -> Self {
        let JobPlan { samples, reward, on_ungraded, deadline, notify, notify_each } = plan;
        let shared = Arc::new(JobShared {
            on_ungraded,
            stop: core.stop(),
            progress: Mutex::default(),
            changed: Condvar::new(),
            notify,
            notify_each,
        });

        runtime.spawn(run(core, samples, reward, on_ungraded, deadline, Arc::clone(&shared)));
        Self { process: std::process::id(), shared }
    }

    fn check(&self) -> Result<(), LibraryError> {
        if self.process == std::process::id() { Ok(()) } else { Err(LibraryError::forked()) }
    }

    fn wait_until(
        &self,
        py: Python<'_>,
        timeout: f64,
        is_reached: fn(&JobProgress) -> bool,
    ) -> PyResult<bool> {
        self.check()?;
        let timeout = Duration::try_from_secs_f64(timeout).unwrap_or_default();
        let shared = &self.shared;

        Ok(py.detach(|| {
            let mut progress = shared.progress();
            shared.changed.wait_while_for(&mut progress, |progress| !is_reached(progress), timeout);
            is_reached(&progress)
        }))
    }
}

#[pymethods]
impl Job {
    /// Waits at most this many seconds for the end; returns true if the job has ended.
    fn wait(&self, py: Python<'_>, timeout: f64) -> PyResult<bool> {
        self.wait_until(py, timeout, |progress| progress.ended.is_some())
    }

    /// Waits for a result that was not taken yet, or for the end; returns true if there is either.
    fn wait_next(&self, py: Python<'_>, timeout: f64) -> PyResult<bool> {
        self.wait_until(py, timeout, |progress| {
            progress.ended.is_some() || progress.taken < progress.results.len()
        })
    }

    /// True if the job has ended.
    fn done(&self) -> PyResult<bool> {
        self.check()?;
        Ok(self.shared.progress().ended.is_some())
    }

    /// The results since the last call, in the order in which they finished.
    fn take(&self) -> PyResult<Vec<GradedResult>> {
        self.check()?;
        let mut progress = self.shared.progress();
        let from = progress.taken;
        progress.taken = progress.results.len();
        progress.notified = false;

        if let (Some(Err(message)), true) = (&progress.ended, progress.results[from..].is_empty()) {
            return Err(LibraryError::internal(message.clone()).into());
        }
        let news = progress.results[from..].iter();
        let kept = news.filter(|data| !data.result.is_dropped(self.shared.on_ungraded));
        Ok(kept.map(|data| GradedResult(Arc::clone(data))).collect())
    }

    /// All results, in the order of the samples.
    ///
    /// Raises if samples without a reward are an error, or if the job has not ended.
    fn results(&self, py: Python<'_>) -> PyResult<Results> {
        self.check()?;
        let (mut all, ended) = {
            let progress = self.shared.progress();
            (progress.results.clone(), progress.ended.clone())
        };
        match ended {
            Some(Ok(())) => {}
            Some(Err(message)) => return Err(LibraryError::internal(message).into()),
            None => return Err(LibraryError::usage("the job has not ended").into()),
        }

        all.sort_unstable_by_key(|data| data.result.index);
        let on_ungraded = self.shared.on_ungraded;
        let mut summary = GradeSummary::default();
        for data in &all {
            summary.add(&data.result, on_ungraded);
        }
        if on_ungraded == OnUngraded::Named(UngradedPolicy::Error) {
            refuse_ungraded(py, &all)?;
        }

        all.retain(|data| !data.result.is_dropped(on_ungraded));
        Ok(Results { items: all, summary })
    }

    /// Stops the work: undecided criteria become ungraded, with this reason.
    fn cancel(&self, reason: &str) -> PyResult<()> {
        self.check()?;
        self.shared.stop.stop(reason);
        Ok(())
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if self.process == std::process::id() && self.shared.progress().ended.is_none() {
            self.shared.stop.stop("the results are no longer needed");
        }
    }
}

impl JobShared {
    fn progress(&self) -> MutexGuard<'_, JobProgress> {
        self.progress.lock()
    }

    fn finish(&self, data: ResultData) {
        let notifies = {
            let mut progress = self.progress();
            progress.results.push(Arc::new(data));
            let notifies = self.notify_each && !progress.notified;
            progress.notified |= notifies;
            notifies
        };
        self.changed.notify_all();
        if notifies {
            self.call_python();
        }
    }

    fn end(&self, outcome: Result<(), String>) {
        self.progress().ended = Some(outcome);
        self.changed.notify_all();
        self.call_python();
    }

    /// Notifies Python that there is news, unless the interpreter is shutting down.
    fn call_python(&self) {
        let Some(notify) = &self.notify else { return };
        Python::try_attach(|py| {
            if let Err(error) = notify.call0(py) {
                // The event loop is closed, so nothing is waiting any more.
                drop(error);
            }
        });
    }
}

/// Grades the samples of a job, several at once.
async fn run(
    core: Arc<GraderCore>,
    samples: Vec<JobSample>,
    reward: RewardKind,
    on_ungraded: OnUngraded,
    deadline: Option<Duration>,
    shared: Arc<JobShared>,
) {
    let mut tasks = JoinSet::new();
    if let Some(deadline) = deadline {
        let stop = shared.stop.clone();
        tasks.spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(deadline) => {
                    stop.stop(format!("the deadline of {} s passed", deadline.as_secs_f64()));
                }
                () = stop.stopped() => {}
            }
            None
        });
    }

    let total = samples.len();
    for sample in samples {
        let (core, stop) = (Arc::clone(&core), shared.stop.clone());
        tasks.spawn(async move { Some(grade(&core, sample, reward, on_ungraded, &stop).await) });
    }

    let mut finished = 0;
    while finished < total {
        match tasks.join_next().await {
            Some(Ok(Some(result))) => {
                finished += 1;
                shared.finish(ResultData { result, case: None });
            }
            // The deadline has passed; work in flight ends now.
            Some(Ok(None)) => {}
            Some(Err(error)) => {
                return shared
                    .end(Err(format!("grading stopped unexpectedly: {error}; please report this as a bug")));
            }
            None => break,
        }
    }
    tasks.abort_all();
    shared.end(Ok(()));
}

/// Grades one sample when a slot is free.
async fn grade(
    core: &GraderCore,
    sample: JobSample,
    reward: RewardKind,
    on_ungraded: OnUngraded,
    stop: &GradingStop,
) -> SampleResult {
    // A stopped sample needs no slot, because it makes no calls.
    let _place = tokio::select! {
        biased;
        () = stop.stopped() => None,
        place = core.slots.acquire() => place.ok(),
    };
    let record = core.grader.grade(&sample.rubric, sample.sample, stop).await;

    SampleResult::new(sample.place, record, reward, on_ungraded, sample.rubric.config_hash())
}

/// Raises if a sample has no reward.
fn refuse_ungraded(py: Python<'_>, all: &[Arc<ResultData>]) -> PyResult<()> {
    let lacking: Vec<&ResultData> =
        all.iter().map(Arc::as_ref).filter(|data| data.result.lacks_reward()).collect();
    if lacking.is_empty() {
        return Ok(());
    }

    let describe = |data: &&ResultData| {
        let reason = data.result.error.as_deref().unwrap_or("no criterion applies");
        format!("\n  samples[{}]: {reason}", data.result.index)
    };
    let described: String = lacking.iter().take(MAX_DESCRIBED).map(describe).collect();
    let message = format!("{} of {} samples have no reward{described}", lacking.len(), all.len());
    let results = PyList::new(py, all.iter().map(|data| GradedResult(Arc::clone(data))))?;
    Err(ungraded_error(py, message, results))
}
