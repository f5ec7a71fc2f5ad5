//! Errors in the settings of a model, found before anything is sent.

use thiserror::Error;

/// Why a model can't be used with its settings.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// The model's name makes no sense.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The server wants a key and none is set.
    #[error(
        "no API key for {host}: set {variable}. If you meant a server of your own, set {base_url_variable} to its \
         address, such as http://localhost:8000/v1; servers on this machine need no key"
    )]
    MissingKey {
        /// The variable that should hold the key.
        variable: String,
        /// The variable that names the server.
        base_url_variable: String,
        /// The server that would have been asked.
        host: String,
    },
    /// A file names the server, but the key for it would come from the environment.
    #[error(
        "{variable} of the environment is not sent to {server}: {file_variable} is set in the `.env` file of this \
         folder, which may not be yours. Put the key for that server into the same file, set {file_variable} in the environment, or name the file with --env-file"
    )]
    ForeignAddress {
        /// The variable that holds the key.
        variable: String,
        /// The variable of the file that determines the server.
        file_variable: String,
        /// The server that would have received the key.
        server: String,
    },
    /// The provider has no usual address, and none is set.
    #[error("no address for {provider}: set {variable} to the address of your resource")]
    MissingBaseUrl {
        /// The provider's name.
        provider: String,
        /// The variable that should hold the address.
        variable: String,
    },
    /// The provider has several regions or locations, and no setting names one.
    #[error("no {what} for {provider}: set {variable}, or write `{what}` in the target")]
    MissingPlace {
        /// The provider's name.
        provider: &'static str,
        /// Name of the missing setting, such as `region`.
        what: &'static str,
        /// The variable that should hold it.
        variable: &'static str,
    },
    /// The name of a region, location or project that can't be part of an address.
    #[error("{variable} is not the name of a {what}: it has letters, digits and `-` only")]
    BadPlace {
        /// What it should name, such as `region`.
        what: &'static str,
        /// The variable that holds it.
        variable: &'static str,
    },
    /// An API version that does not look like one. Its value is not shown: it may be a misplaced secret.
    #[error("{variable} is not an API version: write a date such as 2024-10-21 or 2025-04-01-preview")]
    BadApiVersion {
        /// The variable that holds it.
        variable: String,
    },
    /// A key or header value with characters that HTTP cannot carry.
    #[error("the value of {source_name} can't be sent: it holds characters that an HTTP header may not have")]
    UnsendableSecret {
        /// Source of the value.
        source_name: String,
    },
    /// A text that can't be a key. Its value is not shown.
    #[error("{variable} does not hold a key as it is: {what}")]
    OddKey {
        /// The variable that holds it.
        variable: String,
        /// What is wrong with the value.
        what: &'static str,
    },
    /// Requests are signed with an AWS access key, and there is none or only half of one.
    #[error("no access key of AWS: {reason}")]
    NoAccessKey {
        /// What is wrong.
        reason: String,
    },
    /// A name that is not valid for a header.
    #[error("`{name}` is not a valid HTTP header name: use letters, digits and `-`")]
    BadHeaderName {
        /// The name as given.
        name: String,
    },
    /// An address that is not valid.
    #[error("{variable} is not a usable address: {reason}. Write it like http://localhost:8000/v1")]
    BadBaseUrl {
        /// Source of the address.
        variable: String,
        /// What is wrong with the value.
        reason: String,
    },
}

/// Beginnings of model names, and their providers.
const MODEL_NAMES: [(&str, &str); 9] = [
    ("claude", "anthropic"),
    ("gemini", "gemini"),
    ("mistral-", "mistral"),
    ("deepseek", "deepseek"),
    ("grok", "xai"),
    ("llama", "ollama"),
    ("qwen", "ollama"),
    ("gemma", "ollama"),
    ("phi", "ollama"),
];

/// Returns the provider that a model's name most likely belongs to.
fn likely_provider(model: &str) -> &'static str {
    let model = model.to_ascii_lowercase();
    MODEL_NAMES
        .iter()
        .find(|(beginning, _)| model.starts_with(beginning))
        .map_or("openai", |(_, provider)| provider)
}

/// The provider that was probably meant, or a list of all.
fn provider_hint(provider: &str, known: &[&'static str]) -> String {
    match assize_diagnostic::did_you_mean(provider, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "known: {}. Any server that speaks OpenAI's chat completions works as `openai:MODEL` with OPENAI_BASE_URL \
             set to its address, such as http://localhost:8000/v1",
            known.join(", ")
        ),
    }
}

/// Why a text does not name a model.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NameError {
    /// It has neither `:` nor `/`.
    #[error("`{0}` names no provider: write it like `{provider}:{0}`", provider = likely_provider(.0))]
    NoProvider(String),
    /// It has a provider only, with or without `:`.
    #[error("`{0}` is a provider without a model: write `{0}:MODEL`, as in `openai:gpt-4o-mini`")]
    NoModel(String),
    /// It has a space, a line break or the like.
    #[error("`{0}` is not a model name: it contains white space")]
    WhiteSpace(String),
    /// Its provider is not known.
    #[error("unknown provider `{provider}`; {}", provider_hint(provider, known))]
    UnknownProvider {
        /// The part before the first `:` or `/`.
        provider: String,
        /// The whole name.
        full: String,
        /// The names of all providers.
        known: Vec<&'static str>,
    },
}

/// Looks variables up. Empty ones count as not set.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;
