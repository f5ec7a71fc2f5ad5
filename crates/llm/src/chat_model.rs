//! The trait that everything above this crate depends on, so that a scripted model can take a server's place.

use std::fmt;
use std::time::Duration;

use assize_rubric::{Identify, IdentityWriter};
pub use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::error::AskError;
use crate::price::ModelCard;
use crate::reply::ChatReply;
use crate::request::ChatRequest;

/// A model that answers requests.
pub trait ChatModel: Send + Sync {
    /// Answers one request. Dropping the future gives the request up.
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, AskError>>;

    /// Answers the given repeat of a request, perhaps from the cache. Each repeat is an independent draw; the
    /// same repeat of the same request may get the same reply again.
    fn ask_repeat<'a>(
        &'a self,
        request: &'a ChatRequest,
        repeat: u32,
    ) -> BoxFuture<'a, Result<CacheableReply, AskError>> {
        let _ = repeat;
        Box::pin(async move { self.ask(request).await.map(CacheableReply::fresh) })
    }

    /// Identity of the model.
    fn describe(&self) -> ModelId;

    /// Prices and context window of the model.
    fn card(&self) -> ModelCard {
        ModelCard::default()
    }
}

type StoreCallback = Box<dyn FnOnce(&ChatReply) + Send>;

/// A reply, where it came from, and a way to store it in the cache.
pub struct CacheableReply {
    /// The reply.
    pub reply: ChatReply,
    /// True for a cache hit: nothing was sent, and its tokens were paid for earlier.
    pub recalled: bool,
    /// Latency of the original call of a cache hit, if it was measured. It took none of this run's time.
    pub original_latency: Option<Duration>,
    keep: Option<StoreCallback>,
}

impl CacheableReply {
    /// A new reply that no cache stores.
    pub fn fresh(reply: ChatReply) -> Self {
        Self { reply, recalled: false, original_latency: None, keep: None }
    }

    /// A cache hit. It took no request and no time; its `usage` counts the tokens of the original call.
    pub fn recalled(reply: ChatReply) -> Self {
        let original_latency = (!reply.latency.is_zero()).then_some(reply.latency);
        let reply = ChatReply { latency: Duration::ZERO, attempts: 0, failed: Vec::new(), ..reply };
        Self { reply, recalled: true, original_latency, keep: None }
    }

    /// A new reply, and the action that stores it.
    pub fn keepable(reply: ChatReply, keep: impl FnOnce(&ChatReply) + Send + 'static) -> Self {
        Self { reply, recalled: false, original_latency: None, keep: Some(Box::new(keep)) }
    }

    /// Stores the reply. Must not be called for one that was refused, cut off or unreadable: asking again may
    /// bring a better one.
    pub fn keep(&mut self) {
        if let Some(keep) = self.keep.take() {
            keep(&self.reply);
        }
    }
}

impl fmt::Debug for CacheableReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answered")
            .field("reply", &self.reply)
            .field("recalled", &self.recalled)
            .finish_non_exhaustive()
    }
}

/// Identity of a model: enough to distinguish two models, and to name one to a person.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ModelId {
    /// The provider's name, such as `openai`.
    pub provider: String,
    /// The model as its server names it.
    pub model: String,
    /// Host and, where it is not the usual one, port of the server.
    pub base_url_host: String,
}

impl ModelId {
    /// Whether `provider:model` names this model too, be it by another provider's name for the same vendor, or
    /// through a gateway to that vendor. Servers are not compared: the same model may run in several places.
    pub fn is_named(&self, name: &str) -> bool {
        let Some((provider, model)) = name.split_once(':') else { return false };

        vendor_model(&self.provider, &self.model) == vendor_model(provider, model)
    }
}

/// The vendor of a model and the vendor's name for it, in lower case.
fn vendor_model(provider: &str, model: &str) -> (String, String) {
    let model = model.to_ascii_lowercase();
    let (provider, model) = match provider {
        "openrouter" => model.split_once('/').unwrap_or((provider, &model)),
        // A region may come before the vendor.
        "bedrock" => match model.split_once("anthropic.") {
            Some((_, model)) => ("anthropic", model.trim_end_matches("-v1:0")),
            None => (provider, &*model),
        },
        _ => (provider, &*model),
    };

    let vendor = match provider {
        "openai" | "openai-responses" | "azure" => "openai",
        "gemini" | "vertex" | "google" => "google",
        other => other,
    };
    let model = model.strip_prefix("models/").unwrap_or(model);

    (vendor.to_owned(), model.to_owned())
}

impl Identify for ModelId {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { provider, model, base_url_host } = self;
        identity.field(provider);
        identity.field(model);
        identity.field(base_url_host);
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider, self.model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_the_same_under_every_name_of_its_vendor() {
        let is_same = |provider: &str, model: &str, name: &str| {
            let id = ModelId { provider: provider.into(), model: model.into(), base_url_host: String::new() };
            id.is_named(name)
        };

        for (provider, model, name) in [
            ("openai", "m", "openai:m"),
            ("openai", "m", "openai-responses:M"),
            ("openai-responses", "m", "azure:m"),
            ("gemini", "models/g", "vertex:g"),
            ("openrouter", "openai/m", "openai:m"),
            ("openrouter", "google/g", "gemini:g"),
            ("bedrock", "eu.anthropic.claude-x-v1:0", "anthropic:claude-x"),
        ] {
            assert!(is_same(provider, model, name), "{provider}:{model} and {name}");
        }

        for (provider, model, name) in [
            ("openai", "m", "openai:n"),
            ("openai", "m", "groq:m"),
            ("openai", "m", "m"),
            ("vllm", "m", "ollama:m"),
        ] {
            assert!(!is_same(provider, model, name), "{provider}:{model} and {name}");
        }
    }
}
