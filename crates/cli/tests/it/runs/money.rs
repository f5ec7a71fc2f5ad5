//! What a run costs, and limits on it in dollars.

use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::{Value, json};

use crate::runs::support::{decisions, eval, fixture, is_judging, model, printed, rows, suite};

const CRITERIA: &[&str] = &["yes one", "yes two", "yes three"];
/// One dollar per million input tokens, four per million output tokens; the same for the model that answers.
const PRICES: &str =
    "models:\n  openai:judge-1: {input: 1, output: 4}\n  openai:answers-1: {input: 10, output: 40}\n";

/// The cost of reported tokens by [`PRICES`], in millionths of a dollar.
fn micros(tokens: &Value, rates: (u64, u64)) -> u64 {
    let count = |key: &str| tokens[key].as_u64().expect("a count");
    count("input") * rates.0 + count("output") * rates.1
}

fn micros_of(dollars: &Value) -> u64 {
    (dollars.as_f64().expect("a sum") * 1e6).round() as u64
}

#[test]
fn every_row_carries_what_it_cost() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(3, CRITERIA, false)).file(".assize/prices.yaml", PRICES);
    let run = printed(&eval(&cli, &["--target", "openai:answers-1", "--run-dir", "run"]).expect_code(0));
    let mut judged = 0;
    for row in rows(&cli, "run/judgements.jsonl") {
        assert_eq!(micros_of(&row["cost_usd"]), micros(&row["tokens"], (1, 4)), "{row}");
        judged += micros_of(&row["cost_usd"]);
    }
    let of_cases: u64 = rows(&cli, "run/results.jsonl").iter().map(|row| micros_of(&row["cost_usd"])).sum();
    let answered: u64 =
        server.requests().iter().filter(|request| !is_judging(request)).count().try_into().unwrap();
    assert_eq!(answered, 3);
    assert!(judged > 0 && of_cases > judged, "{judged} {of_cases}");
    assert_eq!(micros_of(&run["cost_usd"]), of_cases);
    assert_eq!(run["cost_partial"], Value::Null);
    // Cached replies cost nothing.
    let again = printed(&eval(&cli, &["--target", "openai:answers-1"]).expect_code(0));
    assert_eq!(again["cost_usd"], 0.0);
}

#[test]
fn a_failed_attempt_costs_what_it_reported() {
    // The first reply is cut off, and asked for again.
    let server = MockServer::start(|incoming: &MockRequest| {
        if incoming.index > 0 { model(incoming) } else { MockReply::finish("length", "{") }
    });
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, &["yes one"], true)).file(".assize/prices.yaml", PRICES);
    eval(&cli, &["--run-dir", "run"]).expect_code(0);
    let row = &rows(&cli, "run/judgements.jsonl")[0];
    assert_eq!((server.count(), &row["attempts"]), (2, &2.into()));
    assert_eq!(micros_of(&row["cost_usd"]), micros(&row["tokens"], (1, 4)));
}

#[test]
fn graders_of_cost_see_what_a_model_target_cost() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file(".assize/prices.yaml", PRICES);
    let suite = |limit: &str| {
        format!(
            "name: s\ntests:\n  - id: one\n    criteria: be right\n    input: question\n    assertions:\n      - {{type: \
             cost, budget: {limit}}}\n"
        )
    };
    let target = ["--target", "openai:answers-1"];
    cli.file("suite.yaml", suite("1"));
    eval(&cli, &[&target[..], &["--no-cache"]].concat()).expect_code(0);
    cli.file("suite.yaml", suite("0.00000001"));
    eval(&cli, &[&target[..], &["--no-cache"]].concat()).expect_code(1);
}

#[test]
fn an_unknown_price_leaves_a_lower_bound() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(2, CRITERIA, false))
        .file(".assize/prices.yaml", "models:\n  openai:judge-1: {input: 1, output: 4}\n");
    let words = ["eval", "suite.yaml", "--judge", "openai:judge-1", "--target", "openai:answers-1"];
    let output = cli.run(&words).expect_code(0);
    assert!(output.stdout.contains("at least $0.0"), "{}", output.stdout);
    assert!(output.stdout.contains("2 calls of unknown price"), "{}", output.stdout);
    let words = [&words[..], &["--json", "--no-cache", "--run-dir", "run"]].concat();
    let run = printed(&cli.run(&words).expect_code(0));
    assert_eq!((&run["cost_usd"], &run["cost_partial"]["unpriced_calls"]), (&Value::Null, &2.into()));
    let judged: u64 = rows(&cli, "run/judgements.jsonl").iter().map(|row| micros_of(&row["cost_usd"])).sum();
    assert_eq!(micros_of(&run["cost_partial"]["at_least_usd"]), judged);
    for row in rows(&cli, "run/results.jsonl") {
        assert_eq!((&row["cost_usd"], &row["cost_partial"]["unpriced_calls"]), (&Value::Null, &1.into()));
    }
}

