//! Checks a key with one request that costs nothing.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret;
use serde_json::Value;

use crate::classify::classify;
use crate::config::ConfigError;
use crate::endpoint::ModelEndpoint;
use crate::error::{AskError, ErrorKind};
use crate::excerpt::{MESSAGE_CHARS, cut, readable};
use crate::http::HttpTransport;
use crate::name::ModelName;
use crate::provider::{self, ProviderRow};
use crate::quirks::ServerQuirks;
use crate::redact::Redactor;
use crate::request::{ChatMessage, ChatRequest};
use crate::settings;
use crate::transport::{HttpAnswer, HttpRequest, Transport as _, TransportError};
use crate::wire::refusal_in;

/// Outcome of checking a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyCheck {
    /// The server answered as it does with a valid key.
    Accepted {
        /// The models that it lists, if it lists any.
        models: Option<ListedModels>,
    },
    /// The provider can't be used with this configuration. Holds the reason, without secrets.
    Refused(String),
    /// It could not be determined. The reason, without secrets.
    Unknown(String),
}

/// A server's list of models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModels {
    /// The number of all models.
    pub count: usize,
    /// The names of the models that can judge, as far as names and kinds show.
    pub judges: Vec<String>,
}

/// Sends one request that costs nothing and needs the key, such as one for the list of models. It is not
/// retried.
pub async fn check(
    provider: &str,
    env: &(dyn Fn(&str) -> Option<String> + Sync),
    transport: &HttpTransport,
    timeout: Duration,
) -> KeyCheck {
    let Some(row) = provider::find(provider) else {
        return KeyCheck::Unknown(format!("there is no provider `{provider}`"));
    };
    check_at(row, settings::endpoint(row, env), transport, timeout).await
}

/// Checks the key of the model that `JUDGE_MODEL` names, if it has its own variables.
pub async fn check_judge(
    judge_model: &str,
    env: &(dyn Fn(&str) -> Option<String> + Sync),
    transport: &HttpTransport,
    timeout: Duration,
) -> KeyCheck {
    match ModelName::for_judge(judge_model, env) {
        Ok(name) => {
            check_at(name.provider, settings::judge_endpoint(name.provider, env), transport, timeout).await
        }
        Err(error) => KeyCheck::Refused(error.to_string()),
    }
}

async fn check_at(
    row: &ProviderRow,
    endpoint: Result<ModelEndpoint, ConfigError>,
    transport: &HttpTransport,
    timeout: Duration,
) -> KeyCheck {
    let Some(path) = row.free else {
        return KeyCheck::Unknown("it has no free request to test".to_owned());
    };
    let endpoint = match endpoint {
        Ok(endpoint) => endpoint,
        Err(error) => return KeyCheck::Refused(error.to_string()),
    };
    let wire = (row.wire)(&endpoint);
    let mut headers = HeaderMap::new();

    // The headers that the format adds to any request.
    let any = ChatRequest { model: "any".into(), ..ChatRequest::new(vec![ChatMessage::user("?")]) };
    let always = wire.encode(&any, ServerQuirks::default()).map(|call| call.headers).unwrap_or_default();
    for (name, value) in always.into_iter().filter(|(name, _)| *name != "content-type") {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }

    if let Some(key) = &endpoint.key {
        let header = wire.key_header();
        let Ok(mut value) =
            HeaderValue::from_str(&format!("{}{}", header.prefix, key.secret.expose_secret()))
        else {
            return KeyCheck::Refused(format!("the value of {} can't be sent", key.source));
        };
        value.set_sensitive(true);

        headers.insert(HeaderName::from_static(header.name), value);
    }

    let url = endpoint.url(path);
    let request = HttpRequest { method: Method::GET, url, headers, body: Vec::new(), timeout };
    let answer = transport.send(request).await;
    let redactor = Redactor::new(endpoint.secrets());
    let clean = |words: &str| cut(&redactor.redact_message(&cut(words, MESSAGE_CHARS * 10)), MESSAGE_CHARS);
    match answer {
        Ok(answer) => judge(&answer, clean),
        Err(
            error @ (TransportError::Connect(_) | TransportError::Timeout(_) | TransportError::Unusable(_)),
        ) => KeyCheck::Refused(clean(&error.to_string())),
        Err(error) => KeyCheck::Unknown(clean(&error.to_string())),
    }
}

