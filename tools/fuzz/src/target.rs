//! The readers that are fuzzed.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use assize_document::ParsedDocument;
use assize_evalfile::LoadOptions;
use assize_grade::{
    Judge as _, JudgeMaterial, JudgeOptions, JudgeQuestion, KeyedFences, ModelJudge, RubricTask,
};
use assize_llm::{AskError, BoxFuture, ChatModel, ChatReply, ChatRequest, FinishReason, ModelId};
use assize_load::read_suite;
use assize_records::{detect_records, read_records};
use assize_rubric::{Criterion, CriterionScale, JudgingMode, RawScore, Rubric, ScoreBand, ScoreBands};
use assize_serve::{AdapterBody, RequestLimits, check_adapter, check_formula, check_request};
use assize_store::RunFolder;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Semaphore;

use crate::InputMutator;
use crate::outcome::ReadOutcome;

/// The files of a run folder that are fuzzed.
const RUN_FILES: [&str; 4] = ["run.json", "results.jsonl", "judgements.jsonl", "inputs.jsonl"];

/// A reader of untrusted input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FuzzTarget {
    /// YAML documents.
    Yaml,
    /// JSON documents.
    Json,
    /// Eval files with their cases.
    Suite,
    /// Replies of judges.
    Reply,
    /// Files of run folders.
    RunFolder,
    /// Documents and messages from editors.
    LanguageServer,
    /// Bodies of requests to the grading service.
    Request,
    /// Request bodies of training frameworks, with the templates and formulas of their graders.
    Adapter,
    /// Records of other tools, including archives.
    Records,
}

/// State that a target keeps between inputs.
pub struct TargetState {
    target: FuzzTarget,
    folder: TempDir,
    options: LoadOptions,
    runtime: tokio::runtime::Runtime,
    reply: Arc<FixedReply>,
    judge: ModelJudge,
    rubric: Arc<Rubric>,
    /// The files of a valid run.
    valid_run: [Vec<u8>; RUN_FILES.len()],
    /// Indexes of the files in the run folder that differ from the valid run.
    changed: RefCell<Vec<usize>>,
}

impl FuzzTarget {
    /// All targets.
    pub const ALL: [Self; 9] = [
        Self::Yaml,
        Self::Json,
        Self::Suite,
        Self::Reply,
        Self::RunFolder,
        Self::LanguageServer,
        Self::Request,
        Self::Adapter,
        Self::Records,
    ];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yaml => "yaml",
            Self::Json => "json",
            Self::Suite => "suite",
            Self::Reply => "reply",
            Self::RunFolder => "run",
            Self::LanguageServer => "lsp",
            Self::Request => "request",
            Self::Adapter => "adapter",
            Self::Records => "records",
        }
    }
}

impl TargetState {
    /// Prepares a target.
    ///
    /// # Panics
    /// If the temporary folder or the runtime can't be created.
    pub fn new(target: FuzzTarget) -> Self {
        // Prefers a folder in memory, so that no disk slows the inputs down.
        let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).expect("a temporary folder");
        let run = folder.path().join("run");
        std::fs::create_dir_all(&run).expect("a folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/store/tests/data/run-v1");
        let valid_run = RUN_FILES.map(|name| std::fs::read(source.join(name)).unwrap_or_default());
        let options = LoadOptions::new(folder.path());

