//! Decoder of agent targets: commands defined in the presets of this crate.

use std::sync::LazyLock;

use assize_diagnostic::{Diagnostic, SourceMap, Span};

use super::entry::Entry;
use super::value::{folder, seconds};
use crate::codes;
use crate::decode::Problems;
use crate::decode::object::{string, wrong_type};
use crate::model::{CommandTargetSpec, CommandText};
use crate::tree::{Data, Node, read_yaml};

const PRESETS: &str = include_str!("../../../presets/agents.yaml");

/// Settings of agents that only locate that tool's own logs.
const LOGS: [&str; 5] = ["log_dir", "log_directory", "log_format", "log_output_format", "stream_log"];

/// Preset of one agent's command.
#[derive(Debug)]
pub(super) struct Preset {
    provider: String,
    pub(super) title: String,
    program: String,
    arguments: Vec<String>,
    /// Arguments that a setting of the target adds, with `{VALUE}` for its value.
    options: Vec<(String, Vec<String>)>,
    last: Vec<String>,
    stdin: Option<String>,
    stream: String,
}

static AGENTS: LazyLock<Vec<Preset>> = LazyLock::new(presets);

/// Returns the preset of a provider.
pub(super) fn preset(provider: &str) -> Option<&'static Preset> {
    AGENTS.iter().find(|preset| preset.provider == provider)
}

fn presets() -> Vec<Preset> {
    let mut sources = SourceMap::new();
    let source = sources.add("agents.yaml", PRESETS);
    let mut problems = Problems::default();
    let root = read_yaml(&sources, source, &mut problems);
    let list = root.as_ref().and_then(|root| root.get("agents")).and_then(Node::as_seq);
    list.unwrap_or_default().iter().filter_map(read).collect()
}

fn read(node: &Node) -> Option<Preset> {
    let text = |key: &str| node.get(key)?.as_str().map(str::to_owned);
    let options = node.get("options")?.as_map()?.iter();
    Some(Preset {
        provider: text("provider")?,
        title: text("title")?,
        program: text("program")?,
        arguments: words(node.get("arguments")?)?,
        options: options
            .map(|entry| Some((entry.key.clone(), words(&entry.value)?)))
            .collect::<Option<_>>()?,
        last: words(node.get("last")?)?,
        stdin: text("stdin"),
        stream: text("stream")?,
    })
}

fn words(node: &Node) -> Option<Vec<String>> {
    node.as_seq()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
}

/// Decodes the settings of an agent. Returns `None` after adding a diagnostic, or when a variable is not set.
pub(super) fn agent(entry: &mut Entry<'_, '_, '_>, preset: &'static Preset) -> Option<CommandTargetSpec> {
    const PROGRAM: [&str; 4] = ["executable", "binary", "cli_path", "command"];
    let before = entry.problems.errors();
    let program = entry.object.one_of(&PROGRAM, entry.problems);
    let program = match program.filter(|found| !found.value.is_null()) {
        None => Some(vec![preset.program.clone()]),
        Some(found) => program_words(&found.value, &found.key, entry.problems),
    };
    let more = match entry.object.one_of(&["args", "arguments"], entry.problems) {
        None => Vec::new(),
        Some(found) if found.value.is_null() => Vec::new(),
        Some(found) => texts(&found.value, &found.key, entry.problems),
    };
    let mut options = Vec::new();
    for key in ["model", "system_prompt", "max_turns", "max_budget_usd"] {
        if let Some((value, span)) = setting(entry, key) {
            match preset.options.iter().find(|(name, _)| name == key) {
                Some((_, words)) => {
                    options.extend(words.iter().map(|word| word.replace("{VALUE}", &value)));
                }
                None => refuse(entry, preset, key, span),
            }
        }
    }
    let cwd = entry.object.text("cwd", entry.problems).map(|cwd| folder(entry.folder, &cwd.value));
    let timeout = seconds(&mut entry.object, entry.problems);
    for key in LOGS {
        if let Some(found) = entry.object.entry(key).filter(|found| !found.value.is_null()) {
            entry.without_effect("a setting of logs (the agent's output is its log)", found.key_span);
        }
    }
    if let Some(found) = entry.object.entry("workspace_template").filter(|found| !found.value.is_null()) {
        entry.unbuilt("a workspace (`workspace_template`)", found.key_span);
    }
    if entry.problems.errors() > before {
        return None;
    }
    let mut argv = program?;
    argv.extend(preset.arguments.iter().cloned());
    argv.extend(options);
    argv.extend(more);
    argv.extend(preset.last.iter().cloned());
    let depends = ["args", "arguments", "model", "system_prompt"];
    Some(CommandTargetSpec {
        template: CommandText::Argv(argv),
        holds_variables: PROGRAM.iter().chain(&depends).any(|key| entry.depends(key)),
        files_format: None,
        stdin: preset.stdin.clone(),
        stream: Some(preset.stream.clone()),
        batch: false,
        cwd,
        timeout,
    })
}

/// Decodes a setting that is passed on as an argument.
fn setting(entry: &mut Entry<'_, '_, '_>, key: &'static str) -> Option<(String, Span)> {
    let node = entry.object.value(key)?;
    let text = match &node.data {
        Data::Str(text) => text.clone(),
        Data::Int(number) => number.to_string(),
        Data::Float(number) => number.to_string(),
        _ => {
            entry.problems.add(wrong_type(node, &format!("`{key}`"), "a text or a number"));
            return None;
        }
    };
    (!text.trim().is_empty()).then_some((text, node.place()))
}

fn refuse(entry: &mut Entry<'_, '_, '_>, preset: &Preset, key: &str, span: Span) {
    let options: Vec<String> = preset.options.iter().map(|(name, _)| format!("`{name}`")).collect();
    entry.problems.add(
        Diagnostic::error(
            codes::NOT_SUPPORTED,
            format!("{} can't be told `{key}` on its command line", preset.title),
            span,
            "not possible here",
        )
        .with_help(format!("it takes {}; anything else goes into `args`", options.join(", "))),
    );
}

/// Decodes a program: a text that is one word, or a list of a program and its first arguments.
fn program_words(node: &Node, key: &str, problems: &mut Problems) -> Option<Vec<String>> {
    let words = match &node.data {
        Data::Seq(_) => texts(node, key, problems),
        _ => vec![string(node, key, problems)?.value],
    };
    if words.first().is_none_or(|program| program.trim().is_empty()) {
        problems.add(
            Diagnostic::error(
                codes::BAD_COMMAND,
                format!("`{key}` names no program"),
                node.place(),
                "no program",
            )
            .with_help("write the path of the agent's program, or leave the key out"),
        );
        return None;
    }
    Some(words)
}

fn texts(node: &Node, key: &str, problems: &mut Problems) -> Vec<String> {
    let Some(items) = node.as_seq() else {
        problems.add(wrong_type(node, &format!("`{key}`"), "a list of words"));
        return Vec::new();
    };
    items.iter().filter_map(|item| Some(string(item, key, problems)?.value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_read_whole() {
        assert_eq!(AGENTS.len(), PRESETS.matches("\n  - provider:").count());
        for preset in AGENTS.iter() {
            let asks = preset.stdin.iter().chain(&preset.last).any(|word| word.contains("{PROMPT}"));
            assert!(asks, "{} is never told its prompt", preset.provider);
            assert!(preset.options.iter().all(|(_, words)| words.iter().any(|word| word == "{VALUE}")));
        }
    }
}
