//! Messages beyond the limit, and progress of calls.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, ClientRequest, NumberOrString, ProgressNotificationParam, ProgressToken, Request,
    RequestMetaObject,
};
use rmcp::service::{NotificationContext, PeerRequestOptions};
use rmcp::{ClientHandler, RoleClient};
use serde_json::json;
use tokio::sync::watch;

use crate::tests::support::Fixture;

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_too_long_is_answered_and_the_next_one_is_served() {
    let client = Fixture::new().connect().await;
    let answer = "x".repeat(17 << 20);
    let arguments = json!({ "rubric": ["a b"], "samples": [{ "answer": answer }], "budget_usd": 0 });
    let request = CallToolRequestParams::new("grade")
        .with_arguments(arguments.as_object().cloned().expect("an object"));

    let error = client.service().call_tool(request).await.expect_err("it is refused").to_string();

    assert!(error.contains("longer than 16 MiB"), "{error}");
    let small = json!({ "rubric": ["a b"], "samples": [{ "answer": "a b" }], "budget_usd": 0 });
    assert_eq!(client.succeed("grade", small).await["summary"]["counts"]["pass"], 1);
    client.disconnect().await;
}

/// A client that records progress reports.
#[derive(Clone, Default)]
struct Watching(Arc<watch::Sender<Vec<Progress>>>);

/// Work done, and the total if it is known.
type Progress = (f64, Option<f64>);

impl ClientHandler for Watching {
    async fn on_progress(&self, update: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.0.send_modify(|all| all.push((update.progress, update.total)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_asks_for_it_is_told_of_progress() {
    let watching = Watching::default();
    let client = Fixture::new().connect_as(watching.clone()).await;
    let samples: Vec<_> = (0..50).map(|at| json!({ "answer": format!("answer {at}") })).collect();
    let arguments = json!({ "rubric": ["says answer"], "samples": samples, "budget_usd": 0 });
    let params = CallToolRequestParams::new("grade")
        .with_arguments(arguments.as_object().cloned().expect("an object"));
    let mut meta = RequestMetaObject::default();
    meta.set_progress_token(ProgressToken(NumberOrString::Number(7)));
    let options = PeerRequestOptions::no_options().with_meta(meta);

    let request = ClientRequest::CallToolRequest(Request::new(params));
    let sent = client.send_cancellable_request(request, options).await.expect("it is sent");
    sent.await_response().await.expect("it is answered");

    // The client handles notifications separately from the reply. The last one is always sent.
    let mut seen = watching.0.subscribe();
    let seen = seen.wait_for(|seen| seen.contains(&(50.0, Some(50.0)))).await.expect("the client is there");
    assert!(seen.iter().all(|(done, total)| *done <= 50.0 && *total == Some(50.0)), "{seen:?}");
}
