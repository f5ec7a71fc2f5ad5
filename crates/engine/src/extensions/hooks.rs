//! Extensions of a run: the interpreters of their files, and calls of their functions.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_grade::{ExtensionCall, ExtensionHost, ProgramSetup};
use assize_llm::BoxFuture;
use assize_model::{Case, Extension, ExtensionHook, Suite, SuiteExtensions};
use assize_rubric::IdentityWriter;
use assize_run::{CaseHooks, WorkItem};
use assize_store::{CaseKey, CaseRecord, RunFolder, RunInfo};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::context::{PromptSums, result_value, test_value};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::evaluation::Purpose;
use crate::event::EngineEvent;
use crate::mode::{EvalMode, RunMode};
use crate::stored_records::stored_records;

/// Treatment of suites with extensions in a run.
#[derive(Clone, Copy, Default)]
pub(crate) enum ExtensionUse<'a> {
    /// They are refused if a target is used.
    #[default]
    Refused,
    /// They would run, but this is only a plan.
    Planned,
    /// They run.
    Run(&'a ExtensionPool),
}

impl<'a> ExtensionUse<'a> {
    /// The use in a mode, with the interpreters if they have been started.
    pub(crate) fn new(purpose: Purpose, mode: &dyn RunMode, pool: Option<&'a ExtensionPool>) -> Self {
        // Other modes judge several forms of one answer, but a hook expects one test.
        if mode.command() != EvalMode::default().command() {
            return Self::Refused;
        }
        match (purpose, pool) {
            (Purpose::Plan | Purpose::Check, _) => Self::Planned,
            (Purpose::Run, Some(pool)) => Self::Run(pool),
            _ => Self::Refused,
        }
    }
}

/// The extensions of the suites of a run, with their interpreters.
pub(crate) struct ExtensionPool {
    suites: Vec<Arc<SuiteHooks>>,
}

impl ExtensionPool {
    /// Starts the interpreters of these suites.
    ///
    /// # Errors
    /// When one can't be started.
    pub(crate) fn start(
        suites: impl IntoIterator<Item = (Suite, Arc<ProgramSetup>)>,
        engine: &Engine,
    ) -> Result<Self, EngineError> {
        let mut started = Vec::new();
        for (suite, setup) in suites {
            let Some(extensions) = suite.extensions.clone() else { continue };
            started.push(Arc::new(SuiteHooks::start(&suite, extensions, &setup, engine)?));
        }
        Ok(Self { suites: started })
    }

    /// The extensions of a suite.
    pub(crate) fn hooks_for(&self, suite: &Suite) -> Option<Arc<SuiteHooks>> {
        self.suites.iter().find(|hooks| hooks.path == suite.path).cloned()
    }

    /// The extensions of all suites.
    pub(crate) fn suites(&self) -> &[Arc<SuiteHooks>] {
        &self.suites
    }

    /// Ends all interpreters.
    pub(crate) async fn end(&self) {
        for hooks in &self.suites {
            for host in hooks.hosts.values() {
                host.end().await;
            }
        }
    }
}

/// The extensions of a suite.
pub(crate) struct SuiteHooks {
    /// Path of the eval file.
    pub(crate) path: PathBuf,
    /// Name of the suite.
    pub(crate) name: String,
    extensions: Arc<SuiteExtensions>,
    /// Interpreters by the path of their file.
    hosts: BTreeMap<PathBuf, ExtensionHost>,
    engine: Engine,
    /// Cases that were run, in their changed form.
    ran: Mutex<HashMap<CaseKey, Arc<Case>>>,
}