        let reply = Arc::new(FixedReply::default());
        let judge = ModelJudge::new(
            reply.clone(),
            "fuzz",
            Arc::new(KeyedFences::new([7; 32])),
            Arc::new(Semaphore::new(8)),
            JudgeOptions::default(),
        );

        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts");
        Self {
            target,
            folder,
            options,
            runtime,
            reply,
            judge,
            rubric: Arc::new(rubric()),
            valid_run,
            changed: RefCell::new((0..RUN_FILES.len()).collect()),
        }
    }

    /// Reads one input. `mutator` makes choices that the input does not determine, such as a position in a document.
    pub fn read(&self, input: &[u8], mutator: &mut InputMutator<'_>) -> ReadOutcome {
        let text = String::from_utf8_lossy(input);
        match self.target {
            FuzzTarget::Yaml => self.read_tree("fuzz.yaml", &text),
            FuzzTarget::Json => self.read_tree("fuzz.json", &text),
            FuzzTarget::Suite => {
                let name = ["fuzz.eval.yaml", "fuzz.eval.yaml", "fuzz.json", "fuzz.jsonl"][mutator.below(4)];
                let loaded = read_suite(&self.folder.path().join(name), &text, &self.options);
                assert!(loaded.cases.iter().all(|case| case.is_ok()), "a case that was read");

                let mut outcome = ReadOutcome::default();
                for diagnostic in &loaded.diagnostics {
                    outcome.add(&diagnostic.title);
                    outcome.add(&diagnostic.primary.text);
                }
                outcome
            }
            FuzzTarget::Reply => self.read_reply(&text, mutator),
            FuzzTarget::RunFolder => self.read_run(input, mutator),
            FuzzTarget::LanguageServer => self.serve(&text, mutator),
            FuzzTarget::Request => read_request(input),
            FuzzTarget::Adapter => read_adapter(input, &text, mutator),
            FuzzTarget::Records => self.read_records(input),
        }
    }

    fn read_records(&self, input: &[u8]) -> ReadOutcome {
        let path = self.folder.path().join("records");
        std::fs::write(&path, input).expect("written");

        let mut outcome = ReadOutcome::default();
        let read =
            detect_records(&path).and_then(|format| format.map(|it| read_records(&path, it)).transpose());
        match read {
            Ok(file) => {
                let mut ids = HashSet::new();
                for record in file.iter().flat_map(|file| &file.records) {
                    assert!(ids.insert(&record.id), "an id of its own");
                    assert_eq!(record.to_answer().is_some(), record.output.is_ok());
                }
            }
            Err(error) => outcome.add(&error.to_string()),
        }

        outcome
    }

    fn read_tree(&self, name: &str, text: &str) -> ReadOutcome {
        let mut outcome = ReadOutcome::default();
        match ParsedDocument::parse(&self.folder.path().join(name), text) {
            Ok(document) => {
                let value = document.value();
                assert!(serde_json::to_string(&value).is_ok(), "a tree that is JSON");
            }
            Err((diagnostics, _)) => {
                for diagnostic in &diagnostics {
                    outcome.add(&diagnostic.title);
                    outcome.add(&diagnostic.primary.text);
                }
            }
        }

        outcome
    }

    fn read_reply(&self, text: &str, mutator: &mut InputMutator<'_>) -> ReadOutcome {
        text.clone_into(&mut self.reply.text.lock().unwrap_or_else(PoisonError::into_inner));
        let judging =
            if mutator.below(2) == 0 { JudgingMode::PerCriterion } else { JudgingMode::Batched(None) };
        let material = JudgeMaterial {
            question: "What jumps?".to_owned(),
            answer: "The quick brown fox jumps.".to_owned(),
            ..JudgeMaterial::default()
        };
        let task = RubricTask::new(material.into(), Arc::clone(&self.rubric));
        let question = JudgeQuestion::Rubric(RubricTask { judging, ..task });

        let decisions = self.runtime.block_on(self.judge.decide(std::slice::from_ref(&question)));
        assert_eq!(decisions[0].len(), self.rubric.criteria().len(), "one decision for each criterion");

        let mut outcome = ReadOutcome::default();
        for decision in decisions[0].iter().filter(|decision| decision.ungraded.is_some()) {
            outcome.add(&decision.reason);
        }
        outcome
    }

    fn read_run(&self, input: &[u8], mutator: &mut InputMutator<'_>) -> ReadOutcome {
        let path = self.folder.path().join("run");
        let write = |file: usize, bytes: &[u8]| {
            std::fs::write(path.join(RUN_FILES[file]), bytes).expect("written");
        };

        // Most inputs replace the kind of file that their seed came from.
        let is_like = |marks: &[u8]| input.windows(marks.len()).take(2048).any(|part| part == marks);
        let file = match mutator.below(3 * RUN_FILES.len()) {
            choice if choice < RUN_FILES.len() => choice,
            _ if is_like(b"\"format_version\"") => 0,
            _ if is_like(b"\"verdict\"") => 1,
            _ => 2,
        };

        let mut changed = self.changed.borrow_mut();
        for other in changed.drain(..) {
            write(other, &self.valid_run[other]);
        }
        write(file, input);
        changed.push(file);

        let mut outcome = ReadOutcome::default();
        let folder = RunFolder::new(&path);
        let info = match folder.info() {
            Ok(info) => info,
            Err(error) => {
                outcome.add(&error.to_string());
                return outcome;
            }
        };

        match folder.cases() {
            Ok(mut cases) => {
                if let Some(error) = cases.find_map(Result::err) {
                    outcome.add(&error.to_string());
                }
            }
            Err(error) => outcome.add(&error.to_string()),
        }

        let _ = folder.answer_names();
        if mutator.below(32) == 0 {
            *changed = (0..RUN_FILES.len()).collect();
            if let Err(error) = folder.resume(&info, &mut |_, _| true) {
                outcome.add(&error.to_string());
            }
        }

        outcome
    }

    fn serve(&self, text: &str, mutator: &mut InputMutator<'_>) -> ReadOutcome {
        const METHODS: [&str; 4] = ["hover", "completion", "definition", "codeAction"];

        let name = ["a.eval.yaml", "a.yaml", "rubric.yaml", "a.json", "a.jsonl"][mutator.below(5)];
        let uri = format!("file://{}/{name}", self.folder.path().display());
        let lines = text.lines().count();
        let mut messages = vec![
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"capabilities": {}}}),
            json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}),
            json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument":
                {"uri": uri, "languageId": "yaml", "version": 1, "text": text}}}),
        ];

        // Each request after a change checks the document again, which takes most of the time. One request is
        // enough for most inputs.
        let requests = if mutator.below(8) == 0 { METHODS.len() } else { 1 };
        let first = mutator.below(METHODS.len());
        for id in 1..=requests {
            let mut position = || {
                let line = mutator.below(lines + 2);
                json!({"line": line, "character": mutator.below(60)})
            };
            let (start, end) = (position(), position());
            let method = METHODS[(first + id) % METHODS.len()];
            let request = json!({"jsonrpc": "2.0", "id": id, "method": format!("textDocument/{method}"), "params": {
                "textDocument": {"uri": uri}, "position": start, "range": {"start": start, "end": end},
                "context": {"diagnostics": []}}});
            let change = json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
                "textDocument": {"uri": uri, "version": id + 1},
                "contentChanges": [{"range": {"start": end, "end": start}, "text": "x: ["}]}});

            let change_first = requests == 1 && mutator.below(2) == 0;
            messages.extend(if change_first { [change, request] } else { [request, change] });
        }

        let replies = assize_lsp::serve_messages(messages, &self.options).expect("the server goes on");
        let answers =
            replies.iter().filter(|message| message.get("id").is_some_and(Value::is_number)).count();
        assert_eq!(answers, requests + 1, "an answer to each request");

        let mut outcome = ReadOutcome::default();
        let published =
            replies.iter().filter_map(|message| message["params"]["diagnostics"].as_array()).flatten();
        for message in published.filter_map(|diagnostic| diagnostic["message"].as_str()) {
            outcome.add(message);
        }
        outcome
    }
}

