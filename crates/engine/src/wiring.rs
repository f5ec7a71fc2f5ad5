//! Wires a run: configuration, prices, reply cache, budget, workspaces, and the targets and judges of its
//! files.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assize_diagnostic::Severity;
use assize_evalfile::{LoadOptions, LoadedTargets, load_targets};
use assize_grade::{FenceSource, KeyedFences, WarmUp};
use assize_llm::{ChatModel, ModelCard};
use assize_model::{ProjectConfig, Suite, TargetSpec, TextVariable};
use assize_rubric::Usd;
use tokio::sync::Semaphore;

use crate::baselines::BaselineRuns;
use crate::consent::ConsentGate;
use crate::engine::{Engine, folder_of};
use crate::error::EngineError;
use crate::exchange::BatchExchange;
use crate::forecast::ModelCards;
use crate::gateway::ModelGateway;
use crate::judges::{JudgeRegistry, model};
use crate::options::{RunOptions, SpendingOptions};
use crate::prices;
use crate::run_deps::RunDeps;
use crate::targets::TargetRegistry;
use crate::workspaces::WorkspacePool;

/// The longest time until a service tries again a model server that it gave up.
const MAX_RECOVERY: Duration = Duration::from_secs(30);

/// How models are reached.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ModelAccess<'a> {
    /// From a run with its limit in money, from the options or a file.
    Run(&'a RunOptions, Option<Usd>),
    /// From a run whose options can't allow models of unknown price.
    PricedRun(&'a RunOptions),
    /// From a process that grades for others until it is stopped.
    Service(&'a RunOptions),
    /// From an operation that makes no run.
    Alone(&'a SpendingOptions),
    /// No access, because the run is only planned.
    Plan(&'a RunOptions),
    /// No access, because the operation is only planned.
    PlanAlone(&'a SpendingOptions),
}

impl<'a> ModelAccess<'a> {
    /// The options of the run; `None` for an operation that makes none.
    fn run(self) -> Option<&'a RunOptions> {
        match self {
            Self::Run(options, _)
            | Self::PricedRun(options)
            | Self::Service(options)
            | Self::Plan(options) => Some(options),
            Self::Alone(_) | Self::PlanAlone(_) => None,
        }
    }

    fn spending(self) -> &'a SpendingOptions {
        match self {
            Self::Run(RunOptions { spending, .. }, _)
            | Self::PricedRun(RunOptions { spending, .. })
            | Self::Service(RunOptions { spending, .. })
            | Self::Plan(RunOptions { spending, .. })
            | Self::Alone(spending)
            | Self::PlanAlone(spending) => spending,
        }
    }
}

/// Request for the parts of a run.
pub(crate) struct WiringRequest<'a> {
    /// How models are reached.
    pub(crate) access: ModelAccess<'a>,
    /// The files that run. Configuration and prices are the nearest to them; without files, the working
    /// folder's.
    pub(crate) files: &'a [PathBuf],
    /// Folders that files may be read from.
    pub(crate) roots: &'a [PathBuf],
    /// The targets file in the options. It overrides the configuration's.
    pub(crate) targets_file: Option<&'a Path>,
    /// The consequence of a targets file with problems, such as "nothing was run".
    pub(crate) consequence: &'static str,
    /// Keeps the workspaces after the run.
    pub(crate) keep_workspaces: bool,
}

/// Everything needed to make work items. Targets and judges are made for each targets file when they are first
/// needed.
pub(crate) struct RunWiring<'e> {
    engine: &'e Engine,
    pub(crate) load_options: LoadOptions,
    pub(crate) config: ProjectConfig,
    pub(crate) gateway: Arc<ModelGateway>,
    pub(crate) workspaces: Arc<WorkspacePool>,
    judges: Vec<String>,
    warm_up: WarmUp,
    /// Programs that files may start.
    pub(crate) gate: ConsentGate,
    /// Retries of each target; `None` for the numbers in the targets file.
    max_retries: Option<u32>,
    targets_file: Option<PathBuf>,
    consequence: &'static str,
    /// Limits the judge calls in flight, over all files.
    judge_slots: Arc<Semaphore>,
    by_targets_file: RefCell<Vec<(Option<PathBuf>, Arc<RunDeps>)>>,
}

/// Creates the parts that a run, or an operation without a run, needs.
///
/// # Errors
/// If the configuration or the prices have problems.
pub(crate) fn wire<'e>(
    engine: &'e Engine,
    request: &WiringRequest<'_>,
) -> Result<RunWiring<'e>, EngineError> {
    let load_options = engine.load_options(request.roots);
    let config = engine.config(request.files, &load_options)?;
    let run = request.access.run();
    let working_folder = load_options.working_folder.clone();
    let start = request.files.first().map_or(working_folder.as_path(), |file| folder_of(file));
    let list = request.access.spending().prices.as_deref();
    let prices = prices::prices(start, list, run.and_then(|run| run.context_tokens), &load_options, engine)?;

    let gateway = match request.access {
        ModelAccess::Run(options, usd) => {
            let exchange = BatchExchange::open(&options.exchange, engine.process())?;
            ModelGateway::for_run(options, &config, prices, usd, engine)
                .with_exchange(exchange)
                .with_batches(options, engine)
        }
        ModelAccess::PricedRun(options) => {
            ModelGateway::for_run(options, &config, prices, options.spending.budget.usd, engine).all_priced()
        }
        ModelAccess::Service(options) => {
            ModelGateway::for_run(options, &config, prices, options.spending.budget.usd, engine)
                .recovering_after(MAX_RECOVERY)
        }
        ModelAccess::Alone(spending) => {
            ModelGateway::within_budget(spending, spending.budget.usd, prices, engine)
        }
        ModelAccess::Plan(options) => {
            ModelGateway::for_plan(&options.spending, prices, engine).with_batches(options, engine)
        }
        ModelAccess::PlanAlone(spending) => ModelGateway::for_plan(spending, prices, engine),
    };

    let targets_file =
        request.targets_file.map(|path| engine.process().resolve(path)).or_else(|| config.targets.clone());

    let gate = ConsentGate::new(
        engine.process(),
        run.map_or_else(Default::default, |run| run.programs),
        request.files,
    );
    let gate = match request.access {
        // Whoever is served is not the user.
        ModelAccess::Service(_) => gate.without_programs(),
        _ => gate,
    };
    let load_options =
        engine.with_programs(load_options, start, targets_file.as_deref(), gate.programs_of(None));

    Ok(RunWiring {
        engine,
        load_options,
        config,
        gateway: Arc::new(gateway),
        workspaces: Arc::new(WorkspacePool::new(request.keep_workspaces, gate.programs_of(None), engine)),
        judges: run.map(|run| run.judges.clone()).unwrap_or_default(),
        warm_up: run.map(|run| run.panel.warm_up).unwrap_or_default(),
        gate,
        max_retries: run.and_then(|run| run.max_retries),
        targets_file,
        consequence: request.consequence,
        judge_slots: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
        by_targets_file: RefCell::default(),
    })
}

