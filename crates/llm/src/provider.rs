//! All known providers, one row each: addresses, the variables that configure them, and wire formats.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::address;
use crate::config::{ConfigError, Lookup};
use crate::endpoint::{ModelEndpoint, is_loopback};
use crate::wire::{
    AnthropicMessages, BedrockConverse, ChatDialect, EmbeddingFormat, GeminiGenerate, LabelFormat,
    OllamaChat, OpenAiChat, OpenAiResponses, WireCodec,
};

/// One provider.
#[derive(Debug)]
pub(crate) struct ProviderRow {
    /// The name before the `:` or `/` of a model name.
    pub(crate) name: &'static str,
    /// Other names people use for it.
    pub(crate) aliases: &'static [&'static str],
    /// The variables that may hold the key. The first one that is set is used. Never empty.
    pub(crate) key_variables: &'static [&'static str],
    /// Variables with credentials of another kind, which are not read, and what to do instead.
    pub(crate) unread: &'static [(&'static str, &'static str)],
    /// True if requests may be signed with an access key of AWS instead.
    pub(crate) takes_access_key: bool,
    /// True if a server on another machine requires a key.
    pub(crate) key_needed: bool,
    /// The variables that may set the address. The first one that is set is used. Never empty.
    pub(crate) base_url_variables: &'static [&'static str],
    /// The address if none of those is set; `None` if each customer has another one.
    pub(crate) base_url: Option<&'static str>,
    /// Turns the address as written into the base URL.
    pub(crate) address: fn(&str, Lookup<'_>) -> Result<String, ConfigError>,
    /// A path where a GET costs nothing and requires the key, if one is needed; `None` if none is known.
    pub(crate) free: Option<&'static str>,
    /// The wire format for the address in use.
    pub(crate) wire: fn(&ModelEndpoint) -> Arc<dyn WireCodec>,
}

/// The variables of the judge that `JUDGE_MODEL` names.
pub(crate) const JUDGE_KEY: &str = "JUDGE_API_KEY";
pub(crate) const JUDGE_BASE_URL: &str = "JUDGE_BASE_URL";

/// Whether a provider only computes embeddings.
pub fn gives_embeddings(provider: &str) -> bool {
    provider.ends_with("-embeddings")
}

/// Whether a provider only labels texts.
pub fn gives_labels(provider: &str) -> bool {
    provider.ends_with("-moderation") || provider.ends_with("-classifier")
}

/// Providers whose documentation does not mention log-probabilities, or rules them out.
const WITHOUT_LOGPROBS: [&str; 4] = ["anthropic", "bedrock", "groq", "mistral"];

/// Whether a provider may return log-probabilities. Some of its models still may not.
pub fn offers_logprobs(provider: &str) -> bool {
    !WITHOUT_LOGPROBS.contains(&provider) && !gives_embeddings(provider) && !gives_labels(provider)
}

/// The base of most rows: a hosted server that speaks OpenAI's chat completions.
const HOSTED: ProviderRow = ProviderRow {
    name: "",
    aliases: &[],
    key_variables: &[],
    unread: &[],
    takes_access_key: false,
    key_needed: true,
    base_url_variables: &[],
    base_url: None,
    address: address::plain,
    free: Some("/models"),
    wire: |_| Arc::new(OpenAiChat::new(ChatDialect::COMPATIBLE)),
};

/// A row of [`HOSTED`]: its name, the variables of its key and of its address, and the usual address.
const fn hosted(
    name: &'static str,
    key_variables: &'static [&'static str],
    base_url_variables: &'static [&'static str],
    base_url: &'static str,
) -> ProviderRow {
    ProviderRow { name, key_variables, base_url_variables, base_url: Some(base_url), ..HOSTED }
}

/// A server that users run themselves. It needs no key, on any host.
const fn own(
    name: &'static str,
    key_variables: &'static [&'static str],
    base_url_variables: &'static [&'static str],
    base_url: &'static str,
) -> ProviderRow {
    ProviderRow { key_needed: false, ..hosted(name, key_variables, base_url_variables, base_url) }
}

const OPENAI: ProviderRow = ProviderRow {
    name: "openai",
    key_variables: &["OPENAI_API_KEY"],
    base_url_variables: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
    base_url: Some("https://api.openai.com/v1"),
    wire: |endpoint| Arc::new(OpenAiChat::new(ChatDialect::for_endpoint(endpoint))),
    ..HOSTED
};

const AZURE: ProviderRow = ProviderRow {
    name: "azure",
    key_variables: &["AZURE_OPENAI_API_KEY", "AZURE_API_KEY"],
    base_url_variables: &["AZURE_OPENAI_BASE_URL", "AZURE_API_BASE", "AZURE_OPENAI_ENDPOINT"],
    address: address::azure,
    wire: |endpoint| Arc::new(OpenAiChat::azure(address::azure_has_deployments(&endpoint.base_url))),
    ..HOSTED
};

