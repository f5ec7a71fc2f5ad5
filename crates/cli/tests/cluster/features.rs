//! Features of eval files whose cases depend on each other, or on things that other machines lack.

use std::time::Duration;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockOptions, MockReply, MockRequest, MockServer};
use serde_json::{Value, json};

use crate::machines::{EVAL, assert_same_rows, coordinator, judge_server, machine, rows, servers, worker};

/// Three answers to each of four tests, which are compared with each other.
const GROUPS: &str = "
prompts: ['a + {{n}}', 'b ++ {{n}}', 'c {{n}}']
providers: [echo]
derivedMetrics:
  - {name: share, value: plus / __count}
  - {name: missing, value: absent + 1}
defaultTest:
  assert:
    - {type: contains, value: '+', metric: plus}
    - {type: max-score}
    - {type: select-best, value: has more pluses}
tests:
  - {description: t1, vars: {n: '1'}}
  - {description: t2, vars: {n: '2'}}
  - {description: t3, vars: {n: '3'}}
  - {description: t4, vars: {n: '4'}}
";

fn summary(machine: &CliTest, folder: &str) -> Value {
    let info: Value = serde_json::from_str(&machine.read(format!("{folder}/run.json"))).expect("JSON");
    info["summary"].clone()
}

#[test]
fn answers_that_are_compared_are_in_one_unit_and_metrics_are_derived_of_all() {
    let Some(servers) = servers("answers_that_are_compared_are_in_one_unit") else { return };
    let judge = MockServer::start_with(
        |_: &MockRequest| {
            MockReply::Json(json!({ "evidence": [], "reason": "the first", "better": "answer 1" }))
        },
        MockOptions { record: false },
    );
    let make = || {
        let cli = machine(&judge, 1);
        cli.file("suite.yaml", GROUPS);
        cli
    };
    let local = make();
    let code = local.run(&[&EVAL[..], &["--run-dir", "local"]].concat()).code;
    let calls = judge.count();

    // There are as many units as results, and a group of three is not split.
    let (boss, hosts) = (make(), [make(), make()]);
    let address = servers.address();
    let _workers: Vec<_> = hosts.iter().map(|host| worker(host, &address)).collect();
    let (merged, _, err) = coordinator(&boss, &address, &["--unit-size", "1"]).finish();
    assert_eq!(merged, code, "{err}");
    assert_same_rows((&local, "local"), (&boss, "merged"));
    assert_eq!(judge.count(), 2 * calls, "each comparison was made once");
    let info: Value = serde_json::from_str(&boss.read("merged/run.json")).expect("JSON");
    let units: Vec<u64> = info["merged"]["shards"]
        .as_array()
        .expect("units")
        .iter()
        .map(|unit| unit["items"].as_u64().expect("a number"))
        .collect();
    assert_eq!((units.len(), units.iter().sum::<u64>()), (12, 12));
    assert!(units.iter().all(|items| *items == 0 || *items == 3), "{units:?}");

    let (one, all) = (summary(&local, "local"), summary(&boss, "merged"));
    for key in ["counts", "metrics", "criterion_rates", "check_rates", "mean_score"] {
        assert_eq!(one[key], all[key], "{key}");
    }
    let derived = all["metrics"]["derived"].as_array().expect("derived metrics");
    let share = derived.iter().find(|metric| metric["name"] == "share").expect("the metric");
    assert_eq!((&share["value"], &share["n"]), (&json!(1.0), &json!(4)), "{share}");
}

#[test]
fn code_around_tests_is_refused_before_anything_is_handed_out() {
    let Some(servers) = servers("code_around_tests_is_refused") else { return };
    let judge = judge_server(Duration::ZERO);
    let (cli, address) = (machine(&judge, 1), servers.address());
    cli.file("hooks.py", "open('started', 'w').close()\ndef hook(name, context):\n    pass\n");
    cli.file(
        "suite.yaml",
        "prompts: [p]\nproviders: [echo]\nextensions: ['file://hooks.py:hook']\n\
         tests: [{assert: [{type: contains, value: p}]}]\n",
    );

    let eval = [&EVAL[..], &["--allow-code", "--cluster", &address, "--run-dir", "merged"]].concat();
    let refused = cli.run(&eval).expect_code(2).stderr;
    let expected = "`extensions` only run with `assize eval` on a single machine";
    assert!(refused.contains(expected) && refused.contains("suite.yaml:3"), "{refused}");
    assert!(!cli.path("started").exists() && !cli.path("merged").exists());
    assert_eq!(servers.streams(), ["KV_assize"], "the records of jobs, and no queue");
}

#[test]
fn workers_rerun_only_the_cases_that_failed() {
    let Some(servers) = servers("workers_rerun_only_the_cases") else { return };
    let judge = judge_server(Duration::ZERO);
    let make = || {
        let cli = machine(&judge, 1);
        let case = |at: usize| {
            let said = if at.is_multiple_of(3) { "no" } else { "yes" };
            format!(
                "  - id: case-{at}\n    criteria: agree\n    input: question {at}\n    output: says {said}\n    \
                 assertions: [{{type: contains, value: \"yes\"}}]\n"
            )
        };
        let cases: Vec<String> = (0..24).map(case).collect();
        cli.file("suite.yaml", format!("name: answers\ntests:\n{}", cases.concat()));
        cli
    };
    let (boss, host) = (make(), make());
    boss.run(&[&EVAL[..], &["--run-dir", "first"]].concat()).expect_code(1);
    let failed: Vec<String> = rows(&boss, "first/results.jsonl")
        .into_iter()
        .filter(|(_, rows)| rows[0]["verdict"] == "fail")
        .map(|(case, _)| case)
        .collect();
    assert_eq!(failed.len(), 8, "{failed:?}");
    boss.run(&[&EVAL[..], &["--rerun-failed", "first", "--run-dir", "local"]].concat()).expect_code(1);

    // Only the coordinator has the named run.
    let address = servers.address();
    let _worker = worker(&host, &address);
    let more = ["--rerun-failed", "first", "--unit-size", "3"];
    let (code, _, err) = coordinator(&boss, &address, &more).finish();
    assert_eq!(code, Some(1), "{err}");
    assert_same_rows((&boss, "local"), (&boss, "merged"));
    assert!(rows(&boss, "merged/results.jsonl").keys().eq(&failed));
}
