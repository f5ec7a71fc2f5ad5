//! Spending never exceeds the budget, and every reply that counts has a limit.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::{
    Budget, BudgetTracker, ChatMessage, ChatRequest, ErrorKind, FinishReason, LimitField, ModelCard,
    ModelPrice, ProviderAccounts, RateLimits, TokenRates,
};
use assize_rubric::Usd;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use futures_util::future::join_all;

use crate::tests::support::{FORMATS, Format, client_of, client_with, question};

/// A format that needs only a key and an address, like the others.
const BEDROCK: Format = Format {
    model: "bedrock:judge-1",
    key_variable: "AWS_BEARER_TOKEN_BEDROCK",
    address_variable: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    key_header: ("authorization", "Bearer "),
    path: "/v1/model/judge-1/converse",
};

/// A judge's question, which states how long a reply to expect.
fn judging(number: usize) -> ChatRequest {
    ChatRequest {
        expected_output: Some(500),
        ..ChatRequest::new(vec![
            ChatMessage::system("Judge."),
            ChatMessage::user(format!("question {number}")),
        ])
    }
}

/// A tracker, and the reasons of its refusals.
fn tracker(budget: Budget) -> (Arc<BudgetTracker>, Arc<Mutex<Vec<String>>>) {
    let reported: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&reported);
    (BudgetTracker::new(budget, move |why: &str| heard.lock().unwrap().push(why.to_owned())), reported)
}

fn tokens(tokens: u64) -> Budget {
    Budget { tokens: Some(tokens), ..Budget::default() }
}

/// A millionth of a dollar a token read, four a token written.
fn card() -> ModelCard {
    let rates =
        TokenRates { input: 1_000_000, cached_input: 1_000_000, cache_write: 1_000_000, output: 4_000_000 };
    ModelCard { price: Some(ModelPrice { rates, long: None }), ..ModelCard::default() }
}

#[tokio::test]
async fn budgets_add_an_output_limit_in_every_format_and_keep_the_call_key() {
    for format in FORMATS.iter().chain([&BEDROCK]) {
        let server = MockServer::start(|incoming: &MockRequest| {
            MockReply::text(incoming.output_limit().map_or("none".into(), |limit| limit.to_string()))
        });
        let sent_with = async |budget: Option<Budget>, card: ModelCard| {
            let tracker = budget.map(|budget| tracker(budget).0);
            let (client, _) = client_of(format, &server, |setup| setup.budget = tracker);
            let client = client.with_card(card);
            let reply = client.ask(&judging(1)).await.unwrap();
            (reply.text, client.call_key(&judging(1), 1).unwrap())
        };
        // The length of a judge's reply is known, so it is always limited.
        let usual = "2000";
        let calls = Budget { calls: Some(5), ..Budget::default() };
        let usd = Budget { usd: Usd::from_dollars(1.0), ..Budget::default() };
        let wanted = ModelCard { max_output_tokens: Some(700), ..card() };
        let (free, key) = sent_with(None, card()).await;
        assert_eq!(free, usual, "{format:?}");
        for (budget, card, expected) in [
            (Some(calls), card(), usual),
            (Some(tokens(1_000_000)), card(), usual),
            (Some(usd), card(), usual),
            (Some(usd), ModelCard { price: Some(ModelPrice::FREE), ..ModelCard::default() }, usual),
            (Some(tokens(1_000_000)), wanted, "700"),
            (None, wanted, "700"),
        ] {
            assert_eq!(sent_with(budget, card).await, (expected.to_owned(), key), "{format:?} {budget:?}");
        }
    }
}

