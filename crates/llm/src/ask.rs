//! The trait everything above this crate depends on, so that a scripted model can take a server's place.

use std::fmt;

pub use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::error::AskError;
use crate::reply::ChatReply;
use crate::request::ChatRequest;

/// Something that answers questions.
pub trait Ask: Send + Sync {
    /// Answers one request, or says why not. Dropping the future gives the request up.
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, AskError>>;

    /// Who answers.
    fn describe(&self) -> ModelId;
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

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider, self.model)
    }
}