const GEMINI: ProviderRow = ProviderRow {
    name: "gemini",
    key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    base_url_variables: &["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"],
    base_url: Some("https://generativelanguage.googleapis.com/v1beta"),
    address: address::gemini,
    wire: |_| Arc::new(GeminiGenerate::Api),
    ..HOSTED
};

const BEDROCK: ProviderRow = ProviderRow {
    name: "bedrock",
    key_variables: &["AWS_BEARER_TOKEN_BEDROCK"],
    takes_access_key: true,
    base_url_variables: &["AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "BEDROCK_BASE_URL"],
    base_url: Some(address::BEDROCK),
    address: address::bedrock,
    free: None,
    wire: |_| Arc::new(BedrockConverse),
    ..HOSTED
};

const VERTEX: ProviderRow = ProviderRow {
    name: "vertex",
    key_variables: &["VERTEX_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN", "GOOGLE_OAUTH_ACCESS_TOKEN"],
    unread: &[(
        "GOOGLE_APPLICATION_CREDENTIALS",
        "such files are not read; `gcloud auth print-access-token` prints a token",
    )],
    base_url_variables: &["VERTEX_BASE_URL", "GOOGLE_VERTEX_BASE_URL"],
    base_url: Some(address::VERTEX),
    address: address::vertex,
    free: None,
    wire: |_| Arc::new(GeminiGenerate::Vertex),
    ..HOSTED
};

/// Hugging Face's server for models that are not chat models.
const HUGGINGFACE_INFERENCE: ProviderRow = ProviderRow {
    key_variables: &["HF_TOKEN", "HUGGINGFACE_API_KEY"],
    base_url_variables: &["HUGGINGFACE_INFERENCE_URL"],
    base_url: Some("https://router.huggingface.co/hf-inference"),
    free: None,
    ..HOSTED
};

pub(crate) static PROVIDERS: &[ProviderRow] = &[
    OPENAI,
    ProviderRow {
        name: "openai-responses",
        aliases: &["responses"],
        wire: |_| Arc::new(OpenAiResponses),
        ..OPENAI
    },
    ProviderRow {
        name: "openai-embeddings",
        aliases: &["embeddings"],
        wire: |_| Arc::new(EmbeddingFormat::OpenAi),
        ..OPENAI
    },
    ProviderRow {
        name: "openai-moderation",
        aliases: &["moderation"],
        wire: |_| Arc::new(LabelFormat::OpenAiModeration),
        ..OPENAI
    },
    ProviderRow { aliases: &["azure-openai", "azureopenai"], ..AZURE },
    ProviderRow {
        aliases: &["claude"],
        address: address::anthropic,
        free: Some("/v1/models"),
        wire: |_| Arc::new(AnthropicMessages),
        ..hosted("anthropic", &["ANTHROPIC_API_KEY"], &["ANTHROPIC_BASE_URL"], "https://api.anthropic.com")
    },
    ProviderRow { aliases: &["google", "google-gemini", "googleai"], ..GEMINI },
    ProviderRow { aliases: &["amazon-bedrock", "aws-bedrock"], ..BEDROCK },
    ProviderRow { aliases: &["vertex-ai", "google-vertex"], ..VERTEX },
    ProviderRow {
        address: address::ollama,
        free: Some("/api/tags"),
        wire: |_| Arc::new(OllamaChat),
        ..own(
            "ollama",
            &["OLLAMA_API_KEY"],
            &["OLLAMA_BASE_URL", "OLLAMA_API_BASE", "OLLAMA_HOST"],
            "http://127.0.0.1:11434",
        )
    },
    ProviderRow {
        // Its list of models needs no key, so it can't check one.
        free: Some("/key"),
        wire: |_| Arc::new(OpenAiChat::new(ChatDialect::OPENROUTER)),
        ..hosted(
            "openrouter",
            &["OPENROUTER_API_KEY"],
            &["OPENROUTER_BASE_URL"],
            "https://openrouter.ai/api/v1",
        )
    },
    hosted("groq", &["GROQ_API_KEY"], &["GROQ_BASE_URL"], "https://api.groq.com/openai/v1"),
    ProviderRow {
        aliases: &["together_ai", "togetherai"],
        wire: |_| Arc::new(OpenAiChat::new(ChatDialect::TOGETHER)),
        ..hosted("together", &["TOGETHER_API_KEY"], &["TOGETHER_BASE_URL"], "https://api.together.xyz/v1")
    },
    ProviderRow {
        wire: |_| Arc::new(OpenAiChat::new(ChatDialect::MISTRAL)),
        ..hosted("mistral", &["MISTRAL_API_KEY"], &["MISTRAL_BASE_URL"], "https://api.mistral.ai/v1")
    },
    ProviderRow {
        wire: |_| Arc::new(OpenAiChat::new(ChatDialect::OBJECT_ONLY)),
        ..hosted("deepseek", &["DEEPSEEK_API_KEY"], &["DEEPSEEK_BASE_URL"], "https://api.deepseek.com/v1")
    },
    ProviderRow {
        aliases: &["grok"],
        ..hosted("xai", &["XAI_API_KEY"], &["XAI_BASE_URL"], "https://api.x.ai/v1")
    },
    ProviderRow {
        aliases: &["fireworks_ai"],
        ..hosted(
            "fireworks",
            &["FIREWORKS_API_KEY"],
            &["FIREWORKS_BASE_URL"],
            "https://api.fireworks.ai/inference/v1",
        )
    },
    hosted("cerebras", &["CEREBRAS_API_KEY"], &["CEREBRAS_BASE_URL"], "https://api.cerebras.ai/v1"),
    ProviderRow {
        free: None,
        ..hosted(
            "deepinfra",
            &["DEEPINFRA_API_KEY"],
            &["DEEPINFRA_BASE_URL"],
            "https://api.deepinfra.com/v1/openai",
        )
    },
    ProviderRow {
        aliases: &["hf"],
        free: None,
        ..hosted(
            "huggingface",
            &["HF_TOKEN", "HUGGINGFACE_API_KEY"],
            &["HUGGINGFACE_BASE_URL"],
            "https://router.huggingface.co/v1",
        )
    },
    ProviderRow {
        name: "azure-embeddings",
        wire: |endpoint| {
            let deployment_in_path = address::azure_has_deployments(&endpoint.base_url);
            Arc::new(EmbeddingFormat::Azure { deployment_in_path })
        },
        ..AZURE
    },
    ProviderRow {
        name: "gemini-embeddings",
        aliases: &["google-embeddings"],
        wire: |_| Arc::new(EmbeddingFormat::Gemini),
        ..GEMINI
    },
    ProviderRow { name: "vertex-embeddings", wire: |_| Arc::new(EmbeddingFormat::Vertex), ..VERTEX },
    ProviderRow { name: "bedrock-embeddings", wire: |_| Arc::new(EmbeddingFormat::Bedrock), ..BEDROCK },
    ProviderRow {
        wire: |_| Arc::new(EmbeddingFormat::OpenAi),
        ..hosted(
            "mistral-embeddings",
            &["MISTRAL_API_KEY"],
            &["MISTRAL_BASE_URL"],
            "https://api.mistral.ai/v1",
        )
    },
    ProviderRow {
        free: None,
        wire: |_| Arc::new(EmbeddingFormat::Cohere),
        ..hosted(
            "cohere-embeddings",
            &["COHERE_API_KEY", "CO_API_KEY"],
            &["COHERE_BASE_URL"],
            "https://api.cohere.com/v2",
        )
    },
    ProviderRow {
        free: None,
        wire: |_| Arc::new(EmbeddingFormat::Voyage),
        ..hosted(
            "voyage-embeddings",
            &["VOYAGE_API_KEY"],
            &["VOYAGE_BASE_URL", "VOYAGE_API_BASE_URL"],
            "https://api.voyageai.com/v1",
        )
    },
    ProviderRow {
        name: "huggingface-embeddings",
        wire: |_| Arc::new(EmbeddingFormat::HuggingFace),
        ..HUGGINGFACE_INFERENCE
    },
    ProviderRow {
        name: "huggingface-classifier",
        wire: |_| Arc::new(LabelFormat::HuggingFaceText),
        ..HUGGINGFACE_INFERENCE
    },
    ProviderRow {
        name: "huggingface-token-classifier",
        wire: |_| Arc::new(LabelFormat::HuggingFaceTokens),
        ..HUGGINGFACE_INFERENCE
    },
    ProviderRow {
        aliases: &["hosted_vllm"],
        ..own("vllm", &["VLLM_API_KEY"], &["VLLM_BASE_URL"], "http://127.0.0.1:8000/v1")
    },
    ProviderRow {
        aliases: &["llama.cpp", "llama-cpp"],
        wire: |_| Arc::new(OpenAiChat::new(ChatDialect::GRAMMAR)),
        ..own("llamacpp", &["LLAMACPP_API_KEY"], &["LLAMACPP_BASE_URL"], "http://127.0.0.1:8080/v1")
    },
    ProviderRow {
        aliases: &["lm-studio", "lm_studio"],
        wire: |_| Arc::new(OpenAiChat::new(ChatDialect::GRAMMAR)),
        ..own("lmstudio", &["LMSTUDIO_API_KEY"], &["LMSTUDIO_BASE_URL"], "http://127.0.0.1:1234/v1")
    },
];

/// The names of all providers, in the order they are shown to people.
pub fn known_providers() -> impl Iterator<Item = &'static str> {
    PROVIDERS.iter().map(|provider| provider.name)
}

