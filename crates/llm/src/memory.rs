//! Answering from memory: replies that proved usable once are not bought again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ask::{Answered, Ask, BoxFuture, ModelId};
use crate::client::Client;
use crate::error::{AskError, ErrorKind};
use crate::identity::CallKey;
use crate::reply::{ChatReply, Finish, Usage};
use crate::request::ChatRequest;

/// Keeps replies from one run to the next.
pub trait ReplyMemory: Send + Sync {
    /// The reply kept under this key. A memory that can't be read remembers nothing.
    fn find(&self, key: CallKey) -> BoxFuture<'_, Option<KeptReply>>;

    /// Keeps a reply. Returns at once; a memory that can't be written forgets.
    fn keep(&self, key: CallKey, reply: KeptReply);
}

/// What is kept of a reply: all of it but how it was come by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptReply {
    /// The visible text.
    pub text: String,
    /// Why the model stopped.
    pub finish: Finish,
    /// The model's own words when it declined.
    pub refusal: Option<String>,
    /// Tokens the reply cost when it was bought.
    pub usage: Usage,
    /// The model that answered, as the server reported it.
    pub model: Option<String>,
    /// The server's name for the exchange.
    pub request_id: Option<String>,
    /// The body as received, with known secrets replaced.
    pub raw: String,
}

impl From<&ChatReply> for KeptReply {
    fn from(reply: &ChatReply) -> Self {
        Self {
            text: reply.text.clone(),
            finish: reply.finish.clone(),
            refusal: reply.refusal.clone(),
            usage: reply.usage,
            model: reply.model.clone(),
            request_id: reply.request_id.clone(),
            raw: reply.raw.clone(),
        }
    }
}

impl From<KeptReply> for ChatReply {
    /// The reply again. It took no request and no time; `usage` is what it cost when it was bought.
    fn from(kept: KeptReply) -> Self {
        Self {
            text: kept.text,
            finish: kept.finish,
            refusal: kept.refusal,
            usage: kept.usage,
            model: kept.model,
            request_id: kept.request_id,
            raw: kept.raw,
            latency: std::time::Duration::ZERO,
            attempts: 0,
            failed: Vec::new(),
        }
    }
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
/// whether a reply is an answer is for the one who reads it to say.
pub struct Remembering {
    client: Client,
    inner: Arc<dyn Ask>,
    memory: Arc<dyn ReplyMemory>,
    miss: Miss,
}

impl Remembering {
    /// Remembers for `inner`, which asks `client`, perhaps with something in between.
    pub fn new(client: Client, inner: Arc<dyn Ask>, memory: Arc<dyn ReplyMemory>, miss: Miss) -> Self {
        Self { client, inner, memory, miss }
    }

    async fn recall_or_ask(&self, request: &ChatRequest, repeat: u32) -> Result<Answered, AskError> {
        let key = self.client.call_key(request, repeat)?;
        if let Some(kept) = self.memory.find(key).await {
            return Ok(Answered::recalled(kept.into()));
        }
        if self.miss == Miss::Refuse {
            return Err(AskError::new(ErrorKind::NotCached, ""));
        }
        let reply = self.inner.ask(request).await?;
        let memory = Arc::clone(&self.memory);
        Ok(Answered::keepable(reply, move |reply| memory.keep(key, reply.into())))
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
}
