//! Reads the providers of matrix files as targets.

use std::path::Path;

use assize_diagnostic::{Diagnostic, Span, SpannedValue, did_you_mean};
use assize_document::{MapReader, NodeValue, TreeNode, codes, wrong_type};
use assize_evalfile::model_hint;
use assize_evalfile::reading::{
    DecodeContext, EMBEDDING_WORDS, IdleSetting, InlineTarget, InlineTargets, agent_of_id,
    environment_references, is_other_tools_provider, model_entry, read_code, target_of_provider,
};
use assize_model::{AuthorCode, CodeLanguage, PYTHON_LOADER};
use assize_rubric::composed_name;
use assize_script::Script;

use super::code_part::{COMMAND_PREFIX, split_words};
use super::http_provider::{add_http_settings, is_http_id, shown_id};
use super::keys::{MatrixKeySupport, PROVIDER_KEYS};
use super::nodes::{MapNode, list_node, text_node};
use super::spelling::{MatrixSpelling, head};

/// A provider of a matrix file.
#[derive(Debug, Clone)]
pub(super) struct MatrixProvider {
    /// Name in results: its label, else its id.
    pub(super) name: String,
    /// Id as written, which tests can use to choose it.
    pub(super) id: String,
    pub(super) span: Span,
    /// Labels of the prompts that it gets; empty for all.
    pub(super) prompts: Vec<SpannedValue<String>>,
    /// Code that changes its answers.
    pub(super) transform: Option<(String, Span)>,
}

/// Keys of `config` that a target has, with its own key.
const CONFIG_KEYS: [(&str, &str); 21] = [
    ("temperature", "temperature"),
    ("max_tokens", "max_output_tokens"),
    ("maxTokens", "max_output_tokens"),
    ("max_completion_tokens", "max_output_tokens"),
    ("max_output_tokens", "max_output_tokens"),
    ("maxOutputTokens", "max_output_tokens"),
    ("max_new_tokens", "max_output_tokens"),
    ("seed", "seed"),
    ("apiKey", "api_key"),
    ("api_key", "api_key"),
    ("apiBaseUrl", "base_url"),
    ("base_url", "base_url"),
    ("apiHost", "api_host"),
    ("endpoint", "base_url"),
    ("apiVersion", "api_version"),
    ("version", "api_version"),
    ("api_version", "api_version"),
    ("region", "region"),
    ("projectId", "project"),
    ("command", "command"),
    ("model", "model"),
];

/// Key of `config` with the name of the variable that holds the key.
const KEY_VARIABLE: &str = "apiKeyEnvar";

/// Keys of `config` that set the form of an answer. A judge's reply has its own form.
const FORM_CONFIG: [&str; 2] = ["response_format", "responseFormat"];

/// Keys of `config` that change requests. They are not supported, so a provider with one of them can't be run.
const NEEDED_CONFIG: [&str; 18] = [
    "tools", "tool_choice", "toolConfig", "functions", "function_call", "functionToolCallbacks", "mcp",
    "response_format", "responseFormat", "instructions", "system", "systemInstruction", "body",
    "transformRequest", "modalities", "audio", "prompt", "transformResponse",
];

/// Keys of `config` that promptfoo knows but that have no effect here. They are not misspellings of the keys above,
/// even if they are similar.
const OTHER_CONFIG: [&str; 8] =
    ["maxTurns", "speed", "store", "user", "metadata", "verbosity", "effort", "timeout"];

/// Self-hosted servers that return embeddings with OpenAI's interface: the first word of ids, and the default
/// address.
const EMBEDDING_SERVERS: [(&str, &str); 3] = [
    ("ollama", "http://127.0.0.1:11434/v1"),
    ("vllm", "http://127.0.0.1:8000/v1"),
    ("litellm", "http://127.0.0.1:4000/v1"),
];

/// Hosts of providers that are functions in files.
const PYTHON_PROVIDER: &str = include_str!("../hosts/provider.py");
const NODE_PROVIDER: &str = include_str!("../hosts/provider.mjs");

/// Returns true if an id names an embedding model.
pub(super) fn is_embedding_id(id: &str) -> bool {
    id.split(':').any(|word| EMBEDDING_WORDS.contains(&word) || word == "feature-extraction")
        || id.starts_with("voyage:")
}