fn judge(answer: &HttpAnswer, clean: impl Fn(&str) -> String) -> KeyCheck {
    if (200..300).contains(&answer.status) {
        return match serde_json::from_slice::<Value>(&answer.body) {
            Ok(body) if body.is_object() || body.is_array() => KeyCheck::Accepted { models: models(&body) },
            _ => {
                let start = clean(&readable(&answer.text()));
                KeyCheck::Refused(format!("the server there is not a model API: {start}"))
            }
        };
    }

    let (code, message) = refusal_in(&answer.body);
    let error = AskError {
        status: Some(answer.status),
        ..AskError::new(classify(answer.status, &code, &message), clean(&message))
    };
    match error.kind {
        ErrorKind::Authentication | ErrorKind::PermissionDenied => KeyCheck::Refused(error.to_string()),
        // Some servers have no such list.
        ErrorKind::NotFound => {
            KeyCheck::Unknown(format!("it has no list of models (HTTP {})", answer.status))
        }
        _ => KeyCheck::Unknown(error.to_string()),
    }
}

/// The models in a list: `data` for OpenAI and Anthropic, `models` for Google and Ollama.
fn models(body: &Value) -> Option<ListedModels> {
    let list = ["data", "models"].iter().find_map(|name| body.get(*name)?.as_array());
    let list = list.or_else(|| body.as_array())?;
    let name =
        |model: &Value| ["id", "name"].iter().find_map(|key| Some(model.get(*key)?.as_str()?.to_owned()));
    let judges = list.iter().filter(|model| can_judge(model)).filter_map(name).collect();
    Some(ListedModels { count: list.len(), judges })
}

/// Whether a listed model writes texts. Each server has its own words for the kind of a model. If it sends none, the
/// name decides.
fn can_judge(model: &Value) -> bool {
    /// Parts of the names and families of models that compute vectors, order texts, or turn sound and pictures into texts.
    const OTHERS: [&str; 10] =
        ["embed", "bge-", "gte-", "e5-", "minilm", "rerank", "bert", "whisper", "tts-", "moderation"];
    let fields = ["/id", "/name", "/type", "/details/family"].iter();
    let is_other = fields.filter_map(|place| model.pointer(place)?.as_str()).any(|text| {
        let text = text.to_ascii_lowercase();
        OTHERS.iter().any(|word| text.contains(word))
    });
    !is_other
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn models_that_only_compute_vectors_are_no_judges() {
        for (list, judges) in [
            // Ollama.
            (
                json!({ "models": [
                    { "name": "nomic-embed-text:latest", "details": { "family": "nomic-bert" } },
                    { "name": "mine:latest", "details": { "family": "bert" } },
                    { "name": "qwen3:8b", "details": { "family": "qwen3" } },
                ]}),
                &["qwen3:8b"][..],
            ),
            // LM Studio.
            (
                json!({ "data": [
                    { "id": "text-embedding-nomic-embed-text-v1.5" },
                    { "id": "mine", "type": "embeddings" },
                    { "id": "google/gemma-3-4b" },
                ]}),
                &["google/gemma-3-4b"],
            ),
            // vLLM.
            (json!({ "data": [{ "id": "BAAI/bge-m3", "object": "model" }] }), &[]),
            (json!({ "data": [{ "id": "Qwen/Qwen3-8B", "object": "model" }] }), &["Qwen/Qwen3-8B"]),
            // llama.cpp lists the same models twice.
            (
                json!({ "models": [{ "name": "/m/smol.gguf" }], "data": [{ "id": "/m/smol.gguf" }] }),
                &["/m/smol.gguf"],
            ),
        ] {
            assert_eq!(models(&list).expect("a list").judges, judges, "{list}");
        }
        assert_eq!(models(&json!({ "object": "key" })), None);
    }
}
