//! Fairness: one client does not delay another.

use std::time::{Duration, Instant};

use assize_serve::KeyQuotas;
use assize_testkit::mock::{MockReply, MockRequest, MockServer, rule};
use serde_json::{Value, json};

use crate::client::{request_text, send};
use crate::fixture::Setup;

/// Ten samples for which the model server fails, and sixty others.
fn bodies() -> [String; 2] {
    let samples = |count: usize, text: &str| -> Vec<Value> {
        (0..count).map(|number| json!({"output": format!("{text} {number}")})).collect()
    };
    let body = |samples| json!({"rubric": ["yes"], "samples": samples, "deadline_ms": 10_000}).to_string();
    [body(samples(10, "poison")), body(samples(60, "sound"))]
}

#[tokio::test]
async fn a_server_that_fails_for_some_samples_grades_all_others() {
    for has_keys in [false, true] {
        let model = MockServer::start(|request: &MockRequest| {
            if request.last_user_text.contains("poison") {
                MockReply::status(500, r#"{"error": {"message": "boom"}}"#)
            } else {
                rule::judge(request)
            }
        });
        let mut setup = Setup::with_model(&model);
        setup.run.spending.cache = assize_engine::CacheUse::Off;
        let keys = [("first", KeyQuotas::default()), ("second", KeyQuotas::default())];
        let keys = if has_keys { setup.keys(&keys) } else { vec![String::new(); 2] };
        let server = setup.start().await;
        let [poison, sound] = bodies();
        let address = server.address;
        let ask = |key: &str, body: &str| {
            let text = request_text("POST", "/v1/grade", &[("X-Api-Key", key)], body.as_bytes());
            async move { send(address, &text).await.json() }
        };

        let failing = tokio::spawn(ask(&keys[0], &poison));
        for _ in 0..500 {
            if model.count() >= 8 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // By now the calls of the first request are delayed.
        tokio::time::sleep(Duration::from_millis(500)).await;
        let begun = Instant::now();
        let graded = ask(&keys[1], &sound).await;
        assert_eq!(graded["summary"]["graded"], 60, "keys: {has_keys}, {}", graded["summary"]);
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());

        let failed = failing.await.unwrap();
        assert_eq!(failed["summary"]["graded"], 0, "{}", failed["summary"]);
    }
}

#[tokio::test]
async fn a_server_that_fails_for_everyone_is_asked_seldom() {
    let model = MockServer::start(|_: &MockRequest| MockReply::status(500, "{}"));
    let mut setup = Setup::with_model(&model);
    setup.run.spending.cache = assize_engine::CacheUse::Off;
    let server = setup.start().await;
    let calls = bodies().map(|body| {
        let text = request_text("POST", "/v1/grade", &[], body.as_bytes());
        let address = server.address;
        async move { send(address, &text).await }
    });
    futures_util::future::join_all(calls).await;

    // The first requests are sent together; then there are probes, each after a longer pause.
    assert!(model.count() < 120, "{} calls", model.count());
}
