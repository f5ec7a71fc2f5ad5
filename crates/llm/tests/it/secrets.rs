//! The key goes to the server and nowhere else.

use assize_llm::{Ask, Client, ClientParts, ConfigError, Endpoint, SecretString, Setup};
use assize_testkit::mock::{Incoming, MockServer, Reply, always};

use crate::support::{KEY, client, question};

#[tokio::test]
async fn the_key_is_sent_as_a_bearer_token() {
    let server = MockServer::start(always(Reply::text("fine")));
    let (client, _) = client(&server);
    client.ask(&question()).await.unwrap();
    let sent = &server.requests()[0];
    assert_eq!(sent.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(sent.header("content-type"), Some("application/json"));
    assert_eq!(sent.path, "/v1/chat/completions");
}

#[tokio::test]
async fn an_echoed_key_never_comes_back_out() {
    let echo = |incoming: &Incoming| {
        let key = incoming.header("authorization").unwrap_or_default().to_owned();
        let padding = "x".repeat(280);
        match incoming.index % 4 {
            0 => Reply::status(401, format!(r#"{{"error":{{"message":"Incorrect API key: {key}"}}}}"#)),
            // The key straddles the place where messages are cut.
            1 => Reply::status(400, format!("{padding} {key}")),
            2 => Reply::text(format!("your key is {key}")),
            _ => Reply::Status {
                code: 403,
                headers: vec![("x-request-id".into(), key.clone())],
                body: format!("<html>{key}</html>"),
            },
        }
    };
    let server = MockServer::start(echo);
    let (client, _) = client(&server);
    for _ in 0..4 {
        let shown = match client.ask(&question()).await {
            Ok(reply) => format!("{reply:?}"),
            Err(error) => format!("{error} {error:?}"),
        };
        assert!(!shown.contains(KEY) && !shown.contains("0123456789"), "{shown}");
        assert!(!shown.contains("sk-test"), "{shown}");
    }
    let shown = format!("{client:?} {:?}", client.describe());
    assert!(!shown.contains(KEY), "{shown}");
}

#[tokio::test]
async fn a_refused_key_is_traced_to_its_variable() {
    let server = MockServer::start(always(Reply::status(401, r#"{"error":"no"}"#)));
    let (client, _) = client(&server);
    let message = client.ask(&question()).await.unwrap_err().to_string();
    assert!(message.contains("OPENAI_API_KEY") && message.contains("HTTP 401"), "{message}");
}

#[tokio::test]
async fn extra_headers_are_sent_and_kept_secret() {
    let server = MockServer::start(always(Reply::status(400, "you sent team-token-value-1234")));
    let endpoint = Endpoint::new(&server.base_url(), "a test")
        .unwrap()
        .with_header("X-Team-Token", SecretString::from("team-token-value-1234"));
    let wire = std::sync::Arc::new(assize_llm::wire::OpenAiChat::new(assize_llm::wire::Dialect::COMPATIBLE));
    let parts = ClientParts { provider: "openai".into(), model: "m".into(), endpoint, wire };
    let client = Client::new(parts, Setup::default()).unwrap();
    let error = client.ask(&question()).await.unwrap_err();
    assert_eq!(error.message, "you sent [redacted]");
    assert_eq!(server.requests()[0].header("x-team-token"), Some("team-token-value-1234"));
    assert_eq!(server.requests()[0].header("authorization"), None);
}

#[test]
fn an_unsendable_key_is_refused_without_being_shown() {
    let env = |name: &str| (name == "OPENAI_API_KEY").then(|| "sk-bad\nkey".to_owned());
    let error = Client::from_name(&"openai:m".parse().unwrap(), &env, Setup::default()).unwrap_err();
    assert_eq!(error, ConfigError::UnsendableSecret { source_name: "OPENAI_API_KEY".into() });
    assert!(!format!("{error} {error:?}").contains("sk-bad"));
}
