//! Access: which clients may send requests, how many, and that each gets only its own replies.

use std::time::Duration;

use crate::KeyQuotas;
use assize_engine::UnknownPrice;
use assize_testkit::mock::{MockRequest, MockServer, rule};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::tests::client::{request_text, send};
use crate::tests::fixture::Setup;

fn body() -> Value {
    json!({"rubric": ["yes"], "samples": [{"output": "the answer"}]})
}

fn bearer(key: &str) -> String {
    format!("Bearer {key}")
}

fn basic(credentials: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(credentials))
}

#[tokio::test]
async fn addresses_that_others_reach_need_keys_and_encryption() {
    let mut setup = Setup::offline();
    setup.options.listen = ([0, 0, 0, 0], 0).into();
    assert!(setup.bind_error().await.contains("assize serve key new"));

    let mut setup = Setup::offline();
    setup.options.listen = ([0, 0, 0, 0], 0).into();
    setup.keys(&[("a", KeyQuotas::default())]);
    let error = setup.bind_error().await;
    assert!(error.contains("--tls-cert") && error.contains("--behind-proxy"), "{error}");
}

#[tokio::test]
async fn a_key_is_needed_where_there_are_keys() {
    let mut setup = Setup::offline();
    let keys = setup.keys(&[("a", KeyQuotas::default())]);
    let server = setup.start().await;

    let wrong = format!("{}x", keys[0]);
    let short = &keys[0][..keys[0].len() - 1];
    for header in [
        None,
        Some(bearer(&wrong)),
        Some(bearer(short)),
        Some(bearer("")),
        Some(format!("Basic {}", keys[0])),
        Some(basic(&format!("{}:", keys[0]))),
        Some(basic(&format!("assize:{wrong}"))),
        Some(basic(&keys[0])),
    ] {
        let headers: Vec<(&str, &str)> =
            header.iter().map(|value| ("Authorization", value.as_str())).collect();
        let reply = server.post("/v1/grade", &headers, &body()).await;
        assert_eq!((reply.status, reply.kind().as_str()), (401, "unauthorized"), "{header:?}");
        assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
        assert!(!reply.body.contains(&keys[0]));
    }
    for path in ["/v1/rubrics", "/metrics", "/nothing"] {
        assert_eq!(server.get(path).await.status, 401, "{path}");
    }
    for path in ["/healthz", "/readyz", "/v1/openapi.json"] {
        assert_eq!(server.get(path).await.status, 200, "{path}");
    }

    let good = server.post("/v1/grade", &[("Authorization", &bearer(&keys[0]))], &body()).await;
    let other = server.post("/v1/grade", &[("X-Api-Key", &keys[0])], &body()).await;
    assert_eq!((good.status, other.status), (200, 200));
    // Clients send it like this for the address `http://user:KEY@HOST`; some can't set a header.
    for user in ["assize", "", "x"] {
        let header = basic(&format!("{user}:{}", keys[0]));
        let reply = server.post("/v1/grade", &[("Authorization", &header)], &body()).await;
        assert_eq!(reply.status, 200, "{user}: {reply:?}");
    }
}

#[tokio::test]
async fn two_clients_see_neither_each_others_cache_nor_results() {
    let model =
        MockServer::start(|request: &MockRequest| rule::judge(request).after(Duration::from_millis(100)));
    let mut setup = Setup::with_model(&model);
    let keys = setup.keys(&[("a", KeyQuotas::default()), ("b", KeyQuotas::default())]);
    let server = setup.start().await;
    let ask = |key: &str| {
        let headers = [("Authorization", bearer(key)), ("Idempotency-Key", "same".to_owned())];
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let text = request_text("POST", "/v1/grade", &headers, body().to_string().as_bytes());
        let address = server.address;
        async move { send(address, &text).await.json() }
    };

    // Both run at the same time: neither waits for the other's call.
    let (first, second) = tokio::join!(ask(&keys[0]), ask(&keys[1]));
    assert_eq!(model.count(), 2);
    for reply in [&first, &second] {
        assert_eq!(reply["results"][0]["judge_calls_cached"], 0);
    }

    let again = |key: &str| {
        let text = request_text(
            "POST",
            "/v1/grade",
            &[("Authorization", &bearer(key))],
            body().to_string().as_bytes(),
        );
        let address = server.address;
        async move { send(address, &text).await.json() }
    };
    let own = again(&keys[0]).await;
    assert_eq!((&own["results"][0]["judge_calls_cached"], model.count()), (&json!(1), 2), "its own cache");
}

