//! The engine and the real client in this process, with waits that take no time.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use assize_evalfile::LoadOptions;
use assize_grade::{Judge, JudgeOptions, KeyedFences, ModelJudge, ProgramSetup};
use assize_llm::{BoxFuture, ClientSetup, Clock, ModelClient, ModelName, RetryPolicy};
use assize_load::load_suite;
use assize_rubric::{EvidencePolicy, JudgingMode, TruncationMode, UnitInterval, VerdictThresholds};
use assize_run::{
    ItemSource, JudgeError, JudgeProvider, JudgeSelector, Recorder, RunLimits, RunStart, RunTotals, WorkItem,
    run,
};
use assize_store::{CaseRecord, StoreError};
use assize_targets::TargetAnswer;
use assize_testkit::mock::MockServer;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Most requests that are sent for one question.
pub(crate) const ATTEMPTS: u32 = 3;

/// A wire format, and a provider that uses it.
#[derive(Debug)]
pub(crate) struct Format {
    /// Its name in [`ModelClient::wire_name`].
    pub(crate) wire: &'static str,
    pub(crate) model: &'static str,
    key_variable: &'static str,
    address_variable: &'static str,
}

/// All wire formats.
pub(crate) static FORMATS: [Format; 8] = [
    Format {
        wire: "openai-chat",
        model: "openai:judge-1",
        key_variable: "OPENAI_API_KEY",
        address_variable: "OPENAI_BASE_URL",
    },
    Format {
        wire: "openai-responses",
        model: "openai-responses:judge-1",
        key_variable: "OPENAI_API_KEY",
        address_variable: "OPENAI_BASE_URL",
    },
    Format {
        wire: "azure-openai",
        model: "azure:judge-1",
        key_variable: "AZURE_OPENAI_API_KEY",
        address_variable: "AZURE_OPENAI_ENDPOINT",
    },
    Format {
        wire: "anthropic-messages",
        model: "anthropic:judge-1",
        key_variable: "ANTHROPIC_API_KEY",
        address_variable: "ANTHROPIC_BASE_URL",
    },
    Format {
        wire: "gemini",
        model: "gemini:judge-1",
        key_variable: "GEMINI_API_KEY",
        address_variable: "GEMINI_BASE_URL",
    },
    Format {
        wire: "vertex",
        model: "vertex:judge-1",
        key_variable: "VERTEX_ACCESS_TOKEN",
        address_variable: "VERTEX_BASE_URL",
    },
    Format {
        wire: "bedrock-converse",
        model: "bedrock:judge-1",
        key_variable: "AWS_BEARER_TOKEN_BEDROCK",
        address_variable: "BEDROCK_BASE_URL",
    },
    Format {
        wire: "ollama",
        model: "ollama:judge-1",
        key_variable: "OLLAMA_API_KEY",
        address_variable: "OLLAMA_HOST",
    },
];

/// A clock that skips waits and records them.
#[derive(Default)]
pub(crate) struct NotingClock(Mutex<Vec<Duration>>);

impl NotingClock {
    pub(crate) fn waits(&self) -> Vec<Duration> {
        self.0.lock().clone()
    }
}

impl Clock for NotingClock {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.0.lock().push(duration);
        Box::pin(std::future::ready(()))
    }

    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

/// A client that uses the format with the server.
pub(crate) fn client(
    format: &Format,
    server: &MockServer,
    clock: &Arc<NotingClock>,
    timeout: Duration,
) -> ModelClient {
    let clock: Arc<dyn Clock> = Arc::clone(clock) as Arc<dyn Clock>;
    // The time does not pass on this clock, so the pauses of an account with many refusals never end. Only the number of
    // attempts ends a question.
    let policy = RetryPolicy {
        max_attempts: ATTEMPTS,
        max_total_wait: Duration::from_hours(24),
        ..RetryPolicy::default()
    };
    let setup = ClientSetup { clock, policy, timeout, ..ClientSetup::default() };
    let base_url = server.base_url();
    let env = |name: &str| {
        if name == format.key_variable {
            Some("sk-chaos-0123456789abcdef".to_owned())
        } else if name == "GOOGLE_CLOUD_PROJECT" {
            Some("somewhere".to_owned())
        } else {
            (name == format.address_variable).then(|| base_url.clone())
        }
    };
    let name: ModelName = format.model.parse().expect("a sound name");
    ModelClient::from_name(&name, &env, setup).expect("a sound configuration")
}

