//! How fast an account is used: a server's limits are found, and its requests for pauses are met.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::{
    BoxFuture, CacheHit, CachedModel, CallKey, ChatModel, ChatReply, ChatRequest, ModelClient, OnCacheMiss,
    ProviderAccounts, RateLimits, ReplyStore, ReportedAllowance, RetryPolicy, ServerMemory, SharedRate,
    TokioClock,
};
use assize_testkit::mock::{MockOptions, MockReply, MockRequest, MockServer, with_slots};
use futures_util::future::join_all;

use crate::tests::support::{client_with, question, question_in};

fn limits(max_concurrency: usize) -> RateLimits {
    RateLimits { max_concurrency: NonZeroUsize::new(max_concurrency), ..RateLimits::default() }
}

/// A client in real time with short waits.
fn client(server: &MockServer, limits: RateLimits) -> ModelClient {
    let (client, _) = client_with(server, |setup| {
        setup.clock = Arc::new(TokioClock);
        setup.accounts = Arc::new(ProviderAccounts::new(limits));
        setup.policy = RetryPolicy {
            max_attempts: 5,
            base: Duration::from_millis(10),
            cap: Duration::from_millis(100),
            ..RetryPolicy::default()
        };
    });
    client
}

fn numbered(number: usize) -> ChatRequest {
    question_in(&format!("question {number}"))
}

async fn ask_all(client: &ModelClient, count: usize) -> Vec<Option<ChatReply>> {
    join_all((0..count).map(|number| async move { client.ask(&numbered(number)).await.ok() })).await
}

/// Records how this process uses the rates that processes share, in order.
#[derive(Default)]
struct NotedRate(Mutex<Vec<String>>);

impl NotedRate {
    fn note(&self, what: String) {
        self.0.lock().expect("no panic").push(what);
    }
}

impl SharedRate for NotedRate {
    fn admit<'a>(&'a self, _: &'a str, _: u64) -> BoxFuture<'a, ()> {
        self.note("admitted".to_owned());
        Box::pin(std::future::ready(()))
    }

    fn settle(&self, _: &str, _: u64, _: u64) {}

    fn report(&self, _: &str, allowance: ReportedAllowance) {
        self.note(format!("reported {allowance:?}"));
    }

    fn reported_rate(&self, _: &str) -> Option<f64> {
        self.note("asked".to_owned());
        None
    }
}

#[tokio::test]
async fn what_a_refusal_says_of_the_limits_is_shared_before_this_process_slows_down() {
    let server = MockServer::start(|incoming: &MockRequest| match incoming.index {
        0 => MockReply::Status {
            code: 429,
            headers: [("limit", "60"), ("remaining", "0"), ("reset", "1s")]
                .map(|(what, value)| (format!("x-ratelimit-{what}-requests"), value.to_owned()))
                .to_vec(),
            body: r#"{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}"#.into(),
        },
        _ => MockReply::text("well"),
    });
    let noted = Arc::new(NotedRate::default());
    let (client, _) = client_with(&server, |setup| setup.shared_rate = Some(Arc::clone(&noted) as _));
    client.ask(&question()).await.unwrap();

    let noted = noted.0.lock().unwrap().clone();
    let at = |what: &str| {
        noted.iter().position(|one| one.starts_with(what)).unwrap_or_else(|| panic!("{noted:?}"))
    };
    // The server's report comes first, and the share of this process is read after it.
    assert!(at("reported") < at("asked"), "{noted:?}");
    assert_eq!(
        noted.iter().filter(|one| *one == "admitted").count(),
        2,
        "each attempt is admitted: {noted:?}"
    );
}

#[tokio::test]
async fn concurrency_window_adapts_to_the_server_and_loses_no_call() {
    const TAKES: usize = 20;
    let refused = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&refused);
    let server = MockServer::start_with(
        move |incoming: &MockRequest| {
            if incoming.in_flight > TAKES {
                seen.fetch_add(1, Ordering::Relaxed);
                return MockReply::RateLimited { retry_after: None };
            }
            MockReply::text(incoming.last_user_text.clone()).after(Duration::from_millis(10))
        },
        MockOptions { record: false },
    );
    let client = client(&server, limits(200));
    let replies = ask_all(&client, 1000).await;
    for (number, reply) in replies.iter().enumerate() {
        assert_eq!(reply.as_ref().map(|reply| &*reply.text), Some(&*format!("question {number}")));
    }
    let refused = refused.load(Ordering::Relaxed);
    assert_eq!(server.count(), 1000 + refused);
    assert!((1..500).contains(&refused), "{refused} of 1000 were refused");
}

