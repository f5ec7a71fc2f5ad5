//! Graders: judges with their limits, budget and reply cache, for any number of batches.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_engine::{
    Engine, GradingStop, OnUngraded, ProcessContext, RewardKind, SampleService, UngradedPolicy,
};
use assize_llm::FILE_VARIABLES;
use pyo3::prelude::*;
use tokio::sync::Semaphore;

use crate::failure::LibraryError;
use crate::grader_core::{GraderCore, MessageLog};
use crate::job::{Job, JobPlan, JobSample};
use crate::judge::FunctionJudge;
use crate::rubric::{RubricCache, RubricText};
use crate::runtime::runtime;
use crate::sample::SampleReader;
use crate::settings::{GraderSettings, time};

/// Judges with their limits, budget and reply cache.
#[pyclass(frozen, module = "assize_native")]
pub(crate) struct Grader {
    /// Set until the grader is dropped.
    core: Option<Arc<GraderCore>>,
}

#[pymethods]
impl Grader {
    /// Creates the judges. Sends nothing.
    #[new]
    fn new(py: Python<'_>, settings: GraderSettings) -> PyResult<Self> {
        let run = settings.run_options()?;
        let judges: Vec<FunctionJudge> = settings
            .functions
            .iter()
            .map(|(name, version, function, at_once)| {
                FunctionJudge::new(name, version, function.clone_ref(py), *at_once)
            })
            .collect();

        let made = py.detach(move || {
            let context = process_context(&settings.folder);
            let messages = Arc::new(MessageLog::default());
            let log = Arc::clone(&messages);
            let mut engine = Engine::new(context.clone(), move |event| log.observe(event));
            for judge in judges {
                engine = engine.with_judge(Arc::new(judge));
            }

            let runtime = runtime()?;
            let _guard = runtime.enter();
            let failed = |error| LibraryError::from(error).with_details(&messages.take_diagnostics());
            let service = SampleService::new(&engine, run, Path::new("")).map_err(failed)?;
            let grader = service.grader(None).map_err(failed)?;
            // A judge without a key is found now, and not at the first sample.
            let judges = grader.check().map_err(failed)?.judges().to_vec();
            let at_once = settings.samples_at_once.unwrap_or_else(|| service.samples_at_once());

            Ok::<_, LibraryError>(GraderCore {
                process: std::process::id(),
                context,
                slots: Semaphore::new(at_once.clamp(1, Semaphore::MAX_PERMITS)),
                service,
                grader,
                judges,
                rubrics: RubricCache::default(),
                stop: GradingStop::new(),
                messages,
            })
        })?;

        Ok(Self { core: Some(Arc::new(made)) })
    }

    /// Starts to grade samples. The rubric is a file, or a text with a file name that gives its syntax.
    #[pyo3(signature = (samples, rubric, reward, on_ungraded, deadline, notify, notify_each))]
    #[expect(clippy::too_many_arguments, reason = "the only caller is the Python package")]
    fn start(
        &self,
        py: Python<'_>,
        samples: &Bound<'_, PyAny>,
        rubric: (PathBuf, Option<String>),
        reward: &str,
        on_ungraded: (Option<String>, Option<f64>),
        deadline: Option<f64>,
        notify: Option<Py<PyAny>>,
        notify_each: bool,
    ) -> PyResult<Job> {
        let core = self.core()?;
        let (reward, on_ungraded) = (reward_kind(reward)?, policy(on_ungraded)?);
        let deadline = deadline.map(|seconds| time("deadline", seconds)).transpose()?;
        let mut reader = SampleReader::new(py);
        let read = samples.try_iter()?.enumerate();
        let read: Vec<_> =
            read.map(|(index, sample)| reader.read(index, &sample?)).collect::<PyResult<_>>()?;

        let work = Arc::clone(core);
        py.detach(move || {
            let rubric = RubricText::new(rubric.0, rubric.1, &work.context)?;
            let runtime = runtime()?;
            let _guard = runtime.enter();
            // All samples share one rubric, unless they have their own values for it.
            let plain = read.iter().all(|sample| sample.vars.is_none());
            let shared = plain.then(|| work.prepare(&rubric, None)).transpose()?;
            let ready = |sample: crate::sample::ReadSample| {
                let rubric = match &shared {
                    Some(shared) => Arc::clone(shared),
                    None => work.prepare(&rubric, sample.vars.as_ref())?,
                };
                Ok::<_, LibraryError>(JobSample { place: sample.place, sample: sample.sample, rubric })
            };
            let samples = read.into_iter().map(ready).collect::<Result<Vec<_>, _>>()?;

            let plan = JobPlan { samples, reward, on_ungraded, deadline, notify, notify_each };
            Ok::<_, LibraryError>(Job::start(&runtime, Arc::clone(&work), plan))
        })
        .map_err(PyErr::from)
    }