/// The judge behind a client.
pub(crate) fn judge(client: ModelClient) -> Arc<dyn Judge> {
    Arc::new(ModelJudge::new(
        Arc::new(client),
        "judge",
        Arc::new(KeyedFences::new([3; 32])),
        Arc::new(Semaphore::new(64)),
        JudgeOptions::default(),
    ))
}

/// The same judge for all cases.
struct Only(Arc<dyn Judge>);

impl JudgeProvider for Only {
    fn judge(&self, _: JudgeSelector<'_>) -> Result<Arc<dyn Judge>, JudgeError> {
        Ok(Arc::clone(&self.0))
    }
}

/// A case to judge.
pub(crate) struct Job {
    pub(crate) id: String,
    pub(crate) answer: String,
    pub(crate) judging: JudgingMode,
    pub(crate) judge: Arc<dyn Judge>,
}

/// Work items for these cases, each with the given criteria of an eval file.
pub(crate) fn items(jobs: Vec<Job>, criteria: &Value) -> Vec<WorkItem> {
    let tests: Vec<Value> = jobs
        .iter()
        .map(|job| {
            json!({
                "id": job.id, "criteria": "x", "input": "q", "output": job.answer,
                "assertions": [{"type": "rubrics", "criteria": criteria}],
            })
        })
        .collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("suite.yaml");
    std::fs::write(&path, json!({"name": "chaos", "tests": tests}).to_string()).expect("it can be written");
    let options = LoadOptions::new(folder.path());
    let loaded = load_suite(&path, &options);
    assert!(loaded.suite.is_some() && loaded.cases.len() == jobs.len(), "{:?}", loaded.diagnostics);
    let thresholds =
        VerdictThresholds::new(UnitInterval::new(0.8).expect("in range"), None).expect("in order");
    let programs = Arc::new(ProgramSetup::default());
    loaded
        .cases
        .iter()
        .zip(jobs)
        .map(|(case, job)| WorkItem {
            suite: "chaos".into(),
            format: Some(2),
            suite_folder: Path::new("").into(),
            case: case.expect("a sound case"),
            source: ItemSource::Given(Arc::new(TargetAnswer::from_text(job.answer))),
            trial: 1,
            place: 0,
            relations: Arc::new(assize_run::ItemRelations::none(thresholds)),
            thresholds,
            judges: Arc::new(Only(job.judge)),
            judge: None,
            judging_override: Some(job.judging),
            judging: JudgingMode::PerCriterion,
            panels: Arc::default(),
            evidence: EvidencePolicy::Checked,
            truncate_override: None,
            truncate: TruncationMode::Never,
            programs: Arc::clone(&programs),
            workplace: None,
            hooks: None,
        })
        .collect()
}

/// Records by case, in memory.
#[derive(Default)]
struct Memory(BTreeMap<String, CaseRecord>);

impl Recorder for Memory {
    fn record(&mut self, record: &CaseRecord) -> Result<(), StoreError> {
        let earlier = self.0.insert(record.result.case_id.to_string(), record.clone());
        assert!(earlier.is_none(), "{} was recorded twice", record.result.case_id);
        Ok(())
    }
}

/// Runs all items.
pub(crate) fn perform(items: Vec<WorkItem>) -> (BTreeMap<String, CaseRecord>, RunTotals) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let mut memory = Memory::default();
    let (totals, ended) = runtime.block_on(async {
        let settings = RunLimits { workers: NonZeroUsize::new(48).expect("more than nothing"), bail: None };
        let cancel = CancellationToken::new();
        let limit = Duration::from_secs(100);
        let mut observe = |_| {};
        let running =
            run(RunStart::default(), items.into_iter().map(Ok), settings, &cancel, &mut memory, &mut observe);
        tokio::time::timeout(limit, running).await.expect("the run ends")
    });
    ended.expect("nothing breaks off");
    (memory.0, totals)
}