/// The variables that hold the keys of all known providers, each once.
pub fn key_variables() -> impl Iterator<Item = &'static str> {
    let names: BTreeSet<&str> =
        PROVIDERS.iter().flat_map(|provider| provider.key_variables).copied().chain([JUDGE_KEY]).collect();
    names.into_iter()
}

/// Whether an address is a usual server of the provider whose key this variable holds. If the variable is not a
/// provider's key, the server of any provider counts. Subdomains of a usual host, such as regional servers, count too.
pub fn is_home_of(variable: &str, address: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(address.trim()) else { return false };
    let Some(host) = url.host_str() else { return false };
    let owns = |row: &&ProviderRow| row.key_variables.contains(&variable);
    let is_owned = PROVIDERS.iter().any(|row| owns(&row));

    PROVIDERS.iter().filter(|row| !is_owned || owns(row)).any(|row| {
        let Some(home) = row.base_url.and_then(|usual| reqwest::Url::parse(usual).ok()) else { return false };
        let Some(usual) = home.host_str() else { return false };
        let is_below = host.strip_suffix(usual).is_some_and(|before| before.ends_with('.'));
        // Any program may listen on this machine.
        !is_loopback(&home)
            && url.scheme() == home.scheme()
            && url.port_or_known_default() == home.port_or_known_default()
            && (host == usual || is_below)
    })
}

