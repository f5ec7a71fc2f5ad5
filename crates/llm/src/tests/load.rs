//! Many questions at once.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use crate::{ProviderAccounts, RateLimits};
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use futures_util::future::join_all;

use crate::tests::support::{client, client_with, question, question_in};

#[tokio::test]
async fn more_than_a_hundred_questions_are_in_flight_at_once() {
    let server = MockServer::start(|incoming: &MockRequest| {
        MockReply::text(incoming.last_user_text.clone()).after(Duration::from_secs(1))
    });
    let limits = RateLimits { max_concurrency: NonZeroUsize::new(300), ..RateLimits::default() };
    let (client, _) = client_with(&server, |setup| setup.accounts = Arc::new(ProviderAccounts::new(limits)));
    let calls = (0..300).map(|i| {
        let client = client.clone();
        async move {
            let request = question_in(&format!("question {i}"));
            client.ask(&request).await.map(|reply| reply.text == format!("question {i}"))
        }
    });
    let replies = join_all(calls).await;
    assert!(replies.iter().all(|reply| *reply == Ok(true)), "every question gets its own answer");
    assert_eq!(server.count(), 300);
    assert!(server.peak_in_flight() > 100, "{}", server.peak_in_flight());
}

#[tokio::test]
async fn dropping_the_question_gives_it_up() {
    let server =
        MockServer::start(
            |incoming: &MockRequest| {
                if incoming.index == 0 { MockReply::Hang } else { MockReply::text("fine") }
            },
        );
    let (client, _) = client(&server);
    let question = question();
    let given_up = tokio::time::timeout(Duration::from_millis(200), client.ask(&question)).await;
    assert!(given_up.is_err());
    assert_eq!(client.ask(&question).await.unwrap().text, "fine");
}

#[tokio::test]
async fn the_same_question_is_the_same_bytes() {
    let server = MockServer::start(|_: &MockRequest| MockReply::text("fine"));
    let (client, _) = client(&server);
    client.ask(&question()).await.unwrap();
    client.ask(&question()).await.unwrap();
    let requests = server.requests();
    assert_eq!(requests[0].body, requests[1].body);
    assert_eq!(requests[0].body, client.body(&question()).unwrap());
}