/// Returns the model in the id of a self-hosted embedding server, and the server's address.
fn embedding_server(id: &str) -> Option<(&str, &'static str)> {
    let (first, rest) = id.split_once(':')?;
    let (_, address) = EMBEDDING_SERVERS.iter().find(|row| row.0 == first)?;
    let model = rest.split_once(':').map_or(rest, |(_, model)| model);
    (is_embedding_id(id) && !model.is_empty()).then_some((model, *address))
}

/// Collects the providers of a file, and the targets that they become.
pub(super) struct ProviderReader<'a> {
    pub(super) spelling: MatrixSpelling,
    pub(super) targets: &'a mut InlineTargets,
    /// Providers read so far.
    pub(super) found: Vec<MatrixProvider>,
}

impl ProviderReader<'_> {
    /// Reads a list of providers, or a single one.
    pub(super) fn read_list(&mut self, cx: &mut DecodeContext, node: &TreeNode) {
        match &node.data {
            NodeValue::Seq(items) => {
                for item in items {
                    self.read(cx, item);
                }
            }
            NodeValue::Str(_) | NodeValue::Map(_) => {
                self.read(cx, node);
            }
            _ => cx.problems.add(wrong_type(node, "`providers`", "a list of names and maps")),
        }
    }

    /// Reads one provider. Returns its name.
    pub(super) fn read(&mut self, cx: &mut DecodeContext, node: &TreeNode) -> Option<String> {
        match &node.data {
            NodeValue::Str(id) if id.starts_with("file://") && is_settings_file(id) => {
                let root = read_settings(cx, id, node.use_span())?;
                self.read_list(cx, &root);
                self.found.last().map(|provider| provider.name.clone())
            }
            NodeValue::Str(id) => Some(self.add(cx, id.trim(), None, node)),
            NodeValue::Map(entries) => match entries.as_slice() {
                // The older form: the id is the key.
                [only] if only.key != "id" && only.value.as_map().is_some() => {
                    Some(self.add(cx, &only.key, Some(&only.value), node))
                }
                _ => {
                    let id = node.get("id").and_then(TreeNode::as_str).map(str::trim);
                    let Some(id) = id.filter(|id| !id.is_empty()) else {
                        return Diagnostic::error(codes::BAD_MATRIX_PART, "a provider has no id")
                            .at(head(node), "this provider")
                            .with_help("add `id:` with a name such as `openai:gpt-6-luna`")
                            .reject_in(&mut cx.problems);
                    };
                    Some(self.add(cx, id, Some(node), node))
                }
            },
            _ => cx.problems.reject(wrong_type(node, "a provider", "a name or a map with an `id`")),
        }
    }

    /// Reads a provider that is used as a judge. It is defined like any other, but does not answer cases.
    /// Returns its name.
    pub(super) fn read_judge(&mut self, cx: &mut DecodeContext, node: &TreeNode) -> Option<String> {
        if let Some(name) = node.as_str().map(str::trim)
            && (self.targets.has(name) || !name.contains(':'))
        {
            return Some(name.to_owned());
        }

        let answering = std::mem::take(&mut self.found);
        let judge = without_form(cx, node);
        let name = self.read(cx, &judge);
        self.found = answering;

        name
    }

    /// Adds a provider and, if the file defines it, its target. Returns its name.
    fn add(
        &mut self,
        cx: &mut DecodeContext,
        id: &str,
        settings: Option<&TreeNode>,
        node: &TreeNode,
    ) -> String {
        let label = settings.and_then(|settings| settings.get("label")).and_then(TreeNode::as_str);
        let name = clean_name(&label.map_or_else(|| shown_id(id), str::to_owned));
        let span = node.use_span();
        let prompts = settings
            .and_then(|settings| settings.get("prompts"))
            .map(|list| match &list.data {
                NodeValue::Seq(items) => items.iter().filter_map(spanned_name).collect(),
                _ => spanned_name(list).into_iter().collect(),
            })
            .unwrap_or_default();
        let transform = settings
            .and_then(|settings| settings.get("transform"))
            .and_then(|node| Some((node.as_str()?.to_owned(), node.use_span())));

        if let Some(settings) = settings {
            self.check_keys(cx, settings);
        }

        let name = self.unique_name(name);

        // In AgentV's files, a plain name refers to a target of the targets file.
        let is_reference =
            self.spelling == MatrixSpelling::Snake && settings.is_none() && !id.contains(':') && id != "echo";
        if !is_reference {
            let response = response_file(cx, id, settings);
            let with_body = settings.filter(|_| is_http_id(id)).and_then(|settings| with_body(cx, settings));
            let settings = with_body.as_ref().or(settings);
            let entry = match settings.filter(|_| self.spelling == MatrixSpelling::Snake) {
                Some(settings) if agent_of_id(id).is_some() || is_other_tools_provider(id) => {
                    other_tools_entry(&name, id, settings)
                }
                _ => target_entry(&name, id, settings, span),
            };
            let mut entry = InlineTarget { response, ..entry };
            if let Some((path, _)) = code_file(id).filter(|_| code_provider(id, settings).is_some())
                && cx.reach.reads_files()
                && !cx.folder_of(span.source).join(path).exists()
            {
                entry.problems.push(format!("there is no file `{path}`"));
            }
            self.targets.add(cx, entry);
        }

        self.found.push(MatrixProvider {
            name: name.clone(),
            id: composed_name(id.to_owned()),
            span,
            prompts,
            transform,
        });
        name
    }

    /// Appends a number to a name that is taken.
    fn unique_name(&self, name: String) -> String {
        let is_taken =
            |name: &str| self.targets.has(name) || self.found.iter().any(|known| known.name == name);
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        std::iter::once(name.clone()).chain(numbered).find(|name| !is_taken(name)).unwrap_or(name)
    }

    /// Reports keys of a provider that have no effect here.
    fn check_keys(&self, cx: &mut DecodeContext, settings: &TreeNode) {
        let Some(mut object) = MapReader::new(settings, "a provider", &mut cx.problems) else { return };
        for row in PROVIDER_KEYS {
            let Some(entry) = object.entry(row.name) else { continue };
            if let MatrixKeySupport::NoEffect(reason) = row.support {
                cx.problems.add(super::values::no_effect(entry, reason));
            }
        }

        // AgentV's providers have their settings beside the id.
        if self.spelling == MatrixSpelling::Snake {
            object.take_remaining();
        }

        object.finish_leniently(&mut cx.problems);
    }
}

