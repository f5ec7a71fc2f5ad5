//! A fixture whose models answer and judge by fixed rules, and the rows of its runs.

use std::collections::BTreeMap;

use assize_testkit::cli::{CliOutput, CliTest};
pub(crate) use assize_testkit::mock::rule::{answer_or_judge as model, judge, suite};
use assize_testkit::mock::{MockServer, RecordedRequest};
use serde_json::Value;

/// The key the client sends.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// Whether a request is for a judgement rather than an answer.
pub(crate) fn is_judging(request: &RecordedRequest) -> bool {
    request.json()["response_format"].is_object()
}

/// A fixture whose models are on this server.
pub(crate) fn fixture(server: &MockServer) -> CliTest {
    let mut cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    cli.env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", server.base_url());
    cli
}

/// Runs `assize eval suite.yaml` with a judge on the server, and these additional arguments.
pub(crate) fn eval(cli: &CliTest, more: &[&str]) -> CliOutput {
    let mut args = vec!["eval", "suite.yaml", "--judge", "openai:judge-1", "--json", "-q"];
    args.extend(more);
    cli.run(&args)
}

/// What `--json` printed.
pub(crate) fn printed(output: &CliOutput) -> Value {
    serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", output.stdout, output.stderr))
}

/// The rows of a JSONL file in the fixture.
pub(crate) fn rows(cli: &CliTest, file: &str) -> Vec<Value> {
    cli.read(file).lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

/// The decisions by case: verdict, score, answer, and the outcomes with their reasons.
pub(crate) fn decisions(cli: &CliTest, folder: &str) -> BTreeMap<String, Value> {
    let rows = rows(cli, &format!("{folder}/results.jsonl"));
    let count = rows.len();
    let decided: BTreeMap<String, Value> = rows
        .into_iter()
        .map(|mut row| {
            let id = row["case_id"].as_str().expect("an id").to_owned();
            for changing in ["tokens", "cost_usd", "cost_partial", "latency_ms", "duration_ms", "crc"] {
                row.as_object_mut().expect("an object").remove(changing);
            }
            (id, row)
        })
        .collect();
    assert_eq!(decided.len(), count, "a case has two rows");
    decided
}
