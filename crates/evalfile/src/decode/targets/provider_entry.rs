//! Converts providers of AgentV's newest format to entries of a targets file.

use assize_diagnostic::Span;
use assize_document::{MapEntry, NodeValue, TreeNode};

use super::model_id::model_entry;
use super::provider::is_http_provider;

/// The answer of AgentV's mock if none is configured.
const MOCK_RESPONSE: &str =
    r#"{"answer":"Mock provider response. Configure targets.yaml to supply a custom value."}"#;

/// Returns an entry of `providers` as one of `targets`: `label` is the name, `id` the provider and perhaps its model, and
/// the keys of `config` are keys of the entry. References to the environment get the spelling of targets files. The
/// entry may be an id alone, or a map from an id to its settings.
pub fn target_of_provider(node: &TreeNode) -> TreeNode {
    let with_id = |span: Span, id: &str, settings: &[MapEntry]| {
        let value = TreeNode::new(span, NodeValue::Str(id.to_owned()));
        let mut entries = vec![MapEntry { key: "id".to_owned(), key_span: span, value }];
        entries.extend(settings.iter().filter(|entry| entry.key != "id").cloned());
        TreeNode { data: NodeValue::Map(entries), ..*node }
    };
    match &node.data {
        NodeValue::Str(id) => return target_of_provider(&with_id(node.use_span(), id, &[])),
        NodeValue::Map(entries) => {
            if let [only] = entries.as_slice()
                && only.key.contains(':')
                && let NodeValue::Map(settings) = &only.value.data
            {
                return target_of_provider(&with_id(only.key_span, &only.key, settings));
            }
        }
        _ => {}
    }

    let NodeValue::Map(entries) = &node.data else { return node.clone() };
    let id = node.get("id").and_then(TreeNode::as_str).unwrap_or_default().trim();
    // Requests are templates, which have their own syntax for environment variables.
    let has_templates = is_http_provider(id);
    let mut own = Vec::new();
    let mut add = |key: &str, from: &MapEntry, value: TreeNode| {
        let value = if has_templates { value } else { with_environment_references(value) };
        own.push(MapEntry { key: key.to_owned(), key_span: from.key_span, value });
    };

    let has_label = entries.iter().any(|entry| entry.key == "label");
    for entry in entries {
        match (entry.key.as_str(), &entry.value.data) {
            ("label", _) => add("name", entry, entry.value.clone()),
            ("id", NodeValue::Str(_)) => {
                if !has_label {
                    add("name", entry, entry.value.clone());
                }
                for (key, text) in settings_of_id(id) {
                    add(key, entry, TreeNode { data: NodeValue::Str(text), ..entry.value });
                }
            }
            ("config", NodeValue::Map(config)) => {
                for inner in config {
                    add(&inner.key, inner, inner.value.clone());
                }
            }
            (key, _) => add(key, entry, entry.value.clone()),
        }
    }

    // AgentV's mock has a default answer.
    if id == "mock" && !own.iter().any(|entry| entry.key == "response") {
        let span = node.use_span();
        let value = TreeNode::new(span, NodeValue::Str(MOCK_RESPONSE.to_owned()));
        own.push(MapEntry { key: "response".to_owned(), key_span: span, value });
    }

    TreeNode { data: NodeValue::Map(own), ..*node }
}

/// Returns the settings that an id implies: the provider, and the part after it.
fn settings_of_id(id: &str) -> Vec<(&'static str, String)> {
    if let Some(command) = id.strip_prefix("exec:") {
        return vec![("provider", "cli".to_owned()), ("command", command.trim().to_owned())];
    }
    let (provider, model) = match agent_of_id(id) {
        Some((provider, model)) => (provider.to_owned(), model),
        None => match model_entry(id) {
            Ok((provider, model)) => (provider.to_owned(), Some(model)),
            Err(_) => (id.to_owned(), None),
        },
    };

    std::iter::once(("provider", provider)).chain(model.map(|model| ("model", model))).collect()
}

/// Returns the agent that an id of several words names, and its model.
pub fn agent_of_id(id: &str) -> Option<(&'static str, Option<String>)> {
    const AGENTS: [(&str, &str); 5] = [
        ("agentv:codex-cli", "codex"),
        ("openai:codex-sdk", "codex-sdk"),
        ("openai:codex-app-server", "codex-app-server"),
        ("openai:codex-desktop", "codex-app-server"),
        ("openai:codex", "codex-sdk"),
    ];

    AGENTS.iter().find_map(|(words, provider)| {
        let rest = id.strip_prefix(words)?;
        if rest.is_empty() {
            Some((*provider, None))
        } else {
            Some((*provider, Some(rest.strip_prefix(':')?.to_owned())))
        }
    })
}

/// Converts the references to environment variables in a value.
fn with_environment_references(node: TreeNode) -> TreeNode {
    let data = match node.data {
        NodeValue::Str(text) => NodeValue::Str(environment_references(&text)),
        NodeValue::Seq(items) => NodeValue::Seq(items.into_iter().map(with_environment_references).collect()),
        NodeValue::Map(entries) => NodeValue::Map(
            entries
                .into_iter()
                .map(|entry| MapEntry { value: with_environment_references(entry.value), ..entry })
                .collect(),
        ),
        other => other,
    };

    TreeNode { data, ..node }
}

/// Rewrites `{{ env.NAME }}`, with or without a default, as `${{ NAME }}`.
pub fn environment_references(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let Some(length) = rest[start..].find("}}") else { break };
        let inner = rest[start + 2..start + length].trim();
        let parsed = inner.strip_prefix("env.").map(|inner| {
            let (name, filter) = inner.split_once('|').unwrap_or((inner, ""));
            let default = filter.trim().strip_prefix("default(").and_then(|text| text.strip_suffix(')'));
            (name.trim(), default.map(|text| text.trim_matches(['"', '\'', ' '])))
        });

        result.push_str(&rest[..start]);
        match parsed {
            Some((name, None)) => result.extend(["${{ ", name, " }}"]),
            Some((name, Some(default))) => result.extend(["${{ ", name, ":-", default, " }}"]),
            None => result.push_str(&rest[start..start + length + 2]),
        }
        rest = &rest[start + length + 2..];
    }

    result.push_str(rest);
    result
}
