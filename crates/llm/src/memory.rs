//! Answering from memory: replies that proved usable once are not bought again.

use std::sync::Arc;

use crate::ask::{Answered, Ask, BoxFuture, ModelId};
use crate::client::Client;
use crate::error::{AskError, ErrorKind};
use crate::flight::Flights;
use crate::identity::CallKey;
use crate::price::ModelCard;
use crate::reply::ChatReply;
use crate::request::ChatRequest;

/// Keeps replies from one run to the next.
pub trait ReplyMemory: Send + Sync {
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
    pub bought_by_this_run: bool,
}

/// What is done about a question that memory can't answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Miss {
    /// The model is asked.
    Ask,
    /// It gets no answer: nothing is sent.
    Refuse,
}

/// A model whose usable replies are remembered.
///
/// Only [`Ask::ask_repeat`] looks into memory, and only a reply that the asker has kept ([`Answered::keep`]) gets in:
/// whether a reply is an answer is for the one who reads it to say. Of several who ask the same at once, one asks the
/// model; the others wait until its reply is kept, or is not, and then look again.
pub struct Remembering {
    client: Client,
    inner: Arc<dyn Ask>,
    memory: Arc<dyn ReplyMemory>,
    miss: Miss,
    flights: Flights,
}

impl Remembering {
    /// Remembers for `inner`, which asks `client`, perhaps with something in between.
    pub fn new(client: Client, inner: Arc<dyn Ask>, memory: Arc<dyn ReplyMemory>, miss: Miss) -> Self {
        let flights = client.flights();
        Self { client, inner, memory, miss, flights }
    }

    async fn recall_or_ask(&self, request: &ChatRequest, repeat: u32) -> Result<Answered, AskError> {
        let key = self.client.call_key(request, repeat)?;
        let flight = self.flights.board(key).await;
        if let Some(found) = self.memory.find(key).await {
            return Ok(if found.bought_by_this_run {
                Answered::fresh(found.reply)
            } else {
                Answered::recalled(found.reply)
            });
        }
        if self.miss == Miss::Refuse {
            return Err(AskError::new(ErrorKind::NotCached, ""));
        }
        let reply = self.inner.ask(request).await?;
        let memory = Arc::clone(&self.memory);
        Ok(Answered::keepable(reply, move |reply| {
            memory.keep(key, reply);
            // Only now: those who wait must find it. Without being kept, it ends with the handle.
            drop(flight);
        }))
    }
}

impl Ask for Remembering {
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, AskError>> {
        match self.miss {
            Miss::Ask => self.inner.ask(request),
            Miss::Refuse => Box::pin(std::future::ready(Err(AskError::new(ErrorKind::NotCached, "")))),
        }
    }

    fn ask_repeat<'a>(
        &'a self,
        request: &'a ChatRequest,
        repeat: u32,
    ) -> BoxFuture<'a, Result<Answered, AskError>> {
        Box::pin(self.recall_or_ask(request, repeat))
    }

    fn describe(&self) -> ModelId {
        self.inner.describe()
    }

    fn card(&self) -> ModelCard {
        self.inner.card()
    }
}
