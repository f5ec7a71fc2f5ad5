//! The proxy that gives a program access to a model: authorization, answers, usage, and its end.

use std::sync::Arc;

use crate::{ChatModel, ErrorKind, ModelCard, ModelProxy, ProxySetup};
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::tests::support::client;

/// Repeats the last words, and fails on FAIL.
fn echo(incoming: &MockRequest) -> MockReply {
    if incoming.last_user_text.contains("FAIL") {
        return MockReply::status(400, r#"{"error": {"message": "no"}}"#);
    }
    MockReply::text(format!("re {}", incoming.last_user_text))
}

async fn open(server: &MockServer, max_calls: u32) -> ModelProxy {
    let ask = Arc::new(client(server).0) as Arc<dyn ChatModel>;
    ModelProxy::open(ProxySetup { ask, name: "judge".to_owned(), max_calls, repeat: 1 }).await.unwrap()
}

/// Sends bytes and reads all that comes back.
async fn raw(proxy: &ModelProxy, bytes: &[u8]) -> String {
    let address = proxy.url().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may close the connection before it has read everything.
    let _ = stream.write_all(bytes).await;
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text).await;
    String::from_utf8_lossy(&text).into_owned()
}

/// A request with the token: status and body.
async fn call(proxy: &ModelProxy, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        proxy.token(),
        body.len()
    );
    let answer = raw(proxy, request.as_bytes()).await;
    let status = answer.split(' ').nth(1).unwrap_or_else(|| panic!("{answer}")).parse().unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}")))
}

#[tokio::test]
async fn both_forms_are_answered_and_counted() {
    let server = MockServer::start(echo);
    let proxy = open(&server, 9).await;
    assert!(proxy.url().starts_with("http://127.0.0.1:"), "{}", proxy.url());
    let body = json!({"question": "why", "systemPrompt": "be brief"});
    let (status, reply) = call(&proxy, "POST", "/invoke", &body).await;
    assert_eq!(
        (status, &reply["rawText"], &reply["output"][0]["content"]),
        (200, &"re why".into(), &"re why".into())
    );
    assert!(reply["tokenUsage"]["input"].as_u64().is_some(), "{reply}");
    assert_eq!(server.requests()[0].json()["messages"][0]["content"], "be brief");
    let body = json!({"requests": [{"question": "a"}, {"question": "FAIL"}, {"question": "b"}]});
    let (status, reply) = call(&proxy, "POST", "/invokeBatch", &body).await;
    let reply = &reply["responses"];
    assert_eq!((status, &reply[0]["rawText"], &reply[2]["rawText"]), (200, &"re a".into(), &"re b".into()));
    assert!(reply[1]["rawText"].is_null() && reply[1]["error"].is_string(), "{reply}");
    let body = json!({"model": "gpt-anything", "temperature": 0, "max_tokens": 7, "reasoning_effort": "low", "messages": [
        {"role": "developer", "content": "be kind"},
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
    ]});
    let (status, reply) = call(&proxy, "POST", "/v1/chat/completions", &body).await;
    assert_eq!((status, &reply["choices"][0]["message"]["content"]), (200, &"re hello".into()));
    assert_eq!(
        (&reply["object"], &reply["choices"][0]["finish_reason"]),
        (&"chat.completion".into(), &"stop".into())
    );
    assert_eq!(server.requests().last().unwrap().json()["reasoning_effort"], "low");
    let (_, info) = call(&proxy, "GET", "/info", &Value::Null).await;
    assert_eq!(
        info,
        json!({"targetName": "judge", "maxCalls": 9, "callCount": 5, "availableTargets": ["judge"],
            "providerLabel": "judge", "availableProviderLabels": ["judge"]})
    );
    assert_eq!(call(&proxy, "GET", "/v1/models", &Value::Null).await.1["data"][0]["id"], "judge");
    let usage = proxy.close().await;
    assert_eq!((usage.calls, usage.failed, usage.refused, usage.abandoned), (5, 1, 0, 0));
    assert_eq!(usage.failure.unwrap().kind, ErrorKind::BadRequest);
    assert!(usage.sent >= 5 && usage.tokens.input.is_some_and(|tokens| tokens > 0));
}

#[tokio::test]
async fn proxy_reply_cut_off_by_our_limit_is_an_error() {
    let server = MockServer::start(|_: &MockRequest| MockReply::text("x".repeat(1000)));
    let card = ModelCard { max_output_tokens: Some(50), ..ModelCard::default() };
    let ask = Arc::new(client(&server).0.with_card(card)) as Arc<dyn ChatModel>;
    let setup = ProxySetup { ask, name: "judge".to_owned(), max_calls: 9, repeat: 1 };
    let proxy = ModelProxy::open(setup).await.unwrap();
    let (status, reply) = call(&proxy, "POST", "/invoke", &json!({"question": "why"})).await;
    assert!(status >= 400, "{status}");
    assert!(reply["error"].as_str().unwrap().contains("cut off at the limit of 50 tokens"), "{reply}");
    // If the program sets its own limit, a reply that ends there is returned.
    let body = json!({"max_tokens": 20, "messages": [{"role": "user", "content": "why"}]});
    let (status, reply) = call(&proxy, "POST", "/v1/chat/completions", &body).await;
    assert_eq!((status, &reply["choices"][0]["finish_reason"]), (200, &"length".into()));
    let usage = proxy.close().await;
    assert_eq!((usage.calls, usage.failed, usage.sent), (2, 1, 2));
    assert_eq!(usage.tokens.output, Some(70), "what was cut off is counted");
}