/// A model that always gives the same reply.
#[derive(Debug, Default)]
struct FixedReply {
    text: Mutex<String>,
}

impl ChatModel for FixedReply {
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, AskError>> {
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // The ids of criteria have a suffix that a fixed reply can't know.
        if let Some(suffix) = id_suffix(request) {
            for number in 1..=3 {
                text = text.replace(&format!("\"c{number}\""), &format!("\"c{number}-{suffix}\""));
            }
        }

        Box::pin(async move { Ok(ChatReply::new(text, FinishReason::Stop)) })
    }

    fn describe(&self) -> ModelId {
        ModelId { provider: "openai".into(), model: "fuzz".into(), base_url_host: "localhost".into() }
    }
}

fn id_suffix(request: &ChatRequest) -> Option<String> {
    request.messages.iter().flat_map(|message| &*message.content).find_map(|part| match part {
        assize_llm::Part::Text(text) => {
            Some(text.split("[[BEGIN question ").nth(1)?.chars().take(4).collect())
        }
        assize_llm::Part::Image { .. } => None,
    })
}

fn rubric() -> Rubric {
    let band = |low, high, text: &str| ScoreBand {
        low: RawScore::new(low).expect("a raw score"),
        high: RawScore::new(high).expect("a raw score"),
        text: text.to_owned(),
    };
    let mut scored = Criterion::checklist("scored", "Is clear");
    scored.scale = CriterionScale::Bands(
        ScoreBands::new(vec![band(0, 4, "unclear"), band(5, 10, "clear")]).expect("bands"),
    );
    Rubric::new(vec![
        Criterion::checklist("one", "Names the animal"),
        scored,
        Criterion::checklist("two", "Is short"),
    ])
    .expect("a rubric")
}

/// Checks a body as the grading service does. Every problem must point into the request.
fn read_request(input: &[u8]) -> ReadOutcome {
    let limits = RequestLimits { samples: 64, criteria: 64, ..RequestLimits::default() };
    let mut outcome = ReadOutcome::default();
    for problem in check_request(input, &limits, &["openai:m".to_owned()]) {
        assert!(problem.path.is_empty() || problem.path.starts_with('/'), "a pointer: {}", problem.path);
        outcome.add(&problem.message);
    }

    outcome
}

/// Checks a body as the adapters of the grading service do, or a part of the text as a formula of a grader.
fn read_adapter(input: &[u8], text: &str, mutator: &mut InputMutator<'_>) -> ReadOutcome {
    let limits = RequestLimits { samples: 64, ..RequestLimits::default() };
    let choice = mutator.below(AdapterBody::ALL.len() + 1);
    let problems = if let Some(adapter) = AdapterBody::ALL.get(choice) {
        check_adapter(*adapter, input, &limits, &["openai:m".to_owned()])
    } else {
        // In the seeds, formulas are between quotes.
        let formulas: Vec<&str> = text.split('"').collect();
        check_formula(formulas[mutator.below(formulas.len())])
    };

    let mut outcome = ReadOutcome::default();
    for problem in problems {
        assert!(problem.path.is_empty() || problem.path.starts_with('/'), "a pointer: {}", problem.path);
        outcome.add(&problem.message);
    }
    outcome
}
