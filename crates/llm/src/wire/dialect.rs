//! In what servers that speak OpenAI's format differ from each other before anything is learned from them.

use crate::quirks::SchemaSupport;

/// A variant of OpenAI's chat completions format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatDialect {
    /// The path under the base URL.
    pub path: &'static str,
    /// The name of the output limit that is tried first.
    pub limit: &'static str,
    /// The name that is tried when the first is refused.
    pub other_limit: &'static str,
    /// The name of the sampling seed.
    pub seed: &'static str,
    /// The most of a reply schema the server is known to take.
    pub schema: SchemaSupport,
    /// Parameter that asks for log-probabilities.
    pub logprobs: LogprobsField,
}

/// Parameter that asks a server for log-probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogprobsField {
    /// `logprobs` says that they are wanted, `top_logprobs` how many alternatives.
    Flag,
    /// `logprobs` is the number of alternatives.
    Count,
    /// As a flag, and the server is to pass the request only to those who serve the model with them: others would leave
    /// them out without a word.
    Routed,
}

impl ChatDialect {
    /// OpenAI itself, whose newer models refuse `max_tokens`.
    pub const OPENAI: Self = Self {
        path: "/chat/completions",
        limit: "max_completion_tokens",
        other_limit: "max_tokens",
        seed: "seed",
        schema: SchemaSupport::Full,
        logprobs: LogprobsField::Flag,
    };

    /// Any other server. `max_tokens` is the older and wider known name.
    pub const COMPATIBLE: Self =
        Self { limit: "max_tokens", other_limit: "max_completion_tokens", ..Self::OPENAI };

    /// Mistral, which has a word of its own for the seed.
    pub const MISTRAL: Self = Self { seed: "random_seed", ..Self::COMPATIBLE };

    /// Together, where the number of alternatives stands in place of the wish for them.
    pub const TOGETHER: Self = Self { logprobs: LogprobsField::Count, ..Self::COMPATIBLE };

    /// OpenRouter, behind which several servers may have the same model.
    pub const OPENROUTER: Self = Self { logprobs: LogprobsField::Routed, ..Self::COMPATIBLE };

    /// Servers that promise some JSON object but follow no schema, such as DeepSeek's.
    pub const OBJECT_ONLY: Self = Self { schema: SchemaSupport::JsonObject, ..Self::COMPATIBLE };

    /// The dialect of the server with this host name.
    pub fn for_host(host: &str) -> Self {
        let openai = host == "api.openai.com" || host.ends_with(".api.openai.com");
        if openai { Self::OPENAI } else { Self::COMPATIBLE }
    }
}
