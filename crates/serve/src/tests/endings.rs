//! Stopping a server: everything that was accepted is answered.

use std::time::{Duration, Instant};

use assize_testkit::mock::{MockRequest, MockServer, rule};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::tests::client::{request_text, send};
use crate::tests::fixture::Setup;

fn text(samples: usize) -> Vec<u8> {
    let samples: Vec<Value> = (0..samples).map(|sample| json!({"output": format!("{sample}")})).collect();
    request_text(
        "POST",
        "/v1/grade",
        &[],
        json!({"rubric": ["yes"], "samples": samples}).to_string().as_bytes(),
    )
}

#[tokio::test]
async fn samples_in_flight_are_finished_before_the_server_ends() {
    let model =
        MockServer::start(|request: &MockRequest| rule::judge(request).after(Duration::from_millis(500)));
    let mut server = Setup::with_model(&model).start().await;
    let address = server.address;
    let replies: Vec<_> =
        (0..4).map(|_| tokio::spawn(async move { send(address, &text(5)).await })).collect();
    server.wait_for("assize_queue_samples", |count| count == 20.0).await;

    server.stop();
    let refused = loop {
        let reply = server.get("/readyz").await;
        if reply.status != 200 {
            break reply;
        }
    };
    assert_eq!((refused.status, refused.body.as_str()), (503, "stopping\n"));
    let late = send(address, &text(1)).await;
    assert_eq!((late.status, late.kind().as_str()), (503, "shutting_down"));
    for reply in replies {
        let json = reply.await.unwrap().json();
        assert_eq!(json["summary"]["graded"], 5, "{json}");
    }
    server.ended().await;
    assert!(TcpStream::connect(address).await.is_err(), "nobody is let in any more");
}

#[tokio::test]
async fn what_does_not_finish_in_time_is_answered_as_ungraded() {
    let model = MockServer::start(|request: &MockRequest| {
        let is_first = request.index == 0;
        rule::judge(request).after(if is_first { Duration::ZERO } else { Duration::from_mins(1) })
    });
    let mut setup = Setup::with_model(&model);
    setup.options.grace = Duration::from_millis(300);
    let mut server = setup.start().await;
    let address = server.address;
    let reply = tokio::spawn(async move { send(address, &text(3)).await });
    server.wait_for("assize_queue_samples", |count| count == 3.0).await;
    server.wait_for("assize_decisions_total{outcome=\"met\"}", |count| count == 1.0).await;

    let begun = Instant::now();
    server.stop();
    let json = reply.await.unwrap().json();
    assert_eq!((&json["summary"]["graded"], &json["summary"]["ungraded"]), (&json!(1), &json!(2)), "{json}");
    let results = json["results"].as_array().unwrap();
    let reason = results.iter().find_map(|result| result["error"].as_str()).unwrap();
    assert!(reason.contains("the server is shutting down"), "{reason}");
    let log = std::sync::Arc::clone(&server.log);
    server.ended().await;
    let log = log.lock().unwrap().join("\n");
    assert!(log.contains("2 samples did not finish in time"), "{log}");
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn work_whose_client_has_gone_does_not_outlast_the_grace_period() {
    let model = MockServer::start(|request: &MockRequest| rule::judge(request).after(Duration::from_mins(1)));
    let mut setup = Setup::with_model(&model);
    setup.options.grace = Duration::from_millis(300);
    let mut server = setup.start().await;
    let address = server.address;
    let body = json!({"rubric": ["yes"], "samples": [{"output": "0"}]}).to_string();
    let kept = request_text("POST", "/v1/grade", &[("Idempotency-Key", "k")], body.as_bytes());
    let client = tokio::spawn(async move { send(address, &kept).await });
    server.wait_for("assize_queue_samples", |count| count == 1.0).await;

    client.abort();
    assert!(client.await.unwrap_err().is_cancelled());
    server.stop();
    let log = std::sync::Arc::clone(&server.log);
    server.ended().await;
    let log = log.lock().unwrap().join("\n");
    for line in ["stopping: 1 sample in flight has 0 s to finish", "1 sample did not finish in time"] {
        assert!(log.contains(line), "{log}");
    }
}

#[tokio::test]
async fn connections_that_stay_open_are_told_to_go() {
    let model =
        MockServer::start(|request: &MockRequest| rule::judge(request).after(Duration::from_millis(700)));
    let mut server = Setup::with_model(&model).start().await;
    let address = server.address;
    let idle = TcpStream::connect(address).await.unwrap();
    let busy = tokio::spawn(async move { send(address, &text(1)).await });
    server.wait_for("assize_queue_samples", |count| count == 1.0).await;

    server.stop();
    assert_eq!(busy.await.unwrap().status, 200);
    server.ended().await;
    drop(idle);
}
