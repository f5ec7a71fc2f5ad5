//! Files outside the root: every key of every schema gets the path of one, and the program must not open it.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::Path;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest};
use rustix::fs::inotify;
use serde_json::{Value, json};

use crate::e2e::bench::{object, with_server};

/// A file with an object of a definition of the schemas: `definition`, the place of the object, the file.
type Host = (&'static str, &'static str, &'static str);

const NATIVE: &str = r#"{"tests": [{"id": "a", "input": "q", "output": "x", "assertions": [GRADER]}]}"#;
const ASKED: &str = r#"{"targets": [TARGET], "execution": {"target": "t"},
    "tests": [{"id": "a", "input": "q", "assertions": [{"type": "contains", "value": "x"}]}]}"#;
const MATRIX: &str = r#"{"prompts": ["p"], "providers": ["echo"], "tests": [{"assert": [GRADER]}]}"#;
const CARD: &str = r#"{"rubrics": [{"code": "R", "label": "r", "weight": 1.0, "aggregation_method": "WEIGHTED_AVERAGE",
    "passing_threshold": 0.5, "benchmarks": ["C"]}], "benchmarks": [{"code": "C", "parent_rubric": "R", "concept": "c",
    "weight": 1.0, "threshold": 0.5, "evaluator_type": "code", "inclusion_criteria": "Apply when asked. Flag if wrong.",
    "evaluator_config": {"deterministic": [GRADER]}}], "cases": [{"id": "a", "candidate_output": "x"}]}"#;
const CONTAINS: &str = r#"{"type": "contains", "value": "x"}"#;
const MOCK: &str = r#"{"name": "t", "provider": "mock", "response": "x"}"#;

