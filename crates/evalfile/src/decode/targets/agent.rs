//! Decoder of agent targets. The command of each agent is defined by a preset of this crate.

use std::sync::LazyLock;

use assize_diagnostic::{Diagnostic, SourceMap, Span};
use assize_document::{DiagnosticCollector, NodeValue, TreeNode, codes, read_yaml, string, wrong_type};
use assize_model::{CommandTargetSpec, CommandText};

use super::command::refuse_script_placeholders;
use super::entry::TargetEntryReader;
use super::value::{folder, seconds};

const PRESETS: &str = include_str!("../../../presets/agents.yaml");

/// Settings for the location and form of AgentV's own logs, which have no effect here.
const LOG_SETTINGS: [&str; 5] = ["log_dir", "log_directory", "log_format", "log_output_format", "stream_log"];

/// Preset of an agent's command.
#[derive(Debug)]
pub(super) struct AgentPreset {
    provider: String,
    pub(super) title: String,
    program: String,
    arguments: Vec<String>,
    /// For each setting, the arguments that it adds; `{VALUE}` is replaced by its value.
    options: Vec<(String, Vec<String>)>,
    last: Vec<String>,
    stdin: Option<String>,
    stream: String,
}

static AGENTS: LazyLock<Vec<AgentPreset>> = LazyLock::new(load_presets);

/// Returns the preset of a provider.
pub(super) fn find_preset(provider: &str) -> Option<&'static AgentPreset> {
    AGENTS.iter().find(|preset| preset.provider == provider)
}

fn load_presets() -> Vec<AgentPreset> {
    let mut sources = SourceMap::new();
    let source = sources.add("agents.yaml", PRESETS);
    let mut problems = DiagnosticCollector::default();
    let root = read_yaml(&sources, source, &mut problems);
    let list = root.as_ref().and_then(|root| root.get("agents")).and_then(TreeNode::as_seq);

    list.unwrap_or_default().iter().filter_map(parse_preset).collect()
}

fn parse_preset(node: &TreeNode) -> Option<AgentPreset> {
    let text = |key: &str| node.get(key)?.as_str().map(str::to_owned);
    let options = node.get("options")?.as_map()?.iter();
    Some(AgentPreset {
        provider: text("provider")?,
        title: text("title")?,
        program: text("program")?,
        arguments: parse_words(node.get("arguments")?)?,
        options: options
            .map(|entry| Some((entry.key.clone(), parse_words(&entry.value)?)))
            .collect::<Option<_>>()?,
        last: parse_words(node.get("last")?)?,
        stdin: text("stdin"),
        stream: text("stream")?,
    })
}

fn parse_words(node: &TreeNode) -> Option<Vec<String>> {
    node.as_seq()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
}

/// Decodes the settings of an agent. Returns `None` after adding a diagnostic, or when a variable is not set.
pub(super) fn decode_agent(
    entry: &mut TargetEntryReader<'_, '_, '_>,
    preset: &'static AgentPreset,
) -> Option<CommandTargetSpec> {
    const PROGRAM: [&str; 4] = ["executable", "binary", "cli_path", "command"];

    let before = entry.problems.error_count();
    let program = entry.object.first_of(&PROGRAM, entry.problems);
    let span = program.map_or_else(|| entry.object.head(), |found| found.value.use_span());
    let program = match program.filter(|found| !found.value.is_null()) {
        None => Some(vec![preset.program.clone()]),
        Some(found) => decode_program_words(&found.value, &found.key, entry.problems),
    };
    let more = match entry.object.first_of(&["args", "arguments"], entry.problems) {
        None => Vec::new(),
        Some(found) if found.value.is_null() => Vec::new(),
        Some(found) => decode_word_list(&found.value, &found.key, entry.problems),
    };

    let mut options = Vec::new();
    for key in ["model", "system_prompt", "max_turns", "max_budget_usd"] {
        if let Some((value, span)) = decode_agent_setting(entry, key) {
            match preset.options.iter().find(|(name, _)| name == key) {
                Some((_, words)) => {
                    options.extend(words.iter().map(|word| word.replace("{VALUE}", &value)));
                }
                None => refuse_setting(entry, preset, key, span),
            }
        }
    }

    let cwd = entry.object.text("cwd", entry.problems).map(|cwd| folder(entry.folder, &cwd.value));
    let timeout = seconds(&mut entry.object, entry.problems);

    for key in LOG_SETTINGS {
        if let Some(found) = entry.object.entry(key).filter(|found| !found.value.is_null()) {
            entry.without_effect("a setting of logs (the agent's output is its log)", found.key_span);
        }
    }

    if let Some(found) = entry.object.entry("workspace_template").filter(|found| !found.value.is_null()) {
        entry.unbuilt("a workspace (write `workspace: {template: FOLDER}` in the eval file instead of `workspace_template`)", found.key_span);
    }
    if entry.problems.error_count() > before {
        return None;
    }

    let mut argv = program?;
    argv.extend(preset.arguments.iter().cloned());
    argv.extend(options);
    argv.extend(more);
    argv.extend(preset.last.iter().cloned());

    let template = CommandText::Argv(argv);
    if refuse_script_placeholders(&template, span, entry.problems) {
        return None;
    }

    let depends = ["args", "arguments", "model", "system_prompt"];
    Some(CommandTargetSpec {
        template,
        holds_variables: PROGRAM.iter().chain(&depends).any(|key| entry.depends(key)),
        files_format: None,
        stdin: preset.stdin.clone(),
        stream: Some(preset.stream.clone()),
        batch: false,
        cwd,
        beside_suite: false,
        timeout,
    })
}

/// Decodes a setting that becomes an argument of the agent.
fn decode_agent_setting(
    entry: &mut TargetEntryReader<'_, '_, '_>,
    key: &'static str,
) -> Option<(String, Span)> {
    let node = entry.object.value(key)?;
    let text = match &node.data {
        NodeValue::Str(text) => text.clone(),
        NodeValue::Int(number) => number.to_string(),
        NodeValue::Float(number) => number.to_string(),
        _ => {
            entry.problems.add(wrong_type(node, &format!("`{key}`"), "a text or a number"));
            return None;
        }
    };
    (!text.trim().is_empty()).then_some((text, node.use_span()))
}

fn refuse_setting(entry: &mut TargetEntryReader<'_, '_, '_>, preset: &AgentPreset, key: &str, span: Span) {
    let options: Vec<String> = preset.options.iter().map(|(name, _)| format!("`{name}`")).collect();
    Diagnostic::error(codes::NOT_SUPPORTED, format!("{} has no option for `{key}`", preset.title))
        .at(span, "not possible here")
        .with_help(format!("it supports {}; put anything else into `args`", options.join(", ")))
        .add_to(entry.problems);
}

/// Decodes a program: a single word, or a list of a program and its first arguments.
fn decode_program_words(
    node: &TreeNode,
    key: &str,
    problems: &mut DiagnosticCollector,
) -> Option<Vec<String>> {
    let words = match &node.data {
        NodeValue::Seq(_) => decode_word_list(node, key, problems),
        _ => vec![string(node, key, problems)?.value],
    };
    if words.first().is_none_or(|program| program.trim().is_empty()) {
        Diagnostic::error(codes::BAD_COMMAND, format!("`{key}` does not name a program"))
            .at(node.use_span(), "no program")
            .with_help("write the path of the agent's program, or remove the key")
            .add_to(problems);
        return None;
    }

    Some(words)
}

fn decode_word_list(node: &TreeNode, key: &str, problems: &mut DiagnosticCollector) -> Vec<String> {
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
