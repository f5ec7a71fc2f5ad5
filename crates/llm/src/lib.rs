//! Requests to language models: one request and one reply type, one file per wire format, a transport, retries and
//! redaction.
//!
//! [`ChatModel`] is the trait that other crates depend on, and [`ModelClient`] implements it over the network. This crate does
//! not interpret replies.

#![warn(missing_docs)]

mod address;
mod answer_body;
mod aws;
mod batch;
mod batch_lines;
mod budget;
mod cached_model;
mod call_event;
mod call_key;
mod call_order;
mod call_source;
mod chat_model;
mod check;
mod classify;
mod client;
mod client_pool;
mod clock;
mod config;
mod endpoint;
mod error;
mod escaped_match;
mod estimate;
mod excerpt;
mod http;
mod logprobs;
mod logprobs_probe;
mod lone_surrogates;
mod loopback;
mod name;
mod output_limit;
mod price;
mod price_list;
mod price_table;
mod prompt_cache;
mod provider;
mod proxies;
mod proxy;
mod quirks;
mod rate_limit;
mod readiness;
mod redact;
mod reply;
mod reply_exchange;
mod request;
mod retry;
mod retry_after;
mod sent_requests;
mod server_memory;
mod settings;
mod shared_limits;
mod single_flight;
mod token_counts;
mod transport;
mod unambiguous_json;
mod web_client;
pub mod wire;

pub use batch::{
    BatchClient, BatchDraft, BatchFormat, BatchLimits, BatchPlace, BatchRole, BatchSearch, BatchState,
    BatchStatus, BatchStorage, BatchTrace, InvalidBatchPlace, InvalidBatchRole, ResultSink, UploadedRequests,
};
pub use batch_lines::{
    BatchLineError, BatchOutcome, BatchReplyLine, BatchReplyLines, BatchRequestLine, LONGEST_CUSTOM_ID,
};
pub use budget::{BatchReservation, Budget, BudgetTracker, CallBound, CallBounds};
pub use cached_model::{CacheHit, CachedModel, DeferredCalls, NO_REPLY_IMPORTED, OnCacheMiss, ReplyStore};
pub use call_event::{CallEvent, CallObserver};
pub use call_key::{CallKey, InvalidCallKey};
pub use call_order::in_order_of;
pub use call_source::CallSource;
pub use chat_model::{BoxFuture, CacheableReply, ChatModel, ModelId};
pub use check::{KeyCheck, ListedModels, check, check_judge};
pub use client::{BatchRequest, ClientParts, ClientSetup, ModelClient};
pub use clock::{Clock, TokioClock};
pub use config::{ConfigError, NameError};
pub use endpoint::{ApiKey, ModelEndpoint};
pub use error::{AskError, ErrorKind, FailedAttempt};
pub use estimate::TokenEstimator;
pub use http::{HttpOptions, HttpTransport};
pub use logprobs::{TokenAlternative, TokenLogprob};
pub use lone_surrogates::replace_lone_surrogates;
pub use name::ModelName;
pub use output_limit::{OutputLimit, reply_limit, thinks};
pub use price::{ModelCard, ModelPrice, TokenRates};
pub use price_list::PriceList;
pub use price_table::{PriceOverride, PriceTable};
pub use prompt_cache::{USUAL_CACHED_BYTES, cached_prefix_bytes};
pub use provider::{
    gives_embeddings, gives_labels, is_at_home, is_home_of, key_variables, known_providers, offers_logprobs,
};
pub use proxies::HttpProxies;
pub use proxy::{ModelProxy, ProxySetup, ProxyUsage};
pub use quirks::{LimitField, SchemaSupport, ServerQuirks};
pub use rate_limit::{AccountStatus, ProviderAccounts, RateLimits, ServerOutage};
pub use readiness::{ProviderReadiness, ReadyState, judge_readiness, readiness, usable};
pub use redact::Redactor;
pub use reply::{ChatReply, FinishReason, ReplyDefect};
pub use reply_exchange::ReplyExchange;
pub use request::{ChatMessage, ChatRequest, JsonSchemaFormat, MessageRole, Part, ReplySchema};
pub use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
pub use reqwest::{Method, Url};
pub use retry::RetryPolicy;
pub use secrecy::SecretString;
pub use sent_requests::SentRequests;
pub use server_memory::ServerMemory;
pub use settings::{FILE_VARIABLES, is_routed_by_file};
pub use shared_limits::{BudgetAmount, BudgetSource, ReportedAllowance, SharedRate};
pub use token_counts::TokenCounts;
pub use transport::{HttpAnswer, HttpRequest, Transport, TransportError};
pub use unambiguous_json::UnambiguousJson;
pub use web_client::{WebAnswer, WebClient};

#[cfg(test)]
mod tests;
