//! Judge calls in batches of the providers: what they cost, what is sent, and what faults leave behind.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use assize_testkit::cli::{CliOutput, CliTest};
use assize_testkit::mock::rule::{judge, suite};
use assize_testkit::mock::{MockBatchFaults, MockReply, MockRequest, MockServer};
use serde_json::Value;

use crate::support::{KEY, fixture, printed, rows};

const CRITERIA: &[&str] = &["yes one", "no two", "yes three"];
const JUDGES: [&str; 4] = ["openai:judge-1", "openai-responses:judge-1", "anthropic:judge-1", "gemini:judge-1"];

/// A fixture with so many given answers, whose models are on this server.
fn answers(server: &MockServer, cases: usize) -> CliTest {
    let mut cli = fixture(server);
    cli.env("ANTHROPIC_API_KEY", KEY).env("ANTHROPIC_BASE_URL", server.base_url());
    cli.env("GEMINI_API_KEY", KEY).env("GEMINI_BASE_URL", server.base_url().replace("/v1", "/v1beta"));
    cli.file("suite.yaml", suite(cases, CRITERIA, true));
    cli
}

fn eval(cli: &CliTest, judge: &str, more: &[&str]) -> CliOutput {
    let mut args = vec!["eval", "suite.yaml", "--judge", judge, "--json", "-q", "--run-dir", "run"];
    args.extend(more);
    cli.run(&args)
}

/// Everything that a run keeps about its cases but times, costs and the order in which they finished.
fn kept(cli: &CliTest, folder: &str) -> BTreeMap<String, Vec<Value>> {
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for file in ["results.jsonl", "judgements.jsonl"] {
        for mut row in rows(cli, &format!("{folder}/{file}")) {
            let row_keys = row.as_object_mut().expect("an object");
            for changing in ["latency_ms", "duration_ms", "cost_usd", "cost_partial", "crc"] {
                row_keys.remove(changing);
            }
            all.entry(row["case_id"].as_str().expect("an id").to_owned()).or_default().push(row);
        }
    }
    all
}

/// What a live run keeps.
fn live(cases: usize, judge_name: &str) -> BTreeMap<String, Vec<Value>> {
    let server = MockServer::start(judge);
    let cli = answers(&server, cases);
    eval(&cli, judge_name, &[]).expect_code(1);
    without_address(kept(&cli, "run"), &server)
}

fn without_address(kept: BTreeMap<String, Vec<Value>>, server: &MockServer) -> BTreeMap<String, Vec<Value>> {
    let host = server.base_url();
    let host = host.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    kept.into_iter()
        .map(|(id, rows)| {
            let rows = rows.iter().map(|row| {
                let text = row.to_string().replace(&host, "HOST");
                serde_json::from_str(&text).expect("still JSON")
            });
            (id, rows.collect())
        })
        .collect()
}

/// No request was paid for twice.
fn paid_once(server: &MockServer) {
    for (body, (batched, alone)) in server.batches().paid() {
        assert!(batched + alone <= 1, "{batched} times in batches, {alone} times alone: {body}");
    }
}

fn files_of_batches(cli: &CliTest) -> Vec<String> {
    let folder = cli.path(".assize/batches");
    let names = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "batch"))
        .collect()
}

#[test]
fn every_format_brings_the_results_of_a_live_run() {
    for name in JUDGES {
        let server = MockServer::start(judge);
        server.batches().set(MockBatchFaults { polls: 2, ..MockBatchFaults::default() });
        let cli = answers(&server, 6);
        let output = eval(&cli, name, &["--judge-batch"]).expect_code(1);

        assert_eq!(without_address(kept(&cli, "run"), &server), live(6, name), "{name}");
        assert_eq!(server.batches().sizes(), [17], "{name}: the first request goes alone");
        assert_eq!(server.batches().paid_totals(), (17, 1), "{name}");
        paid_once(&server);
        let printed = printed(&output);
        assert_eq!((&printed["judge_calls"], &printed["judge_calls_cached"]), (&18.into(), &0.into()), "{name}");
        assert_eq!(files_of_batches(&cli), Vec::<String>::new(), "{name}");

        // Replies are in the reply cache like any other.
        cli.run(&["eval", "suite.yaml", "--judge", name, "--cache-only", "-q"]).expect_code(1);
    }
}
