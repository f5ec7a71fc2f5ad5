//! Answering from memory: replies that proved usable once are not bought again.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ask::{Answered, Ask, BoxFuture, ModelId};
use crate::client::Client;
use crate::error::{AskError, ErrorKind, FailedAttempt};
use crate::flight::Flights;
use crate::identity::CallKey;
use crate::price::ModelCard;
use crate::reply::{ChatReply, Finish, Usage};
use crate::request::ChatRequest;

/// Keeps replies from one run to the next.
pub trait ReplyMemory: Send + Sync {
    /// The reply kept under this key. A memory that can't be read remembers nothing.
    fn find(&self, key: CallKey) -> BoxFuture<'_, Option<Found>>;

    /// Keeps a reply. Returns at once; a memory that can't be written forgets.
    fn keep(&self, key: CallKey, reply: KeptReply);
}

/// A reply that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The reply.
    pub reply: KeptReply,
    /// Whether the run that asks has bought it itself, before it was stopped and resumed. What it cost then is a cost
    /// of this run, on no other record.
    pub bought_by_this_run: bool,
}

/// What is kept of a reply: all of it.
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
    /// The body as received, with known secrets replaced. A memory may keep it apart from the rest.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub raw: String,
    /// Time the successful request took.
    pub latency: Duration,
    /// Requests sent for it, the successful one included.
    pub attempts: u32,
    /// The requests before the successful one.
    pub failed: Vec<FailedAttempt>,
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
            latency: reply.latency,
            attempts: reply.attempts,
            failed: reply.failed.clone(),
        }
    }
}

impl From<KeptReply> for ChatReply {
    fn from(kept: KeptReply) -> Self {
        Self {
            text: kept.text,
            finish: kept.finish,
            // What was cut off is not kept.
            cut_at: None,
            refusal: kept.refusal,
            usage: kept.usage,
            model: kept.model,
            request_id: kept.request_id,
            raw: kept.raw,
            latency: kept.latency,
            attempts: kept.attempts,
            failed: kept.failed,
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
        let (key, call) = self.client.keyed(request, repeat)?;
        let flight = self.flights.board(key).await;
        if let Some(found) = self.memory.find(key).await {
            let reply = found.reply.into();
            return Ok(if found.bought_by_this_run {
                Answered::fresh(reply)
            } else {
                Answered::recalled(reply)
            });
        }
        if self.miss == Miss::Refuse {
            return Err(AskError::new(ErrorKind::NotCached, ""));
        }
        let reply = self.inner.ask_encoded(request, call).await?;
        let memory = Arc::clone(&self.memory);
        Ok(Answered::keepable(reply, move |reply| {
            memory.keep(key, reply.into());
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