    /// Names of the judges for rubrics that name none.
    fn judges(&self) -> PyResult<Vec<String>> {
        Ok(self.core()?.judges.clone())
    }

    /// Warnings since the last call.
    fn take_warnings(&self) -> PyResult<Vec<String>> {
        let core = self.core()?;
        Ok(std::mem::take(&mut core.messages.warnings.lock()))
    }

    /// Stops everything in flight: undecided criteria become ungraded, with this reason.
    fn cancel(&self, reason: &str) -> PyResult<()> {
        self.core()?.stop.stop(reason);
        Ok(())
    }

    /// Waits until all replies are written to the cache.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let core = self.core()?;
        Ok(py.detach(|| core.service.flush()).map_err(LibraryError::from)?)
    }
}

impl Grader {
    /// The grader, if this is the process that created it.
    fn core(&self) -> Result<&Arc<GraderCore>, LibraryError> {
        match &self.core {
            Some(core) if core.process == std::process::id() => Ok(core),
            _ => Err(LibraryError::forked()),
        }
    }
}

impl Drop for Grader {
    fn drop(&mut self) {
        if let Some(core) = self.core.take()
            && core.process != std::process::id()
        {
            // Dropping it would wait for threads that only the parent process has.
            std::mem::forget(core);
        }
    }
}

/// The process of a grader: environment, clock and working folder.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place of the library that reads environment and clock"
)]
pub(crate) fn process_context(folder: &Path) -> ProcessContext {
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name != FILE_VARIABLES);
    let variables: BTreeMap<String, String> = variables.collect();
    // There is no `.env` here, so the variable is the user's own.
    let consents = variables.get("ASSIZE_ALLOW_CODE").is_some_and(|value| value == "1");
    let now = || jiff::Timestamp::try_from(std::time::SystemTime::now()).unwrap_or(jiff::Timestamp::MAX);

    ProcessContext::new(folder.to_owned(), std::env::temp_dir(), now)
        .with_variables(variables)
        .with_consent(consents, None)
}

fn reward_kind(name: &str) -> Result<RewardKind, LibraryError> {
    let unknown = || LibraryError::usage(format!("reward is `{name}`; expected score, gated or pass"));
    RewardKind::from_name(name).ok_or_else(unknown)
}

fn policy((name, value): (Option<String>, Option<f64>)) -> Result<OnUngraded, LibraryError> {
    let policy = name.as_deref().and_then(UngradedPolicy::from_name);
    match (name, policy, value) {
        (None, _, None) => Ok(OnUngraded::Null),
        (None, _, Some(value)) if value.is_finite() => Ok(OnUngraded::Value { value }),
        (Some(_), Some(policy), None) => Ok(OnUngraded::Named(policy)),
        (name, _, value) => {
            let found =
                name.map_or_else(|| value.unwrap_or_default().to_string(), |name| format!("`{name}`"));
            let expected = "expected None, drop, error, low, high or a finite number";
            Err(LibraryError::usage(format!("on_ungraded is {found}; {expected}")))
        }
    }
}
