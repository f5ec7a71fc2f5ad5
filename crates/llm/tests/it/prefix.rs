//! What requests have in common comes first on the wire, byte for byte, so that providers can cache it.

use assize_llm::{ChatMessage, ChatRequest, JsonSchemaFormat, Part, Role};
use assize_testkit::mock::{MockServer, Reply, always};

use crate::support::{FORMATS, client_of};

/// Ends the shared part; nothing in it is escaped in JSON.
const END: &str = "<<end of what is shared>>";

/// A request of two or three parts after a shared beginning. Everything that may differ between criteria differs.
fn request(criterion: u32, shared: &str, repair: bool) -> ChatRequest {
    let mut content = vec![Part::Text(shared.to_owned()), Part::Text(format!("Criterion {criterion}?"))];
    if repair {
        content.push(Part::Text("Mind the form.".into()));
    }
    let name = format!("criterion_{criterion}");
    ChatRequest {
        schema: Some(JsonSchemaFormat {
            name: name.clone(),
            schema: serde_json::json!({"type": "object", "properties": {name: {"type": "boolean"}}}).into(),
            strict: true,
        }),
        temperature: Some(0.0),
        seed: Some(u64::from(criterion)),
        max_output_tokens: Some(100 + criterion),
        logprobs: (criterion > 1).then_some(5),
        ..ChatRequest::new(vec![ChatMessage::system("Judge."), ChatMessage { role: Role::User, content }])
    }
}

#[tokio::test]
async fn requests_that_begin_alike_are_the_same_bytes_up_to_where_they_differ() {
    for format in &FORMATS {
        for length in [10, 20_000] {
            let server = MockServer::start(always(Reply::text("fine")));
            let (client, _) = client_of(format, &server, |_| {});
            let shared = format!("{}\n\"quoted\" ünïcode {END}", "x".repeat(length));
            for (criterion, repair) in [(1, false), (2, false), (3, true), (1, false)] {
                client.ask(&request(criterion, &shared, repair)).await.unwrap();
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

#[tokio::test]
async fn anthropics_marker_stands_at_the_end_of_what_is_shared() {
    let server = MockServer::start(always(Reply::text("fine")));
    let (client, _) = client_of(&FORMATS[3], &server, |_| {});
    for (criterion, length) in [(1, 20_000), (2, 20_000), (1, 10)] {
        let shared = format!("{}{END}", "x".repeat(length));
        client.ask(&request(criterion, &shared, criterion == 2)).await.unwrap();
    }
    let sent = server.requests();
    let marks = |at: usize| {
        let content = sent[at].json()["messages"][0]["content"].clone();
        let blocks = content.as_array().unwrap();
        blocks.iter().map(|block| !block["cache_control"].is_null()).collect::<Vec<_>>()
    };
    assert_eq!(marks(0), [true, false]);
    assert_eq!(marks(1), [true, false, false]);
    assert_eq!(marks(2), [false, false], "too short to be cached");
}
