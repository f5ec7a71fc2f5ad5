//! Results as OpenTelemetry events, with a collector that records what it receives.

use std::sync::{Arc, Mutex};

use crate::TelemetryOptions;
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, Uri};
use serde_json::{Value, json};

use crate::tests::fixture::Setup;

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// A collector on this machine that answers everything with the same status.
struct Collector {
    url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

/// A request that a collector received.
#[derive(Clone)]
struct Received {
    path: String,
    headers: HeaderMap,
    text: String,
}

impl Collector {
    async fn start(status: u16) -> Self {
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let kept = Arc::clone(&received);
        let take = move |uri: Uri, headers: HeaderMap, body: Bytes| async move {
            let text = String::from_utf8(body.to_vec()).unwrap();
            kept.lock().unwrap().push(Received { path: uri.path().to_owned(), headers, text });
            (StatusCode::from_u16(status).unwrap(), "secret of the collector")
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(take)).await });

        Self { url, received }
    }

    fn requests(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

fn setup(endpoint: &str, texts: bool) -> Setup {
    let mut setup = Setup::offline();
    setup.options.telemetry = TelemetryOptions { endpoint: Some(endpoint.to_owned()), texts };
    setup
}

fn body() -> Value {
    json!({"rubric": ["mentions apples", "mentions pears"], "samples": [{"id": "a", "output": "I like apples a lot"}]})
}

fn events(request: &Received) -> Vec<Value> {
    let json: Value = serde_json::from_str(&request.text).unwrap();
    assert_eq!(json["resourceLogs"][0]["resource"]["attributes"][0]["value"]["stringValue"], "assize");
    json["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().cloned().unwrap()
}

fn attribute(event: &Value, key: &str) -> Value {
    let attributes = event["attributes"].as_array().unwrap();
    let found = attributes.iter().find(|attribute| attribute["key"] == key);
    found.map_or(Value::Null, |found| found["value"].as_object().unwrap().values().next().cloned().unwrap())
}

#[tokio::test]
async fn each_decision_is_an_event_without_any_text_of_the_answer() {
    let collector = Collector::start(200).await;
    let server = setup(&collector.url, false).start().await;

    let reply = server.post("/v1/grade", &[("traceparent", TRACE)], &body()).await;
    assert_eq!(reply.status, 200);
    server.ended().await;

    let requests = collector.requests();
    assert_eq!((requests.len(), &*requests[0].path), (1, "/v1/logs"));
    assert_eq!(requests[0].headers["content-type"], "application/json");
    let events = events(&requests[0]);
    assert_eq!(events.len(), 3, "the sample and two criteria");
    for event in &events {
        assert_eq!(event["eventName"], "gen_ai.evaluation.result");
        assert_eq!(event["traceId"], "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(event["spanId"], "b7ad6b7169203331");
        assert_eq!(attribute(event, "assize.case.id"), "a");
    }
    assert_eq!(attribute(&events[0], "gen_ai.evaluation.score.value"), 0.5);
    assert_eq!(attribute(&events[1], "gen_ai.evaluation.score.label"), "met");
    let hash = reply.json()["results"][0]["judge_config_hash"].clone();
    assert_eq!(attribute(&events[2], "assize.judge.config_hash"), hash);
    assert!(!requests[0].text.contains("I like apples"), "{}", requests[0].text);
}

#[tokio::test]
async fn graders_and_adapters_of_frameworks_are_counted_and_traced_like_any_request() {
    let collector = Collector::start(200).await;
    let mut setup = setup(&collector.url, false);
    setup.file("rubrics/default.yaml", "- mentions apples\n");
    setup.options.rubrics = Some("rubrics".into());
    let server = setup.start().await;
    let path = "/v1/fine_tuning/alpha/graders/run";
    let model = |kind: &str| {
        json!({
            "type": kind, "name": kind, "model": "offline", "input": "mentions apples",
            "labels": ["yes", "no"], "passing_labels": ["yes"],
        })
    };
    let mut score = model("score_model");
    for key in ["labels", "passing_labels"] {
        score.as_object_mut().unwrap().remove(key);
    }
    let check =
        json!({"type": "string_check", "name": "t", "input": "a", "reference": "a", "operation": "eq"});
    let run = |grader: &Value| json!({"model_sample": "it mentions apples", "item": {}, "grader": grader});
    let slime = json!({"prompt": "p", "response": "it mentions apples", "label": null});

    let trace = [("traceparent", TRACE)];
    let label = server.post(path, &trace, &run(&model("label_model"))).await;
    let scored = server.post(path, &trace, &run(&score)).await;
    let checked = server.post(path, &trace, &run(&check)).await;
    let adapted = server.post("/slime", &trace, &slime).await;
    // Words don't show which label fits, so the offline judge leaves that open.
    assert!(label.status == 502 && label.body.contains("needs a model"), "{label:?}");
    for reply in [&scored, &checked, &adapted] {
        assert_eq!(reply.status, 200, "{reply:?}");
    }

    assert_eq!(server.metric("assize_samples_total{client=\"\",status=\"graded\"}").await, 3.0);
    let page = server.get("/metrics").await.body;
    let decided = page
        .lines()
        .filter(|line| line.starts_with("assize_decisions_total{outcome=\""))
        .map(|line| line.rsplit(' ').next().and_then(|count| count.parse::<f64>().ok()).unwrap());
    assert_eq!(decided.sum::<f64>(), 3.0, "{page}");
    assert_eq!(server.metric("assize_decisions_total{outcome=\"scored\"}").await, 1.0);
    server.ended().await;
    let events: Vec<Value> = collector.requests().iter().flat_map(events).collect();
    assert!(events.len() >= 3, "{events:?}");
    assert!(events.iter().all(|event| event["traceId"] == "0af7651916cd43dd8448eb211c80319c"), "{events:?}");
}

#[tokio::test]
async fn texts_are_sent_when_they_are_asked_for() {
    let collector = Collector::start(200).await;
    let server = setup(&collector.url, true).start().await;

    server.graded(&body()).await;
    server.ended().await;

    let events = events(&collector.requests()[0]);
    assert_eq!(attribute(&events[0], "assize.answer.text"), "I like apples a lot");
    assert!(attribute(&events[1], "gen_ai.evaluation.explanation").is_string());
    assert_eq!(events[0]["traceId"], Value::Null);
}

#[tokio::test]
async fn a_collector_that_fails_or_hangs_changes_nothing_about_grading() {
    let broken = Collector::start(500).await;
    let server = setup(&broken.url, false).start().await;
    for _ in 0..3 {
        assert_eq!(server.graded(&body()).await["results"][0]["reward"], 0.5);
    }
    server.wait_for("assize_otlp_samples_total{result=\"dropped\"}", |count| count == 3.0).await;
    let log = server.log.lock().unwrap().join("\n");
    assert!(log.contains("status 500") && !log.contains("secret"), "{log}");
    server.ended().await;

    // No server listens on this port any more.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = setup(&format!("http://{closed}"), false).start().await;
    assert_eq!(server.graded(&body()).await["results"][0]["reward"], 0.5);
    server.ended().await;
}

#[tokio::test]
async fn the_environment_names_a_collector_too_and_its_headers_stay_secret() {
    let collector = Collector::start(200).await;
    let mut setup = Setup::offline();
    setup.variable("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url);
    setup.variable("OTEL_EXPORTER_OTLP_HEADERS", "api-key=s3cret%20key,tenant=a");
    let server = setup.start().await;
    server.graded(&body()).await;
    server.ended().await;
    assert_eq!(collector.requests()[0].headers["api-key"], "s3cret key");

    for (name, value) in
        [("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://user:s3cret@host"), ("OTEL_EXPORTER_OTLP_HEADERS", "s3cret")]
    {
        let mut setup = Setup::offline();
        setup.variable("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url);
        setup.variable(name, value);
        let error = setup.bind_error().await;
        assert!(error.contains(name) && !error.contains("s3cret"), "{error}");
    }

    let mut setup = Setup::offline();
    setup.variable("OTEL_EXPORTER_OTLP_ENDPOINT", "no address");
    setup.variable("OTEL_SDK_DISABLED", "true");
    setup.start().await.ended().await;
}
