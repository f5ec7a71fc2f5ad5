//! A model behind the reply cache: no usable reply is paid for twice.
//!
//! The obvious cache, which stores every reply of the server, does not work for judges: every later run would find the
//! refusal, or the reply that was cut off or can't be parsed, and no retry could improve on it. So the code that reads
//! a reply decides. [`ChatModel::ask_repeat`] returns a [`CacheableReply`], and only [`CacheableReply::keep`] stores
//! it.
//!
//! Cases of a run often ask the same question at the same time. Each call is therefore a single flight: the
//! first caller asks the model and holds the guard until the reply is stored or dropped; the others wait, and
//! then look into the cache again. If the first reply was unusable, the next caller asks, so one bad reply
//! never serves several callers.
//!
//! The order on a miss is fixed: imported replies, then collected or provider batches ([`OnCacheMiss::Defer`]),
//! then the model. The guard spans all of them, so a request is exported or collected once.

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

/// Stores replies between runs.
pub trait ReplyStore: Send + Sync {
    /// Returns the reply that is stored under this key. A store that can't be read counts as a cache miss.
    fn find(&self, key: CallKey) -> BoxFuture<'_, Option<CacheHit>>;

    /// Stores a reply. Returns at once; a store that can't be written drops it.
    fn keep(&self, key: CallKey, reply: &ChatReply);
}

/// A reply from the cache.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheHit {
    /// The reply.
    pub reply: ChatReply,
    /// True if this run paid for the reply itself, before it was stopped and resumed. The cost then counts for
    /// this run, which has no other record of it.
    pub produced_by_this_run: bool,
}

/// What to do with a request that is not in the cache.
#[derive(Clone)]
pub enum OnCacheMiss {
    /// Ask the model.
    Ask,
    /// Fail; nothing is sent.
    Refuse,
    /// Leave it to someone who collects requests or has replies to them.
    Defer(Arc<dyn DeferredCalls>),
}

/// Handles cache misses without the model: collects the requests instead of sending them, or takes replies that were
/// obtained in another way.
pub trait DeferredCalls: Send + Sync {
    /// Returns a reply to the request that `client` would send, or `None` if the model should be asked.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`] if the request was collected and is not answered now. The caller should not try another
    /// model.
    fn answer<'a>(
        &'a self,
        client: &'a ModelClient,
        key: CallKey,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<Option<ChatReply>, AskError>>;
}

/// A model whose usable replies are cached. See the module for the reasons.
///
/// Only [`ChatModel::ask_repeat`] reads the cache, and only a reply that the caller has accepted
/// ([`CacheableReply::keep`]) is stored. Of several callers with the same request at the same time, one asks
/// the model; the others wait until its reply is stored or dropped, and then look again.
pub struct CachedModel {
    client: ModelClient,
    inner: Arc<dyn ChatModel>,
    store: Arc<dyn ReplyStore>,
    on_miss: OnCacheMiss,
    exchange: Option<Arc<dyn ReplyExchange>>,
    single_flight: SingleFlight,
    namespace: Option<[u8; 32]>,
}

impl CachedModel {
    /// Caches replies of `inner`, which sends its requests through `client`, perhaps with other models in
    /// between.
    pub fn new(
        client: ModelClient,
        inner: Arc<dyn ChatModel>,
        store: Arc<dyn ReplyStore>,
        on_miss: OnCacheMiss,
    ) -> Self {
        let single_flight = client.single_flight();
        Self { client, inner, store, on_miss, exchange: None, single_flight, namespace: None }
    }

    /// Shares neither stored replies nor calls in flight with models in other namespaces.
    #[must_use]
    pub fn with_namespace(self, namespace: Option<[u8; 32]>) -> Self {
        Self { namespace, ..self }
    }

    /// Takes replies from an exchange instead of a server.
    #[must_use]
    pub fn with_exchange(self, exchange: Arc<dyn ReplyExchange>) -> Self {
        Self { exchange: Some(exchange), ..self }
    }

    /// Returns an imported reply, or the error of a request that has none.
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
            // "Cancelled" keeps the caller from trying another model, as when a run is stopped.
            return Err(AskError::new(ErrorKind::Cancelled, "waits for a reply"));
        }

        exchange.miss(key);
        Err(AskError::new(ErrorKind::NotCached, NO_REPLY_IMPORTED))
    }

    async fn recall_or_ask(&self, request: &ChatRequest, repeat: u32) -> Result<CacheableReply, AskError> {
        let key = self.client.call_key(request, repeat)?;
        let key = self.namespace.as_ref().map_or(key, |namespace| key.in_namespace(namespace));
        let guard = self.single_flight.acquire(key).await;

        if let Some(found) = self.store.find(key).await {
            if let Some(exchange) = &self.exchange {
                exchange.recall(key);
            }
            return Ok(if found.produced_by_this_run {
                CacheableReply::fresh(found.reply)
            } else {
                CacheableReply::recalled(found.reply)
            });
        }

        let reply = match (&self.exchange, &self.on_miss) {
            (Some(exchange), _) => Some(self.exchange(&**exchange, key, request, repeat)?),
            (None, OnCacheMiss::Ask) => None,
            (None, OnCacheMiss::Refuse) => return Err(AskError::new(ErrorKind::NotCached, "")),
            (None, OnCacheMiss::Defer(calls)) => calls.answer(&self.client, key, request).await?,
        };
        let reply = match reply {
            Some(reply) => reply,
            None => self.inner.ask(request).await?,
        };

        let store = Arc::clone(&self.store);
        Ok(CacheableReply::keepable(reply, move |reply| {
            store.keep(key, reply);
            // The guard is released only now, because those who wait must find the reply. If the reply is not
            // kept, the guard is dropped with the handle.
            drop(guard);
        }))
    }
}

impl ChatModel for CachedModel {
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, AskError>> {
        match self.on_miss {
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
