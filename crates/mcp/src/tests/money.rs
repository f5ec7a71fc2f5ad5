//! Budgets of calls and of servers.

use assize_rubric::Usd;
use assize_testkit::mock::MockServer;
use assize_testkit::mock::rule::{answer_or_judge, suite};
use serde_json::{Value, json};

use crate::tests::support::Fixture;

fn grading(budget: Value) -> Value {
    json!({
        "rubric": ["yes", "no"],
        "samples": [{ "answer": "yes" }, { "answer": "no" }],
        "judges": ["openai:gpt-4o-mini"],
        "budget_usd": budget,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_is_a_number_of_dollars_and_nothing_is_sent_beyond_it() {
    let server = MockServer::start(answer_or_judge);
    let fixture = Fixture::new().with_models(&server);
    let client = fixture.connect().await;

    for budget in [json!(-1), json!("1"), Value::Null] {
        client.fail("grade", grading(budget)).await;
    }
    let nothing = client.succeed("grade", grading(json!(0))).await;
    assert_eq!((&nothing["summary"]["exit_code"], server.count()), (&json!(4), 0));
    assert_eq!(
        (&nothing["summary"]["criteria_ungraded"], &nothing["results"][0]["verdict"]),
        (&json!(4), &json!("incomplete"))
    );
    assert!(nothing["stopped"].is_string(), "{nothing}");

    let graded = client.succeed("grade", grading(json!(1))).await;
    assert_eq!((server.count(), &graded["summary"]["judge_calls"]), (4, &json!(4)));
    assert!(graded["summary"]["cost_usd"].as_f64().is_some_and(|cost| cost > 0.0), "{graded}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_price_that_nobody_knows_can_not_be_kept_within_a_budget() {
    let server = MockServer::start(answer_or_judge);
    let fixture = Fixture::new().with_models(&server);
    let client = fixture.connect().await;
    let mut arguments = grading(json!(5));
    arguments["judges"] = json!(["openai:judge-of-unknown-price"]);

    let message = client.fail("grade", arguments).await;

    assert!(message.contains("unknown price"), "{message}");
    assert!(message.contains("prices.yaml") && !message.contains("--"), "no tool has options: {message}");
    assert_eq!(server.count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_calls_share_the_budget_of_the_server() {
    let server = MockServer::start(answer_or_judge);
    let mut fixture = Fixture::writing().with_models(&server);
    fixture.budget = Usd::from_dollars(1.0);
    fixture.write("suite.yaml", &suite(2, &["yes"], true));
    let client = fixture.connect().await;

    let message = client.fail("grade", grading(json!(1.01))).await;
    assert!(message.contains("--budget-usd"), "{message}");
    let run = json!({ "paths": ["suite.yaml"], "judges": ["openai:gpt-4o-mini"], "budget_usd": 2, "wait_seconds": 60 });
    let message = client.fail("run_eval", run.clone()).await;
    assert!(message.contains("--budget-usd"), "{message}");
    assert_eq!(server.count(), 0);

    client.succeed("grade", grading(json!(1))).await;
    let message = client.fail("grade", grading(json!(1))).await;
    assert!(message.contains("left"), "what was spent is gone: {message}");
    let mut run = run;
    run["budget_usd"] = json!(0.9);
    assert_eq!(client.succeed("run_eval", run).await["status"], "finished", "the rest was given back");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_resumed_is_not_charged_twice() {
    let server = MockServer::start(answer_or_judge);
    let mut fixture = Fixture::writing().with_models(&server);
    fixture.budget = Usd::from_dollars(1_000.0);
    fixture.write(".assize/prices.yaml", "models: {\"openai:gpt-4o-mini\": {input: 1000, output: 1000}}\n");
    fixture.write("suite.yaml", &suite(2, &["yes"], true));
    let client = fixture.connect().await;
    let left = async || client.fail("grade", grading(json!(2_000))).await;

    let mut run = json!({ "paths": ["suite.yaml"], "judges": ["openai:gpt-4o-mini"], "budget_usd": 500, "wait_seconds": 60 });
    let first = client.succeed("run_eval", run.clone()).await;
    let (calls, before) = (server.count(), left().await);
    assert!(calls > 0 && !before.contains("$1,000"), "{before}");

    run["resume"] = first["run_id"].clone();
    client.succeed("run_eval", run).await;
    assert_eq!((server.count(), left().await), (calls, before), "nothing was sent again");
}