/// Returns a judge without the settings for the form of its replies, which Assize sets itself.
fn without_form(cx: &mut DecodeContext, judge: &TreeNode) -> TreeNode {
    let mut judge = judge.clone();
    let NodeValue::Map(entries) = &mut judge.data else { return judge };
    for entry in entries.iter_mut().filter(|entry| entry.key == "config") {
        let NodeValue::Map(settings) = &mut entry.value.data else { continue };
        settings.retain(|setting| {
            let is_form = FORM_CONFIG.contains(&setting.key.as_str());
            if is_form {
                cx.problems.add(super::values::no_effect(setting, "judges reply in a fixed format"));
            }
            !is_form
        });
    }

    judge
}

/// Converts a provider that only AgentV has to the entry of a target. The entry has the same settings. They may be
/// beside the id or under `config`.
fn other_tools_entry(name: &str, id: &str, settings: &TreeNode) -> InlineTarget {
    const OWN_KEYS: [&str; 8] =
        ["id", "label", "prompts", "transform", "delay", "inputs", "env", "environment"];

    let settings_span = settings.use_span();
    let mut entries = MapNode::new(settings_span);
    entries.add_text("id", id);
    entries.add_text("label", name);
    for setting in settings.as_map().unwrap_or_default() {
        if !OWN_KEYS.contains(&setting.key.as_str()) {
            entries.add(&setting.key, setting.key_span, setting.value.clone());
        }
    }

    let entry = target_of_provider(&entries.finish());
    InlineTarget { entry, problems: Vec::new(), idle: Vec::new(), response: None }
}

fn spanned_name(node: &TreeNode) -> Option<SpannedValue<String>> {
    Some(SpannedValue { value: composed_name(node.as_str()?.to_owned()), span: node.use_span() })
}

