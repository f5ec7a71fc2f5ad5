//! Results as OpenTelemetry events, with a collector that records what it gets.

use assize_serve::TelemetryOptions;
use assize_testkit::mock::{MockReply, MockRequest, MockServer, RecordedRequest};
use serde_json::{Value, json};

use crate::fixture::Setup;

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn collector() -> MockServer {
    MockServer::start(|_: &MockRequest| MockReply::status(200, "{}"))
}

fn setup(collector: &MockServer, texts: bool) -> Setup {
    let mut setup = Setup::offline();
    let endpoint = collector.base_url().trim_end_matches("/v1").to_owned();
    setup.options.telemetry = TelemetryOptions { endpoint: Some(endpoint), texts };
    setup
}

fn body() -> Value {
    json!({"rubric": ["mentions apples", "mentions pears"], "samples": [{"id": "a", "output": "I like apples a lot"}]})
}

fn events(request: &RecordedRequest) -> Vec<Value> {
    let json = request.json();
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
    let collector = collector();
    let server = setup(&collector, false).start().await;

    let reply = server.post("/v1/grade", &[("traceparent", TRACE)], &body()).await;
    assert_eq!(reply.status, 200);
    server.ended().await;

    let requests = collector.requests();
    assert_eq!((requests.len(), &*requests[0].path), (1, "/v1/logs"));
    assert_eq!(requests[0].header("content-type"), Some("application/json"));
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
    let sent = String::from_utf8(requests[0].body.clone()).unwrap();
    assert!(!sent.contains("I like apples"), "{sent}");
}

#[tokio::test]
async fn texts_are_sent_when_they_are_asked_for() {
    let collector = collector();
    let server = setup(&collector, true).start().await;

    server.graded(&body()).await;
    server.ended().await;

    let events = events(&collector.requests()[0]);
    assert_eq!(attribute(&events[0], "assize.answer.text"), "I like apples a lot");
    assert!(attribute(&events[1], "gen_ai.evaluation.explanation").is_string());
    assert_eq!(events[0]["traceId"], Value::Null);
}

#[tokio::test]
async fn a_collector_that_fails_or_hangs_changes_nothing_about_grading() {
    let broken = MockServer::start(|_: &MockRequest| MockReply::status(500, "secret of the collector"));
    let server = setup(&broken, false).start().await;
    for _ in 0..3 {
        assert_eq!(server.graded(&body()).await["results"][0]["reward"], 0.5);
    }
    server.wait_for("assize_otlp_samples_total{result=\"dropped\"}", |count| count == 3.0).await;
    let log = server.log.lock().unwrap().join("\n");
    assert!(log.contains("status 500") && !log.contains("secret"), "{log}");
    server.ended().await;

    let nobody = setup(&MockServer::start(|_: &MockRequest| MockReply::status(200, "{}")), false);
    let server = nobody.start().await;
    assert_eq!(server.graded(&body()).await["results"][0]["reward"], 0.5);
    server.ended().await;
}

#[tokio::test]
async fn the_environment_names_a_collector_too_and_its_headers_stay_secret() {
    let collector = collector();
    let mut setup = Setup::offline();
    let base = collector.base_url().trim_end_matches("/v1").to_owned();
    setup.variable("OTEL_EXPORTER_OTLP_ENDPOINT", &base);
    setup.variable("OTEL_EXPORTER_OTLP_HEADERS", "api-key=s3cret%20key,tenant=a");
    let server = setup.start().await;
    server.graded(&body()).await;
    server.ended().await;
    assert_eq!(collector.requests()[0].header("api-key"), Some("s3cret key"));

    for (name, value) in
        [("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://user:s3cret@host"), ("OTEL_EXPORTER_OTLP_HEADERS", "s3cret")]
    {
        let mut setup = Setup::offline();
        setup.variable("OTEL_EXPORTER_OTLP_ENDPOINT", &base);
        setup.variable(name, value);
        let error = setup.bind_error().await;
        assert!(error.contains(name) && !error.contains("s3cret"), "{error}");
    }

    let mut setup = Setup::offline();
    setup.variable("OTEL_EXPORTER_OTLP_ENDPOINT", "no address");
    setup.variable("OTEL_SDK_DISABLED", "true");
    setup.start().await.ended().await;
}
