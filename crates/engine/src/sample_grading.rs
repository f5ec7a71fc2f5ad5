//! Grading samples that the caller holds: nothing is read but a rubric, and no run is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use assize_evalfile::{Case, GivenAnswer, LoadedRubric, Suite, load_rubric, read_rubric, suite_from_answer};
use assize_run::{ItemError, RunError, RunLimits, RunStart, WorkItem};
use assize_store::{CaseRecord, RunSummary, StoreError};
use tokio_util::sync::CancellationToken;

use crate::dependencies::CaseDependencies;
use crate::engine::Engine;
use crate::error::{EngineError, EngineErrorKind};
use crate::eval::PlannedRun;
use crate::exit::{CallStop, RunEnding, exit_of_run};
use crate::metrics;
use crate::options::{DeniedFindings, RunOptions};
use crate::plan::{PlannedSuite, PreflightReport, RunDeps, RunPlanner};
use crate::wiring::{ModelAccess, RunWiring, WiringRequest, wire};

/// Path that diagnostics show for a rubric that is no file.
const INLINE_RUBRIC: &str = "rubric.yaml";
/// Consequence of files with problems.
const NOTHING_GRADED: &str = "nothing was graded";

/// Rubric, by where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RubricSource {
    /// A rubric file.
    File(PathBuf),
    /// The text of a rubric, in YAML or JSON, as it would stand in a file. Environment variables are not substituted.
    Text(String),
}

/// Answer to be graded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GivenSample {
    /// Id by which its result is found; `sample-N` by its position, from 1, unless given.
    pub id: Option<String>,
    /// Answer, with what a judge may see beside it.
    pub answer: GivenAnswer,
}

/// Options of grading samples.
#[derive(Debug, Clone)]
pub struct SampleOptions {
    /// Rubric that all samples are graded by.
    pub rubric: RubricSource,
    /// Samples; their ids differ.
    pub samples: Vec<GivenSample>,
    /// Findings that are refused.
    pub deny: DeniedFindings,
    /// Judging and limits. `run_dir` and `resume` have no effect, because nothing is stored.
    pub run: RunOptions,
}

impl SampleOptions {
    /// Options with the defaults of `assize grade`.
    pub fn new(rubric: RubricSource, samples: Vec<GivenSample>) -> Self {
        Self { rubric, samples, deny: DeniedFindings::default(), run: RunOptions::default() }
    }
}

/// Samples that were graded.
#[derive(Debug)]
pub struct GradedSamples {
    /// Id and record of each sample, in the order of the samples. `None` for one that was not graded, because it was
    /// cancelled or a limit was reached.
    pub records: Vec<(String, Option<CaseRecord>)>,
    /// Summary of the records, as that of a run.
    pub summary: RunSummary,
    /// Warnings about the run as a whole.
    pub warnings: Vec<String>,
    /// Reason for which calls were stopped, if they were.
    pub stop: Option<CallStop>,
}

impl Engine {
    /// Grades samples by a rubric and returns the records; no run is stored. The reply cache is used as the options say.
    ///
    /// When `cancel` fires, what is in flight is given up and what is graded is returned.
    ///
    /// # Errors
    /// When the rubric has problems, ids are not distinct, or the judge can't be asked as wanted. Nothing was spent then.
    pub async fn grade_samples(
        &self,
        options: &SampleOptions,
        cancel: &CancellationToken,
    ) -> Result<GradedSamples, EngineError> {
        let begun = Instant::now();
        let cases = self.sample_cases(options)?;
        let access = ModelAccess::Run(&options.run, options.run.spending.budget.usd);
        let wiring = self.wire_samples(access)?;
        let deps = wiring.deps_for(&self.rubric_folder(options))?;
        let planner = RunPlanner::new(&wiring.config, &options.run)?;
        let planned = planner.suite(&cases.suite);
        let warnings = cases.check(&planner, &planned, &deps, options)?;

        wiring.gateway.check()?;
        wiring.gateway.check_keys(options.deny.exposed_keys)?;
        wiring.gateway.begin_alone("grade");

        let wanted = options.run.workers.map(NonZeroUsize::get).or(wiring.config.workers);
        let workers = NonZeroUsize::new(wiring.gateway.cases_at_once(wanted)).unwrap_or(NonZeroUsize::MIN);
        let start = RunStart {
            limit: wiring.gateway.limit().clone(),
            given_up: wiring.gateway.given_up().clone(),
            ..RunStart::default()
        };
        let limits = RunLimits { workers, bail: None };

        let mut kept = KeptRecords::default();
        let items = cases.items(&planner, &planned, &deps);
        let observe = &mut |event| self.emit(event);
        let (totals, ended) = assize_run::run_from(start, items, limits, cancel, &mut kept, observe).await;
        ended.map_err(|error| match error {
            RunError::Items(error) => EngineError::unrunnable(error.to_string()),
            // Nothing is stored, so nothing can fail to be.
            RunError::Store(error) => EngineError::new(EngineErrorKind::Internal, error.to_string()),
        })?;
        if let Err(error) = wiring.gateway.flush() {
            self.warn(error.message);
        }

        let stop = wiring.gateway.stop();
        let ending = RunEnding {
            interrupted: cancel.is_cancelled(),
            over_budget: wiring.gateway.refusal().is_some(),
            server_given_up: wiring.gateway.outage().is_some(),
            ..RunEnding::default()
        };
        let rows = || Ok(kept.0.values().map(|record| Ok(record.result.clone())));
        let figures = metrics::from_rows(rows).ok();
        let ending = exit_of_run(totals.counts, ending);
        let summary = RunSummary {
            not_run: cases.cases.len().saturating_sub(kept.0.len()),
            ..metrics::summary(&totals, figures, begun, ending)
        };

        let records = cases.ids().map(|id| (id.clone(), kept.0.remove(&id))).collect();
        Ok(GradedSamples { records, summary, warnings, stop })
    }

