//! The state that all requests share.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assize_engine::{
    Engine, EngineError, EngineErrorKind, FailureLog, GradingStop, PreparedRubric, RunOptions, SamplePlace,
    SampleService,
};
use assize_model::Scorecard;
use assize_rubric::{OFFLINE_NOTICE, UngradedKind};
use axum::http::StatusCode;
use parking_lot::{Mutex, RwLock};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::account_watch::AccountWatch;
use crate::admission::SampleQueue;
use crate::api::{GradeRequest, NamedRubric, RubricSource, SampleResult, ScorecardSource};
use crate::check::inline_rubric;
use crate::decode::{ProblemList, child};
use crate::group::{count_pairs, difference, differences};
use crate::idempotency::ReplayMemory;
use crate::inline_rubric::{InlineRubric, check_repeats};
use crate::inline_scorecard::InlineScorecard;
use crate::job::{DEADLINE_REASON, Job, JobPlan, JobSample};
use crate::key_file::KeyFile;
use crate::metrics::{MetricGauges, ServiceMetrics};
use crate::options::ServeOptions;
use crate::problem::{ApiError, RequestProblem};
use crate::request::to_grading_sample;
use crate::request_memory::{HeldMemory, RequestMemory};
use crate::rubric_library::{
    LibraryChange, LibraryContent, RubricLibrary, RubricMissing, RubricTemplate, RubricVersion,
};
use crate::telemetry::{TelemetryExporter, TraceParent};
use crate::tenant::{Tenant, TenantList};

/// Pointer to the weight set in a request.
const WEIGHTS: &str = "/weights";

/// Message at the start of a server for which no judge is named.
const NO_JUDGE: &str =
    "no judge is named: the offline judge grades, which only compares words; name a model with `--judge`";

/// Error for a judge whose cost is unknown.
const UNPRICED: &str = "the price of a judge of this rubric is unknown, so a budget in dollars can't be enforced; use another \
     judge, or have the operator add the price to `.assize/prices.yaml`";

/// Longest text of a failure reported to the operator, in characters.
const MAX_FAILURE_CHARS: usize = 300;
/// Each failure is reported to the operator at most once in this time, and at most this many different ones.
const REPORT_INTERVAL: Duration = Duration::from_mins(1);
const MAX_REPORTED_FAILURES: usize = 16;

/// Receives messages for the operator, one line each.
pub(crate) type OperatorLog = Arc<dyn Fn(&str) + Send + Sync>;

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
    samples: SampleService,
    accounts: AccountWatch,
    /// Judges that rubrics in requests may name.
    judges: Vec<String>,
    tenants: RwLock<Arc<TenantList>>,
    /// Hash of the key file that the clients were read from.
    keys: RwLock<Option<blake3::Hash>>,
    is_draining: AtomicBool,
}