impl SuiteHooks {
    fn start(
        suite: &Suite,
        extensions: Arc<SuiteExtensions>,
        setup: &Arc<ProgramSetup>,
        engine: &Engine,
    ) -> Result<Self, EngineError> {
        let folder = suite.path.parent().unwrap_or(Path::new(""));
        let mut hosts = BTreeMap::new();
        for extension in &extensions.list {
            let Some(path) = &extension.program.path else { continue };
            if hosts.contains_key(path) {
                continue;
            }
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let teller = engine.clone();
            let output =
                move |line: String| teller.emit(EngineEvent::ProgramOutput { program: name.clone(), line });
            let host = ExtensionHost::start(&extension.program, folder, setup, output)
                .map_err(|error| EngineError::unrunnable(format!("{}: {error}", extension.place)))?;
            hosts.insert(path.clone(), host);
        }

        Ok(Self {
            path: suite.path.clone(),
            name: suite.name.clone(),
            extensions,
            hosts,
            engine: engine.clone(),
            ran: Mutex::default(),
        })
    }

    /// Loads the files and looks for the functions, so that a missing one is found before the run sends requests.
    pub(crate) async fn load(&self) -> Result<(), String> {
        for extension in &self.extensions.list {
            let host = extension.program.path.as_ref().and_then(|path| self.hosts.get(path));
            if let Some(host) = host {
                let limit = ExtensionHook::BeforeEach.time_limit();
                let found = host.find(extension.program.function.as_deref(), limit).await;
                found.map_err(|error| {
                    format!("{}: extension `{}` can't be used: {error}", extension.place, extension.written)
                })?;
            }
        }

        Ok(())
    }

    /// Runs the `beforeAll` hooks. Returns the suite if they changed it.
    pub(crate) async fn before_all(&self) -> Result<Option<Value>, String> {
        let mut suite = self.extensions.suite.clone();
        for extension in self.extensions_at(ExtensionHook::BeforeAll) {
            let context = self.with_common_keys(json!({"suite": suite}), ExtensionHook::BeforeAll);
            if let Some(changed) = self.change(extension, ExtensionHook::BeforeAll, &context, "suite").await?
            {
                suite = changed;
            }
        }

        Ok((suite != self.extensions.suite).then_some(suite))
    }

    /// Runs the `afterAll` hooks with the results of the run. `planned` are the cases of the suite.
    pub(crate) async fn after_all(
        &self,
        suite: &Value,
        planned: impl Iterator<Item = Arc<Case>>,
        folder: &RunFolder,
        info: &RunInfo,
    ) -> Result<(), String> {
        if !self.extensions.run_at(ExtensionHook::AfterAll) {
            return Ok(());
        }

        let planned: HashMap<String, Arc<Case>> = planned.map(|case| (case.id.to_string(), case)).collect();
        let mut results = Vec::new();
        let mut prompts = PromptSums::default();
        for record in stored_records(folder).map_err(|error| error.to_string())? {
            let record = record.map_err(|error| error.to_string())?;
            let row = &record.result;
            if *row.suite != *self.name {
                continue;
            }
            let key = CaseKey {
                suite: Arc::clone(&row.suite),
                case_id: Arc::clone(&row.case_id),
                target: row.target.clone(),
                trial: row.trial,
            };
            let ran = self.ran.lock().get(&key).cloned();
            let case = ran.or_else(|| planned.get(&*row.case_id).cloned());
            prompts.add(row, case.as_deref());
            results.push(result_value(&record, case.as_deref()));
        }

        let context = json!({
            "results": results,
            "suite": suite,
            "prompts": prompts.into_value(),
            "evalId": info.run_id,
            "config": self.extensions.config,
        });
        let context = self.with_common_keys(context, ExtensionHook::AfterAll);
        for extension in self.extensions_at(ExtensionHook::AfterAll) {
            self.call(extension, ExtensionHook::AfterAll, &context, false).await?;
        }

        Ok(())
    }

    fn extensions_at(&self, hook: ExtensionHook) -> impl Iterator<Item = &Extension> {
        self.extensions.list.iter().filter(move |extension| extension.runs_at(hook))
    }

