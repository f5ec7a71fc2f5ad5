//! Answering from memory: replies that proved usable once are not bought again.

use std::sync::Arc;

use crate::call_key::CallKey;
use crate::chat_model::{BoxFuture, CacheableReply, ChatModel, ModelId};
use crate::client::ModelClient;
use crate::error::{AskError, ErrorKind};
use crate::price::ModelCard;
use crate::reply::ChatReply;
use crate::request::ChatRequest;
use crate::single_flight::SingleFlight;

/// Keeps replies from one run to the next.
pub trait ReplyStore: Send + Sync {
    /// The reply kept under this key. A memory that can't be read remembers nothing.
    fn find(&self, key: CallKey) -> BoxFuture<'_, Option<CacheHit>>;

    /// Keeps a reply. Returns at once; a memory that can't be written forgets.
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

/// What is done about a question that memory can't answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnCacheMiss {
    /// The model is asked.
    Ask,
    /// It gets no answer: nothing is sent.
    Refuse,
}

/// A model whose usable replies are remembered.
///
/// Only [`ChatModel::ask_repeat`] looks into memory, and only a reply that the asker has kept ([`CacheableReply::keep`]) gets in:
/// whether a reply is an answer is for the one who reads it to say. Of several who ask the same at once, one asks the
/// model; the others wait until its reply is kept, or is not, and then look again.
pub struct CachedModel {
    client: ModelClient,
    inner: Arc<dyn ChatModel>,
    memory: Arc<dyn ReplyStore>,
    miss: OnCacheMiss,
    single_flight: SingleFlight,
}

impl CachedModel {
    /// Remembers for `inner`, which asks `client`, perhaps with something in between.
    pub fn new(
        client: ModelClient,
        inner: Arc<dyn ChatModel>,
        memory: Arc<dyn ReplyStore>,
        miss: OnCacheMiss,
    ) -> Self {
        let single_flight = client.single_flight();
        Self { client, inner, memory, miss, single_flight }
    }

    async fn recall_or_ask(&self, request: &ChatRequest, repeat: u32) -> Result<CacheableReply, AskError> {
        let key = self.client.call_key(request, repeat)?;
        let guard = self.single_flight.acquire(key).await;
        if let Some(found) = self.memory.find(key).await {
            return Ok(if found.produced_by_this_run {
                CacheableReply::fresh(found.reply)
            } else {
                CacheableReply::recalled(found.reply)
            });
        }
        if self.miss == OnCacheMiss::Refuse {
            return Err(AskError::new(ErrorKind::NotCached, ""));
        }
        let reply = self.inner.ask(request).await?;
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
            OnCacheMiss::Ask => self.inner.ask(request),
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
