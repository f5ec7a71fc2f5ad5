//! Formats of batches, and the providers' limits for them.

/// The format of a provider's batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchFormat {
    /// Files of lines, and OpenAI's `/batches`. Holds the endpoint that each line names.
    OpenAi(&'static str),
    /// Anthropic's Message Batches.
    Anthropic,
    /// Gemini's batches of inline requests.
    Gemini,
    /// Bedrock's jobs, whose requests and results are objects in a bucket.
    Bedrock,
}

/// Limits of one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLimits {
    /// Requests.
    pub requests: usize,
    /// Bytes of everything that is sent.
    pub bytes: usize,
    /// The fewest requests.
    pub fewest: usize,
}

impl BatchFormat {
    /// The format for a provider. `wire` is the name of the wire format of its requests.
    ///
    /// # Errors
    /// The reason, if the provider has no batches or has some in an unsupported format.
    pub(crate) fn for_provider(name: &str, wire: &str) -> Result<Self, String> {
        match (name, wire) {
            ("openai" | "groq" | "vllm", "openai-chat") => Ok(Self::OpenAi("/v1/chat/completions")),
            ("openai-responses", _) => Ok(Self::OpenAi("/v1/responses")),
            ("azure", _) => Ok(Self::OpenAi("/chat/completions")),
            ("anthropic", _) => Ok(Self::Anthropic),
            ("gemini", _) => Ok(Self::Gemini),
            ("bedrock", _) => Ok(Self::Bedrock),
            (name, _) => Err(format!(
                "`{name}` has no batches that Assize speaks; it does for {}. A server that speaks OpenAI's files and \
                 batches works as `openai:MODEL` with OPENAI_BASE_URL",
                Self::PROVIDERS.join(", ")
            )),
        }
    }

    /// Providers with batches.
    const PROVIDERS: [&'static str; 8] =
        ["openai", "openai-responses", "azure", "groq", "vllm", "anthropic", "gemini", "bedrock"];

    /// Limits of one batch as the provider documents them, with a margin of 1 MiB for what a format adds around its requests.
    pub fn limits(self) -> BatchLimits {
        let usual = BatchLimits {
            requests: assize_limits::BATCH_REQUESTS,
            bytes: assize_limits::BATCH_BYTES,
            fewest: 1,
        };
        match self {
            Self::OpenAi(_) => usual,
            Self::Anthropic => BatchLimits {
                requests: assize_limits::ANTHROPIC_BATCH_REQUESTS,
                bytes: assize_limits::ANTHROPIC_BATCH_BYTES,
                ..usual
            },
            // Longer ones would have to be uploaded as a file.
            Self::Gemini => BatchLimits { bytes: assize_limits::GEMINI_BATCH_BYTES, ..usual },
            // These are quotas of the account, which differ by model; here are the usual ones. Results repeat
            // their requests.
            Self::Bedrock => BatchLimits { fewest: assize_limits::BEDROCK_BATCH_FEWEST, ..usual },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider;

    #[test]
    fn every_provider_has_batches_or_a_reason_why_not() {
        for name in provider::known_providers() {
            let wire = if name == "anthropic" { "anthropic-messages" } else { "openai-chat" };
            let found = BatchFormat::for_provider(name, wire);
            assert_eq!(found.is_ok(), BatchFormat::PROVIDERS.contains(&name), "{name}");
            if let Err(reason) = found {
                assert!(reason.contains(name), "{reason}");
            }
        }
    }
}