#[tokio::test]
async fn a_key_that_is_removed_is_refused_and_a_new_one_is_taken_without_a_restart() {
    let mut setup = Setup::offline();
    let keys = setup.keys(&[("a", KeyQuotas::default())]);
    let path = setup.options.keys.clone().unwrap();
    let server = setup.start().await;
    let new = crate::KeyFile::add(&path, "b", KeyQuotas::default(), String::new(), false).unwrap();
    crate::KeyFile::remove(&path, "a").unwrap();

    let mut status = 0;
    for _ in 0..100 {
        status = server.post("/v1/grade", &[("Authorization", &bearer(&new))], &body()).await.status;
        if status == 200 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(status, 200);
    assert_eq!(server.post("/v1/grade", &[("Authorization", &bearer(&keys[0]))], &body()).await.status, 401);

    std::fs::write(&path, "{").unwrap();
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(server.post("/v1/grade", &[("Authorization", &bearer(&new))], &body()).await.status, 200);
    assert!(server.log.lock().unwrap().iter().any(|line| line.contains("the keys stay as they were")));
}

#[tokio::test]
async fn quotas_of_a_key_hold_for_it_alone() {
    let model =
        MockServer::start(|request: &MockRequest| rule::judge(request).after(Duration::from_millis(300)));
    let mut setup = Setup::with_model(&model);
    setup.file(".assize/prices.yaml", "models:\n  openai:judge-1: {input: 1, output: 1}\n");
    let keys = setup.keys(&[
        ("few", KeyQuotas { requests_per_minute: Some(2), ..KeyQuotas::default() }),
        ("small", KeyQuotas { samples_in_flight: Some(2), ..KeyQuotas::default() }),
        ("poor", KeyQuotas { budget_usd: assize_rubric::Usd::from_dollars(0.0), ..KeyQuotas::default() }),
        ("free", KeyQuotas::default()),
    ]);
    let server = setup.start().await;
    let ask = |key: &str, samples: usize| {
        let samples: Vec<Value> = (0..samples).map(|sample| json!({"output": format!("{sample}")})).collect();
        let body = json!({"rubric": ["yes"], "samples": samples}).to_string();
        let text = request_text("POST", "/v1/grade", &[("Authorization", &bearer(key))], body.as_bytes());
        let address = server.address;
        async move { send(address, &text).await }
    };

    let statuses = [ask(&keys[0], 1).await, ask(&keys[0], 1).await, ask(&keys[0], 1).await];
    assert_eq!(statuses.each_ref().map(|reply| reply.status), [200, 200, 429]);
    assert_eq!(statuses[2].kind(), "quota_exceeded");
    assert!(statuses[2].header("retry-after").is_some());

    let (one, two) = tokio::join!(ask(&keys[1], 2), ask(&keys[1], 1));
    let mut both = [one.status, two.status];
    both.sort_unstable();
    assert_eq!(both, [200, 429]);

    let poor = ask(&keys[2], 1).await;
    assert_eq!((poor.status, poor.kind().as_str()), (429, "quota_exceeded"));
    assert!(poor.body.contains("budget of this key is spent"));
    assert_eq!(ask(&keys[3], 8).await.status, 200);
}

#[tokio::test]
async fn metrics_show_the_amounts_of_others_to_the_operator_alone() {
    let model = MockServer::start(rule::judge);
    let mut setup = Setup::with_model(&model);
    let keys = setup.keys(&[("first", KeyQuotas::default()), ("second", KeyQuotas::default())]);
    let path = setup.options.keys.clone().unwrap();
    let operator = crate::KeyFile::add(&path, "watch", KeyQuotas::default(), String::new(), true).unwrap();
    let server = setup.start().await;
    for key in &keys {
        assert_eq!(server.post("/v1/grade", &[("X-Api-Key", key)], &body()).await.status, 200);
    }

    let page = |key: &str| {
        let text = request_text("GET", "/metrics", &[("X-Api-Key", key)], b"");
        let address = server.address;
        async move { send(address, &text).await.body }
    };
    let own = page(&keys[0]).await;
    assert!(own.contains("assize_samples_total{client=\"first\",status=\"graded\"} 1"), "{own}");
    assert!(own.contains("assize_unpriced_calls_total{client=\"first\"} 1"), "{own}");
    for hidden in ["client=\"second\"", "client=\"watch\"", "server=\""] {
        assert!(!own.contains(hidden), "{hidden} is in\n{own}");
    }
    let all = page(&operator).await;
    for shown in ["client=\"first\"", "client=\"second\"", "client=\"watch\"", "server=\""] {
        assert!(all.contains(shown), "{shown} is not in\n{all}");
    }
}

#[tokio::test]
async fn pages_of_other_sites_reach_nothing() {
    let mut setup = Setup::offline();
    setup.options.names = vec!["grading.example".to_owned()];
    let server = setup.start().await;

    for host in ["evil.example", "127.0.0.1.evil.example", "192.0.2.1"] {
        let reply = server.post("/v1/grade", &[("Host", host)], &body()).await;
        assert_eq!((reply.status, reply.kind().as_str()), (421, "misdirected"), "{host}");
    }
    assert_eq!(server.post("/v1/grade", &[("Host", "grading.example:8418")], &body()).await.status, 200);
    for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
        let reply = server.post("/v1/grade", &[("Content-Type", kind)], &body()).await;
        assert_eq!(reply.status, 415, "{kind}");
    }
}