pub(crate) fn find(name: &str) -> Option<&'static ProviderRow> {
    PROVIDERS.iter().find(|provider| provider.name == name || provider.aliases.contains(&name))
}

/// Whether this is the name of a user's own server, which charges nothing for tokens.
pub(crate) fn is_own(name: &str) -> bool {
    find(name).is_some_and(|provider| !provider.key_needed)
}

/// Whether the provider itself runs this host.
pub fn is_at_home(name: &str, host: &str) -> bool {
    let usual = find(name).and_then(|provider| reqwest::Url::parse(provider.base_url?).ok());
    usual.is_some_and(|url| url.host_str() == Some(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Add a new provider here, or to [`WITHOUT_LOGPROBS`].
    #[test]
    fn it_is_known_of_each_provider_whether_it_offers_logprobs() {
        let offering: Vec<&str> = known_providers().filter(|name| offers_logprobs(name)).collect();

        assert_eq!(
            offering,
            [
                "openai", "openai-responses", "azure", "gemini", "vertex", "ollama", "openrouter",
                "together", "deepseek", "xai", "fireworks", "cerebras", "deepinfra", "huggingface", "vllm",
                "llamacpp", "lmstudio",
            ]
        );
    }

    #[test]
    fn addresses_are_homes_of_their_provider_only() {
        for (variable, address, is_home) in [
            ("OPENAI_API_KEY", "https://api.openai.com/v1", true),
            ("OPENAI_API_KEY", "https://eu.api.openai.com/v1", true),
            ("MODEL", "https://api.openai.com/v1", true),
            ("OPENAI_API_KEY", "https://api.anthropic.com", false),
            ("OPENAI_API_KEY", "http://api.openai.com/v1", false),
            ("OPENAI_API_KEY", "https://api.openai.com:8443/v1", false),
            ("OPENAI_API_KEY", "https://api.openai.com.far.example", false),
            ("OPENAI_API_KEY", "https://notapi.openai.com", false),
            // Anybody can have a folder there.
            ("GEMINI_API_KEY", "https://storage.googleapis.com/far/v1beta", false),
            ("TEAM_KEY", "https://far.example/v1", false),
            ("TEAM_KEY", "http://127.0.0.1:8000/v1", false),
        ] {
            assert_eq!(is_home_of(variable, address), is_home, "{variable} {address}");
        }
    }

    #[test]
    fn rows_are_complete_and_names_are_unique() {
        let mut names = BTreeSet::new();
        for row in PROVIDERS {
            assert!(!row.key_variables.is_empty() && !row.base_url_variables.is_empty(), "{}", row.name);
            for name in row.aliases.iter().chain([&row.name]) {
                assert!(names.insert(*name), "{name} is used twice");
                assert_eq!(*name, name.to_ascii_lowercase());
                assert!(!name.contains([':', '/']));
            }
            // The addresses of these two depend on variables.
            let is_placed = ["bedrock", "vertex"].iter().any(|name| row.name.starts_with(name));
            if let Some(url) = row.base_url.filter(|_| !is_placed) {
                let env = |_: &str| None;
                let settled = (row.address)(url, &env).unwrap();
                assert_eq!(settled.trim_end_matches('/'), url, "the address of {} is settled", row.name);
            }
        }
    }
}
