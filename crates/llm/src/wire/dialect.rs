//! Known differences between servers that speak OpenAI's format, before anything is learned from them.

use crate::endpoint::ModelEndpoint;
use crate::quirks::SchemaSupport;

/// A variant of OpenAI's chat completions format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatDialect {
    /// The path under the base URL.
    pub path: &'static str,
    /// The name of the output limit that is tried first.
    pub limit: &'static str,
    /// The name to try if the first is refused.
    pub other_limit: &'static str,
    /// The name of the sampling seed.
    pub seed: &'static str,
    /// The most of a reply schema that the server is known to accept.
    pub schema: SchemaSupport,
    /// The parameter for log-probabilities.
    pub logprobs: LogprobsField,
}

/// The parameter for log-probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogprobsField {
    /// `logprobs` is a flag, and `top_logprobs` the number of alternatives.
    Flag,
    /// `logprobs` is the number of alternatives.
    Count,
    /// As a flag, and the gateway must choose a server that supports it: others would silently leave the
    /// log-probabilities out.
    Routed,
}

impl ChatDialect {
    /// OpenAI itself, whose newer models refuse `max_tokens`.
    pub const OPENAI: Self = Self {
        path: "/chat/completions",
        limit: "max_completion_tokens",
        other_limit: "max_tokens",
        seed: "seed",
        schema: SchemaSupport::Lengthless,
        logprobs: LogprobsField::Flag,
    };

    /// Any other server. `max_tokens` is older and more widely known.
    pub const COMPATIBLE: Self =
        Self { limit: "max_tokens", other_limit: "max_completion_tokens", ..Self::OPENAI };

    /// Servers that turn a schema into a grammar, as llama.cpp does. Small models need the lengths in the schema, or
    /// they do not stop.
    pub const GRAMMAR: Self = Self { schema: SchemaSupport::Full, ..Self::COMPATIBLE };

    /// Mistral, which has its own name for the seed.
    pub const MISTRAL: Self = Self { seed: "random_seed", ..Self::COMPATIBLE };

    /// Together, where the number of alternatives replaces the flag.
    pub const TOGETHER: Self = Self { logprobs: LogprobsField::Count, ..Self::COMPATIBLE };

    /// OpenRouter, which passes requests on to several servers with the same model.
    pub const OPENROUTER: Self = Self { logprobs: LogprobsField::Routed, ..Self::COMPATIBLE };

    /// Servers that promise a JSON object but follow no schema, such as DeepSeek's.
    pub const OBJECT_ONLY: Self = Self { schema: SchemaSupport::JsonObject, ..Self::COMPATIBLE };

    /// The dialect of the server at this address. A local server is most likely llama.cpp or based on it.
    pub fn for_endpoint(endpoint: &ModelEndpoint) -> Self {
        let host = endpoint.host();
        if host == "api.openai.com" || host.ends_with(".api.openai.com") {
            Self::OPENAI
        } else if endpoint.is_loopback() {
            Self::GRAMMAR
        } else {
            Self::COMPATIBLE
        }
    }
}