#[tokio::test]
async fn output_limit_above_the_models_maximum_is_lowered_once() {
    let server = MockServer::start(|incoming: &MockRequest| match incoming.output_limit() {
        Some(limit) if limit > 1500 => MockReply::Status {
            code: 400,
            headers: Vec::new(),
            body: format!(
                r#"{{"error":{{"message":"max_tokens is too large: {limit}. This model supports at most 1500 completion tokens, whereas you provided {limit}.","type":"invalid_request_error","param":"max_tokens","code":"invalid_value"}}}}"#
            ),
        },
        limit => MockReply::text(format!("{limit:?}")),
    });
    let (client, _) = client_with(&server, |setup| setup.budget = Some(tracker(tokens(1_000_000)).0));
    let first = client.ask(&judging(1)).await.unwrap();
    assert_eq!((first.text.as_str(), first.attempts), ("Some(1500)", 2));
    assert_eq!(client.learned("judge-1").most_output, Some(1500));
    assert_eq!(client.ask(&judging(2)).await.unwrap().attempts, 1);
    // The caller's own limit is never lowered.
    let own = ChatRequest { max_output_tokens: Some(5000), ..judging(3) };
    assert_eq!(client.ask(&own).await.unwrap_err().kind, ErrorKind::BadRequest);
}

#[tokio::test]
async fn a_server_that_takes_no_limit_is_asked_without_one() {
    let server = MockServer::start(|incoming: &MockRequest| {
        let names = ["max_tokens", "max_completion_tokens"];
        match names.into_iter().find(|name| !incoming.body[*name].is_null()) {
            Some(name) => MockReply::unsupported(name),
            None => MockReply::finish("length", "fine"),
        }
    });
    let (client, _) = client_with(&server, |setup| setup.budget = Some(tracker(tokens(100_000)).0));
    assert_eq!(client.ask(&judging(1)).await.unwrap().attempts, 3);
    assert_eq!(client.learned("judge-1").limit, LimitField::Dropped);
    let reply = client.ask(&judging(2)).await.unwrap();
    // Where the reply ends is then up to the server.
    assert_eq!((reply.attempts, reply.finish, reply.cut_at), (1, FinishReason::Length, None));
}

#[tokio::test]
async fn reply_cut_off_by_the_budget_is_counted_but_is_an_error() {
    let server = MockServer::start(|_: &MockRequest| MockReply::text("x".repeat(4000)));
    let (tracker, reported) = tracker(tokens(900));
    let (client, _) = client_with(&server, |setup| setup.budget = Some(tracker));
    let error = client.ask(&judging(1)).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ErrorKind::Cancelled, 1));
    let (input, output) = server.usage();
    assert_eq!((error.total_usage().input, error.total_usage().output), (Some(input), Some(output)));
    assert!(input + output <= 900, "{input} {output}");
    let reported = reported.lock().unwrap();
    assert!(
        reported[0].contains("the budget of 900 tokens left 8") && reported[0].contains("needs more"),
        "{reported:?}"
    );
}

#[tokio::test]
async fn reply_cut_off_at_our_own_limit_sets_cut_at() {
    let server = MockServer::start(|_: &MockRequest| MockReply::text("x".repeat(100_000)));
    let (client, _) = client_with(&server, |setup| setup.budget = Some(tracker(tokens(1_000_000)).0));
    let reply = client.ask(&judging(1)).await.unwrap();
    assert_eq!((reply.finish, reply.cut_at), (FinishReason::Length, Some(8192)));
    let own = ChatRequest { max_output_tokens: Some(10), ..judging(2) };
    assert_eq!(client.ask(&own).await.unwrap().cut_at, None);
}

