//! A model behind a server: its address, its credentials, and what was learned about it.

mod question;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret;

use crate::ask::{Answered, Ask, BoxFuture, ModelId};
use crate::call_event::CallObserver;
use crate::clock::{Clock, TokioClock};
use crate::config::ConfigError;
use crate::endpoint::Endpoint;
use crate::error::{AskError, ErrorKind};
use crate::excerpt::{MESSAGE_CHARS, cut};
use crate::flight::Flights;
use crate::http::HttpTransport;
use crate::identity::CallKey;
use crate::meter::Meter;
use crate::name::ModelName;
use crate::pace::{Account, Accounts};
use crate::price::ModelCard;
use crate::quirks::Quirks;
use crate::redact::Redactor;
use crate::reply::{ChatReply, Usage};
use crate::request::ChatRequest;
use crate::retry::RetryPolicy;
use crate::scout::Scouts;
use crate::settings;
use crate::transport::{HttpAnswer, Outgoing, Transport};
use crate::wire::{HttpCall, Wire};

use question::Question;

/// Room for the headers that whoever sends a request adds.
const HEADERS_OF_HTTP: usize = 4;

/// What clients share: the network, time, and the rules for trying again.
#[derive(Clone)]
pub struct Setup {
    /// Sends the requests. Clients that share one share its connections.
    pub transport: Arc<dyn Transport>,
    /// Waits between attempts.
    pub clock: Arc<dyn Clock>,
    /// When to try again.
    pub policy: RetryPolicy,
    /// The limit for one request, from connecting to the last byte of the answer.
    pub timeout: Duration,
    /// Decides the jitter of waits.
    pub seed: u64,
    /// How fast each account may be used.
    pub accounts: Arc<Accounts>,
    /// What may be spent, by all clients that share it; `None` counts nothing.
    pub meter: Option<Arc<Meter>>,
    /// Told of attempts that failed and are made again.
    pub observer: Option<CallObserver>,
}

impl Default for Setup {
    /// Real network and time, five attempts, three minutes for a request.
    fn default() -> Self {
        Self {
            transport: Arc::new(HttpTransport::default()),
            clock: Arc::new(TokioClock),
            policy: RetryPolicy::default(),
            timeout: Duration::from_mins(3),
            seed: 0,
            accounts: Arc::default(),
            meter: None,
            observer: None,
        }
    }
}

/// What makes one client.
#[derive(Debug)]
pub struct ClientParts {
    /// The provider's name, for people and records.
    pub provider: String,
    /// The model asked when a request names none.
    pub model: Arc<str>,
    /// Where and with which credentials.
    pub endpoint: Endpoint,
    /// The wire format.
    pub wire: Arc<dyn Wire>,
}

/// A model behind a server. Cheap to clone; clones share connections and what was learned about the server.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
    card: ModelCard,
}

struct Inner {
    parts: ClientParts,
    setup: Setup,
    /// Credentials and extra headers, checked and marked sensitive.
    headers: HeaderMap,
    redactor: Redactor,
    /// What tells the server from others, without secrets.
    address: String,
    /// The first path that was asked, with its whole address.
    first_url: OnceLock<(String, Arc<Url>)>,
    account: Arc<Account>,
    /// What was learned, by model.
    learned: RwLock<BTreeMap<String, Quirks>>,
    /// Which models tell log-probabilities.
    scouts: Scouts,
    /// Numbers the questions, so that each draws its own jitter.
    questions: AtomicU64,
    /// Replies so far, and tokens of the longest.
    replies: AtomicU64,
    longest: AtomicU64,
}

impl Client {
    /// A client from its parts.
    ///
    /// # Errors
    /// When the key or an extra header cannot be sent over HTTP.
    pub fn new(parts: ClientParts, setup: Setup) -> Result<Self, ConfigError> {
        let headers = credentials(&parts)?;
        let redactor = Redactor::new(parts.endpoint.secrets());
        let account = setup.accounts.of(&parts.endpoint);
        let address = parts.endpoint.address();
        let inner = Inner {
            parts,
            setup,
            headers,
            redactor,
            address,
            first_url: OnceLock::new(),
            account,
            learned: RwLock::default(),
            scouts: Scouts::default(),
            questions: AtomicU64::new(0),
            replies: AtomicU64::new(0),
            longest: AtomicU64::new(0),
        };
        let card = ModelCard::default();
        Ok(Self { inner: Arc::new(inner), card })
    }

    /// A client for a named model, configured from variables that `env` looks up. Empty variables count as not set.
    ///
    /// # Errors
    /// When the address is unusable, or when a server that is not on this machine has no key.
    pub fn from_name(
        name: &ModelName,
        env: &dyn Fn(&str) -> Option<String>,
        setup: Setup,
    ) -> Result<Self, ConfigError> {
        let row = name.row();
        let own = name.has_own_variables();
        let endpoint = if own { settings::judge_endpoint(row, env) } else { settings::endpoint(row, env) }?;
        let wire = (row.wire)(&endpoint);
        let parts = ClientParts { provider: row.name.to_owned(), model: name.model().into(), endpoint, wire };
        Self::new(parts, setup)
    }

