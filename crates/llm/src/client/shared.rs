//! State that the clones of a client share, and the steps of a call that depend on nothing else.
//!
//! A server with a queue makes a plain time limit wrong: a request may wait there for minutes behind our own earlier
//! ones, although the server works. So [`SharedClient::send`] moves the deadline while requests that were sent earlier
//! are answered. If only later ones are answered, the request was probably lost, and its time limit applies.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::RwLock;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret;
use tokio::time::Instant;

use super::setup::{ClientParts, ClientSetup};
use crate::call_event::CallEvent;
use crate::config::ConfigError;
use crate::error::{AskError, ErrorKind};
use crate::excerpt::{MESSAGE_CHARS, cut};
use crate::logprobs_probe::LogprobsProbes;
use crate::quirks::ServerQuirks;
use crate::rate_limit::{Permit, ProviderAccount};
use crate::redact::Redactor;
use crate::request::ChatRequest;
use crate::token_counts::TokenCounts;
use crate::transport::{HttpAnswer, HttpRequest, TransportError};
use crate::wire::HttpCall;

/// A request that waits this long for the first byte of its answer is reported if later ones are answered.
const SILENCE: Duration = Duration::from_mins(1);

/// The shortest time between two checks whether others were answered.
const RECHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A request that waits for others in the server's queue ends after this many time limits at the latest.
const MAX_TIME_LIMITS: u32 = 20;

/// State that the clones of a client share: its parts, and everything learned about the server.
pub(super) struct SharedClient {
    pub(super) parts: ClientParts,
    pub(super) setup: ClientSetup,
    /// Credentials, checked and marked sensitive.
    pub(super) headers: HeaderMap,
    pub(super) redactor: Redactor,
    /// Identity of the server, without secrets.
    pub(super) address: String,
    pub(super) account: Arc<ProviderAccount>,
    /// Quirks learned from refusals, by model.
    learned: RwLock<BTreeMap<String, ServerQuirks>>,
    /// Probes for models that give log-probabilities.
    pub(super) probes: LogprobsProbes,
    /// Counter of calls, so that each draws its own jitter.
    pub(super) questions: AtomicU64,
    /// The number of replies so far, and the tokens of the longest.
    pub(super) replies: AtomicU64,
    pub(super) longest: AtomicU64,
    /// True once the observer knows of a request without an answer.
    has_told_of_silence: AtomicBool,
}

impl SharedClient {
    /// # Errors
    /// If the key or an extra header cannot be sent over HTTP.
    pub(super) fn new(parts: ClientParts, setup: ClientSetup) -> Result<Self, ConfigError> {
        Ok(Self {
            headers: credentials(&parts)?,
            redactor: Redactor::new(parts.endpoint.secrets()),
            account: setup.accounts.account_for(&parts.endpoint),
            address: parts.endpoint.address(),
            parts,
            setup,
            learned: RwLock::default(),
            probes: LogprobsProbes::default(),
            questions: AtomicU64::new(0),
            replies: AtomicU64::new(0),
            longest: AtomicU64::new(0),
            has_told_of_silence: AtomicBool::new(false),
        })
    }

    /// Parameters that the server has refused for a model so far.
    pub(super) fn learned(&self, model: &str) -> ServerQuirks {
        if let Some(known) = self.learned.read().get(model) {
            return *known;
        }

        let known = self.setup.accounts.model_memory().quirks(&self.memory_key(model));
        *self.learned.write().entry(model.to_owned()).or_insert(known)
    }

    /// The name of a model for later processes.
    fn memory_key(&self, model: &str) -> String {
        format!("{} {} {model}", self.parts.provider, self.address)
    }

    /// Records a reply's length, if it is known.
    pub(super) fn saw(&self, usage: TokenCounts) {
        if let Some(tokens) = usage.output {
            self.longest.fetch_max(tokens, Ordering::Relaxed);
            self.replies.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The request with its model filled in.
    pub(super) fn complete<'a>(&self, request: &'a ChatRequest) -> Cow<'a, ChatRequest> {
        if request.model.is_empty() {
            let model = Arc::clone(&self.parts.model);
            Cow::Owned(ChatRequest { model, ..request.clone() })
        } else {
            Cow::Borrowed(request)
        }
    }

    /// Sends a call. Its time limit begins with the last answer to a request that was sent before it: until then, it
    /// waits in the server's queue because of our own requests. If only later ones are answered for a long time, the
    /// observer is notified, once for each server.
    ///
    /// # Errors
    /// If there is no answer.
    pub(super) async fn send(&self, call: HttpCall, permit: &Permit) -> Result<HttpAnswer, TransportError> {
        let limit = self.setup.timeout;
        let begun = Instant::now();
        let (mut deadline, mut look) = (begun + limit, begun + SILENCE);
        let answered = self.account.good_answers();
        let mut answer = pin!(self.setup.transport.send(self.outgoing(call)?));
        loop {
            if let Ok(answer) = tokio::time::timeout_at(deadline.min(look), &mut answer).await {
                return answer;
            }

            let now = Instant::now();
            let since = permit.last_answer_before().map_or(begun, |at| at.max(begun));
            if now >= look {
                let is_passed_over = now >= since + SILENCE && self.account.good_answers() > answered;
                if is_passed_over && !self.has_told_of_silence.swap(true, Ordering::Relaxed) {
                    let account = self.parts.endpoint.host();
                    self.observe(&CallEvent::Unanswered { account: &account, silence: SILENCE });
                }
                look = if is_passed_over {
                    now + SILENCE
                } else {
                    (since + SILENCE).max(now + RECHECK_INTERVAL)
                };
            }
            if now >= deadline {
                deadline = since + limit;
                if now >= deadline {
                    return Err(TransportError::Timeout(limit));
                }
            }
        }
    }

