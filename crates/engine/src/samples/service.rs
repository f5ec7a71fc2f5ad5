//! Resources that the graders of a process share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_llm::{AccountStatus, BudgetTracker};
use assize_model::ProjectConfig;

use super::grader::SampleGrader;
use super::stop::FailureLog;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::gateway::ModelGateway;
use crate::options::RunOptions;
use crate::wiring::{ModelAccess, WiringRequest, wire};

/// Resources that all graders of a process share: rate limiter, budget, reply cache, prices, configuration.
///
/// Unlike in a run, a failing model server is not abandoned: it is tried again after a few seconds, and at
/// least every half minute.
pub struct SampleService {
    engine: Engine,
    options: RunOptions,
    /// The search for the configuration and the targets file starts in this folder.
    folder: PathBuf,
    config: ProjectConfig,
    gateway: Arc<ModelGateway>,
    models: ModelUse,
    failures: Option<FailureLog>,
}

impl SampleService {
    /// Sends the reasons of model failures to `failures`, and leaves addresses and names of variables out of
    /// the records, because the clients who receive the records did not choose the model.
    #[must_use]
    pub fn with_failure_log(self, failures: FailureLog) -> Self {
        Self { failures: Some(failures), ..self }
    }

    /// Creates a service with these options: judges, limits, cache, budget. The search for the configuration
    /// and a targets file starts in `folder`.
    ///
    /// # Errors
    /// If options contradict each other, files have problems, or a judge that is named can't be used.
    pub fn new(engine: &Engine, options: RunOptions, folder: &Path) -> Result<Self, EngineError> {
        Self::with_models(engine, options, folder, ModelUse::Ask)
    }

    /// Creates a service whose graders only plan. It sends no requests and needs no key.
    ///
    /// # Errors
    /// As in [`SampleService::new`].
    pub fn for_plans(engine: &Engine, options: RunOptions, folder: &Path) -> Result<Self, EngineError> {
        Self::with_models(engine, options, folder, ModelUse::Plan)
    }

    fn with_models(
        engine: &Engine,
        options: RunOptions,
        folder: &Path,
        models: ModelUse,
    ) -> Result<Self, EngineError> {
        options.panel_spec()?;
        let folder = engine.process().resolve(folder);
        let wiring = wire(engine, &models.request(&options, &folder))?;

        wiring.gateway.begin_alone("samples");
        Ok(Self {
            engine: engine.clone(),
            folder,
            config: wiring.config.clone(),
            gateway: Arc::clone(&wiring.gateway),
            options,
            models,
            failures: None,
        })
    }

    /// Creates a grader whose cached replies are visible only to graders of the same namespace; without a namespace, they
    /// are in the common cache of the working folder.
    ///
    /// # Errors
    /// When the targets file has problems.
    pub fn grader(&self, namespace: Option<&str>) -> Result<SampleGrader, EngineError> {
        let gateway = namespace.map(|name| Arc::new(self.gateway.in_namespace(cache_namespace(name))));
        self.grader_through(gateway.unwrap_or_else(|| Arc::clone(&self.gateway)))
    }

    /// Creates a grader for a client. The client has its own budget, in addition to the process's, and its own part of
    /// the reply cache. If the budget limits money, its rubrics may use models of unknown price only if the options
    /// allow them.
    ///
    /// # Errors
    /// When the targets file has problems.
    pub fn client_grader(
        &self,
        namespace: &str,
        budget: &Arc<BudgetTracker>,
    ) -> Result<SampleGrader, EngineError> {
        let gateway = self.gateway.in_namespace(cache_namespace(namespace));
        self.grader_through(Arc::new(gateway.within_client_budget(budget, self.options.unknown_price)))
    }

    fn grader_through(&self, gateway: Arc<ModelGateway>) -> Result<SampleGrader, EngineError> {
        // The grader shares the service's budget, limits and cache, because all of them belong to the gateway.
        let wiring = wire(&self.engine, &self.models.request(&self.options, &self.folder))?;
        let deps = wiring.deps_through(&self.folder, &gateway)?;
        Ok(SampleGrader {
            engine: self.engine.clone(),
            options: self.options.clone(),
            config: self.config.clone(),
            gateway,
            deps,
            gate: wiring.gate.clone(),
            failures: self.failures.clone(),
        })
    }

    /// Returns the current limits of the accounts at model servers.
    pub fn account_statuses(&self) -> Vec<AccountStatus> {
        self.gateway.account_statuses()
    }

    /// The number of concurrent samples that keep every allowed request to models in flight.
    pub fn samples_at_once(&self) -> usize {
        self.gateway.ceiling()
    }

    /// Waits until all replies that were kept are written to the cache.
    ///
    /// # Errors
    /// When replies were lost.
    pub fn flush(&self) -> Result<(), EngineError> {
        self.gateway.flush()
    }
}

fn cache_namespace(name: &str) -> [u8; 32] {
    blake3::derive_key("assize 2026-11 namespace of the reply cache", name.as_bytes())
}

/// How the graders of a service use models.
#[derive(Clone, Copy)]
enum ModelUse {
    Ask,
    Plan,
}

impl ModelUse {
    const fn request<'a>(self, options: &'a RunOptions, folder: &'a PathBuf) -> WiringRequest<'a> {
        WiringRequest {
            access: match self {
                Self::Ask => ModelAccess::Service(options),
                Self::Plan => ModelAccess::Plan(options),
            },
            files: std::slice::from_ref(folder),
            roots: &[],
            targets_file: None,
            consequence: "nothing was graded",
            keep_workspaces: false,
        }
    }
}
