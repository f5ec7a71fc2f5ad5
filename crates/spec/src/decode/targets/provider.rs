//! The kinds of target, one row each.

use assize_diagnostic::did_you_mean;

/// What a kind of target is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// A model that speaks OpenAI's chat completions.
    ChatCompletions,
    /// A model with a wire format of its own.
    OtherModel,
    Command,
    Mock,
    /// Recorded answers.
    Recording,
    /// A program that works on files by itself.
    Agent,
}

/// One kind of target.
#[derive(Debug)]
pub(super) struct Provider {
    /// The usual spelling.
    pub(super) name: &'static str,
    aliases: &'static [&'static str],
    pub(super) family: Family,
    /// What a run would need, as a noun, for kinds that can't be run yet.
    pub(super) feature: &'static str,
}

const fn row(
    name: &'static str,
    aliases: &'static [&'static str],
    family: Family,
    feature: &'static str,
) -> Provider {
    Provider { name, aliases, family, feature }
}

static PROVIDERS: &[Provider] = &[
    row("openai", &[], Family::ChatCompletions, ""),
    row("openai-compatible", &[], Family::ChatCompletions, ""),
    row("openrouter", &[], Family::ChatCompletions, ""),
    row("cli", &["command"], Family::Command, ""),
    row("azure", &["azure-openai"], Family::OtherModel, "a model on Azure (`provider: azure`)"),
    row("anthropic", &[], Family::OtherModel, "a model of Anthropic (`provider: anthropic`)"),
    row("gemini", &["google", "google-gemini"], Family::OtherModel, "a model of Google (`provider: gemini`)"),
    row("bedrock", &["amazon-bedrock"], Family::OtherModel, "a model on Bedrock (`provider: bedrock`)"),
    row(
        "vertex",
        &["vertex-ai", "google-vertex"],
        Family::OtherModel,
        "a model on Vertex (`provider: vertex`)",
    ),
    row("mock", &[], Family::Mock, "a fixed answer (`provider: mock`)"),
    row("transcript", &[], Family::Recording, "recorded sessions (`provider: transcript`)"),
    row("replay", &[], Family::Recording, "recorded answers (`provider: replay`)"),
    row("copilot-log", &[], Family::Recording, "recorded sessions (`provider: copilot-log`)"),
    row("codex", &["codex-cli"], Family::Agent, "the agent Codex (`provider: codex`)"),
    row("codex-app-server", &[], Family::Agent, "the agent Codex (`provider: codex-app-server`)"),
    row("codex-sdk", &[], Family::Agent, "the agent Codex (`provider: codex-sdk`)"),
    row("copilot", &["copilot-cli"], Family::Agent, "the agent Copilot (`provider: copilot`)"),
    row("copilot-sdk", &[], Family::Agent, "the agent Copilot (`provider: copilot-sdk`)"),
    row(
        "claude",
        &["claude-code", "claude-cli"],
        Family::Agent,
        "the agent Claude Code (`provider: claude`)",
    ),
    row("claude-sdk", &[], Family::Agent, "the agent Claude Code (`provider: claude-sdk`)"),
    row("pi-cli", &["pi"], Family::Agent, "the agent Pi (`provider: pi-cli`)"),
    row("pi-coding-agent", &[], Family::Agent, "the agent Pi (`provider: pi-coding-agent`)"),
    row("pi-agent-sdk", &[], Family::Agent, "the agent Pi (`provider: pi-agent-sdk`)"),
    row("pi-sdk", &[], Family::Agent, "the agent Pi (`provider: pi-sdk`)"),
    row("pi-rpc", &[], Family::Agent, "the agent Pi (`provider: pi-rpc`)"),
    row("vscode", &[], Family::Agent, "an agent in VS Code (`provider: vscode`)"),
    row("vscode-insiders", &[], Family::Agent, "an agent in VS Code (`provider: vscode-insiders`)"),
    row("agentv", &[], Family::Agent, "another tool's own agent (`provider: agentv`)"),
];

/// The kind of that name, in any case, with hyphens or underscores.
pub(super) fn find(name: &str) -> Option<&'static Provider> {
    let name = name.trim().to_lowercase().replace('_', "-");
    PROVIDERS.iter().find(|row| row.name == name || row.aliases.contains(&name.as_str()))
}

/// The name that was probably meant.
pub(super) fn near(name: &str) -> Option<&'static str> {
    did_you_mean(
        name,
        PROVIDERS.iter().flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied())),
    )
}

/// The usual spellings of all kinds.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PROVIDERS.iter().map(|row| row.name)
}