#[tokio::test]
async fn nothing_is_answered_beyond_the_limit() {
    let server = MockServer::start(echo);
    let proxy = open(&server, 2).await;
    let one = json!({"question": "x"});
    let three = json!({"requests": [one, one, one]});
    let (status, reply) = call(&proxy, "POST", "/invokeBatch", &three).await;
    assert_eq!(status, 429);
    assert!(reply["error"].as_str().unwrap().contains("may call the model 2 times (`max_calls`)"), "{reply}");
    assert_eq!(
        (call(&proxy, "POST", "/invoke", &one).await.0, call(&proxy, "POST", "/invoke", &one).await.0),
        (200, 200)
    );
    let chat = json!({"messages": [{"role": "user", "content": "x"}]});
    let (status, reply) = call(&proxy, "POST", "/v1/chat/completions", &chat).await;
    assert_eq!((status, &reply["error"]["type"]), (429, &"insufficient_quota".into()));
    assert_eq!(server.count(), 2);
    let usage = proxy.close().await;
    assert_eq!((usage.calls, usage.refused, usage.failure), (2, 4, None));
}

#[tokio::test]
async fn strangers_get_nothing_and_the_model_is_not_asked() {
    let server = MockServer::start(echo);
    let proxy = open(&server, 9).await;
    let body = r#"{"question": "x"}"#;
    for header in [
        String::new(),
        "Authorization: Bearer\r\n".to_owned(),
        "Authorization: Bearer wrong\r\n".to_owned(),
        format!("Authorization: Bearer {}x\r\n", proxy.token()),
        format!("Authorization: Basic {}\r\n", proxy.token()),
        format!("X-Token: {}\r\n", proxy.token()),
    ] {
        let request = format!(
            "POST /invoke HTTP/1.1\r\nHost: x\r\n{header}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = raw(&proxy, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 401 "), "{header}: {answer}");
        assert!(!answer.contains(proxy.token()));
    }
    // Not HTTP at all, and a head that never ends.
    assert!(!raw(&proxy, b"\x16\x03\x01 hello\r\n\r\n").await.contains(" 200 "));
    assert!(
        raw(&proxy, &[b"GET / HTTP/1.1\r\n".as_slice(), &b"a: b\r\n".repeat(50_000)].concat())
            .await
            .contains(" 431 ")
    );
    for (method, path, body, status) in [
        ("POST", "/nowhere", json!({}), 404),
        ("GET", "/invoke", Value::Null, 405),
        ("POST", "/invoke", json!({}), 400),
        ("POST", "/invoke", json!({"question": 7}), 400),
        ("POST", "/invoke", json!({"question": "x", "target": "other"}), 400),
        ("POST", "/invokeBatch", json!({"requests": 7}), 400),
        ("POST", "/invokeBatch", json!({"requests": [{"question": "x"}, {}]}), 400),
        ("POST", "/v1/chat/completions", json!([]), 400),
        ("POST", "/v1/chat/completions", json!({"messages": []}), 400),
        ("POST", "/v1/chat/completions", json!({"messages": [{"role": "root", "content": "x"}]}), 400),
        (
            "POST",
            "/v1/chat/completions",
            json!({"stream": true, "messages": [{"role": "user", "content": "x"}]}),
            400,
        ),
        (
            "POST",
            "/v1/chat/completions",
            json!({"n": 2, "messages": [{"role": "user", "content": "x"}]}),
            400,
        ),
    ] {
        assert_eq!(call(&proxy, method, path, &body).await.0, status, "{path} {body}");
    }
    let head = |length: u64| {
        format!(
            "POST /invoke HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Length: {length}\r\n\r\n",
            proxy.token()
        )
    };
    assert!(raw(&proxy, head(1 << 40).as_bytes()).await.contains(" 413 "));
    let broken = raw(&proxy, [head(9), "{\"questio".to_owned()].concat().as_bytes()).await;
    assert!(broken.contains(" 400 "), "{broken}");
    assert_eq!(server.count(), 0);
    let usage = proxy.close().await;
    assert_eq!((usage.calls, usage.sent), (0, 0));
}

#[tokio::test]
async fn closed_proxy_is_gone_and_calls_in_flight_are_abandoned() {
    let server = MockServer::start(|incoming: &MockRequest| {
        if incoming.last_user_text.contains("slow") { MockReply::Hang } else { echo(incoming) }
    });
    let proxy = open(&server, 9).await;
    let address = proxy.url().strip_prefix("http://").unwrap().to_owned();
    let body = r#"{"question": "slow"}"#;
    let request = format!(
        "POST /invoke HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{body}",
        proxy.token(),
        body.len()
    );
    let mut waiting = TcpStream::connect(&address).await.unwrap();
    waiting.write_all(request.as_bytes()).await.unwrap();
    while server.count() == 0 {
        tokio::task::yield_now().await;
    }
    let usage = proxy.close().await;
    assert_eq!((usage.calls, usage.abandoned), (1, 1));
    assert!(usage.cost.total().is_none(), "nobody knows what a question costs that was given up");
    let mut rest = Vec::new();
    let _ = waiting.read_to_end(&mut rest).await;
    assert!(rest.is_empty(), "{}", String::from_utf8_lossy(&rest));
    assert!(TcpStream::connect(&address).await.is_err(), "nobody listens any more");
}