#[tokio::test]
async fn the_ceiling_is_never_passed() {
    let server = MockServer::start(|incoming: &MockRequest| {
        MockReply::text(incoming.last_user_text.clone()).after(Duration::from_millis(5))
    });
    let client = client(&server, limits(7));
    assert!(ask_all(&client, 200).await.iter().all(Option::is_some));
    assert_eq!(server.peak_in_flight(), 7);
}

#[tokio::test]
async fn clients_of_one_account_share_permits() {
    let server =
        MockServer::start(|_: &MockRequest| MockReply::text("fine").after(Duration::from_millis(20)));
    let accounts = Arc::new(ProviderAccounts::new(limits(3)));
    let make = |model: &str, key: &'static str| {
        let base_url = server.base_url();
        let env = move |name: &str| match name {
            "OPENAI_API_KEY" => Some(key.to_owned()),
            "OPENAI_BASE_URL" => Some(base_url.clone()),
            _ => None,
        };
        let setup = crate::ClientSetup { accounts: Arc::clone(&accounts), ..crate::ClientSetup::default() };
        ModelClient::from_name(&model.parse().unwrap(), &env, setup).unwrap()
    };
    let (one, same) = (make("openai:a", "sk-0123456789"), make("openai:b", "sk-0123456789"));
    join_all([ask_all(&one, 12), ask_all(&same, 12)]).await;
    assert_eq!(server.peak_in_flight(), 3);
    let other = make("openai:a", "sk-9876543210");
    join_all([ask_all(&one, 12), ask_all(&other, 12)]).await;
    assert_eq!(server.peak_in_flight(), 6);
}

#[tokio::test]
async fn a_single_refusal_delays_its_own_request_only() {
    let arrived: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&arrived);
    let server = MockServer::start(move |incoming: &MockRequest| {
        seen.lock().unwrap().push(incoming.last_user_text.clone());
        if incoming.index == 0 {
            let headers = vec![("retry-after".to_owned(), "2".to_owned())];
            MockReply::Status { code: 429, headers, body: "{}".to_owned() }
        } else {
            MockReply::text("fine").after(Duration::from_millis(5))
        }
    });
    let client = client(&server, limits(4));
    assert!(ask_all(&client, 40).await.iter().all(Option::is_some));
    let arrived = arrived.lock().unwrap().clone();
    assert_eq!(arrived.len(), 41);
    assert_eq!(arrived.first(), arrived.last(), "all others were answered while it waited");
}

#[tokio::test]
async fn retry_after_of_an_hour_soon_sends_nothing() {
    let server = MockServer::start(|_: &MockRequest| MockReply::RateLimited {
        retry_after: Some(Duration::from_hours(1)),
    });
    let client = client(&server, limits(1));
    let replies = ask_all(&client, 50).await;
    assert!(replies.iter().all(Option::is_none));
    assert_eq!(server.count(), 5, "so many refusals in a row are about the account");
    let error = client.ask(&question()).await.unwrap_err();
    assert_eq!(error.attempts, 0);
    assert!(error.to_string().contains("no requests for the next"), "{error}");
}

#[tokio::test]
async fn a_pause_that_is_no_number_is_none() {
    for value in ["nan", "inf", "-1", "soon"] {
        let server = MockServer::start(move |incoming: &MockRequest| {
            if incoming.index % 3 == 1 {
                let headers = vec![("retry-after".to_owned(), value.to_owned())];
                return MockReply::Status { code: 429, headers, body: "{}".to_owned() };
            }
            MockReply::text("fine")
        });
        let client = client(&server, limits(4));
        assert!(ask_all(&client, 40).await.iter().all(Option::is_some), "{value}");
    }
}

#[tokio::test]
async fn absurd_allowances_with_good_answers_slow_nothing_down() {
    for reset in ["1000000h", "99999999999999999999s", "1e308", "inf", "nan", "-5s", "9999-12-31T23:59:59Z"] {
        let server = MockServer::start(move |_: &MockRequest| {
            let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
            let mut headers = Vec::new();
            for kind in ["requests", "tokens"] {
                headers.push(header(&format!("x-ratelimit-limit-{kind}"), "0"));
                headers.push(header(&format!("x-ratelimit-remaining-{kind}"), "0"));
                headers.push(header(&format!("x-ratelimit-reset-{kind}"), reset));
            }
            let body = r#"{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}]}"#.to_owned();
            MockReply::Status { code: 200, headers, body }
        });
        let client = client(&server, limits(4));
        let replies = tokio::time::timeout(Duration::from_mins(1), ask_all(&client, 40)).await;
        assert!(replies.expect("no pause").iter().all(Option::is_some), "{reset}");
        assert_eq!(server.count(), 40, "{reset}");
    }
}

