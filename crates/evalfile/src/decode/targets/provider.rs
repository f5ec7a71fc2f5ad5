//! Table of the kinds of target.

use assize_diagnostic::did_you_mean;

/// Implementation of a kind of target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// A model; the provider has the same name in the model client.
    Model,
    Command,
    Mock,
    /// Recorded answers.
    Replay,
    /// Recorded sessions, of this log format if the kind determines it.
    Sessions(Option<&'static str>),
    /// A program that works on files by itself; the name of its preset.
    Agent(&'static str),
    /// The name of a library for an agent, which is treated as that agent: the program is run all the same.
    Library(&'static str),
    /// A kind that cannot be run yet; the missing feature, as a noun.
    Unbuilt(&'static str),
}

/// One kind of target.
#[derive(Debug)]
pub(super) struct Provider {
    /// Preferred spelling.
    pub(super) name: &'static str,
    aliases: &'static [&'static str],
    pub(super) family: Family,
}

const fn row(name: &'static str, aliases: &'static [&'static str], family: Family) -> Provider {
    Provider { name, aliases, family }
}

static PROVIDERS: &[Provider] = &[
    row("openai", &[], Family::Model),
    row("openai-compatible", &[], Family::Model),
    row("openai-responses", &["responses"], Family::Model),
    row("azure", &["azure-openai"], Family::Model),
    row("anthropic", &[], Family::Model),
    row("gemini", &["google", "google-gemini"], Family::Model),
    row("bedrock", &["amazon-bedrock", "aws-bedrock"], Family::Model),
    row("vertex", &["vertex-ai", "google-vertex"], Family::Model),
    row("ollama", &[], Family::Model),
    row("openrouter", &[], Family::Model),
    row("groq", &[], Family::Model),
    row("together", &["together-ai", "togetherai"], Family::Model),
    row("mistral", &[], Family::Model),
    row("deepseek", &[], Family::Model),
    row("xai", &["grok"], Family::Model),
    row("fireworks", &["fireworks-ai"], Family::Model),
    row("cerebras", &[], Family::Model),
    row("deepinfra", &[], Family::Model),
    row("huggingface", &["hf"], Family::Model),
    row("vllm", &["hosted-vllm"], Family::Model),
    row("llamacpp", &["llama.cpp", "llama-cpp"], Family::Model),
    row("lmstudio", &["lm-studio"], Family::Model),
    row("cli", &["command"], Family::Command),
    row("mock", &[], Family::Mock),
    row("transcript", &[], Family::Sessions(None)),
    row("copilot-log", &[], Family::Sessions(Some("copilot"))),
    row("replay", &[], Family::Replay),
    row("claude", &["claude-code", "claude-cli"], Family::Agent("claude")),
    row("codex", &["codex-cli"], Family::Agent("codex")),
    row("copilot", &["copilot-cli"], Family::Agent("copilot")),
    row("gemini-cli", &[], Family::Agent("gemini-cli")),
    row("opencode", &[], Family::Agent("opencode")),
    row("pi-cli", &["pi", "pi-coding-agent"], Family::Agent("pi-cli")),
    row("pi-sdk", &["pi-agent-sdk", "pi-rpc"], Family::Library("pi-cli")),
    row("claude-sdk", &[], Family::Library("claude")),
    row("codex-sdk", &["codex-app-server"], Family::Library("codex")),
    row("copilot-sdk", &[], Family::Library("copilot")),
    row("vscode", &["vscode-insiders"], Family::Unbuilt("an agent in VS Code (`provider: vscode`)")),
    row("agentv", &[], Family::Unbuilt("another tool's own agent (`provider: agentv`)")),
];

/// Returns the kind of a name, ignoring case and the difference between hyphens and underscores.
pub(super) fn find(name: &str) -> Option<&'static Provider> {
    let name = name.trim().to_lowercase().replace('_', "-");
    PROVIDERS.iter().find(|row| row.name == name || row.aliases.contains(&name.as_str()))
}

/// Returns the nearest known name.
pub(super) fn near(name: &str) -> Option<&'static str> {
    did_you_mean(
        name,
        PROVIDERS.iter().flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied())),
    )
}

/// Returns the preferred spellings of the kinds that can be run.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let runs = |row: &&Provider| !matches!(row.family, Family::Unbuilt(_) | Family::Library(_));
    PROVIDERS.iter().filter(runs).map(|row| row.name)
}