    /// Plans the grading of samples: calls, tokens, money. Nothing is sent.
    ///
    /// # Errors
    /// As in [`Engine::grade_samples`].
    pub fn plan_samples(&self, options: &SampleOptions) -> Result<PlannedRun, EngineError> {
        let cases = self.sample_cases(options)?;
        let wiring = self.wire_samples(ModelAccess::Plan(&options.run))?;
        let deps = wiring.deps_for(&self.rubric_folder(options))?;
        let planner = RunPlanner::new(&wiring.config, &options.run)?;
        let planned = planner.suite(&cases.suite);
        let warnings = cases.check(&planner, &planned, &deps, options)?;
        wiring.gateway.check()?;

        let limit = (&options.run.spending, options.run.spending.budget.usd);
        let items = || cases.items(&planner, &planned, &deps);
        PlannedRun::new(items, None, cases.cases.len(), warnings, limit, &wiring)
    }

    fn wire_samples<'e>(&'e self, access: ModelAccess<'_>) -> Result<RunWiring<'e>, EngineError> {
        let request = WiringRequest {
            access,
            roots: &[],
            targets_file: None,
            consequence: NOTHING_GRADED,
            keep_workspaces: false,
        };

        wire(self, &request)
    }

    /// Folder near which targets are looked for, since one of them may judge.
    fn rubric_folder(&self, options: &SampleOptions) -> PathBuf {
        match &options.rubric {
            RubricSource::File(path) => {
                self.process().resolve(path).parent().unwrap_or(Path::new("")).to_path_buf()
            }
            RubricSource::Text(_) => self.process().working_folder.clone(),
        }
    }

    fn sample_cases(&self, options: &SampleOptions) -> Result<SampleCases, EngineError> {
        let rubric = match &options.rubric {
            RubricSource::File(path) => load_rubric(&self.process().resolve(path), &self.load_options(&[])),
            RubricSource::Text(text) => read_rubric(Path::new(INLINE_RUBRIC), text),
        };
        self.report_diagnostics(&rubric.diagnostics, &rubric.sources);
        if rubric.has_errors() {
            return Err(EngineError::invalid_file(format!("the rubric has errors; {NOTHING_GRADED}")));
        }

        SampleCases::new(&rubric, &options.samples)
    }
}

/// Samples as cases of one suite.
struct SampleCases {
    suite: Suite,
    cases: Vec<Arc<Case>>,
}

impl SampleCases {
    fn new(rubric: &LoadedRubric, samples: &[GivenSample]) -> Result<Self, EngineError> {
        let mut suite = None;
        let mut cases = Vec::with_capacity(samples.len());
        let mut known = BTreeSet::new();

        for (index, sample) in samples.iter().enumerate() {
            let id = sample.id.clone().unwrap_or_else(|| format!("sample-{}", index + 1));
            if id.trim().is_empty() {
                return Err(EngineError::usage(format!("the id of sample {} is empty", index + 1)));
            }

            let (of_sample, case) = suite_from_answer(rubric, &id, &sample.answer).ok_or_else(|| {
                EngineError::invalid_file(format!("the rubric has errors; {NOTHING_GRADED}"))
            })?;
            if !known.insert(id.clone()) {
                return Err(EngineError::usage(format!("two samples have the id `{id}`; {NOTHING_GRADED}")));
            }

            suite.get_or_insert(of_sample);
            cases.push(Arc::new(case));
        }

        let suite = suite.ok_or_else(|| EngineError::usage("there are no samples to grade"))?;
        Ok(Self { suite, cases })
    }

    fn ids(&self) -> impl Iterator<Item = String> {
        self.cases.iter().map(|case| case.id.to_string())
    }

    /// Looks at every case before anything is spent; returns warnings.
    fn check(
        &self,
        planner: &RunPlanner<'_>,
        planned: &PlannedSuite<'_>,
        deps: &RunDeps,
        options: &SampleOptions,
    ) -> Result<Vec<String>, EngineError> {
        let mut found = PreflightReport::default();
        for case in &self.cases {
            planner.check(planned, case, deps, &mut found);
        }

        found.conclude(options.deny.self_judging)
    }

    fn items<'a>(
        &'a self,
        planner: &'a RunPlanner<'a>,
        planned: &'a PlannedSuite<'a>,
        deps: &'a RunDeps,
    ) -> impl Iterator<Item = Result<WorkItem, ItemError>> + 'a {
        self.cases.iter().flat_map(move |case| {
            let items = planner.items(planned, case, deps, &CaseDependencies::default());

            items.into_iter().map(|item| item.map(|item| WorkItem { format: None, ..item }))
        })
    }
}

/// Recorder that keeps records in memory, by the id of their case.
#[derive(Default)]
struct KeptRecords(BTreeMap<String, CaseRecord>);

impl assize_run::Recorder for KeptRecords {
    fn record(&mut self, record: &CaseRecord) -> Result<(), StoreError> {
        self.0.insert(record.result.case_id.to_string(), record.clone());
        Ok(())
    }
}