#[tokio::test]
async fn requests_a_minute_are_kept_to() {
    let server = MockServer::start(|_: &MockRequest| MockReply::text("fine"));
    let limits = RateLimits { requests_per_minute: Some(60.0), ..limits(1) };
    let (client, clock) =
        client_with(&server, |setup| setup.accounts = Arc::new(ProviderAccounts::new(limits)));
    for number in 0..5 {
        client.ask(&numbered(number)).await.unwrap();
    }
    let waits = clock.waits();
    assert_eq!(waits.len(), 4, "{waits:?}");
    assert!(waits.last().is_some_and(|wait| *wait > Duration::from_secs(3)), "{waits:?}");
}

/// Remembers in a map.
#[derive(Default)]
struct MapMemory(Mutex<BTreeMap<CallKey, ChatReply>>);

impl ReplyStore for MapMemory {
    fn find(&self, key: CallKey) -> BoxFuture<'_, Option<CacheHit>> {
        let reply = self.0.lock().unwrap().get(&key).cloned();
        Box::pin(std::future::ready(reply.map(|reply| CacheHit { reply, produced_by_this_run: false })))
    }

    fn keep(&self, key: CallKey, reply: &ChatReply) {
        self.0.lock().unwrap().insert(key, reply.clone());
    }
}

#[tokio::test]
async fn single_flight_sends_identical_calls_once_if_the_reply_is_kept() {
    let server =
        MockServer::start(|_: &MockRequest| MockReply::text("fine").after(Duration::from_millis(30)));
    let client = client(&server, limits(50));
    let model =
        CachedModel::new(client.clone(), Arc::new(client), Arc::new(MapMemory::default()), OnCacheMiss::Ask);
    let ask = |number: usize, keep: bool| {
        let model = &model;
        async move {
            let mut answered = model.ask_repeat(&numbered(number), 1).await.unwrap();
            if keep {
                answered.keep();
            }
            answered.recalled
        }
    };
    let recalled = join_all((0..20).map(|_| ask(1, true))).await;
    assert_eq!(server.count(), 1);
    assert_eq!(recalled.iter().filter(|recalled| !**recalled).count(), 1);
    // An unusable answer is not shared with other callers.
    join_all((0..3).map(|_| ask(2, false))).await;
    assert_eq!(server.count(), 1 + 3);
}

#[tokio::test]
async fn a_server_with_few_slots_answers_all_within_the_time_limit() {
    for slots in [1, 4] {
        let server =
            MockServer::start(with_slots(slots, Duration::from_millis(50), |incoming: &MockRequest| {
                MockReply::text(incoming.last_user_text.clone())
            }));
        let (client, _) = client_with(&server, |setup| {
            setup.clock = Arc::new(TokioClock);
            setup.timeout = Duration::from_millis(400);
        });
        let replies = ask_all(&client, 48).await;
        assert!(replies.iter().all(Option::is_some), "{slots} slots");
        assert_eq!(server.count(), 48, "{slots} slots: no request ran into the time limit");
    }
}

#[tokio::test]
async fn one_request_goes_to_a_server_and_to_a_model_until_it_has_answered() {
    let server = MockServer::start(|incoming: &MockRequest| {
        match (incoming.index, incoming.in_flight, &incoming.body["temperature"]) {
            (0..=2, 2.., _) => MockReply::status(500, "more than one"),
            (0, ..) => MockReply::status(503, "{}").after(Duration::from_millis(20)),
            (_, _, serde_json::Value::Null) => MockReply::text("fine").after(Duration::from_millis(20)),
            _ => MockReply::unsupported("temperature"),
        }
    });
    let client = client(&server, RateLimits::default());
    assert!(ask_all(&client, 41).await.iter().all(Option::is_some));
    assert_eq!(server.count(), 43, "the outage and the refusal cost one request each");
}

#[tokio::test]
async fn what_was_learned_is_known_to_the_next_process() {
    let server = MockServer::start(|incoming: &MockRequest| match &incoming.body["temperature"] {
        serde_json::Value::Null => MockReply::text("fine").after(Duration::from_millis(5)),
        _ => MockReply::unsupported("temperature"),
    });
    let run = async |memory: &str| {
        let memory = ServerMemory::from_json(memory, 1_900_000_000);
        let accounts = Arc::new(ProviderAccounts::new(limits(24)).with_memory(memory));
        let (client, _) = client_with(&server, |setup| {
            // By a clock that does not wait, the first answer would come too late.
            setup.clock = Arc::new(TokioClock);
            setup.accounts = Arc::clone(&accounts);
        });
        let before = server.count();
        assert!(ask_all(&client, 41).await.iter().all(Option::is_some));
        (server.count() - before, accounts.memory().to_json().expect("something was learned"))
    };

    let (requests, known) = run("").await;
    assert_eq!(requests, 42, "one request shows that the temperature is refused");
    assert!(!known.contains(crate::tests::support::KEY));
    assert_eq!(run(&known).await.0, 41);
}
