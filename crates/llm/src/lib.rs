//! Asking a model: one request and one reply type, one file per wire format, a transport, retries and redaction.
//!
//! [`Client`] is the real thing; [`Ask`] is the trait everything above depends on. This crate decides nothing about
//! what a reply means for a grade.

mod address;
mod ask;
mod classify;
mod client;
mod clock;
mod config;
mod endpoint;
mod error;
mod estimate;
mod excerpt;
mod flight;
mod halves;
mod http;
mod identity;
mod local;
mod logprobs;
mod memory;
mod meter;
mod name;
mod pace;
mod price;
mod price_table;
mod provider;
mod proxy;
mod quirks;
mod readiness;
mod redact;
mod reply;
mod request;
mod retry;
mod retry_after;
mod ring;
mod settings;
mod spelled;
mod transport;
pub mod wire;

pub use ask::{Answered, Ask, BoxFuture, ModelId};
pub use client::{Client, ClientParts, Setup};
pub use clock::{Clock, TokioClock};
pub use config::ConfigError;
pub use endpoint::{Endpoint, Key};
pub use error::{AskError, ErrorKind, FailedAttempt};
pub use estimate::Estimator;
pub use halves::whole_characters;
pub use http::{HttpOptions, HttpTransport};
pub use identity::CallKey;
pub use logprobs::{Alternative, TokenLogprob};
pub use memory::{Found, KeptReply, Miss, Remembering, ReplyMemory};
pub use meter::{Budget, Meter};
pub use name::{ModelName, NameError};
pub use pace::{Accounts, Limits};
pub use price::{ModelCard, Price, Rates};
pub use price_table::{PriceOverride, PriceTable, prices_as_of};
pub use provider::{
    USUAL_CACHED_BYTES, cached_prefix_bytes, key_variables, known_providers, offers_logprobs,
};
pub use proxy::{ModelProxy, ProxySetup, ProxyUsage};
pub use quirks::{LimitField, Quirks, SchemaSupport};
pub use readiness::{Readiness, ReadyState, readiness, usable};
pub use redact::Redactor;
pub use reply::{ChatReply, Finish, Usage};
pub use request::{ChatMessage, ChatRequest, JsonSchemaFormat, Part, ReplySchema, Role};
pub use reqwest::Url;
pub use reqwest::header::HeaderMap;
pub use retry::RetryPolicy;
pub use secrecy::SecretString;
pub use transport::{HttpAnswer, Outgoing, Transport, TransportError};
