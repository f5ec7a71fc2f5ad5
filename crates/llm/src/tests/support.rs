//! A client for a mock server, and a clock that records waits instead of waiting.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use crate::{
    BoxFuture, ChatMessage, ChatRequest, ClientSetup, Clock, JsonSchemaFormat, ModelClient, ModelName,
    RetryPolicy,
};
use assize_testkit::mock::MockServer;

/// The key every test client sends.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// Records waits, which take no time.
#[derive(Default)]
pub(crate) struct NotingClock(Mutex<Vec<Duration>>);

impl NotingClock {
    pub(crate) fn waits(&self) -> Vec<Duration> {
        self.0.lock().unwrap().clone()
    }
}

impl Clock for NotingClock {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.0.lock().unwrap().push(duration);
        Box::pin(std::future::ready(()))
    }

    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

/// A client for the server, and its clock.
pub(crate) fn client(server: &MockServer) -> (ModelClient, Arc<NotingClock>) {
    client_with(server, |_| {})
}

/// A client for the server with changed settings, and its clock.
pub(crate) fn client_with(
    server: &MockServer,
    change: impl FnOnce(&mut ClientSetup),
) -> (ModelClient, Arc<NotingClock>) {
    client_of(&FORMATS[0], server, change)
}

/// A wire format, reached through a provider that speaks it.
#[derive(Debug)]
pub(crate) struct Format {
    pub(crate) model: &'static str,
    pub(crate) key_variable: &'static str,
    pub(crate) address_variable: &'static str,
    /// The header that carries the key, and the text before the key.
    pub(crate) key_header: (&'static str, &'static str),
    /// Path of the requests under the mock server's address.
    pub(crate) path: &'static str,
}

/// Every wire format, and one provider that uses another's format.
pub(crate) static FORMATS: [Format; 9] = [
    Format {
        model: "openai:judge-1",
        key_variable: "OPENAI_API_KEY",
        address_variable: "OPENAI_BASE_URL",
        key_header: ("authorization", "Bearer "),
        path: "/v1/chat/completions",
    },
    Format {
        model: "openai-responses:judge-1",
        key_variable: "OPENAI_API_KEY",
        address_variable: "OPENAI_BASE_URL",
        key_header: ("authorization", "Bearer "),
        path: "/v1/responses",
    },
    Format {
        model: "azure:judge-1",
        key_variable: "AZURE_OPENAI_API_KEY",
        address_variable: "AZURE_OPENAI_ENDPOINT",
        key_header: ("api-key", ""),
        path: "/v1/openai/deployments/judge-1/chat/completions",
    },
    Format {
        model: "anthropic/judge-1",
        key_variable: "ANTHROPIC_API_KEY",
        address_variable: "ANTHROPIC_BASE_URL",
        key_header: ("x-api-key", ""),
        path: "/v1/messages",
    },
    Format {
        model: "gemini/judge-1",
        key_variable: "GEMINI_API_KEY",
        address_variable: "GEMINI_BASE_URL",
        key_header: ("x-goog-api-key", ""),
        path: "/v1/models/judge-1:generateContent",
    },
    Format {
        model: "ollama/judge-1",
        key_variable: "OLLAMA_API_KEY",
        address_variable: "OLLAMA_HOST",
        key_header: ("authorization", "Bearer "),
        path: "/api/chat",
    },
    Format {
        model: "bedrock/judge-1",
        key_variable: "AWS_BEARER_TOKEN_BEDROCK",
        address_variable: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
        key_header: ("authorization", "Bearer "),
        path: "/v1/model/judge-1/converse",
    },
    Format {
        model: "vertex/judge-1",
        key_variable: "VERTEX_ACCESS_TOKEN",
        address_variable: "VERTEX_BASE_URL",
        key_header: ("authorization", "Bearer "),
        path: "/v1/models/judge-1:generateContent",
    },
    Format {
        model: "openrouter:judge-1",
        key_variable: "OPENROUTER_API_KEY",
        address_variable: "OPENROUTER_BASE_URL",
        key_header: ("authorization", "Bearer "),
        path: "/v1/chat/completions",
    },
];

/// A client that speaks the format to the server, with changed settings, and its clock.
pub(crate) fn client_of(
    format: &Format,
    server: &MockServer,
    change: impl FnOnce(&mut ClientSetup),
) -> (ModelClient, Arc<NotingClock>) {
    let clock = Arc::new(NotingClock::default());
    let policy = RetryPolicy { max_attempts: 4, ..RetryPolicy::default() };
    let mut setup = ClientSetup { clock: clock.clone(), policy, ..ClientSetup::default() };
    change(&mut setup);
    let base_url = server.base_url();
    let env = |name: &str| {
        if name == format.key_variable {
            Some(KEY.to_owned())
        } else {
            (name == format.address_variable).then(|| base_url.clone())
        }
    };
    let name: ModelName = format.model.parse().unwrap();
    (ModelClient::from_name(&name, &env, setup).unwrap(), clock)
}

/// A question with every optional parameter set.
pub(crate) fn question() -> ChatRequest {
    question_in("Is it so?")
}

/// The same question with other words.
pub(crate) fn question_in(words: &str) -> ChatRequest {
    ChatRequest {
        schema: Some(JsonSchemaFormat {
            name: "judgement".into(),
            schema: serde_json::json!({"type": "object"}).into(),
            strict: true,
        }),
        temperature: Some(0.0),
        seed: Some(1),
        max_output_tokens: Some(100),
        ..ChatRequest::new(vec![ChatMessage::system("Judge."), ChatMessage::user(words)])
    }
}
