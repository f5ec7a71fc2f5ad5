//! Judges one answer without storing a run.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_evalfile::LoadOptions;
use assize_model::ThresholdOverrides;
use assize_run::{Recorder, RunError, RunLimits, RunStart};
use assize_store::{CaseRecord, StoreError};
use tokio_util::sync::CancellationToken;

use crate::attempt_material::AttemptCase;
use crate::dependencies::CaseDependencies;
use crate::engine::Engine;
use crate::error::{EngineError, EngineErrorKind};
use crate::exit::CallStop;
use crate::options::{DeniedFindings, RunOptions};
use crate::plan::RunPlanner;
use crate::preflight_report::PreflightReport;
use crate::run_deps::RunDeps;
use crate::wiring::{ModelAccess, RunWiring, WiringRequest, wire};

/// Judges for any number of attempts.
pub struct AttemptJudge<'e> {
    wiring: RunWiring<'e>,
    deps: Arc<RunDeps>,
    options: RunOptions,
}

/// Outcome of judging an attempt.
pub enum TryOutcome {
    /// The record of the case.
    Judged(Box<CaseRecord>),
    /// The user interrupted it.
    Interrupted,
    /// No more calls could be made, for this reason.
    Stopped(CallStop),
}

/// Keeps the record of the only case.
#[derive(Default)]
struct OnlyRecord(Option<CaseRecord>);

impl Recorder for OnlyRecord {
    fn record(&mut self, record: &CaseRecord) -> Result<(), StoreError> {
        self.0 = Some(record.clone());
        Ok(())
    }
}

impl<'e> AttemptJudge<'e> {
    /// Creates the judges that the options, the configuration and the targets near `folder` name.
    ///
    /// # Errors
    /// When options contradict each other, or files have problems.
    pub fn new(
        engine: &'e Engine,
        options: RunOptions,
        folder: &Path,
        roots: &[PathBuf],
        targets_file: Option<&Path>,
    ) -> Result<Self, EngineError> {
        let request = WiringRequest {
            access: ModelAccess::PricedRun(&options),
            files: &[folder.to_path_buf()],
            roots,
            targets_file,
            consequence: "nothing was judged",
            keep_workspaces: false,
        };

        let wiring = wire(engine, &request)?;
        let deps = wiring.deps_for(folder)?;

        wiring.gateway.begin_alone("try");
        options.panel_spec()?;

        Ok(Self { wiring, deps, options })
    }

    /// The options for reading files.
    pub fn load_options(&self) -> &LoadOptions {
        &self.wiring.load_options
    }

    /// Checks a case before any request is sent, and returns warnings.
    ///
    /// # Errors
    /// When the case can't be judged.
    pub fn check(&self, attempt: &AttemptCase) -> Result<Vec<String>, EngineError> {
        let mut found = PreflightReport::default();
        let planner = self.planner()?;
        planner.check(&planner.suite(&attempt.suite), &attempt.case, &self.deps, &mut found);

        let warnings =
            found.conclude(DeniedFindings::default(), &self.wiring.gate, &self.wiring.gateway, false)?;
        self.wiring.gateway.check()?;

        Ok(warnings)
    }

    /// Judges a case.
    ///
    /// # Errors
    /// When the case can't be judged.
    pub async fn judge(
        &self,
        attempt: &AttemptCase,
        cancel: &CancellationToken,
    ) -> Result<TryOutcome, EngineError> {
        let planner = self.planner()?;
        let suite = planner.suite(&attempt.suite);
        let items = planner.items(&suite, &attempt.case, &self.deps, &CaseDependencies::default());

        let gateway = &self.wiring.gateway;
        let mut only = OnlyRecord::default();
        let start = RunStart { limit: gateway.limit().clone(), ..RunStart::default() };
        let settings = RunLimits { workers: NonZeroUsize::MIN, bail: None };
        let (_, ended) = assize_run::run_from(start, items, settings, cancel, &mut only, &mut |_| {}).await;
        ended.map_err(|error| match error {
            RunError::Items(error) => EngineError::unrunnable(error.to_string()),
            // No results are stored, so this can't happen.
            RunError::Store(error) => EngineError::new(EngineErrorKind::Internal, error.to_string()),
        })?;

        Ok(match only.0 {
            Some(record) => TryOutcome::Judged(Box::new(record)),
            None if cancel.is_cancelled() => TryOutcome::Interrupted,
            None => TryOutcome::Stopped(
                gateway
                    .stop()
                    .unwrap_or_else(|| CallStop::OverBudget("the budget allows no further call".to_owned())),
            ),
        })
    }

    /// Waits until all replies that were kept are written to the cache.
    ///
    /// # Errors
    /// When replies were lost.
    pub fn flush(&self) -> Result<(), EngineError> {
        self.wiring.gateway.flush()
    }

    fn planner(&self) -> Result<RunPlanner<'_>, EngineError> {
        let planner = RunPlanner::new(&self.wiring.config, &self.options)?;

        Ok(RunPlanner {
            thresholds: ThresholdOverrides { borderline: None, ..planner.thresholds },
            ..planner
        })
    }
}
