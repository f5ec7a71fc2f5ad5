//! Fairness: one client does not delay another.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::KeyQuotas;
use assize_testkit::mock::{MockReply, MockRequest, MockServer, rule};
use serde_json::{Value, json};

use crate::tests::client::{request_text, send};
use crate::tests::fixture::Setup;

/// So many samples with one text, to be graded within ten seconds.
fn body(count: usize, text: &str) -> String {
    let samples: Vec<Value> =
        (0..count).map(|number| json!({"output": format!("{text} {number}")})).collect();
    json!({"rubric": ["yes"], "samples": samples, "deadline_ms": 10_000}).to_string()
}

/// A request to grade that body with that key.
async fn grade(address: SocketAddr, key: String, body: String) -> Value {
    let text = request_text("POST", "/v1/grade", &[("X-Api-Key", &key)], body.as_bytes());
    send(address, &text).await.json()
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
        let [failing_key, key] = keys.try_into().unwrap();
        let failing = tokio::spawn(grade(server.address, failing_key, body(10, "poison")));
        until_asked(&model, 8).await;
        // By now the calls of the first request are delayed.
        tokio::time::sleep(Duration::from_millis(500)).await;
        let begun = Instant::now();
        let graded = grade(server.address, key, body(60, "sound")).await;
        assert_eq!(graded["summary"]["graded"], 60, "keys: {has_keys}, {}", graded["summary"]);
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());

        let failed = failing.await.unwrap();
        assert_eq!(failed["summary"]["graded"], 0, "{}", failed["summary"]);
    }
}

/// Waits until the model server has got so many requests.
async fn until_asked(model: &MockServer, count: usize) {
    for _ in 0..500 {
        if model.count() >= count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_server_that_hangs_for_one_client_grades_the_samples_of_all_others() {
    for has_answered in [false, true] {
        let model = MockServer::start(|request: &MockRequest| {
            let pause = if request.last_user_text.contains("poison") { 600 } else { 0 };
            rule::judge(request).after(Duration::from_secs(pause))
        });
        let mut setup = Setup::with_model(&model);
        setup.run.spending.cache = assize_engine::CacheUse::Off;
        let keys = ["first", "second", "third"].map(|name| (name, KeyQuotas::default()));
        let [hanging_key, key, third]: [String; 3] = setup.keys(&keys).try_into().unwrap();
        let server = setup.start().await;
        if has_answered {
            let graded = grade(server.address, key.clone(), body(5, "sound")).await;
            assert_eq!(graded["summary"]["graded"], 5);
        }

        // So many that all places for requests in flight are taken.
        let before = model.count();
        let hanging = tokio::spawn(grade(server.address, hanging_key, body(250, "poison")));
        until_asked(&model, before + if has_answered { 30 } else { 1 }).await;
        let begun = Instant::now();
        let others = [key, third].map(|key| grade(server.address, key, body(60, "sound")));
        for graded in futures_util::future::join_all(others).await {
            assert_eq!(graded["summary"]["graded"], 60, "answered: {has_answered}, {}", graded["summary"]);
        }
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());

        let hung = hanging.await.unwrap();
        assert_eq!(hung["summary"]["graded"], 0, "{}", hung["summary"]);
    }
}

#[tokio::test]
async fn a_server_that_fails_for_everyone_is_asked_seldom() {
    let model = MockServer::start(|_: &MockRequest| MockReply::status(500, "{}"));
    let mut setup = Setup::with_model(&model);
    setup.run.spending.cache = assize_engine::CacheUse::Off;
    let server = setup.start().await;
    let calls =
        [body(10, "poison"), body(60, "sound")].map(|body| grade(server.address, String::new(), body));
    futures_util::future::join_all(calls).await;

    // The first requests are sent together; then there are probes, each after a longer pause.
    assert!(model.count() < 120, "{} calls", model.count());
}