    fn outgoing(&self, call: HttpCall) -> Result<HttpRequest, TransportError> {
        let mut all = HeaderMap::new();
        for (name, value) in call.headers {
            let value = match value {
                Cow::Borrowed(text) => Ok(HeaderValue::from_static(text)),
                Cow::Owned(text) => HeaderValue::try_from(text),
            };
            if let Ok(value) = value {
                all.insert(HeaderName::from_static(name), value);
            }
        }

        self.with_credentials(HttpRequest {
            method: reqwest::Method::POST,
            url: self.parts.endpoint.url(&call.path),
            headers: all,
            body: call.body,
            timeout: self.setup.timeout.saturating_mul(MAX_TIME_LIMITS),
        })
    }

    /// The request with the key or a signature, and the endpoint's headers.
    ///
    /// # Errors
    /// If it can't be signed.
    pub(super) fn with_credentials(&self, mut request: HttpRequest) -> Result<HttpRequest, TransportError> {
        request.headers.extend(self.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
        if let Some(signer) = &self.parts.endpoint.signer {
            let now = self.setup.clock.now();
            signer
                .sign(&request.method, &request.url, &mut request.headers, &request.body, now)
                .map_err(TransportError::Unusable)?;
        }
        Ok(request)
    }

    /// The answer with this client's secrets replaced: a server may echo its request.
    pub(super) fn without_secrets(&self, mut answer: HttpAnswer) -> HttpAnswer {
        let redactor = &self.redactor;
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

    pub(super) fn observe(&self, event: &CallEvent<'_>) {
        if let Some(observer) = &self.setup.observer {
            observer.observe(event);
        }
    }

    pub(super) fn learn(&self, model: &str, quirks: ServerQuirks) {
        if self.learned(model).merge(quirks) != self.learned(model) {
            let mut learned = self.learned.write();
            let entry = learned.entry(model.to_owned()).or_default();
            *entry = entry.merge(quirks);
            self.setup.accounts.model_memory().note_quirks(self.memory_key(model), *entry);
        }
    }

    /// The error in the form for the user: short, without secrets, with advice.
    pub(super) fn explained(&self, error: AskError, model: &str) -> AskError {
        let error = self.redacted(error);
        AskError { advice: self.advice(&error, model).map(String::into_boxed_str), ..error }
    }

    /// The error without secrets, and short.
    pub(super) fn redacted(&self, mut error: AskError) -> AskError {
        // Cut generously before redacting, so that a huge page costs little, and to the final length
        // afterwards. Otherwise a secret might be cut in half and missed.
        let message = self.redactor.redact_message(&cut(&error.message, MESSAGE_CHARS * 10));
        error.message = cut(&message, MESSAGE_CHARS);

        error
    }

    fn advice(&self, error: &AskError, model: &str) -> Option<String> {
        let endpoint = &self.parts.endpoint;
        let host = endpoint.host();
        let (address, origin) = (&endpoint.base_url_source, endpoint.address_origin());
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
                format!("Check the model name `{model}` and the server's address ({host}, {origin}).")
            }
            ErrorKind::Connection => {
                format!("Check that a server is running at {host} ({origin}) and that it can be reached.")
            }
            ErrorKind::RateLimited => match error.retry_after {
                Some(wait) => {
                    format!("It asked to wait {} s; reduce `--max-concurrency`.", wait.as_secs())
                }
                None => "Reduce `--max-concurrency`.".to_owned(),
            },
            ErrorKind::Timeout => {
                format!("The limit is {} s for one request.", self.setup.timeout.as_secs_f64())
            }
            ErrorKind::ContextLength => {
                format!("Shorten the material, or use a model with a larger context window than `{model}`.")
            }
            ErrorKind::MalformedReply => {
                let hint = if self.parts.wire.name().starts_with("openai") {
                    ", such as one ending in /v1"
                } else {
                    ""
                };
                format!("Check that {host} ({origin}) is the address of a model API{hint}.")
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

fn credentials(parts: &ClientParts) -> Result<HeaderMap, ConfigError> {
    let mut headers = HeaderMap::new();
    if let Some(key) = &parts.endpoint.key
        && parts.endpoint.signer.is_none()
    {
        let header = parts.wire.key_header();
        let text = format!("{}{}", header.prefix, key.secret.expose_secret());
        let mut value = HeaderValue::from_str(&text)
            .map_err(|_| ConfigError::UnsendableSecret { source_name: key.source.clone() })?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(header.name), value);
    }

    Ok(headers)
}