/// A key with a budget of a dollar.
fn with_budget() -> KeyQuotas {
    KeyQuotas { budget_usd: assize_rubric::Usd::from_dollars(1.0), ..KeyQuotas::default() }
}

#[tokio::test]
async fn the_budget_of_a_key_needs_every_price_as_that_of_the_server_does() {
    let model = MockServer::start(rule::judge);
    let mut setup = Setup::with_model(&model);
    setup.keys(&[("free", KeyQuotas::default()), ("poor", with_budget())]);
    let error = setup.bind_error().await;
    for part in [
        "`--budget-usd` of the key `poor`: unknown price for openai:judge-1 at 127.0.0.1:",
        "for the provider's own server only",
        "`.assize/prices.yaml`",
        "--budget-unknown-price allow",
    ] {
        assert!(error.contains(part), "{error}");
    }

    let mut setup = Setup::with_model(&model);
    setup.run.unknown_price = UnknownPrice::Allow;
    let keys = setup.keys(&[("poor", with_budget())]);
    let server = setup.start().await;
    let reply = server.post("/v1/grade", &[("Authorization", &bearer(&keys[0]))], &body()).await;
    assert_eq!((reply.status, model.count()), (200, 1));
}

#[tokio::test]
async fn a_key_with_a_budget_that_no_price_limits_is_not_taken_over_while_the_server_runs() {
    let model = MockServer::start(rule::judge);
    let mut setup = Setup::with_model(&model);
    let keys = setup.keys(&[("free", KeyQuotas::default())]);
    let path = setup.options.keys.clone().unwrap();
    let server = setup.start().await;

    let poor = crate::KeyFile::add(&path, "poor", with_budget(), String::new(), false).unwrap();
    let is_told = |line: &String| {
        line.contains("of the key `poor`: unknown price") && line.ends_with("the keys stay as they were")
    };
    for _ in 0..100 {
        if server.log.lock().unwrap().iter().any(is_told) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let log = server.log.lock().unwrap().clone();
    assert!(log.iter().any(is_told), "{log:?}");

    let status =
        async |key: &str| server.post("/v1/grade", &[("Authorization", &bearer(key))], &body()).await.status;
    assert_eq!((status(&poor).await, status(&keys[0]).await), (401, 200));
}

#[tokio::test]
async fn a_judge_of_unknown_price_that_only_a_rubric_names_is_refused_to_a_key_with_a_budget() {
    let model = MockServer::start(rule::judge);
    let mut setup = Setup::with_model(&model);
    setup.file(".assize/prices.yaml", "models:\n  openai:judge-1: {input: 1, output: 1}\n");
    setup.file("rubrics/costly.yaml", "judge: openai:judge-2\ncriteria:\n  - yes\n");
    setup.options.rubrics = Some("rubrics".into());
    setup.run.judges = Vec::new();
    setup.variable("JUDGE_MODEL", "openai:judge-1");
    let keys = setup.keys(&[("poor", with_budget()), ("free", KeyQuotas::default())]);
    let server = setup.start().await;
    let named = json!({"rubric": {"name": "costly"}, "samples": [{"output": "the answer"}]});
    let ask = async |key: &str, body: &Value| {
        server.post("/v1/grade", &[("Authorization", &bearer(key))], body).await
    };

    for _ in 0..2 {
        let refused = ask(&keys[0], &named).await;
        assert_eq!((refused.status, model.count()), (422, 0), "{refused:?}");
        let [(path, message)] = &refused.problems()[..] else { panic!("{refused:?}") };
        assert!(path == "/rubric" && message.contains("price"), "{message}");
        assert!(!refused.body.contains("127.0.0.1"), "addresses are the operator's: {refused:?}");
    }
    // Other judges and other keys are not affected.
    assert_eq!(ask(&keys[0], &body()).await.status, 200);
    assert_eq!(ask(&keys[1], &named).await.status, 200);
}

#[tokio::test]
async fn the_budget_of_a_key_bounds_one_request_and_many_at_once() {
    let model = MockServer::start(rule::judge);
    let mut setup = Setup::with_model(&model);
    setup.run.spending.cache = assize_engine::CacheUse::Off;
    // Ten dollars a million tokens.
    setup.file(".assize/prices.yaml", "models:\n  openai:judge-1: {input: 10, output: 10}\n");
    let budget =
        |usd| KeyQuotas { budget_usd: assize_rubric::Usd::from_dollars(usd), ..KeyQuotas::default() };
    let keys = setup.keys(&[("one", budget(0.5)), ("many", budget(0.5)), ("free", KeyQuotas::default())]);
    let server = setup.start().await;
    let ask = |key: &str, name: &str, samples: usize, criteria: usize| {
        let samples: Vec<Value> =
            (0..samples).map(|number| json!({"output": format!("{name} {number}")})).collect();
        let rubric: Vec<String> = (0..criteria).map(|number| format!("yes {number}")).collect();
        let body = json!({"rubric": rubric, "samples": samples}).to_string();
        let text = request_text("POST", "/v1/grade", &[("X-Api-Key", key)], body.as_bytes());
        let address = server.address;
        async move { send(address, &text).await }
    };
    let spent = || {
        let (read, written) = model.usage();
        (read + written) as f64 / 1e5
    };

    let reply = ask(&keys[0], "one", 100, 4).await;
    let first = spent();
    assert!(first > 0.3 && first <= 0.5, "${first}");
    let graded = reply.json();
    assert_eq!(reply.status, 200);
    assert!(graded["summary"]["graded"].as_u64().unwrap() > 5, "{}", graded["summary"]);
    assert!(graded["summary"]["cost_usd"].as_f64().unwrap() <= 0.5, "{}", graded["summary"]);
    let refused = graded["results"].as_array().unwrap().iter().filter(|result| result["reward"].is_null());
    for result in refused {
        assert!(result["error"].as_str().unwrap().contains("the budget of"), "{result}");
    }
    let again = ask(&keys[0], "one", 1, 1).await;
    assert_eq!((again.status, again.kind().as_str()), (429, "quota_exceeded"), "{again:?}");

    let parallel = (0..20).map(|number| ask(&keys[1], &format!("many {number}"), 20, 1));
    let replies = futures_util::future::join_all(parallel).await;
    let second = spent() - first;
    assert!(second > 0.3 && second <= 0.5, "${second}");
    assert!(replies.iter().all(|reply| matches!(reply.status, 200 | 429)), "{:?}", replies.last());
    assert_eq!(ask(&keys[2], "free", 5, 1).await.json()["summary"]["graded"], 5);
}
