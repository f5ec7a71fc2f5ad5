//! Setup and helpers for all of these tests.

use std::fmt::Write;
use std::path::Path;

use assize_testkit::cli::{CliOutput, CliTest};
use assize_testkit::mock::{MockServer, ReplyScript};
use serde_json::Value;

/// The key that every test sends; it must never appear in any output.
pub(crate) const KEY: &str = "sk-e2e-7f3a9c-never-shown";

/// Model, variable of the key, variable of the address.
pub(crate) type Format = (&'static str, &'static str, &'static str);

/// Every wire format with a provider that uses it, and one provider that borrows a format.
pub(crate) const FORMATS: [Format; 9] = [
    ("openai:j", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    ("openai-responses:j", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    ("azure:j", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"),
    ("anthropic:j", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    ("gemini:j", "GEMINI_API_KEY", "GEMINI_BASE_URL"),
    ("ollama:j", "OLLAMA_API_KEY", "OLLAMA_HOST"),
    ("bedrock:j", "AWS_BEARER_TOKEN_BEDROCK", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"),
    ("vertex:j", "VERTEX_ACCESS_TOKEN", "VERTEX_BASE_URL"),
    ("openrouter:j", "OPENROUTER_API_KEY", "OPENROUTER_BASE_URL"),
];

/// The binary in an empty folder.
pub(crate) fn cli() -> CliTest {
    CliTest::new(env!("CARGO_BIN_EXE_assize"))
}

/// The binary in an empty folder, with a server in place of OpenAI's.
pub(crate) fn with_server(script: impl ReplyScript) -> (CliTest, MockServer) {
    let server = MockServer::start(script);
    let mut cli = cli();
    cli.env("OPENAI_BASE_URL", server.base_url());
    cli.env("OPENAI_API_KEY", KEY);
    (cli, server)
}

/// The one JSON object on stdout.
#[track_caller]
pub(crate) fn object(output: &CliOutput) -> Value {
    let value: Value = serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", output.stdout, output.stderr));
    assert!(value.is_object(), "{value}");
    value
}

/// The result rows of a run folder, in order of case ids, then targets.
pub(crate) fn rows(cli: &CliTest, folder: impl AsRef<Path>) -> Vec<Value> {
    let mut rows = lines(&cli.read(folder.as_ref().join("results.jsonl")));
    rows.sort_by_key(|row| format!("{} {} {}", row["case_id"], row["suite"], row["target"]));
    rows
}

/// Asserts that two runs have the same rows and metrics, except times and the use of calls.
#[track_caller]
pub(crate) fn assert_same_run(cli: &CliTest, one: &str, other: &str) {
    let [a, b] = [one, other].map(|folder| {
        let mut all = rows(cli, folder);
        for row in &mut all {
            for changing in ["duration_ms", "crc", "latency_ms"] {
                row.as_object_mut().expect("a row is an object").remove(changing);
            }
        }
        all
    });
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(&b) {
        assert_eq!(a, b);
    }

    let [a, b] = [one, other].map(|folder| info(cli, folder)["summary"].clone());
    for key in
        ["counts", "metrics", "criterion_rates", "check_rates", "mean_score", "exit_code", "exit_reason"]
    {
        assert_eq!(a[key], b[key], "{key}");
    }
}

/// The judgement rows of a run folder, in order of writing.
pub(crate) fn judgements(cli: &CliTest, folder: impl AsRef<Path>) -> Vec<Value> {
    lines(&cli.read(folder.as_ref().join("judgements.jsonl")))
}

/// `run.json` of a run folder.
pub(crate) fn info(cli: &CliTest, folder: impl AsRef<Path>) -> Value {
    serde_json::from_str(&cli.read(folder.as_ref().join("run.json"))).expect("run.json is JSON")
}

pub(crate) fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect()
}

/// The outcomes of a row's criteria, as `id=outcome`, all graders in order.
pub(crate) fn outcomes(row: &Value) -> Vec<String> {
    let graders = row["graders"].as_array().expect("a row has graders");
    graders
        .iter()
        .flat_map(|grader| grader["criteria"].as_array().expect("a grader has criteria"))
        .map(|criterion| {
            let outcome = criterion["outcome"].as_str().expect("an outcome is a word");
            let id = criterion["id"].as_str().expect("an id is a text");
            match criterion["raw_score"].as_u64() {
                Some(score) => format!("{id}={score}"),
                None => format!("{id}={outcome}"),
            }
        })
        .collect()
}

/// A suite of format 2 with one case that has this answer and these criteria.
pub(crate) fn one_case(answer: &str, criteria: &[&str]) -> String {
    let answer = Value::from(answer);
    let mut text = format!(
        "name: one\ntests:\n- id: only\n  criteria: x\n  input: q\n  output: {answer}\n  assertions:\n"
    );
    for criterion in criteria {
        let _ = writeln!(text, "  - {}", Value::from(*criterion));
    }
    text
}

/// Whether any file below a folder holds this text, byte for byte.
pub(crate) fn holds(folder: &Path, needle: &str) -> bool {
    std::fs::read_dir(folder).expect("the folder can be read").any(|entry| {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            return holds(&path, needle);
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
    })
}
