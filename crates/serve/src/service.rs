//! The state that all requests share.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assize_engine::{Engine, EngineError, FailureLog, GradingStop, RunOptions, SampleService};
use assize_rubric::{OFFLINE_NOTICE, UngradedKind};
use axum::http::StatusCode;
use parking_lot::{Mutex, RwLock};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::account_watch::AccountWatch;
use crate::admission::SampleQueue;
use crate::api::SampleResult;
use crate::idempotency::ReplayMemory;
use crate::job::DEADLINE_REASON;
use crate::key_file::KeyFile;
use crate::metrics::{MetricGauges, ServiceMetrics};
use crate::options::{OperatorLog, ServeOptions};
use crate::problem::ApiError;
use crate::request_memory::RequestMemory;
use crate::rubric_library::{LibraryChange, RubricLibrary};
use crate::telemetry::TelemetryExporter;
use crate::tenant::TenantList;

/// Message at the start of a server for which no judge is named.
const NO_JUDGE: &str =
    "no judge is named: the offline judge grades, which only compares words; name a model with `--judge`";

/// Longest text of a failure reported to the operator, in characters.
const MAX_FAILURE_CHARS: usize = 300;
/// Each failure is reported to the operator at most once in this time, and at most this many different ones.
const REPORT_INTERVAL: Duration = Duration::from_mins(1);
const MAX_REPORTED_FAILURES: usize = 16;

/// The service behind all connections.
pub(crate) struct Service {
    pub(crate) options: ServeOptions,
    pub(crate) queue: Arc<SampleQueue>,
    pub(crate) rubrics: RubricLibrary,
    pub(crate) memory: RequestMemory,
    pub(crate) replays: ReplayMemory,
    pub(crate) metrics: ServiceMetrics,
    /// Fires when grading has to end.
    pub(crate) stop: GradingStop,
    /// Permits for reading long bodies and for long comparisons.
    pub(crate) long_work: Arc<Semaphore>,
    /// Jobs in progress.
    pub(crate) tasks: TaskTracker,
    pub(crate) log: OperatorLog,
    failures: FailureLog,
    /// Export of results, if it is on.
    pub(crate) telemetry: Option<TelemetryExporter>,
    pub(crate) samples: SampleService,
    accounts: AccountWatch,
    /// Judges that rubrics in requests may name.
    pub(crate) judges: Vec<String>,
    tenants: RwLock<Arc<TenantList>>,
    /// Hash of the key file that the clients were read from.
    keys: RwLock<Option<blake3::Hash>>,
    pub(crate) is_draining: AtomicBool,
}

/// Reports failures of models to the operator, each at most once a minute.
fn failure_log(log: OperatorLog) -> FailureLog {
    let reported: Mutex<HashMap<String, Instant>> = Mutex::default();
    Arc::new(move |failure| {
        let mut reported = reported.lock();
        if reported.get(failure).is_some_and(|time| time.elapsed() < REPORT_INTERVAL) {
            return;
        }

        reported.retain(|_, time| time.elapsed() < REPORT_INTERVAL);
        if reported.len() < MAX_REPORTED_FAILURES {
            reported.insert(failure.to_owned(), Instant::now());
            log(&format!("a judge failed: {failure}"));
        }
    })
}

impl Service {
    pub(crate) fn new(
        engine: &Engine,
        run: RunOptions,
        options: ServeOptions,
        log: OperatorLog,
    ) -> Result<Self, EngineError> {
        let process = engine.process();
        let resolve = |path: &Path| process.resolve(path);
        let options = ServeOptions {
            rubrics: options.rubrics.as_deref().map(resolve),
            keys: options.keys.as_deref().map(resolve),
            ..options
        };

        let mut judges = run.judges.clone();
        let samples = SampleService::new(engine, run, options.rubrics.as_deref().unwrap_or(Path::new("")))?;
        let failures = failure_log(Arc::clone(&log));
        let samples = samples.with_failure_log(Arc::clone(&failures));
        let rubrics = RubricLibrary::new(options.rubrics.clone(), process.load_options(&[]));
        let changes = rubrics.refresh().map_err(EngineError::usage)?;
        let at_once = options.samples_at_once.unwrap_or_else(|| samples.samples_at_once());
        let file = options.keys.as_deref().map(KeyFile::read).transpose().map_err(EngineError::usage)?;
        let at_once = at_once.min(options.queue);
        let tenants = TenantList::new(file.as_ref(), &samples, at_once, None)?;
        // Without `--judge`, the configuration or the environment names the judge.
        if judges.is_empty() {
            let prepared = samples.grader(None)?.check()?;
            judges.clone_from(&prepared.judges);
            if prepared.warnings.iter().any(|warning| warning == OFFLINE_NOTICE) {
                log(NO_JUDGE);
            }
        }

        let service = Self {
            queue: Arc::new(SampleQueue::new(at_once, options.queue)),
            rubrics,
            memory: RequestMemory::new(options.limits.bodies_bytes.max(options.limits.body_bytes)),
            replays: ReplayMemory::default(),
            metrics: ServiceMetrics::default(),
            stop: GradingStop::new(),
            long_work: Arc::new(Semaphore::new(
                std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            )),
            tasks: TaskTracker::new(),
            telemetry: TelemetryExporter::new(&options.telemetry, process, Arc::clone(&log))?,
            log,
            failures,
            samples,
            accounts: AccountWatch::default(),
            judges,
            tenants: RwLock::new(Arc::new(tenants)),
            keys: RwLock::new(options.keys.as_deref().and_then(content_hash)),
            is_draining: AtomicBool::new(false),
            options,
        };
        service.report_changes(changes, false);
        Ok(service)
    }

