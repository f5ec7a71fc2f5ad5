//! Settings of graders, as the Python package passes them.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use assize_engine::{Budget, CacheUse, PanelOptions, RunOptions, SpendingOptions, Usd};
use assize_rubric::{JudgingMode, UnitInterval};
use pyo3::prelude::*;

use crate::failure::LibraryError;

/// Settings of a grader. Each corresponds to the option of `assize grade` with the same name.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct GraderSettings {
    /// Names of judges; empty for the configuration's judge.
    pub(crate) judges: Vec<String>,
    /// Judges written in Python: name, version, function, maximum number of concurrent calls.
    pub(crate) functions: Vec<(String, String, Py<PyAny>, usize)>,
    pub(crate) folder: PathBuf,
    pub(crate) samples_at_once: Option<usize>,
    judging: Option<String>,
    judge_repeats: Option<u32>,
    judge_temperature: Option<f64>,
    threshold: Option<f64>,
    max_concurrency: Option<usize>,
    requests_per_minute: Option<u32>,
    tokens_per_minute: Option<u32>,
    request_timeout: Option<f64>,
    max_output_tokens: Option<u32>,
    budget_usd: Option<f64>,
    budget_calls: Option<u64>,
    cache: String,
}

impl GraderSettings {
    /// Options of the engine.
    ///
    /// # Errors
    /// When a value is out of range.
    pub(crate) fn run_options(&self) -> Result<RunOptions, LibraryError> {
        let usd = self
            .budget_usd
            .map(|cost| {
                Usd::from_dollars(cost).ok_or_else(|| {
                    LibraryError::usage(format!("budget_usd is {cost}; expected US dollars, 0 or more"))
                })
            })
            .transpose()?;
        let cache = match self.cache.as_str() {
            "on" => CacheUse::On,
            "off" => CacheUse::Off,
            "only" => CacheUse::Only,
            other => {
                return Err(LibraryError::usage(format!("cache is `{other}`; expected on, off or only")));
            }
        };
        let threshold = self.threshold.map(UnitInterval::new).transpose();
        let threshold = threshold.map_err(|error| LibraryError::usage(format!("threshold: {error}")))?;

        Ok(RunOptions {
            judges: self.judges.clone(),
            panel: PanelOptions {
                repeats: self.judge_repeats,
                temperature: self.judge_temperature,
                ..PanelOptions::default()
            },
            judging: self.judging.as_deref().map(judging).transpose()?,
            max_concurrency: positive("max_concurrency", self.max_concurrency, NonZeroUsize::new)?,
            requests_per_minute: positive("requests_per_minute", self.requests_per_minute, NonZeroU32::new)?,
            tokens_per_minute: positive("tokens_per_minute", self.tokens_per_minute, NonZeroU32::new)?,
            request_timeout: self
                .request_timeout
                .map(|seconds| time("request_timeout", seconds))
                .transpose()?,
            spending: SpendingOptions {
                cache,
                budget: Budget { calls: self.budget_calls, usd, ..Budget::default() },
                max_output_tokens: positive("max_output_tokens", self.max_output_tokens, NonZeroU32::new)?,
                prices: None,
            },
            threshold,
            ..RunOptions::default()
        })
    }
}

/// A duration in seconds, above 0 and at most a day.
///
/// # Errors
/// When it is out of that range.
pub(crate) fn time(name: &str, seconds: f64) -> Result<Duration, LibraryError> {
    if seconds > 0.0 && seconds <= 86_400.0 {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(LibraryError::usage(format!("{name} is {seconds}; expected seconds, above 0 and at most 86400")))
    }
}

fn positive<T, N>(name: &str, value: Option<T>, make: fn(T) -> Option<N>) -> Result<Option<N>, LibraryError> {
    let Some(value) = value else { return Ok(None) };
    match make(value) {
        Some(number) => Ok(Some(number)),
        None => Err(LibraryError::usage(format!("{name} is 0; expected at least 1"))),
    }
}

fn judging(text: &str) -> Result<JudgingMode, LibraryError> {
    match (text, text.strip_prefix("batched:").and_then(|size| size.parse().ok())) {
        ("per-criterion", _) => Ok(JudgingMode::PerCriterion),
        ("batched", _) => Ok(JudgingMode::Batched(None)),
        (_, Some(size)) => Ok(JudgingMode::Batched(Some(size))),
        _ => Err(LibraryError::usage(format!(
            "judging is `{text}`; expected per-criterion, batched, or batched:N with N at least 1"
        ))),
    }
}
