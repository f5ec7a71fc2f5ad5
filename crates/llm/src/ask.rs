//! The trait everything above this crate depends on, so that a scripted model can take a server's place.

use std::fmt;
use std::time::Duration;

use assize_rubric::{Identify, IdentityWriter};
pub use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::error::AskError;
use crate::price::ModelCard;
use crate::reply::ChatReply;
use crate::request::ChatRequest;
use crate::wire::HttpCall;

/// Something that answers questions.
pub trait Ask: Send + Sync {
    /// Answers one request, or says why not. Dropping the future gives the request up.
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, AskError>>;

    /// The same for the given repeat of a question, perhaps from memory: each repeat is a draw of its own, and the same
    /// repeat of the same question may get the reply it got before.
    fn ask_repeat<'a>(
        &'a self,
        request: &'a ChatRequest,
        repeat: u32,
    ) -> BoxFuture<'a, Result<Answered, AskError>> {
        let _ = repeat;
        Box::pin(async move { self.ask(request).await.map(Answered::fresh) })
    }

    /// The same as [`Ask::ask`] for a request of which somebody has made the bytes already, as they go to a server that
    /// refuses nothing.
    fn ask_encoded<'a>(
        &'a self,
        request: &'a ChatRequest,
        call: HttpCall,
    ) -> BoxFuture<'a, Result<ChatReply, AskError>> {
        drop(call);
        self.ask(request)
    }

    /// Who answers.
    fn describe(&self) -> ModelId;

    /// What is known about the model beforehand: what it costs, and how much it can read.
    fn card(&self) -> ModelCard {
        ModelCard::default()
    }
}

type Keep = Box<dyn FnOnce(&ChatReply) + Send>;

/// A reply and where it came from.
pub struct Answered {
    /// The reply.
    pub reply: ChatReply,
    /// Whether it came from memory: nothing was sent, and its tokens were paid for earlier.
    pub recalled: bool,
    keep: Option<Keep>,
}

impl Answered {
    /// A reply that was just bought and that nobody remembers.
    pub fn fresh(reply: ChatReply) -> Self {
        Self { reply, recalled: false, keep: None }
    }

    /// A reply from memory: it took no request and no time. Its `usage` is what it cost when it was bought.
    pub fn recalled(reply: ChatReply) -> Self {
        let reply = ChatReply { latency: Duration::ZERO, attempts: 0, failed: Vec::new(), ..reply };
        Self { reply, recalled: true, keep: None }
    }

    /// A reply that was just bought, and what remembers it.
    pub fn keepable(reply: ChatReply, keep: impl FnOnce(&ChatReply) + Send + 'static) -> Self {
        Self { reply, recalled: false, keep: Some(Box::new(keep)) }
    }

    /// Says that the reply is a whole and usable answer, so that it may be remembered. Not to be called for one that
    /// was refused, cut off or could not be understood: asking again may bring a better one.
    pub fn keep(&mut self) {
        if let Some(keep) = self.keep.take() {
            keep(&self.reply);
        }
    }
}

impl fmt::Debug for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answered")
            .field("reply", &self.reply)
            .field("recalled", &self.recalled)
            .finish_non_exhaustive()
    }
}

/// Who answers: enough to tell two models apart and to name one to a person.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ModelId {
    /// The provider's name, such as `openai`.
    pub provider: String,
    /// The model as its server names it.
    pub model: String,
    /// Host and, where it is not the usual one, port of the server.
    pub base_url_host: String,
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
