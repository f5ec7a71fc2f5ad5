//! The key goes to the server and nowhere else.

use crate::{ChatModel, ClientSetup, ModelClient};
use assize_testkit::mock::{MockReply, MockRequest, MockServer, always};

use crate::tests::support::{FORMATS, KEY, client, client_of, question};

#[tokio::test]
async fn the_key_is_sent_in_its_header_and_nowhere_else() {
    for format in &FORMATS {
        let server = MockServer::start(always(MockReply::text("fine")));
        let (client, _) = client_of(format, &server, |_| {});
        client.ask(&question()).await.unwrap();
        let sent = &server.requests()[0];
        let (name, prefix) = format.key_header;
        assert_eq!(sent.header(name), Some(format!("{prefix}{KEY}").as_str()), "{}", format.model);
        let holders = sent.headers.iter().filter(|(_, value)| value.contains(KEY)).count();
        assert_eq!(holders, 1, "{}", format.model);
        assert!(!sent.path.contains(KEY) && !String::from_utf8_lossy(&sent.body).contains(KEY));
    }
}

#[tokio::test]
async fn an_echoed_key_never_comes_back_out() {
    for format in &FORMATS {
        echoes(format).await;
    }
}

async fn echoes(format: &'static crate::tests::support::Format) {
    let echo = |incoming: &MockRequest| {
        let key = incoming.header(format.key_header.0).unwrap_or_default().to_owned();
        let padding = "x".repeat(280);
        match incoming.index % 4 {
            0 => MockReply::status(401, format!(r#"{{"error":{{"message":"Incorrect API key: {key}"}}}}"#)),
            // The key straddles the point where messages are cut.
            1 => MockReply::status(400, format!("{padding} {key}")),
            2 => MockReply::text(format!("your key is {key}")),
            _ => MockReply::Status {
                code: 403,
                headers: vec![("x-request-id".into(), key.clone())],
                body: format!("<html>{key}</html>"),
            },
        }
    };
    let server = MockServer::start(echo);
    let (client, _) = client_of(format, &server, |_| {});
    for _ in 0..4 {
        let shown = match client.ask(&question()).await {
            Ok(reply) => format!("{reply:?}"),
            Err(error) => format!("{error} {error:?}"),
        };
        assert!(!shown.contains(KEY) && !shown.contains("0123456789"), "{shown}");
        assert!(!shown.contains("sk-test"), "{shown}");
    }
    let message = format!("{:?} {:?}", client.body(&question()), client.redactor());
    let shown = format!("{client:?} {:?} {message}", client.describe());
    assert!(!shown.contains(KEY), "{shown}");
}

#[tokio::test]
async fn a_refused_key_is_traced_to_its_variable() {
    let server = MockServer::start(always(MockReply::status(401, r#"{"error":"no"}"#)));
    let (client, _) = client(&server);
    let message = client.ask(&question()).await.unwrap_err().to_string();
    assert!(message.contains("OPENAI_API_KEY") && message.contains("HTTP 401"), "{message}");
}

#[test]
fn an_unsendable_key_is_refused_without_being_shown() {
    for (key, words) in [
        ("sk-bad\u{7}key", "characters that an HTTP header may not have"),
        ("sk-bad\nkey", "there is white space in it"),
        ("\"sk-bad\"", "it is in quotation marks"),
        ("Bearer sk-bad", "it begins with `Bearer`"),
    ] {
        let env = |name: &str| (name == "OPENAI_API_KEY").then(|| key.to_owned());
        let error =
            ModelClient::from_name(&"openai:m".parse().unwrap(), &env, ClientSetup::default()).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(
            shown.contains("OPENAI_API_KEY") && shown.contains(words) && !shown.contains("sk-bad"),
            "{shown}"
        );
    }
}

#[test]
fn a_key_in_the_place_of_an_address_is_neither_used_nor_shown() {
    for (model, variable) in
        [("ollama:m", "OLLAMA_HOST"), ("gemini:m", "GEMINI_BASE_URL"), ("azure:m", "AZURE_OPENAI_ENDPOINT")]
    {
        for text in [KEY.to_owned(), format!("https://example.com/?key={KEY}")] {
            let env = |name: &str| {
                if name == variable {
                    Some(text.clone())
                } else {
                    name.ends_with("_API_KEY").then(|| KEY.to_owned())
                }
            };
            let error =
                ModelClient::from_name(&model.parse().unwrap(), &env, ClientSetup::default()).unwrap_err();
            let shown = format!("{error} {error:?} {:?}", crate::readiness(&env));
            assert!(shown.contains(variable) && !shown.contains(KEY), "{shown}");
        }
    }
}
