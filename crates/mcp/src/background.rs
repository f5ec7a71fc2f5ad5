//! Runs that continue while the client does something else.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use assize_engine::{CaseEvent, EngineEvent, EventObserver};
use assize_limits::AGENT_RUNS as MAX_RUNS;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use crate::outcome::{CallNotes, ToolFailure};

/// Progress of a run.
#[derive(Debug, Default)]
pub(crate) struct RunProgress {
    cases: AtomicUsize,
    finished: AtomicUsize,
}

impl RunProgress {
    /// Number of cases to run, and of finished ones. Cases of an earlier process are not counted.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.cases.load(Ordering::Relaxed), self.finished.load(Ordering::Relaxed))
    }
}

type RunningRuns = Arc<Mutex<BTreeMap<String, Arc<RunProgress>>>>;

/// The runs of a server.
#[derive(Default)]
pub(crate) struct BackgroundRuns {
    running: RunningRuns,
    /// Number of runs that are in progress or about to start.
    begun: Arc<AtomicUsize>,
    tasks: TaskTracker,
}

/// A run that was started.
pub(crate) struct StartedRun {
    pub(crate) run_id: String,
    pub(crate) progress: Arc<RunProgress>,
    /// Receives its summary when it has ended.
    pub(crate) ended: oneshot::Receiver<Result<Value, ToolFailure>>,
}

/// Observer of a run in the background.
pub(crate) struct RunObserver {
    notes: CallNotes,
    running: RunningRuns,
    progress: Arc<RunProgress>,
    /// Id of the run, known from the creation of its folder on.
    run_id: Mutex<Option<String>>,
    begun: Mutex<Option<oneshot::Sender<String>>>,
}

impl EventObserver for RunObserver {
    fn observe(&self, event: EngineEvent) {
        match &event {
            EngineEvent::RunOpened { run_id, .. } => {
                self.running.lock().insert(run_id.clone(), Arc::clone(&self.progress));
                *self.run_id.lock() = Some(run_id.clone());
            }
            EngineEvent::RunStarted { cases } => {
                self.progress.cases.store(*cases, Ordering::Relaxed);
                if let Some((begun, run_id)) = self.begun.lock().take().zip(self.run_id.lock().take()) {
                    // Fails if the client has gone; then nothing waits for it.
                    let _ = begun.send(run_id);
                }
            }
            EngineEvent::Run(CaseEvent::CaseFinished { .. }) => {
                self.progress.finished.fetch_add(1, Ordering::Relaxed);
            }
            _ => {}
        }

        self.notes.observe(event);
    }
}

impl BackgroundRuns {
    /// Starts a run on its own thread, and returns when its first case may begin. Until then, its messages are added to
    /// `notes`.
    ///
    /// # Errors
    /// When the run ended before it began, or too many runs are in progress.
    pub(crate) async fn start<W>(&self, notes: CallNotes, work: W) -> Result<StartedRun, ToolFailure>
    where
        W: FnOnce(RunObserver) -> Result<Value, ToolFailure> + Send + 'static,
    {
        let permit = RunPermit::take(&self.begun)?;
        let progress = Arc::<RunProgress>::default();
        let (begin, begun) = oneshot::channel();
        let (end, mut ended) = oneshot::channel();
        let observer = RunObserver {
            notes,
            running: Arc::clone(&self.running),
            progress: Arc::clone(&progress),
            run_id: Mutex::default(),
            begun: Mutex::new(Some(begin)),
        };

        let (running, shared) = (Arc::clone(&self.running), Arc::clone(&progress));
        self.tasks.spawn(async move {
            let worked = tokio::task::spawn_blocking(move || work(observer)).await;
            running.lock().retain(|_, one| !Arc::ptr_eq(one, &shared));
            drop(permit);

            let result = worked.unwrap_or_else(|_| Err(ToolFailure::internal("the run ended unexpectedly")));
            // Fails if the client has gone; then nothing waits for it.
            let _ = end.send(result);
        });

        tokio::select! {
            biased;
            Ok(run_id) = begun => Ok(StartedRun { run_id, progress, ended }),
            result = &mut ended => match result {
                Ok(Err(failure)) => Err(failure),
                _ => Err(ToolFailure::internal("the run ended before it began")),
            },
        }
    }

    /// Progress of a run; `None` if it is not in progress here.
    pub(crate) fn progress(&self, run_id: &str) -> Option<Arc<RunProgress>> {
        self.running.lock().get(run_id).cloned()
    }

    /// Waits until every run has ended.
    pub(crate) async fn wait(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// Permission to have a run in progress; returned when this is dropped.
struct RunPermit(Arc<AtomicUsize>);

impl RunPermit {
    fn take(begun: &Arc<AtomicUsize>) -> Result<Self, ToolFailure> {
        let one_more = |count: usize| (count < MAX_RUNS).then_some(count + 1);
        begun.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).map_err(|_| {
            ToolFailure::usage(format!("{MAX_RUNS} runs are in progress already; wait until one has ended"))
        })?;

        Ok(Self(Arc::clone(begun)))
    }
}

impl Drop for RunPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
