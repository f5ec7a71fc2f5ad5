//! Table of the kinds of targets.

use assize_diagnostic::did_you_mean;

/// How a kind of target is implemented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProviderFamily {
    /// A model. The model client knows the provider by the same name.
    Model,
    Command,
    Mock,
    /// A server. The entry describes the requests.
    Http,
    /// The answer is the question.
    Echo,
    /// Recorded answers.
    Replay,
    /// Recorded sessions, in this log format if the kind determines it.
    Sessions(Option<&'static str>),
    /// A program that works on files by itself. Contains the name of its preset.
    Agent(&'static str),
    /// The name of an agent's library. It is treated as that agent, because the same program is run.
    Library(&'static str),
    /// A kind that can't be run yet. Contains the missing feature, as a noun.
    Unbuilt(&'static str),
}

/// One kind of target.
#[derive(Debug)]
pub(super) struct TargetProviderRow {
    /// Preferred spelling.
    pub(super) name: &'static str,
    aliases: &'static [&'static str],
    pub(super) family: ProviderFamily,
}

const fn provider_row(
    name: &'static str,
    aliases: &'static [&'static str],
    family: ProviderFamily,
) -> TargetProviderRow {
    TargetProviderRow { name, aliases, family }
}

static PROVIDERS: &[TargetProviderRow] = &[
    provider_row("openai", &[], ProviderFamily::Model),
    provider_row("openai-compatible", &[], ProviderFamily::Model),
    provider_row("openai-responses", &["responses"], ProviderFamily::Model),
    provider_row("openai-embeddings", &["embeddings"], ProviderFamily::Model),
    provider_row("azure-embeddings", &[], ProviderFamily::Model),
    provider_row("gemini-embeddings", &["google-embeddings"], ProviderFamily::Model),
    provider_row("vertex-embeddings", &[], ProviderFamily::Model),
    provider_row("bedrock-embeddings", &[], ProviderFamily::Model),
    provider_row("mistral-embeddings", &[], ProviderFamily::Model),
    provider_row("cohere-embeddings", &[], ProviderFamily::Model),
    provider_row("voyage-embeddings", &[], ProviderFamily::Model),
    provider_row("huggingface-embeddings", &[], ProviderFamily::Model),
    provider_row("openai-moderation", &["moderation"], ProviderFamily::Model),
    provider_row("huggingface-classifier", &[], ProviderFamily::Model),
    provider_row("huggingface-token-classifier", &[], ProviderFamily::Model),
    provider_row("azure", &["azure-openai"], ProviderFamily::Model),
    provider_row("anthropic", &[], ProviderFamily::Model),
    provider_row("gemini", &["google", "google-gemini"], ProviderFamily::Model),
    provider_row("bedrock", &["amazon-bedrock", "aws-bedrock"], ProviderFamily::Model),
    provider_row("vertex", &["vertex-ai", "google-vertex"], ProviderFamily::Model),
    provider_row("ollama", &[], ProviderFamily::Model),
    provider_row("openrouter", &[], ProviderFamily::Model),
    provider_row("groq", &[], ProviderFamily::Model),
    provider_row("together", &["together-ai", "togetherai"], ProviderFamily::Model),
    provider_row("mistral", &[], ProviderFamily::Model),
    provider_row("deepseek", &[], ProviderFamily::Model),
    provider_row("xai", &["grok"], ProviderFamily::Model),
    provider_row("fireworks", &["fireworks-ai"], ProviderFamily::Model),
    provider_row("cerebras", &[], ProviderFamily::Model),
    provider_row("deepinfra", &[], ProviderFamily::Model),
    provider_row("huggingface", &["hf"], ProviderFamily::Model),
    provider_row("vllm", &["hosted-vllm"], ProviderFamily::Model),
    provider_row("llamacpp", &["llama.cpp", "llama-cpp"], ProviderFamily::Model),
    provider_row("lmstudio", &["lm-studio"], ProviderFamily::Model),
    provider_row("cli", &["command"], ProviderFamily::Command),
    provider_row("http", &["https"], ProviderFamily::Http),
    provider_row("mock", &[], ProviderFamily::Mock),
    provider_row("echo", &[], ProviderFamily::Echo),
    provider_row("transcript", &[], ProviderFamily::Sessions(None)),
    provider_row("copilot-log", &[], ProviderFamily::Sessions(Some("copilot"))),
    provider_row("replay", &[], ProviderFamily::Replay),
    provider_row("claude", &["claude-code", "claude-cli"], ProviderFamily::Agent("claude")),
    provider_row("codex", &["codex-cli"], ProviderFamily::Agent("codex")),
    provider_row("copilot", &["copilot-cli"], ProviderFamily::Agent("copilot")),
    provider_row("gemini-cli", &[], ProviderFamily::Agent("gemini-cli")),
    provider_row("opencode", &[], ProviderFamily::Agent("opencode")),
    provider_row("pi-cli", &["pi", "pi-coding-agent"], ProviderFamily::Agent("pi-cli")),
    provider_row("pi-sdk", &["pi-agent-sdk", "pi-rpc"], ProviderFamily::Library("pi-cli")),
    provider_row("claude-sdk", &[], ProviderFamily::Library("claude")),
    provider_row("codex-sdk", &["codex-app-server"], ProviderFamily::Library("codex")),
    provider_row("copilot-sdk", &[], ProviderFamily::Library("copilot")),
    provider_row(
        "vscode",
        &["vscode-insiders"],
        ProviderFamily::Unbuilt("an agent in VS Code (`provider: vscode`)"),
    ),
    provider_row("agentv", &[], ProviderFamily::Unbuilt("another tool's own agent (`provider: agentv`)")),
];

/// Returns the kind with a name, ignoring case and the difference between hyphens and underscores.
pub(super) fn find_provider(name: &str) -> Option<&'static TargetProviderRow> {
    let name = name.trim().to_lowercase().replace('_', "-");
    PROVIDERS.iter().find(|row| row.name == name || row.aliases.contains(&name.as_str()))
}