    /// The same client, with what is known about its model.
    #[must_use]
    pub fn with_card(self, card: ModelCard) -> Self {
        Self { card, ..self }
    }

    /// What the server has turned out to refuse for a model.
    pub fn learned(&self, model: &str) -> Quirks {
        let learned = self.inner.learned.read().unwrap_or_else(PoisonError::into_inner);
        learned.get(model).copied().unwrap_or_default()
    }

    /// Replaces this client's secrets in any text.
    pub fn redactor(&self) -> &Redactor {
        &self.inner.redactor
    }

    /// The calls that are being made by all clients of the same accounts.
    pub(crate) fn flights(&self) -> Flights {
        self.inner.setup.accounts.flights().clone()
    }

    /// The name of the wire format, part of what identifies a reply.
    pub fn wire_name(&self) -> &'static str {
        self.inner.parts.wire.name()
    }

    /// The exact body that would be sent now.
    ///
    /// # Errors
    /// When the wire format cannot express the request.
    pub fn body(&self, request: &ChatRequest) -> Result<Vec<u8>, AskError> {
        let request = self.complete(request);
        let quirks = self.learned(&request.model);
        self.inner.parts.wire.encode(&quirks.fold(&request), quirks).map(|call| call.body)
    }

    /// What identifies a call across processes. What the server has turned out to refuse has no part in it: a process
    /// that has not learned it yet must find the same reply.
    ///
    /// # Errors
    /// When the wire format cannot express the request.
    pub fn call_key(&self, request: &ChatRequest, repeat: u32) -> Result<CallKey, AskError> {
        self.keyed(request, repeat).map(|(key, _)| key)
    }

    /// The key of a call, and the call that it was made from.
    pub(crate) fn keyed(&self, request: &ChatRequest, repeat: u32) -> Result<(CallKey, HttpCall), AskError> {
        let Inner { parts: ClientParts { wire, .. }, address, .. } = &*self.inner;
        // A mark for the prompt cache changes what a reply costs and not what it says.
        // A ceiling decides whether a reply is kept, and changes none that is.
        let request =
            ChatRequest { cache_prefix: false, output_ceiling: None, ..self.complete(request).into_owned() };
        let call = wire.encode(&request, Quirks::default())?;
        Ok((CallKey::new(wire.name(), address, &request.model, &call, repeat), call))
    }

    /// Asks, and tries again as the policy says. Asking for less because the server refused a parameter does not count
    /// as trying again.
    ///
    /// # Errors
    /// The last failure, with every attempt in `failed`.
    pub async fn ask(&self, request: &ChatRequest) -> Result<ChatReply, AskError> {
        self.ask_with(request, None).await
    }

    /// Asks; `encoded` is the first try's call, where somebody has made it for a server that refuses nothing.
    async fn ask_with(
        &self,
        request: &ChatRequest,
        encoded: Option<HttpCall>,
    ) -> Result<ChatReply, AskError> {
        Question::new(self, request, encoded).await?.answer().await
    }

    /// Takes note of a reply's length, where it is known.
    fn saw(&self, usage: Usage) {
        if let Some(tokens) = usage.output {
            self.inner.longest.fetch_max(tokens, Ordering::Relaxed);
            self.inner.replies.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The request with its model filled in.
    fn complete<'a>(&self, request: &'a ChatRequest) -> Cow<'a, ChatRequest> {
        if request.model.is_empty() {
            let model = Arc::clone(&self.inner.parts.model);
            Cow::Owned(ChatRequest { model, ..request.clone() })
        } else {
            Cow::Borrowed(request)
        }
    }

    /// The address of a path. A client has one path, unless it is asked for several models of a format that names them
    /// there.
    fn url(&self, path: &str) -> Arc<Url> {
        let Inner { parts, first_url, .. } = &*self.inner;
        let made = || Arc::new(parts.endpoint.url(path));
        match first_url.get_or_init(|| (path.to_owned(), made())) {
            (known, url) if known == path => Arc::clone(url),
            _ => made(),
        }
    }

    fn outgoing(&self, call: HttpCall) -> Outgoing {
        let Inner { setup, headers, .. } = &*self.inner;
        let mut all = HeaderMap::with_capacity(headers.len() + call.headers.len() + HEADERS_OF_HTTP);
        for (name, value) in call.headers {
            let value = match value {
                Cow::Borrowed(text) => Ok(HeaderValue::from_static(text)),
                Cow::Owned(text) => HeaderValue::try_from(text),
            };
            if let Ok(value) = value {
                all.insert(HeaderName::from_static(name), value);
            }
        }
        all.extend(headers.iter().map(|(name, value)| (name.clone(), value.clone())));
        Outgoing { url: self.url(&call.path), headers: all, body: call.body, timeout: setup.timeout }
    }

    /// The answer with this client's secrets replaced: a server may send back what it received.
    fn without_secrets(&self, mut answer: HttpAnswer) -> HttpAnswer {
        let redactor = &self.inner.redactor;
        let text = answer.text();
        let redacted = if (200..300).contains(&answer.status) {
            redactor.redact_content(&text)
        } else {
            redactor.redact(&text)
        };
        if redacted != text {
            answer.body = redacted.into_owned().into_bytes();
        }
        for value in answer.headers.values_mut() {
            if let Ok(text) = value.to_str()
                && let Cow::Owned(text) = redactor.redact(text)
                && let Ok(redacted) = HeaderValue::from_str(&text)
            {
                *value = redacted;
            }
        }
        answer
    }

    fn learn(&self, model: &str, quirks: Quirks) {
        if self.learned(model).merge(quirks) != self.learned(model) {
            let mut learned = self.inner.learned.write().unwrap_or_else(PoisonError::into_inner);
            let entry = learned.entry(model.to_owned()).or_default();
            *entry = entry.merge(quirks);
        }
    }

    /// The error as it is shown: short, without secrets, with advice.
    fn explained(&self, mut error: AskError, model: &str) -> AskError {
        // Cut generously before redacting, so that a huge page costs little, and finally afterwards, so that no
        // secret is cut in half and thereby missed.
        let message = self.inner.redactor.redact_message(&cut(&error.message, MESSAGE_CHARS * 10));
        error.message = cut(&message, MESSAGE_CHARS);
        error.advice = self.advice(&error, model).map(String::into_boxed_str);
        error
    }

    fn advice(&self, error: &AskError, model: &str) -> Option<String> {
        let endpoint = &self.inner.parts.endpoint;
        let host = endpoint.host();
        let address = &endpoint.base_url_source;
        Some(match error.kind {
            ErrorKind::Authentication => match &endpoint.key {
                Some(key) => {
                    format!(
                        "The key comes from {}: check that it is complete and meant for {host}.",
                        key.source
                    )
                }
                None => format!("No key was sent: set {}.", endpoint.key_source),
            },
            ErrorKind::PermissionDenied => {
                format!("Check that the account at {host} has credit and may use `{model}`.")
            }
            ErrorKind::NotFound => {
                format!("Check the model name `{model}` and the server's address ({host}, from {address}).")
            }
            ErrorKind::Connection => {
                format!(
                    "Check that a server is running at {host} (from {address}) and that it can be reached."
                )
            }
            ErrorKind::RateLimited => match error.retry_after {
                Some(wait) => {
                    format!("It asked to wait {} s; fewer requests at once may help.", wait.as_secs())
                }
                None => "Fewer requests at once may help.".to_owned(),
            },
            ErrorKind::Timeout => {
                format!("The limit is {} s for one request.", self.inner.setup.timeout.as_secs_f64())
            }
            ErrorKind::ContextLength => {
                format!("Shorten what is sent, or use a model that reads more than `{model}`.")
            }
            ErrorKind::MalformedReply => {
                let hint =
                    if self.wire_name().starts_with("openai") { ", such as one ending in /v1" } else { "" };
                format!("Check that {host} (from {address}) is the address of a model API{hint}.")
            }
            ErrorKind::BadRequest if matches!(error.status, Some(300..=399)) => {
                format!("Set {address} to the final address.")
            }
            ErrorKind::BadRequest
            | ErrorKind::ContentRefused
            | ErrorKind::Overloaded
            | ErrorKind::Server
            | ErrorKind::Cancelled
            | ErrorKind::NotCached
            | ErrorKind::NoLogprobs => return None,
        })
    }
}

