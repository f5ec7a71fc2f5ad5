//! What requests have in common comes first on the wire, byte for byte, so that providers can cache it.

use crate::{ChatMessage, ChatRequest, ClientSetup, JsonSchemaFormat, MessageRole, ModelClient, Part};
use assize_testkit::mock::{MockReply, MockRequest, MockServer, MockToken, always};
use serde_json::Value;

use crate::tests::support::{FORMATS, client_of};

/// Ends the shared part. JSON escapes nothing in it.
const END: &str = "<<end of what is shared>>";

/// A request with two or three parts after a shared beginning. Everything that may differ between criteria
/// differs.
fn request(criterion: u32, shared: &str, repair: bool, probabilities: bool) -> ChatRequest {
    let mut content = vec![Part::Text(shared.into()), Part::Text(format!("Criterion {criterion}?").into())];
    if repair {
        content.push(Part::Text("Mind the form.".into()));
    }
    let name = format!("criterion_{criterion}");
    ChatRequest {
        schema: Some(JsonSchemaFormat {
            name: name.clone().into(),
            schema: serde_json::json!({"type": "object", "properties": {name: {"type": "boolean"}}}).into(),
            strict: true,
        }),
        temperature: Some(0.0),
        seed: Some(u64::from(criterion)),
        max_output_tokens: Some(100 + criterion),
        logprobs: (criterion > 1 && probabilities).then_some(5),
        ..ChatRequest::new(vec![
            ChatMessage::system("Judge."),
            ChatMessage { role: MessageRole::User, content: content.into() },
        ])
    }
}

#[tokio::test]
async fn shared_prompt_prefixes_encode_to_the_same_bytes() {
    for format in &FORMATS {
        for length in [10, 20_000] {
            let server = MockServer::start(always(MockReply::Tokens(vec![MockToken::certain("fine")])));
            let (client, _) = client_of(format, &server, |_| {});
            let shared = format!("{}\n\"quoted\" ünïcode {END}", "x".repeat(length));
            let probabilities = !["anthropic/judge-1", "bedrock/judge-1"].contains(&format.model);
            for (criterion, repair) in [(1, false), (2, false), (3, true), (1, false)] {
                client.ask(&request(criterion, &shared, repair, probabilities)).await.unwrap();
            }
            let bodies: Vec<String> =
                server.requests().into_iter().map(|sent| String::from_utf8(sent.body).unwrap()).collect();
            let end = bodies[0].find(END).unwrap() + END.len();
            for body in &bodies {
                assert_eq!(body[..end], bodies[0][..end], "{} ({length})", format.model);
                assert_ne!(body.len(), end);
            }
            assert_ne!(bodies[0], bodies[1], "the requests do differ");
            assert_eq!(bodies[0], bodies[3], "a repeat is the same bytes throughout");
            let criterion = bodies[0].find("Criterion 1?").unwrap();
            assert!(criterion >= end && bodies[0].find("criterion_1").unwrap_or(usize::MAX) > end);
        }
    }
}

/// A client of a model at Anthropic or on Bedrock, which cache only marked prefixes.
fn marking(provider: &str, model: &str, server: &MockServer) -> ModelClient {
    let base_url = server.base_url();
    let env = |name: &str| {
        let address = ["ANTHROPIC_BASE_URL", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"].contains(&name);
        address.then(|| base_url.clone())
    };
    ModelClient::from_name(&format!("{provider}:{model}").parse().unwrap(), &env, ClientSetup::default())
        .unwrap()
}

/// Which parts of the last message are marked.
fn marks(body: &Value) -> Vec<bool> {
    let parts = body["messages"][0]["content"].as_array().unwrap();
    let mut marks: Vec<bool> = Vec::new();
    for part in parts {
        if part["cachePoint"].is_null() {
            marks.push(!part["cache_control"].is_null());
        } else {
            // A separate part marks the one before it.
            assert_eq!(part["cachePoint"]["type"], "default");
            *marks.last_mut().unwrap() = true;
        }
    }
    marks
}

#[tokio::test]
async fn cache_mark_is_at_the_end_of_the_shared_prefix() {
    for (provider, model, tokens) in [
        ("anthropic", "claude-sonnet-4-5", 1024),
        ("anthropic", "claude-haiku-4-5", 4096),
        ("anthropic", "claude-opus-5", 512),
        ("bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", 1024),
        ("bedrock", "anthropic.claude-haiku-4-5-20251001-v1:0", 4096),
    ] {
        let server = MockServer::start(always(MockReply::text("fine")));
        let client = marking(provider, model, &server);
        let system = "Judge.".len();
        for (criterion, length) in
            [(1, tokens * 4 - system), (2, tokens * 4 - system), (1, tokens * 4 - system - 1)]
        {
            let shared = format!("{}{END}", "x".repeat(length - END.len()));
            client.ask(&request(criterion, &shared, criterion == 2, false)).await.unwrap();
        }
        let once = ChatRequest { cache_prefix: false, ..request(1, &"x".repeat(tokens * 4), false, false) };
        client.ask(&once).await.unwrap();
        let sent: Vec<Vec<bool>> = server.requests().iter().map(|sent| marks(&sent.json())).collect();
        assert_eq!(sent[0], [true, false], "{model}");
        assert_eq!(sent[1], [true, false, false], "{model}");
        assert_eq!(sent[2], [false, false], "too short to be cached: {model}");
        assert_eq!(sent[3], [false, false], "nobody would find it: {model}");
    }
}

#[tokio::test]
async fn a_model_without_a_prompt_cache_is_asked_without_a_mark() {
    let server = MockServer::start(|incoming: &MockRequest| {
        if incoming.body.to_string().contains("cachePoint") {
            return MockReply::status(
                403,
                r#"{"message":"You invoked an unsupported model or your request did not allow prompt caching."}"#,
            );
        }
        MockReply::text("fine")
    });
    let client = marking("bedrock", "anthropic.claude-of-tomorrow-v1:0", &server);
    let question = request(1, &"x".repeat(20_000), false, false);
    assert_eq!(client.ask(&question).await.unwrap().attempts, 2);
    assert_eq!(client.ask(&question).await.unwrap().attempts, 1);
    assert_eq!(server.count(), 3);
    // Models that are known to refuse a mark get none.
    for model in ["anthropic.claude-3-haiku-20240307-v1:0", "us.deepseek.r1-v1:0", "amazon.nova-pro-v1:0"] {
        assert_eq!(marking("bedrock", model, &server).ask(&question).await.unwrap().attempts, 1, "{model}");
    }
}