const GRADERS: &[(&str, &str)] = &[
    ("answer-relevance", r#"{"type": "answer-relevance"}"#),
    (
        "classifier",
        r#"{"type": "classifier", "provider": "huggingface:text-classification:m", "expected_class": "x"}"#,
    ),
    (
        "composite",
        r#"{"type": "composite", "assertions": [{"type": "contains", "value": "x"}], "aggregator": {"type": "threshold", "threshold": 0.5}}"#,
    ),
    ("context-check", r#"{"type": "context-relevance", "context": "c"}"#),
    ("context-recall", r#"{"type": "context-recall", "context": "c", "value": "v"}"#),
    ("cost", r#"{"type": "cost", "threshold": 1}"#),
    ("equality", r#"{"type": "equals", "value": "x"}"#),
    ("execution-metrics", r#"{"type": "execution-metrics", "max_tool_calls": 1}"#),
    ("field-accuracy", r#"{"type": "field-accuracy", "fields": [{"path": "a"}]}"#),
    ("is-json", r#"{"type": "is-json"}"#),
    ("latency", r#"{"type": "latency", "threshold": 1}"#),
    ("llm-grader", r#"{"type": "llm-grader", "prompt": "p"}"#),
    ("max-score", r#"{"type": "max-score"}"#),
    ("moderation", r#"{"type": "moderation"}"#),
    ("pairwise", r#"{"type": "pairwise", "baseline": {"text": "y"}}"#),
    ("pattern", r#"{"type": "regex", "value": "x"}"#),
    ("rubrics", r#"{"type": "rubrics", "criteria": ["c"]}"#),
    ("script", r#"{"type": "javascript", "value": "true"}"#),
    ("select-best", r#"{"type": "select-best", "criteria": "c"}"#),
    ("similar", r#"{"type": "similar", "value": "x"}"#),
    ("skill-trigger", r#"{"type": "skill-trigger", "skill": "s"}"#),
    ("sql-check", r#"{"type": "is-sql"}"#),
    ("text-check", CONTAINS),
    ("text-check-list", r#"{"type": "contains-any", "value": ["x"]}"#),
    ("token-usage", r#"{"type": "token-usage", "max_total": 9}"#),
    ("tool-trajectory", r#"{"type": "tool-trajectory", "mode": "exact", "expected": [{"tool": "t"}]}"#),
];

/// Types of the assertions of matrix files.
const ASSERTIONS: &[&str] = &[
    "contains", "contains-any", "equals", "is-json", "contains-json", "llm-rubric", "g-eval", "factuality",
    "model-graded-closedqa", "javascript", "similar", "select-best", "context-recall",
    "context-faithfulness", "regex", "is-sql", "trajectory:tool-used", "rouge-n",
    "is-valid-openai-tools-call",
];

const TARGETS: &[&str] = &[
    MOCK,
    r#"{"name": "t", "provider": "replay", "path": "none"}"#,
    r#"{"name": "t", "provider": "transcript", "path": "none"}"#,
    r#"{"name": "t", "provider": "http", "url": "http://127.0.0.1:9/"}"#,
    r#"{"name": "t", "provider": "openai", "model": "m"}"#,
    r#"{"name": "t", "provider": "cli", "command": "true"}"#,
    r#"{"name": "t", "provider": "claude"}"#,
];

/// Every other object of a file that a user writes.
const HOSTS: &[Host] = &[
    ("suite", "", NATIVE),
    ("case", "/tests/0", NATIVE),
    ("case-execution", "/tests/0/execution", NATIVE),
    ("suite-execution", "/execution", NATIVE),
    (
        "message",
        "/tests/0/input/0",
        r#"{"tests": [{"id": "a", "input": [{"role": "user", "content": "q"}], "output": "x", "assertions": [GRADER]}]}"#,
    ),
    (
        "block",
        "/tests/0/input/0/content/0",
        r#"{"tests": [{"id": "a", "input": [{"role": "user", "content": [{"type": "file", "value": "q"}]}], "output": "x", "assertions": [GRADER]}]}"#,
    ),
    (
        "block",
        "/tests/0/input/0/content/0",
        r#"{"tests": [{"id": "a", "input": [{"role": "user", "content": [{"type": "image", "value": "q"}]}], "output": "x", "assertions": [GRADER]}]}"#,
    ),
    (
        "turn",
        "/tests/0/turns/0",
        r#"{"tests": [{"id": "a", "input": "q", "output": [{"role": "assistant", "content": "x"}], "turns": [{"input": "q", "assertions": [GRADER]}]}]}"#,
    ),
    (
        "baseline",
        "/tests/0/assertions/0/baseline",
        r#"{"tests": [{"id": "a", "input": "q", "output": "x", "assertions": [{"type": "pairwise", "baseline": {}}]}]}"#,
    ),
    (
        "include",
        "/tests/0/assertions/0",
        r#"{"tests": [{"id": "a", "input": "q", "output": "x", "assertions": [{}]}]}"#,
    ),
    (
        "prompt-program",
        "/tests/0/assertions/0/prompt",
        r#"{"tests": [{"id": "a", "input": "q", "output": "x", "assertions": [{"type": "llm-grader", "prompt": {"command": ["true"]}}]}]}"#,
    ),
    (
        "aggregator",
        "/tests/0/assertions/0/aggregator",
        r#"{"tests": [{"id": "a", "input": "q", "output": "x", "assertions": [{"type": "composite", "assertions": [GRADER], "aggregator": {"type": "llm-grader", "prompt": "p"}}]}]}"#,
    ),
    (
        "criterion-map",
        "/tests/0/assertions/0/criteria/0",
        r#"{"tests": [{"id": "a", "input": "q", "output": "x", "assertions": [{"type": "rubrics", "criteria": [{"id": "c", "outcome": "o"}]}]}]}"#,
    ),
    ("workspace", "/workspace", ASKED),
    ("hooks", "/workspace/hooks", ASKED),
    ("hook", "/workspace/hooks/before_all", ASKED),
    (
        "repo",
        "/workspace/repos/0",
        r#"{"workspace": {"repos": [{"path": "r", "commit": "main"}]}, "targets": [TARGET], "execution": {"target": "t"}, "tests": [{"id": "a", "input": "q", "assertions": [GRADER]}]}"#,
    ),
    (
        "repo-source",
        "/workspace/repos/0/source",
        r#"{"workspace": {"repos": [{"path": "r", "source": {"type": "local"}}]}, "targets": [TARGET], "execution": {"target": "t"}, "tests": [{"id": "a", "input": "q", "assertions": [GRADER]}]}"#,
    ),
    ("health-check", "/targets/0/healthcheck", ASKED),
    (
        "target-ref",
        "/execution/targets/0",
        r#"{"targets": [TARGET], "execution": {"targets": [{"name": "t"}]}, "tests": [{"id": "a", "input": "q", "assertions": [GRADER]}]}"#,
    ),
    (
        "preprocessor",
        "/preprocessors/0",
        r#"{"preprocessors": [{"type": "xlsx", "command": "true"}], "tests": [{"id": "a", "input": "q", "output": "x", "assertions": [GRADER]}]}"#,
    ),
    ("matrix", "", MATRIX),
    ("matrix-test", "/tests/0", MATRIX),
    ("matrix-default-test", "/defaultTest", MATRIX),
    ("matrix-test-options", "/tests/0/options", MATRIX),
    ("matrix-test-execution", "/tests/0/execution", MATRIX),
    ("matrix-options", "/evaluateOptions", MATRIX),
    (
        "matrix-prompt",
        "/prompts/0",
        r#"{"prompts": [{"raw": "p"}], "providers": ["echo"], "tests": [{"assert": [GRADER]}]}"#,
    ),
    (
        "matrix-provider",
        "/providers/0",
        r#"{"prompts": ["p"], "providers": [{"id": "echo"}], "tests": [{"assert": [GRADER]}]}"#,
    ),
    (
        "target",
        "/providers/0/config",
        r#"{"prompts": ["p"], "providers": [{"id": "http", "config": {"url": "http://127.0.0.1:9/", "body": {"a": "{{prompt}}"}}}], "tests": [{"assert": [GRADER]}]}"#,
    ),
    (
        "target",
        "/providers/0/config",
        r#"{"prompts": ["p"], "providers": [{"id": "openai:m", "config": {}}], "tests": [{"assert": [GRADER]}]}"#,
    ),
    (
        "matrix-scenario",
        "/scenarios/0",
        r#"{"prompts": ["p"], "providers": ["echo"], "scenarios": [{"config": [{"vars": {"a": "b"}}], "tests": [{"assert": [GRADER]}]}]}"#,
    ),
    (
        "matrix-derived-metric",
        "/derivedMetrics/0",
        r#"{"prompts": ["p"], "providers": ["echo"], "derivedMetrics": [{"name": "m", "value": "1"}], "tests": [{"assert": [GRADER]}]}"#,
    ),
    ("matrix-defaults", "/defaults", MATRIX),
    ("scorecard-map", "", CARD),
    ("scorecard-rubric", "/rubrics/0", CARD),
    ("scorecard-benchmark", "/benchmarks/0", CARD),
    ("evaluator-config", "/benchmarks/0/evaluator_config", CARD),
    ("judge-settings", "/benchmarks/0/evaluator_config/llm_judge", CARD),
    ("scorecard-case", "/cases/0", CARD),
    ("scorecard-index", "/index", CARD),
];

/// Definitions that are not in [`HOSTS`]: none of their keys names a file, or they are whole files.
const ELSEWHERE: &[&str] = &[
    "answer", "answer-message", "args-match", "assertion", "assertions", "case-in-folder", "case-transform",
    "cases", "code-grader", "command", "config", "container", "criteria", "criterion", "escalation",
    "expected-call", "expected-output", "field", "given-output", "grader", "guidelines", "input",
    "judging-map", "matrix-assertion", "panel", "panel-judge", "price-row", "price-rows", "prices",
    "program-target", "repo-checkout", "repo-clone", "rubric-file", "rubric-file-map", "score-range",
    "score-ranges", "scorecard", "scorecard-cases", "scorecard-label", "scorecard-labels",
    "scorecard-result", "scoring-scale", "suite-settings", "targets", "template", "trials",
];

fn definitions() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/definitions.schema.json");
    serde_json::from_str(&fs::read_to_string(path).expect("the schemas are there")).expect("JSON")
}

fn hosts() -> Vec<(&'static str, String, Value)> {
    let parsed = |text: &str, grader: &str, target: &str| -> Value {
        let text = text.replace("GRADER", grader).replace("TARGET", target);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    let mut all: Vec<_> = HOSTS
        .iter()
        .map(|(definition, place, text)| (*definition, (*place).to_owned(), parsed(text, CONTAINS, MOCK)))
        .collect();
    for (definition, grader) in GRADERS {
        all.push((*definition, "/tests/0/assertions/0".to_owned(), parsed(NATIVE, grader, MOCK)));
    }
    for name in ASSERTIONS {
        let grader = json!({"type": name, "value": "x"}).to_string();
        all.push(("matrix-assertion", "/tests/0/assert/0".to_owned(), parsed(MATRIX, &grader, MOCK)));
    }
    for target in TARGETS {
        all.push(("target", "/targets/0".to_owned(), parsed(ASKED, CONTAINS, target)));
    }
    all
}

/// Puts a value at the place of a key, in objects that are made where they are missing.
fn put(root: &mut Value, place: &str, key: &str, value: Value) {
    let mut object = root;
    for step in place.split('/').skip(1) {
        object = match step.parse::<usize>() {
            Ok(index) => &mut object[index],
            Err(_) => &mut object[step],
        };
    }
    object[key] = value;
}

/// The files of a folder that were opened since the last time.
fn opened(watch: &OwnedFd) -> Vec<String> {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = inotify::Reader::new(watch, &mut buffer);
    let mut names = Vec::new();
    while let Ok(event) = reader.next() {
        names.push(event.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default());
    }
    names
}

#[test]
fn each_definition_is_tried_or_names_no_file() {
    let definitions = definitions();
    let known: BTreeSet<&str> =
        hosts().iter().map(|(name, ..)| *name).chain(ELSEWHERE.iter().copied()).collect();
    let all: BTreeSet<&str> =
        definitions["$defs"].as_object().expect("definitions").keys().map(String::as_str).collect();
    let missing: Vec<_> = all.difference(&known).collect();
    assert!(missing.is_empty(), "neither tried nor in the list: {missing:?}");
    let gone: Vec<_> = known.difference(&all).collect();
    assert!(gone.is_empty(), "not in the schemas: {gone:?}");
}

#[test]
fn no_key_of_any_schema_opens_a_file_outside_of_the_root() {
    let (mut cli, server) =
        with_server(|_: &MockRequest| MockReply::Json(json!({ "score": 1.0, "reason": "fine" })));
    cli.without_consent();
    fs::create_dir_all(cli.path("project/.git")).expect("made");
    for name in ["s.txt", "s.json", "s.yaml", "s.jsonl", "s.csv"] {
        cli.file(
            format!("outside/{name}"),
            if name == "s.txt" { "SECRET" } else { "{\"SECRET\": \"SECRET\"}" },
        );
    }
    symlink(cli.path("outside"), cli.path("project/linked")).expect("linked");
    let absolute = cli.path("outside").display().to_string();

    // Files that need consent are refused in another way, so each program has a folder of its own.
    let definitions = definitions();
    let mut written: BTreeMap<String, Value> = BTreeMap::new();
    for (host, (definition, place, base)) in hosts().into_iter().enumerate() {
        let schema = &definitions["$defs"][definition];
        let keys = schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key);
        for key in keys.filter(|key| *key != "type" && *key != "provider") {
            for at in 0..3 {
                let folder = [absolute.as_str(), "../outside", "linked"][written.len() / 3 % 3];
                let name = ["s.txt", "s.json", "s.yaml", "s.jsonl", "s.csv", "*"][written.len() / 2 % 6];
                let path = format!("{folder}/{name}");
                let url = format!("file://{path}");
                let value = match at {
                    0 => json!(url),
                    1 => json!(path),
                    _ => json!([url, path]),
                };
                let mut file = base.clone();
                put(&mut file, &place, key, value);
                written.insert(format!("{host}-{key}-{at}.eval.yaml"), file);
            }
        }
    }
    assert!(written.len() > 1_500, "{} files", written.len());
    for (name, file) in &written {
        cli.file(format!("project/{name}"), file.to_string());
    }

    let watch = inotify::init(inotify::CreateFlags::NONBLOCK).expect("inotify is there");
    inotify::add_watch(&watch, cli.path("outside"), inotify::WatchFlags::OPEN).expect("watched");
    fs::read(cli.path("project/linked/s.txt")).expect("read");
    assert_eq!(opened(&watch), ["s.txt"], "a file that is opened through a link is noticed");

    // What can be run is run.
    let mut runs = 0;
    let names: Vec<&String> = written.keys().collect();
    for names in names.chunks(100) {
        let mut runnable = runnable(&cli, &watch, names);
        runs += runnable.len();
        run_all(&cli, &watch, &mut runnable);
    }
    assert!(runs > 100, "{runs} files can be run");
    for request in server.requests() {
        assert!(!String::from_utf8_lossy(&request.body).contains("SECRET"));
    }
}

/// Validates files, and returns those without errors that need no consent.
fn runnable<'n>(cli: &CliTest, watch: &OwnedFd, names: &[&'n String]) -> Vec<&'n String> {
    let paths: Vec<String> = names.iter().map(|name| format!("project/{name}")).collect();
    let mut args = vec!["validate", "--json"];
    args.extend(paths.iter().map(String::as_str));
    let checked = object(&cli.run(&args));
    assert_eq!(opened(watch), Vec::<String>::new(), "opened by `validate`");
    assert!(!checked.to_string().contains("SECRET"));
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut refused: Vec<Value> = list(&checked["diagnostics"]);
    refused.retain(|found| found["severity"] == "error");
    for kind in ["programs", "variables", "files"] {
        refused.extend(list(&checked["capabilities"][kind]));
    }
    let told = Value::Array(refused).to_string();
    names.iter().copied().filter(|name| !told.contains(name.as_str())).collect()
}

/// Runs files together, without files that a plan reports problems for.
fn run_all(cli: &CliTest, watch: &OwnedFd, files: &mut Vec<&String>) {
    while !files.is_empty() {
        fs::remove_dir_all(cli.path("run")).ok();
        let paths: Vec<String> = files.iter().map(|name| format!("project/{name}")).collect();
        let mut args = vec!["eval"];
        args.extend(paths.iter().map(String::as_str));
        args.extend(["--judge", "openai:judge-1", "--run-dir", "run", "--max-retries", "0"]);
        let output = cli.run(&args);
        assert_eq!(opened(watch), Vec::<String>::new(), "opened by `eval`");
        assert!(!format!("{}{}", output.stdout, output.stderr).contains("SECRET"));
        if output.code != Some(2) {
            let rows = fs::read_to_string(cli.path("run/results.jsonl")).expect("rows");
            assert!(!rows.contains("SECRET"));
            return;
        }
        let before = files.len();
        files.retain(|name| !output.stderr.contains(name.as_str()));
        assert!(files.len() < before, "{}", output.stderr);
    }
}
