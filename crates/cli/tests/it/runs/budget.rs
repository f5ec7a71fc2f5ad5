//! A budget is never exceeded by any request, and a run that it stopped can continue later.

use std::time::Duration;

use assize_testkit::mock::{MockRequest, MockServer};

use crate::runs::support::{decisions, eval, fixture, model, printed, suite};

const CRITERIA: &[&str] = &["yes one", "yes two", "yes three"];
const TARGET: [&str; 2] = ["--target", "openai:answers-1"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    TARGET.iter().chain(more).copied().collect()
}

#[test]
fn calls_stop_at_the_budget_and_the_run_goes_on_with_another() {
    let server = MockServer::start(|incoming: &MockRequest| model(incoming).after(Duration::from_millis(2)));
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(10, CRITERIA, false));
    let mut bought = 0;
    for round in 1..=4 {
        let output = eval(&cli, &with(&["--run-dir", "run", "--resume", "--budget-calls", "13"]));
        bought += 13;
        if round < 4 {
            assert_eq!(server.count(), bought, "{}", output.stderr);
        }
        let output = printed(&output.expect_code(if round < 4 { 4 } else { 0 }));
        let finished = output["counts"]["pass"].as_u64().unwrap();
        assert_eq!(output["not_run"].as_u64().unwrap(), 10 - finished);
        assert_eq!(output["criteria_ungraded"], 0);
        assert_eq!(decisions(&cli, "run").len() as u64, finished);
        if round < 4 {
            assert!(output["exit_reason"].as_str().unwrap().contains("stopped by the budget"));
        }
    }
    // Nothing was paid for twice.
    assert_eq!(server.count(), 40);
    let calm = fixture(&server);
    calm.file("suite.yaml", suite(10, CRITERIA, false));
    eval(&calm, &with(&["--run-dir", "run"])).expect_code(0);
    assert_eq!(decisions(&cli, "run"), decisions(&calm, "run"));
}

#[test]
fn tokens_stop_the_run_before_they_are_spent() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(20, CRITERIA, true));
    let whole = printed(&eval(&cli, &["--no-cache"]).expect_code(0));
    let all = whole["tokens"]["input"].as_u64().unwrap() + whole["tokens"]["output"].as_u64().unwrap();
    let limit = (all / 2).to_string();
    let before = server.count();
    // Few cases at a time, so that some are finished: the calls of unfinished cases are in no record.
    let output = printed(&eval(&cli, &["-j", "4", "--budget-tokens", &limit, "--no-cache"]).expect_code(4));
    let calls = server.count() - before;
    // All calls cost about the same, so half of the tokens pay for at most half of the calls.
    assert!((10..=31).contains(&calls), "{calls} of 60");
    assert!(output["not_run"].as_u64().unwrap() >= 9);
    let spent = output["tokens"]["input"].as_u64().unwrap() + output["tokens"]["output"].as_u64().unwrap();
    assert!(spent <= all / 2, "{spent} of {all}");
}

#[test]
fn a_stop_by_budget_outranks_failures() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(4, &["no one"], true));
    eval(&cli, &["-j", "1", "--budget-calls", "2"]).expect_code(4);
    eval(&cli, &["-j", "1", "--budget-calls", "2"]).expect_code(1);
}

#[test]
fn a_run_over_its_budget_is_resumed_by_the_command_it_prints() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(4, CRITERIA, true));
    let args = ["eval", "suite.yaml", "--judge", "openai:judge-1", "-j", "1", "--budget-calls", "1"];
    let stopped = cli.run(&args).expect_code(4).stdout;
    assert!(stopped.contains("the budget of 1 call is spent"), "{stopped}");
    let resume = "assize eval suite.yaml --judge openai:judge-1 -j 1 --budget-calls 1 --resume";
    assert!(stopped.contains(&format!("Next    {resume}")), "{stopped}");
    assert!(stopped.contains("with the same budget once more"), "{stopped}");

    // Paid replies are in the cache, so each invocation gets one request further.
    let words: Vec<&str> = resume.split(' ').skip(1).collect();
    let codes: Vec<Option<i32>> = (0..11).map(|_| cli.run(&words).code).collect();
    assert_eq!(codes, [&[Some(4); 10][..], &[Some(0)]].concat());
    assert_eq!(server.count(), 12);
}