    /// Calls an extension. Returns the part of its context that it may change; `None` if it returned no value.
    async fn change(
        &self,
        extension: &Extension,
        hook: ExtensionHook,
        context: &Value,
        part: &'static str,
    ) -> Result<Option<Value>, String> {
        let returned = self.call(extension, hook, context, true).await?;
        match returned {
            Value::Null => Ok(None),
            Value::Object(mut returned) => match returned.remove(part) {
                Some(changed @ Value::Object(_)) => Ok(Some(changed)),
                // A hook of AgentV need not return its context.
                None if self.extensions.is_agentv => Ok(None),
                _ => Err(describe(
                    extension,
                    hook,
                    &format!("it returned no `{part}`; return the context, or nothing"),
                )),
            },
            _ => Err(describe(extension, hook, "it did not return a map; return the context, or nothing")),
        }
    }

    async fn call(
        &self,
        extension: &Extension,
        hook: ExtensionHook,
        context: &Value,
        changes: bool,
    ) -> Result<Value, String> {
        let host = extension.program.path.as_ref().and_then(|path| self.hosts.get(path));
        let host = host.ok_or_else(|| describe(extension, hook, "it has no file"))?;

        // An extension for a single hook gets the context first. Any other one gets the name of the hook first.
        let name = json!(hook.name());
        let named = json!({"hookName": hook.name()});
        let (arguments, index) =
            if extension.hook.is_some() { ([context, &named], 0) } else { ([&name, context], 1) };
        let function = extension.program.function.as_deref();
        let call = ExtensionCall {
            function,
            arguments,
            context: changes.then_some(index),
            limit: hook.time_limit(),
        };

        host.call(call).await.map_err(|error| describe(extension, hook, &error))
    }

    /// Adds the keys that AgentV's hooks expect.
    fn with_common_keys(&self, mut context: Value, hook: ExtensionHook) -> Value {
        if self.extensions.is_agentv {
            let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = std::path::absolute(folder.unwrap_or(Path::new("."))).unwrap_or_default();
            context["hook_name"] = Value::from(hook.name());
            context["eval_dir"] = json!(folder);
        }
        context
    }

    fn with_case_keys(&self, context: Value, hook: ExtensionHook, case: &Case) -> Value {
        let mut context = self.with_common_keys(context, hook);
        if self.extensions.is_agentv {
            context["test_id"] = json!(case.id.as_str());
            context["case_input"] = Value::from(case.question());
            context["case_metadata"] = Value::Object(case.metadata.clone());
        }
        context
    }

    async fn change_case(&self, case: &Arc<Case>) -> Result<Option<Arc<Case>>, String> {
        let Some(authored) = &case.authored else { return Ok(None) };
        let mut test = authored.value().clone();
        for extension in self.extensions_at(ExtensionHook::BeforeEach) {
            let hook = ExtensionHook::BeforeEach;
            let context = self.with_case_keys(json!({"test": test}), hook, case);
            if let Some(changed) = self.change(extension, hook, &context, "test").await? {
                test = changed;
            }
        }

        authored.change(&test).map_err(|error| {
            format!("the test that `beforeEach` of `extensions` returned can't be used: {error}")
        })
    }
}

impl CaseHooks for SuiteHooks {
    fn before_case<'a>(&'a self, item: &'a WorkItem) -> BoxFuture<'a, Result<Option<Arc<Case>>, String>> {
        Box::pin(self.change_case(&item.case))
    }

    fn after_case<'a>(&'a self, item: &'a WorkItem, record: &'a CaseRecord) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let hook = ExtensionHook::AfterEach;
            self.ran.lock().insert(item.key(), Arc::clone(&item.case));
            if !self.extensions.run_at(hook) {
                return;
            }

            let result = result_value(record, Some(&item.case));
            let context = json!({"test": test_value(&item.case), "result": result});
            let context = self.with_case_keys(context, hook, &item.case);
            for extension in self.extensions_at(hook) {
                if let Err(error) = self.call(extension, hook, &context, false).await {
                    self.engine.warn(format!("case `{}`: {error}", item.case.id));
                }
            }
        })
    }

    fn write_identity(&self, identity: &mut IdentityWriter) {
        for extension in &self.extensions.list {
            identity.field(&extension.written);
            identity.text(&extension.program.text);
        }
    }
}

fn describe(extension: &Extension, hook: ExtensionHook, error: &str) -> String {
    format!("`{}` of extension `{}` failed: {error}", hook.name(), extension.written)
}
