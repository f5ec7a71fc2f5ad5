//! Servers that fail one request after another: they get one at a time, and are finally given up.

use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::{ErrorKind, ModelClient, ProviderAccounts, RateLimits};
use assize_testkit::mock::{MockReply, MockRequest, MockServer, always};
use futures_util::future::join_all;

use crate::tests::retry::NotingObserver;
use crate::tests::support::{client_with, question_in};

fn client(server: &MockServer) -> (ModelClient, Arc<NotingObserver>) {
    let observer = Arc::new(NotingObserver::default());
    let limits = RateLimits { max_concurrency: NonZeroUsize::new(4), ..RateLimits::default() };
    let (client, _) = client_with(server, |setup| {
        setup.accounts = Arc::new(ProviderAccounts::new(limits));
        setup.observer = Some(observer.clone());
    });
    (client, observer)
}

/// Error kinds of `count` questions; `None` for those that were answered.
async fn kinds(client: &ModelClient, count: usize) -> Vec<Option<ErrorKind>> {
    let ask = |number: usize| async move {
        client.ask(&question_in(&format!("question {number}"))).await.err().map(|error| error.kind)
    };
    join_all((0..count).map(ask)).await
}

fn heard(observer: &NotingObserver, start: &str) -> usize {
    observer.0.lock().unwrap().iter().filter(|event| event.starts_with(start)).count()
}

#[tokio::test]
async fn a_key_or_model_that_is_wrong_is_given_up_after_a_few() {
    for (code, kind) in
        [(401, ErrorKind::Authentication), (403, ErrorKind::PermissionDenied), (404, ErrorKind::NotFound)]
    {
        let body = r#"{"error":{"message":"Not this one"}}"#;
        let server = MockServer::start(always(MockReply::status(code, body)));
        let (client, observer) = client(&server);
        let kinds = kinds(&client, 200).await;
        assert!(server.count() <= 8, "{code}: {} were sent", server.count());
        assert_eq!(kinds.iter().filter(|found| **found == Some(kind)).count(), server.count(), "{code}");
        assert_eq!(
            kinds.iter().filter(|found| **found == Some(ErrorKind::Cancelled)).count(),
            200 - server.count()
        );
        assert_eq!((heard(&observer, "held"), heard(&observer, "back")), (1, 0), "{code}");
        assert!(heard(&observer, "given up") > 0);
        assert!(observer.0.lock().unwrap().iter().any(|event| event.contains("Not this one")));
    }
}

#[tokio::test]
async fn a_few_requests_that_are_not_allowed_stop_nothing() {
    let server = MockServer::start(|incoming: &MockRequest| match incoming.index % 5 {
        0 | 1 => MockReply::status(403, "{}"),
        _ => MockReply::text("fine"),
    });
    let (client, observer) = client(&server);
    let kinds = kinds(&client, 100).await;
    assert_eq!(server.count(), 100);
    assert_eq!(kinds.iter().flatten().count(), 40);
    assert_eq!(heard(&observer, "given up"), 0);
}

#[tokio::test]
async fn an_outage_is_waited_for_with_one_request_at_a_time() {
    let server = MockServer::start(|incoming: &MockRequest| match incoming.index {
        6..=25 => MockReply::Reset,
        _ => MockReply::text("fine"),
    });
    let (client, observer) = client(&server);
    let kinds = kinds(&client, 40).await;
    assert_eq!(kinds, [None; 40], "nothing is lost");
    assert_eq!(server.count(), 60);
    assert_eq!((heard(&observer, "held"), heard(&observer, "back")), (1, 1));
}

#[tokio::test]
async fn a_server_that_never_answers_a_request_well_is_given_up() {
    let sign_in = MockReply::status(200, "<!doctype html><title>Sign in</title>");
    for (reply, most) in [
        (MockReply::Reset, 20),
        (MockReply::status(500, "{}"), 20),
        (MockReply::status(503, "{}"), 20),
        (sign_in, 40),
    ] {
        let server = MockServer::start(always(reply.clone()));
        let (client, observer) = client(&server);
        let kinds = kinds(&client, 500).await;
        assert!(kinds.iter().all(Option::is_some));
        assert!(server.count() <= most, "{reply:?}: {} were sent", server.count());
        assert_eq!(heard(&observer, "held"), 1, "{reply:?}");
    }
}

#[tokio::test]
async fn a_model_with_a_substitute_fails_as_itself() {
    let server = MockServer::start(always(MockReply::status(500, "{}")));
    let (client, observer) = client(&server);
    let kinds = kinds(&client.with_substitute(), 500).await;
    assert!(kinds.iter().all(|kind| kind.is_some_and(|kind| kind != ErrorKind::Cancelled)));
    assert_eq!(heard(&observer, "given up"), 0);
}