impl Ask for Client {
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, AskError>> {
        Box::pin(Client::ask(self, request))
    }

    fn ask_repeat<'a>(
        &'a self,
        request: &'a ChatRequest,
        _repeat: u32,
    ) -> BoxFuture<'a, Result<Answered, AskError>> {
        Box::pin(async move { Client::ask(self, request).await.map(Answered::fresh) })
    }

    fn ask_encoded<'a>(
        &'a self,
        request: &'a ChatRequest,
        call: HttpCall,
    ) -> BoxFuture<'a, Result<ChatReply, AskError>> {
        // A mark for the prompt cache is not in it.
        Box::pin(self.ask_with(request, Some(call).filter(|_| !request.cache_prefix)))
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

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("parts", &self.inner.parts).finish_non_exhaustive()
    }
}

fn credentials(parts: &ClientParts) -> Result<HeaderMap, ConfigError> {
    let sensitive = |text: &str, source: &str| {
        let mut value = HeaderValue::from_str(text)
            .map_err(|_| ConfigError::UnsendableSecret { source_name: source.to_owned() })?;
        value.set_sensitive(true);
        Ok::<_, ConfigError>(value)
    };
    let mut headers = HeaderMap::new();
    if let Some(key) = &parts.endpoint.key {
        let header = parts.wire.key_header();
        let value = sensitive(&format!("{}{}", header.prefix, key.secret.expose_secret()), &key.source)?;
        headers.insert(HeaderName::from_static(header.name), value);
    }
    for (name, secret) in &parts.endpoint.headers {
        let value = sensitive(secret.expose_secret(), &format!("the header `{name}`"))?;
        let name: HeaderName = name.parse().map_err(|_| ConfigError::BadHeaderName { name: name.clone() })?;
        headers.insert(name, value);
    }
    Ok(headers)
}
