//! A model server that answers and judges by fixed rules, a suite for it, and the rows of a run.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assize_testkit::cli::{CliOutput, CliTest};
use assize_testkit::mock::{MockReply, MockRequest, MockServer, RecordedRequest};
use serde_json::{Value, json};

/// The key the client sends.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// Whether a request asks for a judgement rather than an answer.
pub(crate) fn is_judging(request: &RecordedRequest) -> bool {
    request.json()["response_format"].is_object()
}

/// A judgement: met if the criterion says "yes".
pub(crate) fn judge(incoming: &MockRequest) -> MockReply {
    let user = &incoming.last_user_text;
    let criterion = user.rsplit("[[BEGIN criterion").next().unwrap_or_default();
    let criterion = criterion.split("[[END").next().unwrap_or_default();
    let outcome = if criterion.contains("yes") { "met" } else { "unmet" };
    MockReply::Json(json!({ "evidence": [], "reason": "by rule", "outcome": outcome }))
}

/// A server that judges by [`judge`] and answers any other question with its last line.
pub(crate) fn model(incoming: &MockRequest) -> MockReply {
    if incoming.body["response_format"].is_object() {
        judge(incoming)
    } else {
        MockReply::text(format!("answer to {}", incoming.last_user_text.lines().last().unwrap_or_default()))
    }
}

/// A fixture whose models are on this server.
pub(crate) fn fixture(server: &MockServer) -> CliTest {
    let mut cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    cli.env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", server.base_url());
    cli
}

/// A suite of so many cases with these criteria; with `given`, the answers stand in it.
pub(crate) fn suite(cases: usize, criteria: &[&str], given: bool) -> String {
    let mut text = String::from("name: sums\ntests:\n");
    for case in 0..cases {
        let _ = write!(text, "  - id: case-{case}\n    criteria: be right\n    input: question {case}\n");
        if given {
            let _ = writeln!(text, "    output: the answer is {case}");
        }
        text.push_str("    assertions:\n      - type: rubrics\n        criteria:\n");
        for (at, criterion) in criteria.iter().enumerate() {
            let _ = write!(text, "          - id: c{at}\n            outcome: {criterion}\n");
        }
    }
    text
}

/// Runs `assize eval suite.yaml` with a judge on the server, and these arguments more.
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

/// Per case what was decided: verdict, score, answer, and the outcomes with their reasons.
pub(crate) fn decisions(cli: &CliTest, folder: &str) -> BTreeMap<String, Value> {
    let rows = rows(cli, &format!("{folder}/results.jsonl"));
    let count = rows.len();
    let decided: BTreeMap<String, Value> = rows
        .into_iter()
        .map(|mut row| {
            let id = row["case_id"].as_str().expect("an id").to_owned();
            for changing in ["tokens", "cost_usd", "cost_partial", "duration_ms", "crc"] {
                row.as_object_mut().expect("an object").remove(changing);
            }
            (id, row)
        })
        .collect();
    assert_eq!(decided.len(), count, "a case has two rows");
    decided
}
