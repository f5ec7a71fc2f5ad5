//! Runs suites with extensions, and their hooks before and after the tests.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use assize_analysis::ExitStatus;
use assize_evalfile::LoadedSuite;
use assize_load::load_changed_suite;
use assize_model::ExtensionHook;
use parking_lot::Mutex;
use serde_json::Value;

use super::hooks::{ExtensionPool, SuiteHooks};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::evaluation::{Evaluated, Purpose};
use crate::event::EngineEvent;
use crate::load::{LoadedFile, LoadedFiles};
use crate::mode::RunMode;
use crate::options::EvalOptions;
use crate::run_outcome::{FinishedRun, RunOutcome};

impl Engine {
    /// Runs suites if at least one has extensions. First plans everything with the cases as they are written,
    /// so that no code runs if the run can't be carried out.
    ///
    /// # Errors
    /// As in [`Engine::evaluate`], and if a `beforeAll` hook fails.
    pub(crate) async fn evaluate_extended(
        &self,
        mode: &dyn RunMode,
        loaded: &LoadedFiles,
        options: &EvalOptions,
    ) -> Result<RunOutcome, EngineError> {
        let events = Arc::<Mutex<Vec<EngineEvent>>>::default();
        let heard = Arc::clone(&events);
        let quiet = self.clone().with_observer(move |event| {
            heard.lock().push(event);
        });
        let checked = quiet.evaluate_for(Purpose::Check, mode, loaded, options, None, None).await;
        let setups = match checked {
            Ok(Evaluated::Checked(setups)) => setups,
            Ok(_) => return Err(EngineError::internal("a check ended in another way")),
            Err(error) => {
                let heard = std::mem::take(&mut *events.lock());
                for event in heard {
                    self.emit(event);
                }
                return Err(error);
            }
        };
        if setups.is_empty() {
            let ended = Box::pin(self.evaluate_for(Purpose::Run, mode, loaded, options, None, None));
            return ended.await?.into_outcome();
        }
        check_passes(options)?;

        let pool = ExtensionPool::start(setups, self)?;
        let outcome = self.run_with(&pool, mode, loaded, options).await;
        pool.end().await;
        outcome
    }

    async fn run_with(
        &self,
        pool: &ExtensionPool,
        mode: &dyn RunMode,
        loaded: &LoadedFiles,
        options: &EvalOptions,
    ) -> Result<RunOutcome, EngineError> {
        let mut changes: HashMap<PathBuf, Value> = HashMap::new();
        for hooks in &pool.suites {
            let changed = tokio::select! {
                changed = async { hooks.load().await.map(|()| hooks)?.before_all().await } => changed,
                () = self.process().stopped() => {
                    let error = EngineError::unrunnable("interrupted during `beforeAll`; nothing was run");
                    return Err(EngineError { exit: ExitStatus::Interrupted, ..error });
                }
            };
            let changed =
                changed.map_err(|error| EngineError::unrunnable(format!("{error}; nothing was run")))?;
            changes.extend(changed.map(|changed| (hooks.path.clone(), changed)));
        }

        let changed = self.reload(loaded, &changes, options);
        let ended = Box::pin(self.evaluate_for(Purpose::Run, mode, &changed, options, None, Some(pool)));
        let outcome = ended.await?.into_outcome()?;
        if let RunOutcome::Finished(run) = &outcome {
            for hooks in &pool.suites {
                self.conclude_extensions(hooks, &changed, run).await;
            }
        }

        Ok(outcome)
    }

    /// The files, with the changed suites in their present form.
    fn reload(
        &self,
        loaded: &LoadedFiles,
        changes: &HashMap<PathBuf, Value>,
        options: &EvalOptions,
    ) -> LoadedFiles {
        let files = loaded.files.iter().map(|file| {
            let Some(changed) = changes.get(&file.path) else {
                return LoadedFile {
                    path: file.path.clone(),
                    suite: file.suite.clone(),
                    cases: file.cases.clone(),
                    sources: file.sources.clone(),
                    diagnostics: file.diagnostics.clone(),
                };
            };
            let load_options = self.load_options_for_run(&file.path, options);
            let LoadedSuite { suite, cases, sources, diagnostics, totals: _ } =
                load_changed_suite(&file.path, changed, &load_options);
            // Suites that share a name have been given distinct ones.
            let suite = suite.map(|suite| match &file.suite {
                Some(earlier) => assize_model::Suite { name: earlier.name.clone(), ..suite },
                None => suite,
            });
            LoadedFile { path: file.path.clone(), suite, cases, sources, diagnostics }
        });

        LoadedFiles { files: files.collect(), scorecards: loaded.scorecards.clone(), other_yaml: Vec::new() }
    }

    /// Runs the `afterAll` hook of a suite, unless that was done with the same results. A failure is a warning,
    /// because the results are stored.
    async fn conclude_extensions(&self, hooks: &SuiteHooks, loaded: &LoadedFiles, run: &FinishedRun) {
        let file = loaded.files.iter().find(|file| file.path == hooks.path);
        let Some((file, suite)) = file.and_then(|file| Some((file, file.suite.as_ref()?))) else { return };
        let Some(extensions) = suite.extensions.as_ref() else { return };
        if !extensions.run_at(ExtensionHook::AfterAll) {
            return;
        }
        // The number alone is not enough: it stays the same when a repeated case replaces a row.
        let results =
            run.info.rows.map_or((0, 0), |rows| (rows.results, rows.sums.map_or(0, |sums| sums.results)));
        let results = results.0 << 32 | u64::from(results.1);
        let mut ended_before = run.folder.ended_extensions();
        let skipped = if run.exit == ExitStatus::Interrupted {
            Some("the run was interrupted; it is run when the run is resumed")
        } else if ended_before.get(&hooks.name) == Some(&results) {
            Some("the run was complete before it was resumed")
        } else {
            None
        };
        if let Some(why) = skipped {
            self.notice(format!("`afterAll` of `{}` was not run: {why}", hooks.path.display()));
            return;
        }

        let planned = file.cases.iter().filter_map(Result::ok);
        let ended = tokio::select! {
            ended = hooks.after_all(&extensions.suite, planned, &run.folder, &run.info) => ended,
            () = self.process().stopped() => {
                self.warn("`afterAll` of `extensions` was stopped; it is run when the run is resumed");
                return;
            }
        };
        if let Err(error) = ended {
            self.warn(error);
        }

        // Written only now. A process that is killed before has not run the hook, so a resumed run does.
        ended_before.insert(hooks.name.clone(), results);
        if let Err(error) = run.folder.write_ended_extensions(&ended_before) {
            self.warn(error.to_string());
        }
    }
}

/// Refuses options that go through the cases more than once, or run them elsewhere.
fn check_passes(options: &EvalOptions) -> Result<(), EngineError> {
    let run = &options.run;
    let others = [
        (run.judge_batch.is_some(), "`--judge-batch` goes"),
        (run.exchange.export.is_some(), "`--export-requests` goes"),
    ];
    match others.iter().find(|(is_given, _)| *is_given) {
        None => Ok(()),
        Some((_, name)) => Err(EngineError::unrunnable(format!(
            "{name} through the cases more than once, and `extensions` would run each time; \
             nothing was run"
        ))),
    }
}
