//! A model behind a server, with the server's address, its credentials, and everything learned about it.

mod attempts;
mod batch;
mod provider_batch;
mod setup;
mod shared;

use std::fmt;
use std::sync::Arc;

use crate::call_key::CallKey;
use crate::chat_model::{BoxFuture, ChatModel, ModelId};
use crate::config::ConfigError;
use crate::error::AskError;
use crate::name::ModelName;
use crate::price::ModelCard;
use crate::quirks::ServerQuirks;
use crate::redact::Redactor;
use crate::reply::ChatReply;
use crate::request::ChatRequest;
use crate::settings;
use crate::single_flight::SingleFlight;

use attempts::CallAttempts;
pub use provider_batch::BatchRequest;
pub use setup::{ClientParts, ClientSetup};
use shared::SharedClient;

/// A model behind a server. Cheap to clone: clones share connections and everything learned about the server.
#[derive(Clone)]
pub struct ModelClient {
    inner: Arc<SharedClient>,
    card: ModelCard,
    has_substitute: bool,
}

impl ModelClient {
    /// A client from its parts.
    ///
    /// # Errors
    /// When the key or an extra header cannot be sent over HTTP.
    pub fn new(parts: ClientParts, setup: ClientSetup) -> Result<Self, ConfigError> {
        let inner = Arc::new(SharedClient::new(parts, setup)?);
        Ok(Self { inner, card: ModelCard::default(), has_substitute: false })
    }

    /// A client for a named model, configured from variables that `env` looks up. Empty variables count as not set.
    ///
    /// # Errors
    /// When the address is unusable, or when a server that is not on this machine has no key.
    pub fn from_name(
        name: &ModelName,
        env: &dyn Fn(&str) -> Option<String>,
        setup: ClientSetup,
    ) -> Result<Self, ConfigError> {
        let row = name.provider;
        let own = name.own_variables;
        let endpoint = if own { settings::judge_endpoint(row, env) } else { settings::endpoint(row, env) }?;
        let wire = (row.wire)(&endpoint);
        let parts = ClientParts { provider: row.name.to_owned(), model: name.model().into(), endpoint, wire };

        Self::new(parts, setup)
    }

    /// Sets prices and limits of the model.
    #[must_use]
    pub fn with_card(self, card: ModelCard) -> Self {
        Self { card, ..self }
    }

    /// Marks the model as one that has a substitute: if it fails, the run goes on with the other model.
    #[must_use]
    pub fn with_substitute(self) -> Self {
        Self { has_substitute: true, ..self }
    }

    /// Parameters that the server has refused for a model so far.
    pub fn learned(&self, model: &str) -> ServerQuirks {
        self.inner.learned(model)
    }

    /// The base URL of the server's API.
    pub fn address(&self) -> String {
        self.inner.parts.endpoint.base_url.to_string()
    }

    /// The host to which the key would be sent unencrypted over a network, if there is one.
    pub fn unencrypted_host(&self) -> Option<String> {
        let endpoint = &self.inner.parts.endpoint;
        let is_open = endpoint.base_url.scheme() == "http" && !endpoint.is_loopback();
        (is_open && endpoint.key.is_some()).then(|| endpoint.host())
    }

    /// Replaces this client's secrets in any text.
    pub fn redactor(&self) -> &Redactor {
        &self.inner.redactor
    }

    /// The calls in flight of all clients of the same accounts.
    pub(crate) fn single_flight(&self) -> SingleFlight {
        self.inner.setup.accounts.single_flight().clone()
    }

    /// The name of the wire format. It is part of a reply's identity.
    pub fn wire_name(&self) -> &'static str {
        self.inner.parts.wire.name()
    }

    /// The exact body that would be sent now.
    ///
    /// # Errors
    /// If the wire format cannot express the request.
    pub fn body(&self, request: &ChatRequest) -> Result<Vec<u8>, AskError> {
        let request = self.inner.complete(request);
        let quirks = self.learned(&request.model);
        self.inner.parts.wire.encode(&quirks.merge_system_into_user(&request), quirks).map(|call| call.body)
    }

    /// The identity of a call across processes. Learned refusals are not part of it: a process that has not
    /// learned them yet must find the same reply.
    ///
    /// # Errors
    /// If the wire format cannot express the request.
    pub fn call_key(&self, request: &ChatRequest, repeat: u32) -> Result<CallKey, AskError> {
        let SharedClient { parts: ClientParts { wire, .. }, address, .. } = &*self.inner;
        // Marking the prompt for a cache changes the cost of a reply, not its text. A ceiling decides whether a reply
        // may be stored, and does not change replies that are stored.
        let request = ChatRequest {
            cache_prefix: false,
            output_ceiling: None,
            ..self.inner.complete(request).into_owned()
        };
        let call = wire.encode(&request, ServerQuirks::default())?;
        Ok(CallKey::new(wire.name(), address, &request.model, &call, repeat))
    }

    /// Sends the request, and tries again as the policy says. Sending less because the server refused a
    /// parameter does not count as a retry.
    ///
    /// # Errors
    /// The last failure, with every attempt in `failed`.
    pub async fn ask(&self, request: &ChatRequest) -> Result<ChatReply, AskError> {
        CallAttempts::new(&self.inner, self.card, self.has_substitute, request).await?.answer().await
    }
}

impl ChatModel for ModelClient {
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, AskError>> {
        Box::pin(ModelClient::ask(self, request))
    }

    fn describe(&self) -> ModelId {
        let parts = &self.inner.parts;
        ModelId {
            provider: parts.provider.clone(),
            model: parts.model.to_string(),
            base_url_host: parts.endpoint.host(),
        }
    }

    fn card(&self) -> ModelCard {
        self.card
    }
}

impl fmt::Debug for ModelClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelClient").field("parts", &self.inner.parts).finish_non_exhaustive()
    }
}
