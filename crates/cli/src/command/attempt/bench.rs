//! Judging of the answers of `assize try`, without leaving a run behind.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::render;
use assize_evalfile::{Config, LineOverrides, LoadOptions, PanelSpec, load_targets};
use assize_run::{Recorder, Settings, Start};
use assize_store::{CaseRecord, StoreError};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::material::Scene;
use crate::access::Access;
use crate::args::{RunArgs, TryArgs};
use crate::command::baselines::Baselines;
use crate::command::eval::{config, load_options};
use crate::command::links::Links;
use crate::command::plan::{Bench as Book, Planner, Preflight};
use crate::context::Context;
use crate::judges::JudgeBook;
use crate::money;
use crate::output;
use crate::targets::TargetBook;

/// The judges and settings, shared by all trials of a session.
pub(super) struct Bench<'a> {
    book: Book,
    access: Arc<Access>,
    config: Config,
    options: LoadOptions,
    panel: PanelSpec,
    run: &'a RunArgs,
}

/// Result of a trial.
pub(super) enum Judged {
    Done(Box<CaseRecord>),
    Interrupted,
    /// The budget was exhausted; holds the message.
    OverBudget(String),
}

/// Recorder that keeps the record of the only case.
#[derive(Default)]
struct Only(Option<CaseRecord>);

impl Recorder for Only {
    fn record(&mut self, record: &CaseRecord) -> Result<(), StoreError> {
        self.0 = Some(record.clone());
        Ok(())
    }
}

impl<'a> Bench<'a> {
    /// Sets up judges according to the command line, the configuration and the targets near `folder`.
    pub(super) fn new(
        args: &TryArgs,
        run: &'a RunArgs,
        folder: &Path,
        context: &Context,
    ) -> Result<Self, String> {
        let options = load_options(&args.root, context);
        let config = config(&options, context)?;
        let prices = money::prices(run.context_tokens, &options, context)?;
        let access =
            Arc::new(Access::new(run, &config, prices, run.spending.budget_usd, context).all_priced());
        let explicit = args.targets.as_deref().or(config.targets.as_deref());
        let found = load_targets(folder, explicit, &options);
        output::say_diagnostics(&found.diagnostics, &found.sources, context);
        if render::tally(&found.diagnostics).0 > 0 {
            return Err("the targets file has problems; nothing was judged".to_owned());
        }
        let targets = Arc::new(TargetBook::new(found.targets, found.path, Arc::clone(&access), context));
        let judges = Arc::new(JudgeBook::new(
            run.judge.clone(),
            run.panel.warm_up.into(),
            config.judge.clone(),
            Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            Arc::clone(&targets),
            Arc::clone(&access),
            context,
        ));
        access.begin_alone("try");
        let panel = run.panel()?;
        Ok(Self {
            book: Book { targets, judges, baselines: Baselines::new(context) },
            access,
            config,
            options,
            panel,
            run,
        })
    }

    /// Options for reading files.
    pub(super) fn options(&self) -> &LoadOptions {
        &self.options
    }

    /// Checks everything that would prevent the scene from being judged, before anything is spent. Returns
    /// warnings.
    pub(super) fn check(&self, scene: &Scene) -> Result<Vec<String>, String> {
        let mut found = Preflight::default();
        let planner = self.planner();
        planner.check(&planner.suite(&scene.suite), &scene.case, &self.book, &mut found);
        let warnings = found.conclude(false)?;
        self.access.check()?;
        Ok(warnings)
    }

    pub(super) async fn judge(&self, scene: &Scene, cancel: &CancellationToken) -> Result<Judged, String> {
        let planner = self.planner();
        let items = planner.items(&planner.suite(&scene.suite), &scene.case, &self.book, &Links::default());
        let mut only = Only::default();
        let start = Start { limit: self.access.limit().clone(), ..Start::default() };
        let settings = Settings { workers: NonZeroUsize::MIN, bail: None };
        let (_, ended) = assize_run::run_from(start, items, settings, cancel, &mut only, &mut |_| {}).await;
        ended.map_err(|error| error.to_string())?;
        Ok(match only.0 {
            Some(record) => Judged::Done(Box::new(record)),
            None if cancel.is_cancelled() => Judged::Interrupted,
            None => Judged::OverBudget(
                self.access.refusal().unwrap_or("the budget allows no further call").to_owned(),
            ),
        })
    }

    /// Waits until every reply is written to the cache; errors if some could not be.
    pub(super) fn flush(&self) -> Result<(), String> {
        self.access.flush()
    }

    fn planner(&self) -> Planner<'_> {
        Planner {
            workplaces: None,
            target_names: &[],
            lines: LineOverrides { pass: self.run.threshold, borderline: None },
            config: &self.config,
            judging: self.run.judging,
            panel: self.panel.clone(),
            truncate: self.run.truncate,
            sequence: None,
        }
    }
}
