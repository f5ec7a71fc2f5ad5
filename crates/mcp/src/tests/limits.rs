//! The limits of calls in `docs/limits.md`.

use std::time::Duration;

use assize_testkit::mock::MockServer;
use assize_testkit::mock::rule::{answer_or_judge, suite};
use serde_json::{Value, json};

use crate::tests::support::Fixture;

#[tokio::test(flavor = "multi_thread")]
async fn more_than_a_thousand_samples_are_refused() {
    let client = Fixture::new().connect().await;
    let samples = |count: usize| Value::from(vec![json!({ "answer": "yes" }); count]);
    let call = |count| json!({ "rubric": ["Says yes"], "samples": samples(count), "budget_usd": 0 });

    let graded = client.succeed("grade", call(1000)).await;
    assert_eq!(graded["results"].as_array().map(Vec::len), Some(1000));
    let message = client.fail("grade", call(1001)).await;
    assert!(message.contains("1 to 1000"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fifth_run_waits_for_nobody_and_is_refused() {
    let server = MockServer::start(|incoming: &_| answer_or_judge(incoming).after(Duration::from_hours(1)));
    let fixture = Fixture::writing().with_models(&server);
    fixture.write("suite.yaml", &suite(1, &["yes"], true));
    let client = fixture.connect().await;
    let run = json!({ "paths": ["suite.yaml"], "judges": ["openai:gpt-4o-mini"], "budget_usd": 1 });

    for _ in 0..4 {
        client.succeed("run_eval", run.clone()).await;
    }
    let message = client.fail("run_eval", run).await;

    assert!(message.contains("4 runs are in progress"), "{message}");
    client.disconnect().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_beyond_their_range_are_refused() {
    let client = Fixture::writing().connect().await;
    for (tool, arguments) in [
        ("results", json!({ "limit": 101 })),
        ("results", json!({ "limit": 0 })),
        ("results", json!({ "cursor": "page-2" })),
        ("list_runs", json!({ "limit": 101 })),
        ("run_eval", json!({ "paths": ["."], "budget_usd": 0, "wait_seconds": 601 })),
        ("run_eval", json!({ "paths": ["."], "budget_usd": 0, "trials": 101 })),
    ] {
        let message = client.fail(tool, arguments.clone()).await;
        assert!(
            message.contains("is 1 to 10") || message.contains("`cursor`") || message.contains("at most"),
            "{message}"
        );
    }
}