    /// The clients.
    pub(crate) fn tenants(&self) -> Arc<TenantList> {
        Arc::clone(&self.tenants.read())
    }

    /// Applies changes in the rubric folder and in the key file, and reports model servers whose calls are delayed.
    /// Unusable files change nothing.
    pub(crate) fn refresh(&self) {
        for message in self.accounts.news(&self.samples.account_statuses()) {
            (self.log)(&message);
        }

        match self.rubrics.refresh() {
            Ok(changes) => self.report_changes(changes, true),
            Err(error) => (self.log)(&error),
        }

        let Some(path) = &self.options.keys else { return };
        let hash = content_hash(path);
        if hash.is_none() || *self.keys.read() == hash {
            return;
        }

        let earlier = self.tenants();
        let read = KeyFile::read(path).and_then(|file| {
            TenantList::new(Some(&file), &self.samples, self.queue.at_once, Some(&earlier))
                .map_err(|error| error.to_string())
        });
        *self.keys.write() = hash;
        match read {
            Ok(list) => {
                list.apply_budgets();
                *self.tenants.write() = Arc::new(list);
                (self.log)("the keys were read again");
            }
            Err(error) => (self.log)(&format!("{error}; the keys stay as they were")),
        }
    }

    fn report_changes(&self, changes: Vec<LibraryChange>, again: bool) {
        for change in changes {
            let message = match change {
                LibraryChange::Loaded { .. } if !again => continue,
                LibraryChange::Loaded { name, hash } => format!("rubric `{name}` is now {}", &hash[..12]),
                LibraryChange::Broken { path, problem, in_use } => {
                    let stays = in_use.map(|hash| format!("; version {} stays in use", &hash[..12]));
                    format!("`{}` can't be used: {problem}{}", path.display(), stays.unwrap_or_default())
                }
                LibraryChange::Removed { name } => {
                    format!(
                        "rubric `{name}` was removed; clients that name the hash of a version still get it"
                    )
                }
            };
            (self.log)(&message);
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    /// Current values for metrics.
    pub(crate) fn gauges(&self) -> MetricGauges {
        MetricGauges {
            accepted: self.queue.accepted(),
            working: self.tenants().working(),
            queue: self.queue.limit,
            by_client: self.tenants().in_flight(),
            telemetry: self.telemetry.as_ref().map(|exporter| {
                let counts = &exporter.counts;
                (counts.sent.load(Ordering::Relaxed), counts.dropped.load(Ordering::Relaxed))
            }),
            accounts: self.samples.account_statuses(),
            is_ready: !self.is_draining(),
        }
    }

    /// Tells the operator about replies without a decision, and about judges that ran out of time. Failed calls
    /// were reported already.
    pub(crate) fn note_ungraded(&self, result: &SampleResult) {
        for cause in result.decisions.iter().filter_map(|row| row.ungraded.as_ref()) {
            let is_late = || cause.message.contains(DEADLINE_REASON);
            let is_told = match cause.kind {
                UngradedKind::Refusal
                | UngradedKind::Malformed
                | UngradedKind::Truncated
                | UngradedKind::ContextLength
                | UngradedKind::Probability => true,
                UngradedKind::Cancelled => is_late(),
                UngradedKind::Transport
                | UngradedKind::Unavailable
                | UngradedKind::Evidence
                | UngradedKind::Tie
                | UngradedKind::NotJudged => false,
            };
            if is_told {
                (self.failures)(&cause.message.chars().take(MAX_FAILURE_CHARS).collect::<String>());
            }
        }
    }

    /// The error of a request whose judge gets no calls for now, with the time at which the client should
    /// retry.
    pub(crate) fn unavailable(&self, error: ApiError) -> ApiError {
        let outages = self.samples.account_statuses().into_iter().filter_map(|account| account.outage);
        let again = outages.filter_map(|outage| outage.again).min().unwrap_or_default();
        let seconds = (again.as_secs_f64().ceil() as u64).max(1);
        ApiError { status: StatusCode::SERVICE_UNAVAILABLE, ..error.kind("unavailable") }.retry_after(seconds)
    }
}

fn content_hash(path: &Path) -> Option<blake3::Hash> {
    assize_files::read_bytes(path, 4 << 20).ok().map(|bytes| blake3::hash(&bytes))
}