impl RunWiring<'_> {
    /// Targets and judges for files in this folder. Files of one project share them.
    ///
    /// # Errors
    /// When the targets file has problems.
    pub(crate) fn deps_for(&self, folder: &Path) -> Result<Arc<RunDeps>, EngineError> {
        self.deps_with(folder, None)
    }

    /// The targets and judges for a suite, including the ones that it defines itself.
    ///
    /// # Errors
    /// As in [`RunWiring::deps_for`].
    pub(crate) fn deps_of_suite(&self, suite: &Suite) -> Result<Arc<RunDeps>, EngineError> {
        let folder = suite.path.parent().unwrap_or(Path::new(""));
        self.deps_with(folder, (!suite.defined_targets.is_empty()).then_some(suite))
    }

    fn deps_with(&self, folder: &Path, suite: Option<&Suite>) -> Result<Arc<RunDeps>, EngineError> {
        let loaded = load_targets(folder, self.targets_file.as_deref(), &self.load_options);
        // A suite that defines targets does not share them.
        let place = suite.map_or_else(|| loaded.path.clone(), |suite| Some(suite.path.clone()));
        let known = self.by_targets_file.borrow().iter().find(|(path, _)| *path == place).cloned();
        if let Some((_, deps)) = known {
            return Ok(deps);
        }

        let own = suite.map(|suite| suite.defined_targets.as_slice()).unwrap_or_default();
        let deps = self.deps_of(loaded, own, &self.gateway)?;
        self.by_targets_file.borrow_mut().push((place, Arc::clone(&deps)));

        Ok(deps)
    }

    /// The targets and judges for files in this folder, which reach models through this gateway.
    ///
    /// # Errors
    /// If the targets file has problems.
    pub(crate) fn deps_through(
        &self,
        folder: &Path,
        gateway: &Arc<ModelGateway>,
    ) -> Result<Arc<RunDeps>, EngineError> {
        self.deps_of(load_targets(folder, self.targets_file.as_deref(), &self.load_options), &[], gateway)
    }

    fn deps_of(
        &self,
        mut loaded: LoadedTargets,
        own: &[TargetSpec],
        gateway: &Arc<ModelGateway>,
    ) -> Result<Arc<RunDeps>, EngineError> {
        if loaded.is_usable {
            // An error in an unused target does not matter. A run that uses it is refused when it is planned.
            loaded
                .diagnostics
                .iter_mut()
                .for_each(|found| found.severity = found.severity.min(Severity::Warning));
        }

        self.engine.report_diagnostics(&loaded.diagnostics, &loaded.sources);

        if !loaded.is_usable {
            let consequence = self.consequence;
            return Err(EngineError::invalid_file(format!("the targets file has errors; {consequence}")));
        }

        loaded.targets.retain(|target| own.iter().all(|defined| defined.name != target.name));
        loaded.targets.splice(0..0, own.iter().cloned());
        if self.max_retries.is_some() {
            loaded.targets.iter_mut().for_each(|target| target.retry.max_retries = self.max_retries);
        }

        let targets = Arc::new(TargetRegistry::new(
            loaded.targets,
            loaded.path.clone(),
            Arc::clone(gateway),
            self.gate.programs_of(loaded.path.as_deref()),
            self.load_options.clone(),
            self.engine,
        ));

        let judges = Arc::new(JudgeRegistry::new(
            self.judges.clone(),
            self.warm_up,
            self.config.judge.clone(),
            Arc::clone(&self.judge_slots),
            Arc::clone(&targets),
            Arc::clone(gateway),
            self.engine,
        ));

        Ok(Arc::new(RunDeps { targets, judges, baselines: BaselineRuns::new(self.engine) }))
    }

    /// The targets and judges of all files so far, in the order in which they were first needed.
    pub(crate) fn all_deps(&self) -> Vec<Arc<RunDeps>> {
        self.by_targets_file.borrow().iter().map(|(_, deps)| Arc::clone(deps)).collect()
    }

    /// The model of a name, from the view of a folder. It will receive texts with these variables of the environment.
    ///
    /// # Errors
    /// If there is no such model, or files would send variables without the user's consent.
    pub(crate) fn model(
        &self,
        name: &str,
        deps: &RunDeps,
        texts: &BTreeSet<TextVariable>,
    ) -> Result<Arc<dyn ChatModel>, EngineError> {
        let made = model(name, &deps.targets, &self.gateway, &self.engine.process().environment())?;
        match self.gate.refusal(&self.gateway.capabilities(texts)).filter(|_| !self.gateway.is_plan()) {
            Some(refused) => Err(EngineError::unrunnable(format!("{refused}\n{}", self.consequence))),
            None => Ok(made),
        }
    }

    /// Source of the fences around untrusted texts.
    pub(crate) fn fences(&self) -> Arc<dyn FenceSource> {
        Arc::new(KeyedFences::new(self.gateway.fence_key()))
    }
}

impl ModelCards for RunWiring<'_> {
    fn judge(&self, name: &str) -> ModelCard {
        self.all_deps().iter().find_map(|deps| deps.judges.card(name)).unwrap_or_default()
    }

    fn model(&self, name: &str) -> ModelCard {
        self.gateway.card(name)
    }
}