/// A deterministic sequence of numbers that look random.
fn mixed(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// A judge whose replies are short, long or far too long, and a server that fails in every way.
fn stormy(seed: u64, faulty: bool) -> impl Fn(&MockRequest) -> MockReply + Send + Sync {
    move |incoming: &MockRequest| {
        let draw = mixed(seed ^ (incoming.index as u64) << 20);
        let length = match draw % 8 {
            0 => 40_000,
            1..4 => (draw >> 8) % 6_000,
            _ => (draw >> 8) % 400,
        };
        let text = "x".repeat(usize::try_from(length).unwrap());
        let reply = match (draw >> 40) % 16 {
            0 if faulty => MockReply::Status { code: 500, headers: Vec::new(), body: String::new() },
            1 if faulty => MockReply::RateLimited { retry_after: None },
            2 if faulty => MockReply::Reset,
            3 if faulty => MockReply::Truncated(text),
            4 if faulty => MockReply::Raw("<html>".into()),
            5 if faulty => MockReply::Status { code: 529, headers: Vec::new(), body: "{}".into() },
            _ => MockReply::text(text),
        };
        reply.after(Duration::from_micros((draw >> 50) % 2000))
    }
}

/// Asks many questions, a number of them at a time, within a budget. Returns the tokens that the server
/// counted, how many questions were refused, and how often a refusal was reported.
async fn storm(
    seed: u64,
    at_once: usize,
    questions: usize,
    budget: Budget,
    faulty: bool,
) -> ((u64, u64), usize, usize) {
    let server = MockServer::start(stormy(seed, faulty));
    let (tracker, reported) = tracker(budget);
    let limits = RateLimits { max_concurrency: NonZeroUsize::new(at_once), ..RateLimits::default() };
    let (client, _) = client_with(&server, |setup| {
        setup.budget = Some(tracker);
        setup.accounts = Arc::new(ProviderAccounts::new(limits));
    });
    let client = client.with_card(card());
    let next = AtomicUsize::new(0);
    let refused = AtomicUsize::new(0);
    let ask = async || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= questions {
                break;
            }
            if let Err(error) = client.ask(&judging(number)).await
                && error.kind == ErrorKind::Cancelled
            {
                refused.fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    let all = join_all((0..at_once).map(|_| ask()));
    tokio::time::timeout(Duration::from_mins(1), all).await.expect("nobody waits for ever");
    (server.usage(), refused.into_inner(), reported.lock().unwrap().len())
}

#[tokio::test]
async fn no_storm_passes_the_budget() {
    for (seed, at_once) in (0..).zip([1, 2, 4, 8, 16, 32, 64, 1, 3, 64, 24, 48]) {
        for faulty in [false, true] {
            let limit = 30_000 + mixed(seed) % 150_000;
            let ((input, output), refused, reported) = storm(seed, at_once, 150, tokens(limit), faulty).await;
            assert!(input + output <= limit, "{seed} {at_once}: {input} and {output} of {limit}");
            assert_eq!(refused > 0, reported > 0, "{seed} {at_once}");
            assert!(refused > 0 || input + output > 0);
            let usd = Usd::from_pico(limit * 2_500_000);
            let budget = Budget { usd: Some(usd), ..Budget::default() };
            let ((input, output), ..) = storm(!seed, at_once, 150, budget, faulty).await;
            let spent = Usd::from_pico(input * 1_000_000 + output * 4_000_000);
            assert!(spent <= usd, "{seed} {at_once}: ${spent} of ${usd}");
        }
    }
}

#[tokio::test]
async fn budget_is_used_until_one_more_call_might_exceed_it() {
    for at_once in [1, 16, 64] {
        let server = MockServer::start(|_: &MockRequest| {
            MockReply::text("x".repeat(400)).after(Duration::from_millis(1))
        });
        let (tracker, reported) = tracker(tokens(20_000));
        let limits = RateLimits { max_concurrency: NonZeroUsize::new(at_once), ..RateLimits::default() };
        let (client, _) = client_with(&server, |setup| {
            setup.budget = Some(tracker);
            setup.accounts = Arc::new(ProviderAccounts::new(limits));
        });
        let requests: Vec<ChatRequest> = (0..400).map(judging).collect();
        let replies = join_all(requests.iter().map(|request| client.ask(request))).await;
        let (input, output) = server.usage();
        // The bytes of a question and its frame, and a reply as long as expected.
        let largest = 20 + 48 + 500;
        assert!((20_000 - largest..=20_000).contains(&(input + output)), "{at_once}: {input} and {output}");
        let refused = replies.iter().filter(|reply| reply.is_err()).count();
        assert_eq!(refused, reported.lock().unwrap().len());
        assert_eq!(400 - refused, server.count());
    }
}

#[tokio::test]
async fn call_budget_counts_every_request_whatever_its_outcome() {
    for at_once in [1, 7, 64] {
        let server = MockServer::start(stormy(7, true));
        let (tracker, _) = tracker(Budget { calls: Some(40), ..Budget::default() });
        let (client, _) = client_with(&server, |setup| setup.budget = Some(tracker));
        let requests: Vec<ChatRequest> = (0..at_once * 3 + 60).map(|_| question()).collect();
        join_all(requests.iter().map(|request| client.ask(request))).await;
        assert_eq!(server.count(), 40, "{at_once}");
    }
}