#[test]
fn dollars_stop_the_run_and_it_goes_on() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(12, CRITERIA, false)).file(".assize/prices.yaml", PRICES);
    let target = ["--target", "openai:answers-1"];
    let calm = fixture(&server);
    calm.file("suite.yaml", suite(12, CRITERIA, false)).file(".assize/prices.yaml", PRICES);
    let whole = printed(&eval(&calm, &[&target[..], &["--run-dir", "run"]].concat()).expect_code(0));
    let all = whole["cost_usd"].as_f64().unwrap();
    let before = server.count();
    let limit = format!("{:.6}", all / 2.0 + 0.01);
    let args = [&target[..], &["--run-dir", "run", "--resume", "--budget-usd", &limit]].concat();
    let mut rounds = 0;
    let mut spent = 0.0;
    loop {
        rounds += 1;
        let output = eval(&cli, &args);
        let stopped = output.code == Some(4);
        let run = printed(&output);
        // What an earlier round spent on finished cases is part of the totals.
        let now = run["cost_usd"].as_f64().unwrap();
        assert!(now - spent <= limit.parse::<f64>().unwrap(), "{now} {spent} {limit}");
        spent = now;
        if !stopped {
            output.expect_code(0);
            break;
        }
        assert!(run["not_run"].as_u64().unwrap() > 0 && rounds < 10);
    }
    assert!(rounds >= 2, "the budget stopped nothing");
    assert_eq!(server.count() - before, 48, "something was bought twice");
    assert_eq!(decisions(&cli, "run"), decisions(&calm, "run"));
}

#[test]
fn what_was_spent_is_told_apart_from_the_cost_of_the_results() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(2, CRITERIA, true)).file(".assize/prices.yaml", PRICES);
    let words = ["eval", "suite.yaml", "--judge", "openai:judge-1", "-j", "1", "--budget-calls", "4"];
    let stopped = cli.run(&words).expect_code(4).stdout;
    for wanted in
        ["for 4 requests, including those for unfinished cases", "1/2 cases run: 1 passed, 1 not run"]
    {
        assert!(stopped.contains(wanted), "{wanted} in\n{stopped}");
    }

    // The reply to the fourth request is kept, so all requests count for a result.
    let resume = || cli.run(&[&words[..], &["--resume"]].concat()).expect_code(0).stdout;
    let resumed = resume();
    for wanted in
        ["Resumed     this time 1 result in ", "for 2 requests); 1 result kept", "Run         .assize/runs/"]
    {
        assert!(resumed.contains(wanted), "{wanted} in\n{resumed}");
    }
    assert!(!resumed.contains("Spent"), "{resumed}");

    // Results with another criterion replace the earlier ones, which were paid for.
    cli.file("suite.yaml", suite(2, &["yes one", "yes two", "yes four"], true));
    let replaced = resume();
    assert!(replaced.contains("for 8 requests of all invocations"), "{replaced}");
    let listed = printed(&cli.run(&["list", "--json"]));
    let [spent, cost] = ["spent_usd", "cost_usd"].map(|key| micros_of(&listed[0][key]));
    assert!(spent > cost && cost > 0, "{spent} {cost}");
}

#[test]
fn requests_of_unknown_price_for_replaced_results_are_told() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(2, CRITERIA, true));
    let words = ["eval", "suite.yaml", "--judge", "openai:judge-1", "--run-dir", "run", "--resume"];
    let first = cli.run(&words).expect_code(0).stdout;
    assert!(!first.contains("Spent"), "{first}");

    cli.file("suite.yaml", suite(2, &["yes one", "yes two", "yes four"], true));
    let replaced = cli.run(&words).expect_code(0).stdout;
    let wanted = "8 requests of all invocations; cost unknown: 8 calls of unknown price";
    assert!(replaced.contains(wanted), "{replaced}");
}