/// Returns the preferred spelling of a provider of models.
pub fn model_provider(name: &str) -> Option<&'static str> {
    find_provider(name).filter(|row| row.family == ProviderFamily::Model).map(|row| row.name)
}

/// Returns true if there is a kind of target of this name.
pub fn is_provider(name: &str) -> bool {
    find_provider(name).is_some()
}

/// Returns true if a name is a kind of target that promptfoo does not have, so that an eval file with it is AgentV's.
pub fn is_other_tools_provider(name: &str) -> bool {
    use ProviderFamily::{Agent, Command, Library, Mock, Replay, Sessions};

    find_provider(name).is_some_and(|row| {
        matches!(row.family, Agent(_) | Command | Library(_) | Mock | Replay | Sessions(_))
    })
}

/// Returns true if a name means an HTTP target.
pub(super) fn is_http_provider(name: &str) -> bool {
    find_provider(name).is_some_and(|row| row.family == ProviderFamily::Http)
}

/// Returns the nearest known name.
pub(super) fn nearest_provider(name: &str) -> Option<&'static str> {
    did_you_mean(
        name,
        PROVIDERS.iter().flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied())),
    )
}

/// Returns the preferred spellings of the kinds that can be run.
pub fn runnable_names() -> impl Iterator<Item = &'static str> {
    let runs = |row: &&TargetProviderRow| {
        !matches!(row.family, ProviderFamily::Unbuilt(_) | ProviderFamily::Library(_))
    };
    PROVIDERS.iter().filter(runs).map(|row| row.name)
}

/// First words of model names, with the model's provider.
const MODEL_WORDS: [(&str, &str); 9] = [
    ("gpt", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("claude", "anthropic"),
    ("gemini", "gemini"),
    ("mistral", "mistral"),
    ("deepseek", "deepseek"),
    ("grok", "xai"),
];

/// Returns advice for an incomplete model name: one without its provider, or a provider alone.
pub fn model_hint(name: &str) -> Option<String> {
    if name.contains(':') {
        return None;
    }
    if model_provider(name).is_some() {
        return Some(format!("name one of its models: `{name}:MODEL`"));
    }
    let word = name.split('-').next()?;
    let (_, provider) = MODEL_WORDS.iter().find(|(first, _)| *first == word)?;
    Some(format!("write the provider before the model: `{provider}:{name}`"))
}
