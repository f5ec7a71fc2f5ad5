//! A client for a mock server, and a clock that notes waits instead of waiting.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use assize_llm::{
    BoxFuture, ChatMessage, ChatRequest, Client, Clock, JsonSchemaFormat, ModelName, RetryPolicy, Setup,
};
use assize_testkit::mock::MockServer;

/// The key every test client sends.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// Waits take no time and are noted.
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
pub(crate) fn client(server: &MockServer) -> (Client, Arc<NotingClock>) {
    client_with(server, |_| {})
}

/// A client for the server with changed settings, and its clock.
pub(crate) fn client_with(
    server: &MockServer,
    change: impl FnOnce(&mut Setup),
) -> (Client, Arc<NotingClock>) {
    let clock = Arc::new(NotingClock::default());
    let policy = RetryPolicy { max_attempts: 4, ..RetryPolicy::default() };
    let mut setup = Setup { clock: clock.clone(), policy, ..Setup::default() };
    change(&mut setup);
    let base_url = server.base_url();
    let env = move |name: &str| match name {
        "OPENAI_API_KEY" => Some(KEY.to_owned()),
        "OPENAI_BASE_URL" => Some(base_url.clone()),
        _ => None,
    };
    let name: ModelName = "openai:judge-1".parse().unwrap();
    (Client::from_name(&name, &env, setup).unwrap(), clock)
}

/// A question with every optional parameter set.
pub(crate) fn question() -> ChatRequest {
    ChatRequest {
        schema: Some(JsonSchemaFormat {
            name: "judgement".into(),
            schema: serde_json::json!({"type": "object"}),
            strict: true,
        }),
        temperature: Some(0.0),
        seed: Some(1),
        max_output_tokens: Some(100),
        ..ChatRequest::new(vec![ChatMessage::system("Judge."), ChatMessage::user("Is it so?")])
    }
}