#[test]
fn a_cost_of_nothing_has_its_reason() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, CRITERIA, true)).file(".assize/prices.yaml", PRICES);
    let cost = |more: &[&str]| {
        let output = cli.run(&[&["eval", "suite.yaml"], more].concat());
        let line = output.stdout.lines().find(|line| line.starts_with("Cost")).expect("a line").to_owned();
        line["Cost".len()..].trim().to_owned()
    };
    let judge = ["--judge", "openai:judge-1"];
    assert!(cost(&judge).starts_with("$0.0"));
    assert_eq!(cost(&judge), "$0 (all replies came from the cache)");
    assert_eq!(cost(&["--judge", "offline"]), "$0 (no model was called)");

    cli.file(".assize/prices.yaml", "models:\n  openai:judge-1: {input: 0, output: 0}\n");
    assert_eq!(cost(&[&judge[..], &["--no-cache"]].concat()), "$0 (the models are free of charge)");
    cli.file(".assize/prices.yaml", "models: {}\n");
    assert!(cost(&[&judge[..], &["--no-cache"]].concat()).starts_with("unknown: "));
}

#[test]
fn a_limit_in_dollars_wants_every_price_known() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, CRITERIA, true));
    let refused = eval(&cli, &["--budget-usd", "1"]).expect_code(2);
    assert!(refused.stderr.contains("unknown price for openai:judge-1"), "{}", refused.stderr);
    assert!(refused.stderr.contains(".assize/prices.yaml"), "{}", refused.stderr);
    assert_eq!(server.count(), 0);
    eval(&cli, &["--budget-usd", "1", "--budget-unknown-price", "allow"]).expect_code(0);
    // The suite's limit works like the command line's, which overrides it.
    let limited = suite(1, CRITERIA, true).replace("tests:", "execution: {budget_usd: 0.000001}\ntests:");
    cli.file("suite.yaml", limited).file(".assize/prices.yaml", PRICES);
    eval(&cli, &["--no-cache"]).expect_code(4);
    eval(&cli, &["--no-cache", "--budget-usd", "1"]).expect_code(0);
    assert_eq!(server.count(), 6);
}

#[test]
fn a_broken_prices_file_is_refused_with_its_places() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, CRITERIA, true)).file(
        ".assize/prices.yaml",
        "models:\n  opnai:judge-1: {input: 1, output: 4}\n  openai:judge-1: {input: -1, outptu: 4}\n",
    );
    let output = eval(&cli, &[]).expect_code(2);
    for wanted in ["unknown provider `opnai`", ".assize/prices.yaml:2:3", "did you mean `output`", "E0106"] {
        assert!(output.stderr.contains(wanted), "{wanted} in\n{}", output.stderr);
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn a_plan_gives_a_range_of_money_that_the_run_keeps_to() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(4, CRITERIA, true)).file(".assize/prices.yaml", PRICES);
    let words = ["eval", "--dry-run", "suite.yaml", "--judge", "openai:judge-1"];
    let plan = printed(&cli.run(&[&words[..], &["--json"]].concat()).expect_code(0));
    let modes = &plan["judges"][0]["modes"];
    let high = |mode: &str| modes[mode]["cost_usd"]["high"].as_f64().unwrap();
    assert!(high("batched") < high("per_criterion"), "{modes}");
    assert_eq!(modes["asked"], modes["per_criterion"]);
    assert_eq!(plan["unknown_prices"], json!([]));
    let cost = printed(&eval(&cli, &[]).expect_code(0))["cost_usd"].as_f64().unwrap();
    let high = plan["cost_usd"]["high"].as_f64().unwrap();
    assert!(cost > 0.0 && cost <= high, "{cost} {high}");
    let shown = cli.run(&words).expect_code(0).stdout;
    assert!(shown.contains("per criterion 12, batched 4") && shown.contains("total: 12 calls"), "{shown}");
    cli.file(".assize/prices.yaml", "models: {}\n");
    let shown = cli.run(&words).expect_code(0).stdout;
    assert!(shown.contains("unknown price for openai:judge-1"), "{shown}");
    assert_eq!(server.count(), 12);
}
