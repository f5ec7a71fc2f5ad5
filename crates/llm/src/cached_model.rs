//! Model behind the reply cache: a reply that proved usable once is not paid for again.

use std::sync::Arc;

use crate::call_key::CallKey;
use crate::chat_model::{BoxFuture, CacheableReply, ChatModel, ModelId};
use crate::client::ModelClient;
use crate::error::{AskError, ErrorKind};
use crate::price::ModelCard;
use crate::reply::ChatReply;
use crate::reply_exchange::ReplyExchange;
use crate::request::ChatRequest;
use crate::single_flight::SingleFlight;

/// Message of a request for which there is no imported reply.
pub const NO_REPLY_IMPORTED: &str = "no reply was imported";

/// Storage of replies from one run to the next.
pub trait ReplyStore: Send + Sync {
    /// Returns the reply stored under this key. A storage that can't be read has none.
    fn find(&self, key: CallKey) -> BoxFuture<'_, Option<CacheHit>>;

    /// Stores a reply. Returns at once; a storage that can't be written drops it.
    fn keep(&self, key: CallKey, reply: &ChatReply);
}

/// Reply from the cache.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheHit {
    /// The reply.
    pub reply: ChatReply,
    /// True if the asking run paid for the reply itself, before it was stopped and resumed. Its cost then belongs to this
    /// run, which has no other record of it.
    pub produced_by_this_run: bool,
}

/// Policy for a request that is not in the cache.
#[derive(Clone)]
pub enum OnCacheMiss {
    /// The model is asked.
    Ask,
    /// The request fails; nothing is sent.
    Refuse,
    /// Somebody else decides: who collects requests, or has replies to them.
    Defer(Arc<dyn DeferredCalls>),
}

/// Way around the model for requests that are not in the cache: they may be collected instead of sent, and be answered by
/// replies that came otherwise.
pub trait DeferredCalls: Send + Sync {
    /// Returns a reply to the request that `client` would send, or `None` if the model is to be asked.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`] for a request that was collected and is not answered now: nobody else is to be asked in its
    /// place.
    fn answer<'a>(
        &'a self,
        client: &'a ModelClient,
        key: CallKey,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<Option<ChatReply>, AskError>>;
}

/// Model whose usable replies are cached.
///
/// Only [`ChatModel::ask_repeat`] reads the cache, and only a reply that the caller has accepted ([`CacheableReply::keep`])
/// is stored: only its reader can tell whether it is an answer. Of several callers with the same request at once, one
/// asks the model; the others wait until its reply is stored or dropped, and then look again.
pub struct CachedModel {
    client: ModelClient,
    inner: Arc<dyn ChatModel>,
    memory: Arc<dyn ReplyStore>,
    miss: OnCacheMiss,
    exchange: Option<Arc<dyn ReplyExchange>>,
    single_flight: SingleFlight,
    namespace: Option<[u8; 32]>,
}

impl CachedModel {
    /// Caches replies of `inner`, which asks `client`, perhaps through other models in between.
    pub fn new(
        client: ModelClient,
        inner: Arc<dyn ChatModel>,
        memory: Arc<dyn ReplyStore>,
        miss: OnCacheMiss,
    ) -> Self {
        let single_flight = client.single_flight();
        Self { client, inner, memory, miss, exchange: None, single_flight, namespace: None }
    }

    /// Shares neither stored replies nor calls in flight with models of other namespaces.
    #[must_use]
    pub fn with_namespace(self, namespace: Option<[u8; 32]>) -> Self {
        Self { namespace, ..self }
    }

    /// Takes replies from an exchange instead of a server.
    #[must_use]
    pub fn with_exchange(self, exchange: Arc<dyn ReplyExchange>) -> Self {
        Self { exchange: Some(exchange), ..self }
    }

    /// A reply that was imported, or the error of a request that waits for one.
    fn exchange(
        &self,
        exchange: &dyn ReplyExchange,
        key: CallKey,
        request: &ChatRequest,
        repeat: u32,
    ) -> Result<ChatReply, AskError> {
        let mut rejected = None;
        for number in 0.. {
            let Some(outcome) = exchange.find(key, number) else { break };
            match self.client.batch_reply(request, outcome) {
                Ok(reply) => return Ok(reply),
                Err(error) => rejected = rejected.or(Some(error)),
            }
        }
        if let Some(error) = &rejected {
            exchange.reject(key, error);
        }

        if exchange.exports() {
            exchange.export(&self.client.describe(), key, self.client.batch_line(request, repeat));
            // Who hears of it asks nobody else in its place, as when a run is stopped.
            return Err(AskError::new(ErrorKind::Cancelled, "waits for a reply"));
        }

        exchange.miss(key);
        Err(AskError::new(ErrorKind::NotCached, NO_REPLY_IMPORTED))
    }

    async fn recall_or_ask(&self, request: &ChatRequest, repeat: u32) -> Result<CacheableReply, AskError> {
        let key = self.client.call_key(request, repeat)?;
        let key = self.namespace.as_ref().map_or(key, |namespace| key.in_namespace(namespace));
        let guard = self.single_flight.acquire(key).await;

        if let Some(found) = self.memory.find(key).await {
            if let Some(exchange) = &self.exchange {
                exchange.recall(key);
            }
            return Ok(if found.produced_by_this_run {
                CacheableReply::fresh(found.reply)
            } else {
                CacheableReply::recalled(found.reply)
            });
        }

        let reply = match (&self.exchange, &self.miss) {
            (Some(exchange), _) => Some(self.exchange(&**exchange, key, request, repeat)?),
            (None, OnCacheMiss::Ask) => None,
            (None, OnCacheMiss::Refuse) => return Err(AskError::new(ErrorKind::NotCached, "")),
            (None, OnCacheMiss::Defer(calls)) => calls.answer(&self.client, key, request).await?,
        };
        let reply = match reply {
            Some(reply) => reply,
            None => self.inner.ask(request).await?,
        };

        let memory = Arc::clone(&self.memory);
        Ok(CacheableReply::keepable(reply, move |reply| {
            memory.keep(key, reply);
            // Only now: those who wait must find it. Without being kept, it ends with the handle.
            drop(guard);
        }))
    }
}

impl ChatModel for CachedModel {
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, AskError>> {
        match self.miss {
            OnCacheMiss::Ask | OnCacheMiss::Defer(_) => self.inner.ask(request),
            OnCacheMiss::Refuse => Box::pin(std::future::ready(Err(AskError::new(ErrorKind::NotCached, "")))),
        }
    }

    fn ask_repeat<'a>(
        &'a self,
        request: &'a ChatRequest,
        repeat: u32,
    ) -> BoxFuture<'a, Result<CacheableReply, AskError>> {
        Box::pin(self.recall_or_ask(request, repeat))
    }

    fn describe(&self) -> ModelId {
        self.inner.describe()
    }

    fn card(&self) -> ModelCard {
        self.inner.card()
    }
}
