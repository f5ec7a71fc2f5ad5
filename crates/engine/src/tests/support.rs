//! A folder with eval files, a model server that judges by fixed rules, and an engine that keeps its events.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::{
    Engine, EngineError, EngineEvent, EvalMode, EvalOptions, FinishedRun, PlannedRun, ProcessContext,
    RunOutcome,
};
use assize_testkit::mock::MockServer;
pub(crate) use assize_testkit::mock::rule::{answer_or_judge as model, suite};
use tempfile::TempDir;

/// Events of a run, in their order.
pub(crate) type Events = Arc<Mutex<Vec<EngineEvent>>>;

/// Folder of a test, with the variables of its process.
pub(crate) struct Fixture {
    folder: TempDir,
    variables: BTreeMap<String, String>,
}

impl Fixture {
    /// Empty folder without variables.
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().expect("a folder"), variables: BTreeMap::new() }
    }

    /// Folder whose models are on this server.
    pub(crate) fn with_server(server: &MockServer) -> Self {
        let variables = BTreeMap::from([
            ("OPENAI_API_KEY".to_owned(), "sk-test-0123456789abcdef".to_owned()),
            ("OPENAI_BASE_URL".to_owned(), server.base_url()),
        ]);

        Self { variables, ..Self::new() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(&path, text).expect("a file");
        path
    }

    pub(crate) fn process(&self) -> ProcessContext {
        let folder = self.folder.path().to_path_buf();

        ProcessContext::new(folder, std::env::temp_dir(), jiff::Timestamp::now)
            .with_variables(self.variables.clone())
    }

    /// Engine in this folder, with its events.
    pub(crate) fn engine(&self) -> (Engine, Events) {
        let events = Events::default();
        let kept = Arc::clone(&events);
        let observe = move |event| kept.lock().expect("not poisoned").push(event);

        (Engine::new(self.process(), observe), events)
    }

    /// Options of a run of `suite.yaml` into the folder `run`.
    pub(crate) fn options(&self) -> EvalOptions {
        let mut options = EvalOptions { paths: vec![self.path("suite.yaml")], ..EvalOptions::default() };
        options.run.run_dir = Some(self.path("run"));
        options
    }

    /// Runs eval files to their end.
    pub(crate) async fn run(
        &self,
        options: &EvalOptions,
    ) -> Result<(FinishedRun, Vec<EngineEvent>), EngineError> {
        let (engine, events) = self.engine();
        match engine.evaluate(EvalMode::default(), options).await? {
            RunOutcome::Finished(run) => Ok((*run, events.lock().expect("not poisoned").clone())),
            _ => panic!("it was only planned"),
        }
    }

    /// Plans a run of eval files.
    pub(crate) async fn plan(&self, options: &EvalOptions) -> Result<PlannedRun, EngineError> {
        let options = EvalOptions { dry_run: true, ..options.clone() };
        match self.engine().0.evaluate(EvalMode::default(), &options).await? {
            RunOutcome::Planned(plan) => Ok(*plan),
            _ => panic!("it was run"),
        }
    }
}

/// Suite of cases with given answers that a text check grades, so no requests are sent.
pub(crate) fn checked_suite(answers: &[(&str, &str)]) -> String {
    let mut text = String::from("name: checks\ntests:\n");
    for (id, answer) in answers {
        let _ = write!(
            text,
            "  - id: {id}\n    criteria: be right\n    input: question\n    output: {answer}\n    assertions:\n      \
             - type: contains\n        value: right\n"
        );
    }

    text
}

/// Ids of the finished cases of a run folder, in the order of their rows.
pub(crate) fn finished_cases(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("results.jsonl")).expect("results");
    let row = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("a row");

    text.lines().map(|line| row(line)["case_id"].as_str().expect("an id").to_owned()).collect()
}