/// Converts a provider to the entry of a target, with the reasons why it can't be run, if any.
fn target_entry(name: &str, id: &str, settings: Option<&TreeNode>, span: Span) -> InlineTarget {
    let mut entry = MapNode::new(span);
    let mut problems = Vec::new();
    let mut idle = Vec::new();
    entry.add_text("name", name);

    if id == "echo" {
        entry.add_text("provider", "echo");
    } else if is_http_id(id) {
        add_http_settings(&mut entry, id, settings, span, &mut problems, &mut idle);
        return InlineTarget { entry: entry.finish(), problems, idle, response: None };
    } else if let Some(command) = id.strip_prefix(COMMAND_PREFIX) {
        entry.add_text("provider", "cli");
        let mut words = split_words(command);
        words.extend(["{CHAT}".to_owned(), provider_options(id, settings), r#"{"vars": {VARS}}"#.to_owned()]);
        let words = words.into_iter().map(|word| text_node(span, word)).collect();
        entry.add("command", span, list_node(span, words));
        return InlineTarget { entry: entry.finish(), problems, idle, response: None };
    } else if let Some(command) = code_provider(id, settings) {
        entry.add_text("provider", "cli");
        let words = command.into_iter().map(|word| text_node(span, word)).collect();
        entry.add("command", span, list_node(span, words));
        return InlineTarget { entry: entry.finish(), problems, idle, response: None };
    } else if let Some((model, address)) = embedding_server(id) {
        entry.add_text("provider", "openai-embeddings");
        entry.add_text("model", model);
        add_config(&mut entry, settings, &mut problems, &mut idle);
        entry.add_text("base_url", address);
        return InlineTarget { entry: entry.finish(), problems, idle, response: None };
    } else {
        match model_entry(id) {
            Ok((provider, model)) => {
                entry.add_text("provider", provider);
                entry.add_text("model", model);
            }
            Err(reason) if settings.is_none() && model_hint(id).is_some() => {
                problems.push(format!("{reason}; {}", model_hint(id).unwrap_or_default()));
            }
            Err(_) if !id.contains([':', '/']) && assize_evalfile::reading::is_provider(id) => {
                entry.add_text("provider", id);
            }
            Err(_) if is_embedding_id(id) => problems.push(format!(
                "provider `{id}` can't return embeddings; `openai:embedding:MODEL` with `apiBaseUrl` can, for any server with OpenAI's interface"
            )),
            Err(reason) => problems.push(reason),
        }
    }

    add_config(&mut entry, settings, &mut problems, &mut idle);
    InlineTarget { entry: entry.finish(), problems, idle, response: None }
}

/// Returns the script that reads the answer from a server's response, if it is in a file.
fn response_file(cx: &mut DecodeContext, id: &str, settings: Option<&TreeNode>) -> Option<Script> {
    let config = settings.filter(|_| is_http_id(id))?.get("config")?;
    let node = config.get("transformResponse").or_else(|| config.get("responseParser"))?;
    if !node.as_str()?.trim().starts_with("file://") {
        return None;
    }

    match read_code(cx, node, "transformResponse", CodeLanguage::JavaScript)? {
        AuthorCode::Script(script) => Some(script),
        AuthorCode::Program(_) => Diagnostic::error(
            codes::BAD_SCRIPT,
            "only JavaScript without modules can read the response of a server",
        )
        .at(node.use_span(), "a program")
        .with_help("export a function of `json`, `text` and `context` that loads nothing")
        .reject_in(&mut cx.problems),
    }
}

/// Returns the settings of a server whose body is in a file, with the content of the file as the body. `None`
/// if the body is not in a file.
fn with_body(cx: &mut DecodeContext, settings: &TreeNode) -> Option<TreeNode> {
    let written = settings.get("config")?.get("body")?;
    let path = written.as_str().filter(|text| text.starts_with("file://") && !text.contains('\n'))?;
    let span = written.use_span();
    let body = if is_settings_file(path) {
        read_settings(cx, path, span)?
    } else {
        text_node(span, cx.read_text(path.strip_prefix("file://")?, span)?.text.to_string())
    };

    let mut changed = settings.clone();
    let NodeValue::Map(entries) = &mut changed.data else { return None };
    let config = entries.iter_mut().find(|entry| entry.key == "config")?;
    let NodeValue::Map(entries) = &mut config.value.data else { return None };
    entries.iter_mut().find(|entry| entry.key == "body")?.value = body;

    Some(changed)
}

/// Returns the file of a provider that is a function, and the name of the function if the id contains it.
fn code_file(id: &str) -> Option<(&str, Option<&str>)> {
    let named = ["file://", "python:", "javascript:"].iter().find_map(|start| id.strip_prefix(start));
    let written = named?.trim();

    Some(match written.rsplit_once(':') {
        Some((path, function)) if !function.contains(['/', '.', '\\']) => (path, Some(function)),
        _ => (written, None),
    })
}

/// Returns the command of a provider that is a function in a file; `None` for any other provider.
fn code_provider(id: &str, settings: Option<&TreeNode>) -> Option<Vec<String>> {
    let (path, function) = code_file(id)?;
    let node = |extra: &[&str]| {
        let mut words = vec!["node".to_owned()];
        words.extend(extra.iter().map(|word| (*word).to_owned()));
        words.extend(["--input-type=module".to_owned(), "-e".to_owned(), NODE_PROVIDER.to_owned()]);
        words
    };
    let (mut words, usual) = match assize_document::file_extension(Path::new(path)).as_str() {
        "py" => (
            vec!["python3".to_owned(), "-c".to_owned(), [PYTHON_LOADER, PYTHON_PROVIDER].concat()],
            "call_api",
        ),
        "js" | "mjs" | "cjs" => (node(&[]), ""),
        "ts" | "mts" | "cts" => (node(&["--experimental-strip-types"]), ""),
        _ => return None,
    };
    words.extend([path.to_owned(), function.unwrap_or(usual).to_owned(), provider_options(id, settings)]);
    words.extend(["{MESSAGES_FILE}", "{VARS_FILE}"].map(str::to_owned));

    Some(words)
}

/// Returns the id and configuration that provider code receives, as JSON.
fn provider_options(id: &str, settings: Option<&TreeNode>) -> String {
    let config = settings.and_then(|settings| settings.get("config")).map(TreeNode::to_json);
    // Functions access keys of `config` without checking that it exists.
    let config = config.filter(|config| !config.is_null()).unwrap_or_else(|| serde_json::json!({}));
    serde_json::json!({"id": id, "config": config}).to_string()
}

/// Adds the settings in the `config` of a provider.
fn add_config(
    entry: &mut MapNode,
    settings: Option<&TreeNode>,
    problems: &mut Vec<String>,
    idle: &mut Vec<IdleSetting>,
) {
    let config = settings.and_then(|settings| settings.get("config").or(Some(settings)));
    for part in config.and_then(TreeNode::as_map).unwrap_or_default() {
        let key = part.key.as_str();
        if key == KEY_VARIABLE {
            if let Some(name) = part.value.as_str() {
                let reference = format!("${{{{ {} }}}}", name.trim());
                entry.add("api_key", part.key_span, text_node(part.value.use_span(), reference));
            }
        } else if let Some((_, own)) = CONFIG_KEYS.iter().find(|row| row.0 == key) {
            add_setting(entry, own, part.key_span, &part.value);
        } else if NEEDED_CONFIG.contains(&key) {
            problems.push(format!("`{key}` in its `config` is not supported here"));
        } else if settings.is_some_and(|settings| settings.get("config").is_some()) {
            let known = CONFIG_KEYS.iter().map(|row| row.0).chain(NEEDED_CONFIG).chain([KEY_VARIABLE]);
            let near = if OTHER_CONFIG.contains(&key) { None } else { did_you_mean(key, known) };
            idle.push(IdleSetting { key: key.to_owned(), near, span: part.key_span });
        }
    }
}

/// Adds a setting of a target. References to environment variables are converted to the spelling of targets
/// files.
fn add_setting(entry: &mut MapNode, key: &str, span: Span, value: &TreeNode) {
    match (key, &value.data) {
        ("api_host", NodeValue::Str(host)) => {
            let url = if host.contains("://") { host.clone() } else { format!("https://{host}") };
            entry.add("base_url", span, text_node(value.use_span(), environment_references(&url)));
        }
        (_, NodeValue::Str(text)) => {
            entry.add(key, span, text_node(value.use_span(), environment_references(text)));
        }
        _ => entry.add(key, span, value.clone()),
    }
}

fn is_settings_file(id: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|ending| id.ends_with(ending))
}

/// Reads a settings file that this file refers to.
pub(super) fn read_settings(cx: &mut DecodeContext, written: &str, span: Span) -> Option<TreeNode> {
    let path = cx.find_file(written, span)?;
    let source = assize_evalfile::reading::read_source(cx, &path, Some(span))?;
    assize_evalfile::reading::read_tree(cx, source)
}

/// Returns a name without control characters and without blanks at its ends.
fn clean_name(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    composed_name(name.trim().to_owned())
}