/// Rubric of a request, before the variables of a sample are filled in.
enum RequestRubric {
    Prepared(Arc<PreparedRubric>),
    /// A rubric in the request with variables; each sample supplies the values.
    Template(InlineRubric),
    /// A loaded rubric with such variables.
    NamedTemplate {
        template: Arc<RubricTemplate>,
        key: blake3::Hash,
        place: &'static str,
    },
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
            judges = prepared.judges().to_vec();
            if prepared.warnings().iter().any(|warning| warning == OFFLINE_NOTICE) {
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

    /// Takes over changes in the rubric folder and in the key file, and reports model servers to which calls
    /// are held back. Files that can't be used change nothing.
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
            TenantList::new(Some(&file), &self.samples, self.queue.at_once(), Some(&earlier))
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

    /// Judges that requests may name: the operator's, or the offline judge.
    pub(crate) fn judges(&self) -> &[String] {
        &self.judges
    }

    /// Stops accepting requests.
    pub(crate) fn drain(&self) {
        self.is_draining.store(true, Ordering::Release);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    /// Current values for metrics.
    pub(crate) fn gauges(&self) -> MetricGauges {
        MetricGauges {
            accepted: self.queue.accepted(),
            working: self.tenants().working(),
            queue: self.queue.limit(),
            by_client: self.tenants().in_flight(),
            telemetry: self.telemetry.as_ref().map(|exporter| {
                let counts = exporter.counts();
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

    /// Waits until all replies are written to the cache.
    pub(crate) fn flush(&self) -> Result<(), EngineError> {
        self.samples.flush()
    }

    /// Starts to grade the samples of a request.
    ///
    /// # Errors
    /// When there is no room for them. Nothing was spent then.
    pub(crate) fn start(
        self: &Arc<Self>,
        tenant: &Arc<Tenant>,
        plan: JobPlan,
        memory: HeldMemory,
    ) -> Result<Arc<Job>, ApiError> {
        let count = plan.samples.len();
        let of_tenant = tenant.take_samples(count)?;
        let accepted = self.queue.accept(count)?;

        Ok(Job::start(self, tenant, plan, (accepted, of_tenant, memory)))
    }

    /// Problems of a rubric on its own, for a request that has other problems. Unknown variables are not
    /// reported.
    pub(crate) fn rubric_problems(&self, tenant: &Arc<Tenant>, rubric: RubricSource) -> Vec<RequestProblem> {
        let found = self.request_rubric(tenant, rubric, None);
        found.err().map(|error| error.body.problems).unwrap_or_default()
    }

    /// Bytes of a rubric with variables, which is decoded for each sample of a request; 0 for other rubrics.
    pub(crate) fn template_bytes(&self, request: &GradeRequest) -> usize {
        let count = request.samples.len();
        let bytes = match &request.rubric {
            None => 0,
            Some(_) if count < 2 => 0,
            Some(RubricSource::Named(named)) => match self.rubrics.find(&named.name, named.hash.as_deref()) {
                Ok(RubricVersion { content: LibraryContent::Template(template), .. }) => template.bytes(),
                _ => 0,
            },
            Some(given) => {
                let inline = inline_rubric(given.clone()).filter(InlineRubric::has_templates);
                inline.map_or(0, |inline| inline.bytes())
            }
        };

        bytes.saturating_mul(count)
    }

    /// Prepares the samples of a request.
    ///
    /// # Errors
    /// With everything in the request that can't be used.
    pub(crate) fn plan(
        &self,
        tenant: &Arc<Tenant>,
        request: GradeRequest,
        trace: Option<TraceParent>,
    ) -> Result<JobPlan, ApiError> {
        let GradeRequest {
            rubric,
            scorecard,
            weights,
            samples,
            reward,
            on_ungraded,
            deadline_ms,
            compare,
            mut unusable,
        } = request;
        let weights = weights.as_deref();
        if compare.is_some() {
            self.check_groups(&samples)?;
        }

        let rubric = match (rubric, scorecard) {
            (Some(rubric), _) => self.request_rubric(tenant, rubric, weights)?,
            (None, Some(scorecard)) => self.request_scorecard(tenant, scorecard, weights)?,
            (None, None) => return Err(ApiError::invalid_at("/rubric", "missing")),
        };
        if compare.is_some()
            && matches!(&rubric, RequestRubric::Prepared(prepared) if prepared.is_scorecard())
        {
            return Err(ApiError::invalid_at(
                "/compare",
                "answers are compared by a rubric, not by a scorecard",
            ));
        }

        match &rubric {
            RequestRubric::Prepared(_) => {}
            RequestRubric::Template(inline) => check_repeats(inline.bytes(), samples.len())?,
            RequestRubric::NamedTemplate { template, .. } => check_repeats(template.bytes(), samples.len())?,
        }

        let mut problems = ProblemList::default();
        let mut prepared = Vec::with_capacity(samples.len());
        for (index, sample) in samples.into_iter().enumerate() {
            let ready = match &rubric {
                RequestRubric::Prepared(prepared) => Ok(Arc::clone(prepared)),
                RequestRubric::Template(inline) => self.prepare_inline(tenant, inline, sample.vars.as_ref()),
                RequestRubric::NamedTemplate { template, key, place } => {
                    self.prepare_template(tenant, template, *key, place, sample.vars.as_ref())
                }
            };
            let place = SamplePlace {
                index,
                id: sample.id.clone().unwrap_or_else(|| index.to_string()),
                group: sample.group.clone(),
            };
            let graded = to_grading_sample(sample, index, &mut problems);
            match (ready, graded) {
                (Ok(rubric), Some(sample)) => {
                    let sample = match unusable.remove(&index) {
                        Some(problem) => sample.with_problem(problem),
                        None => sample,
                    };
                    prepared.push(JobSample { place, trace: trace.clone(), sample, rubric });
                }
                (Err(error), _) if error.body.problems.is_empty() => return Err(error),
                (Err(error), _) => {
                    let found = error.body.problems.into_iter();
                    problems.extend(found.map(|problem| of_sample(problem, index)));
                }
                (Ok(_), None) => {}
            }
        }
        if compare.is_some() {
            problems.extend(differences(&prepared));
        }
        problems.check()?;

        Ok(JobPlan {
            samples: prepared,
            reward,
            on_ungraded,
            deadline: deadline_ms.map(Duration::from_millis),
            compare,
        })
    }

    fn check_groups(&self, samples: &[crate::api::GradeSample]) -> Result<(), ApiError> {
        let groups = || samples.iter().map(|sample| sample.group.as_deref());
        if let Some(index) = groups().position(|group| group.is_none()) {
            let path = child("/samples", &index.to_string());
            return Err(ApiError::invalid_at(
                child(&path, "group"),
                "missing: `compare` needs the group of each sample",
            ));
        }

        let mut problems = ProblemList::default();
        let mut first_of: BTreeMap<_, usize> = BTreeMap::new();
        for (index, group) in groups().enumerate() {
            let first = *first_of.entry(group).or_insert(index);
            if samples[first].vars != samples[index].vars {
                problems.extend([difference(index, "vars", first)]);
            }
        }
        problems.check()?;

        let (pairs, limit) = (count_pairs(groups()), self.options.limits.samples);
        if pairs > limit {
            let message = format!("{pairs} pairs within groups; at most {limit} are compared");
            return Err(ApiError::invalid_at("/samples", message));
        }

        Ok(())
    }

    fn request_rubric(
        &self,
        tenant: &Arc<Tenant>,
        rubric: RubricSource,
        weights: Option<&str>,
    ) -> Result<RequestRubric, ApiError> {
        if let RubricSource::Named(named) = &rubric {
            return self.named_rubric(tenant, named, "/rubric", weights);
        }
        if weights.is_some() {
            return Err(no_weight_sets());
        }

        let missing = || ApiError::invalid_at("/rubric", "missing");
        let inline = inline_rubric(rubric).ok_or_else(missing)?;
        if inline.has_templates() {
            self.refuse_inline(&inline)?;
            return Ok(RequestRubric::Template(inline));
        }

        self.prepare_inline(tenant, &inline, None).map(RequestRubric::Prepared)
    }

    fn refuse_inline(&self, inline: &InlineRubric) -> Result<(), ApiError> {
        let problems = inline.refuse(&self.options.limits);
        if problems.is_empty() { Ok(()) } else { Err(ApiError::invalid(problems)) }
    }

    /// The rubric with these values filled in. It is decoded only if its text is new.
    fn prepare_inline(
        &self,
        tenant: &Arc<Tenant>,
        inline: &InlineRubric,
        vars: Option<&BTreeMap<String, Value>>,
    ) -> Result<Arc<PreparedRubric>, ApiError> {
        tenant.prepared(inline.hash(vars), || {
            if !inline.has_templates() {
                self.refuse_inline(inline)?;
            }

            let none = BTreeMap::new();
            let decoded = inline.decode(vars.unwrap_or(&none), &self.options.limits, &self.judges);
            let loaded = decoded.map_err(ApiError::invalid)?;
            tenant.grader.prepare(&loaded).map_err(|error| unusable("/rubric", error))
        })
    }

    fn request_scorecard(
        &self,
        tenant: &Arc<Tenant>,
        scorecard: ScorecardSource,
        weights: Option<&str>,
    ) -> Result<RequestRubric, ApiError> {
        let inline = match scorecard {
            ScorecardSource::Named(named) => return self.named_rubric(tenant, &named, "/scorecard", weights),
            ScorecardSource::Content(content) => {
                InlineScorecard::new(content, &self.options.limits).map_err(ApiError::invalid)?
            }
        };

        let prepared = tenant.prepared(with_weights(inline.hash(), weights), || {
            let scorecard = inline.decode(&self.options.limits).map_err(ApiError::invalid)?;
            prepared_scorecard(tenant, scorecard, "/scorecard", weights)
        });
        prepared.map(RequestRubric::Prepared)
    }

    /// A loaded rubric with these values filled in; `key` is the hash of the rubric without them.
    fn prepare_template(
        &self,
        tenant: &Arc<Tenant>,
        template: &RubricTemplate,
        key: blake3::Hash,
        place: &str,
        vars: Option<&BTreeMap<String, Value>>,
    ) -> Result<Arc<PreparedRubric>, ApiError> {
        let none = BTreeMap::new();
        let vars = vars.unwrap_or(&none);
        let values = serde_json::to_vec(vars).unwrap_or_default();
        tenant.prepared(blake3::keyed_hash(key.as_bytes(), &values), || {
            let loaded = self.rubrics.fill(template, vars, place).map_err(ApiError::invalid)?;
            tenant.grader.prepare(&loaded).map_err(|error| unusable(place, error))
        })
    }

    /// A loaded rubric or scorecard; `place` is where the request names it.
    fn named_rubric(
        &self,
        tenant: &Arc<Tenant>,
        named: &NamedRubric,
        place: &'static str,
        weights: Option<&str>,
    ) -> Result<RequestRubric, ApiError> {
        let found =
            self.rubrics.find(&named.name, named.hash.as_deref()).map_err(|missing| match missing {
                RubricMissing::Name => {
                    let loaded = self.rubrics.loaded_names();
                    let message = format!(
                        "no rubric or scorecard of this name is loaded{loaded}; GET /v1/rubrics lists them"
                    );
                    ApiError::invalid_at(child(place, "name"), message)
                }
                RubricMissing::Hash(newest) => {
                    let newest = newest.map_or_else(
                        || "its file was removed".to_owned(),
                        |newest| format!("the newest is {newest}"),
                    );
                    let message = format!("no version with this hash is remembered; {newest}");
                    let error = ApiError::invalid_at(child(place, "hash"), message).kind("rubric_changed");
                    ApiError { status: StatusCode::CONFLICT, ..error }
                }
            })?;

        // The name is part of the key, since messages call a rubric by its name.
        let mut key = blake3::Hasher::new();
        key.update(b"named").update(found.hash.as_bytes()).update(named.name.as_bytes());
        let key = with_weights(key.finalize(), weights);
        let prepared = match &found.content {
            LibraryContent::Rubric(_) | LibraryContent::Template(_) if weights.is_some() => {
                return Err(no_weight_sets());
            }
            LibraryContent::Rubric(rubric) => {
                tenant.prepared(key, || tenant.grader.prepare(rubric).map_err(|error| unusable(place, error)))
            }
            LibraryContent::Template(template) => {
                return Ok(RequestRubric::NamedTemplate { template: Arc::clone(template), key, place });
            }
            LibraryContent::Scorecard(scorecard) => {
                tenant.prepared(key, || prepared_scorecard(tenant, Arc::clone(scorecard), place, weights))
            }
        };
        prepared.map(RequestRubric::Prepared)
    }
}

/// A scorecard with another weight set than its index names, if the request names one.
fn prepared_scorecard(
    tenant: &Tenant,
    scorecard: Arc<Scorecard>,
    place: &str,
    weights: Option<&str>,
) -> Result<PreparedRubric, ApiError> {
    let known = weights.map(|name| scorecard.weight_set(name)).transpose();
    known.map_err(|error| ApiError::invalid_at(WEIGHTS, error.to_string()))?;

    let prepared = tenant.grader.prepare_scorecard(scorecard, weights);
    prepared.map_err(|error| unusable(place, error))
}

/// Error of a request whose rubric can't be judged. It must not show addresses of judges or files, which belong
/// to the operator.
fn unusable(place: &str, error: EngineError) -> ApiError {
    let message = match error.kind {
        EngineErrorKind::Budget => UNPRICED.to_owned(),
        _ => error.message,
    };
    ApiError::invalid_at(place, message)
}

/// Error of a request that names a weight set for a rubric.
pub(crate) fn no_weight_sets() -> ApiError {
    ApiError::invalid_at(WEIGHTS, "a rubric has no weight sets; remove `weights`")
}

/// Hash of a scorecard with one of its weight sets.
fn with_weights(hash: blake3::Hash, weights: Option<&str>) -> blake3::Hash {
    weights.map_or(hash, |name| blake3::keyed_hash(hash.as_bytes(), name.as_bytes()))
}

fn of_sample(problem: RequestProblem, index: usize) -> RequestProblem {
    RequestProblem { message: format!("{} (with the vars of sample {index})", problem.message), ..problem }
}

fn content_hash(path: &Path) -> Option<blake3::Hash> {
    assize_files::read_bytes(path, 4 << 20).ok().map(|bytes| blake3::hash(&bytes))
}
