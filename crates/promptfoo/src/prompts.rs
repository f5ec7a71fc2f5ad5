//! Prompts of matrix files.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SourceId, Span};
use assize_document::{
    MapEntry, MapReader, NodeValue, PROGRAM_ENDINGS, TreeNode, codes, file_extension, wrong_type,
};
use assize_evalfile::reading::{
    DecodeContext, SourceRow, SourceTable, find_matches, load_table, read_source, read_table_source,
};
use assize_limits::{MATRIX_VALUE_BYTES, json_memory};
use assize_rubric::composed_name;
use assize_table::{SheetPath, TextTable, is_tabbed, is_table};
use serde_json::{Map, Value};

use super::code_part::{CodePart, WrittenPart, is_prompt_code};
use super::nodes::{json_node, list_node, text_node};
use super::spelling::head;
use super::template::{TemplateRenderer, TemplateScope};

/// Line that separates the prompts in a text file.
const DIVIDER: &str = "---";
/// Extensions of prompt files. A name with one of them is a path, even without `file://`.
const PROMPT_ENDINGS: [&str; 12] =
    ["txt", "md", "j2", "json", "yaml", "yml", "jsonl", "csv", "tsv", "xlsx", "parquet", "prompt"];

/// A prompt of a matrix file.
#[derive(Debug, Clone)]
pub(super) struct MatrixPrompt {
    /// Label, else the file that it comes from, if any.
    pub(super) label: Option<String>,
    /// Id, which providers and tests can use to choose it.
    pub(super) id: Option<String>,
    pub(super) span: Span,
    pub(super) body: PromptBody,
    /// Settings for the function that writes it; null if there are none.
    pub(super) config: Value,
    /// Name in results; `None` for the only prompt of a file.
    pub(super) shown: Option<Arc<str>>,
}

/// Content of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PromptBody {
    /// A template.
    Text(String),
    /// JSON whose texts are templates.
    Json(Value),
    /// Code that writes the prompt of each test.
    Code(Arc<CodePart>),
}

/// Collects the prompts of a file.
#[derive(Debug, Default)]
pub(super) struct PromptReader {
    pub(super) found: Vec<MatrixPrompt>,
}

impl PromptReader {
    /// Reads the prompts: a list, a map of paths, or a single one.
    pub(super) fn read_list(&mut self, cx: &mut DecodeContext, node: &TreeNode) {
        match &node.data {
            NodeValue::Seq(items) if items.is_empty() => {
                Diagnostic::error(codes::EMPTY_TEXT, "`prompts` is empty")
                    .at(node.use_span(), "no prompt")
                    .with_help("add a prompt with the names of variables: `- 'Answer: {{question}}'`")
                    .add_to(&mut cx.problems);
            }
            NodeValue::Seq(items) => items.iter().for_each(|item| self.read(cx, item)),
            // The older form: each key is a path, and its value the label.
            NodeValue::Map(entries) if entries.iter().all(|entry| entry.value.as_str().is_some()) => {
                for MapEntry { key, key_span, value } in entries {
                    self.read_text(cx, key, *key_span, value.as_str().map(str::to_owned), None);
                }
            }
            NodeValue::Str(_) | NodeValue::Map(_) => self.read(cx, node),
            _ => cx.problems.add(wrong_type(node, "`prompts`", "a list of texts and files")),
        }
    }

    /// Names the prompts of a file for results, if it has several: by their labels, or by their numbers if they
    /// have none. Prompts that share a label get their number as well.
    pub(super) fn name_for_results(&mut self) {
        let labels: Vec<Option<String>> = self.found.iter().map(|prompt| prompt.label.clone()).collect();
        if labels.len() < 2 {
            return;
        }
        for (at, prompt) in self.found.iter_mut().enumerate() {
            let label = prompt.label.as_ref().filter(|label| !label.trim().is_empty());
            let number = format!("prompt {}", at + 1);
            let is_shared = labels.iter().filter(|other| other.as_ref() == label).count() > 1;
            prompt.shown = Some(match label {
                Some(label) if is_shared => format!("{label} ({number})").into(),
                Some(label) => label.trim().into(),
                None => number.into(),
            });
        }
    }

    fn read(&mut self, cx: &mut DecodeContext, node: &TreeNode) {
        match &node.data {
            NodeValue::Str(text) => self.read_text(cx, text, node.use_span(), None, None),
            // A list of messages.
            NodeValue::Seq(_) => {
                let body = PromptBody::Json(node.to_json());
                self.found.push(MatrixPrompt::new(None, None, node.use_span(), body));
            }
            NodeValue::Map(_) => self.read_map(cx, node),
            _ => cx.problems.add(wrong_type(node, "a prompt", "a text, a file or a map with `raw`")),
        }
    }

    fn read_map(&mut self, cx: &mut DecodeContext, node: &TreeNode) {
        let Some(mut object) = MapReader::new(node, "an entry of `prompts`", &mut cx.problems) else {
            return;
        };
        let label = object.string("label", &mut cx.problems).map(|label| label.value);
        let id = object.string("id", &mut cx.problems);
        let raw = object.first_of(&["raw", "prompt", "content", "file", "function_file"], &mut cx.problems);
        let before = self.found.len();
        let config = object.entry("config");

        let (prefix, suffix) =
            (object.string("prefix", &mut cx.problems), object.string("suffix", &mut cx.problems));
        object.finish(&mut cx.problems);

        match (raw, &id) {
            (Some(raw), _) => {
                let id = id.map(|id| id.value);
                if let NodeValue::Str(text) = &raw.value.data {
                    self.read_text(cx, text, raw.value.use_span(), label, id);
                } else {
                    let body = PromptBody::Json(raw.value.to_json());
                    self.found.push(MatrixPrompt::new(label, id, raw.value.use_span(), body));
                }
            }
            (None, Some(path)) => self.read_text(cx, &path.value, path.span, label, Some(path.value.clone())),
            (None, None) => Diagnostic::error(codes::BAD_MATRIX_PART, "a prompt has no text")
                .at(head(node), "this prompt")
                .with_help("write it as `raw`, or name a file as `id: file://NAME`")
                .add_to(&mut cx.problems),
        }

        for prompt in &mut self.found[before..] {
            if let PromptBody::Text(text) = &mut prompt.body {
                let part = |part: &Option<assize_diagnostic::SpannedValue<String>>| {
                    part.as_ref().map(|part| part.value.clone()).unwrap_or_default()
                };
                *text = format!("{}{text}{}", part(&prefix), part(&suffix));
            }
        }
        if let Some(entry) = config {
            self.give_config(cx, before, entry);
        }
    }

    /// Passes the `config` of an entry to the functions that the entry names.
    fn give_config(&mut self, cx: &mut DecodeContext, before: usize, entry: &MapEntry) {
        let prompts = &mut self.found[before..];
        let (title, label) = if prompts.iter().any(|prompt| matches!(prompt.body, PromptBody::Code(_))) {
            ("`config` of a prompt is given to its function only", "not a setting of providers here")
        } else {
            ("`config` of a prompt has no effect", "not used here")
        };
        Diagnostic::warning(codes::NO_EFFECT, title)
            .at(entry.key_span, label)
            .with_help("write settings of models as `config` of the providers")
            .add_to(&mut cx.problems);
        for prompt in prompts {
            prompt.config = entry.value.to_json();
        }
    }

    /// Reads a prompt from a text, or from the file that the text names.
    fn read_text(
        &mut self,
        cx: &mut DecodeContext,
        text: &str,
        span: Span,
        label: Option<String>,
        id: Option<String>,
    ) {
        let Some(path) = written_path(text) else {
            let body = PromptBody::Text(text.to_owned());
            self.found.push(MatrixPrompt::new(label, id, span, body));
            return;
        };

        if path.contains(['*', '?', '[']) && !path.starts_with("exec:") {
            for file in find_matches(cx, path, span) {
                // Make the path absolute: it is relative to the working folder, but references are relative to
                // the file.
                let shown = std::fs::canonicalize(&file).unwrap_or(file).display().to_string();
                if is_prompt_code(&shown) {
                    self.read_code(cx, &shown, span, Some(shown.clone()), id.clone());
                } else {
                    self.read_file(cx, &shown, span, label.clone(), id.clone());
                }
            }
            return;
        }

        if is_prompt_code(path) {
            self.read_code(cx, path, span, label.or_else(|| Some(text.to_owned())), id);
            return;
        }

        self.read_file(cx, path, span, label, id);
    }

    fn read_code(
        &mut self,
        cx: &mut DecodeContext,
        path: &str,
        span: Span,
        label: Option<String>,
        id: Option<String>,
    ) {
        if let Some(part) = CodePart::read(cx, WrittenPart::Prompt, path, span) {
            self.found.push(MatrixPrompt::new(label, id, span, PromptBody::Code(Arc::new(part))));
        }
    }

    fn read_file(
        &mut self,
        cx: &mut DecodeContext,
        path: &str,
        span: Span,
        label: Option<String>,
        id: Option<String>,
    ) {
        let sheet = SheetPath::parse(Path::new(path));
        if sheet.is_some() || is_table(Path::new(path)) {
            let written = sheet.as_ref().map_or(Cow::Borrowed(path), |sheet| sheet.file.to_string_lossy());
            let Some(file) = cx.find_file(&written, span) else { return };
            let file = match sheet {
                Some(sheet) => PathBuf::from(SheetPath { file, ..sheet }.to_string()),
                None => file,
            };
            self.read_table(cx, &file, span, id.as_deref());
            return;
        }

        let Some(file) = cx.read_text(path, span) else { return };
        let named = label.or_else(|| Some(path.to_owned()));
        let (before, errors) = (self.found.len(), cx.problems.error_count());
        let mut add = |label: Option<String>, body| {
            self.found.push(MatrixPrompt::new(label, id.clone(), span, body));
        };
        match file_extension(&file.path).as_str() {
            "json" => add(named, json_or_text(&file.text)),
            "yaml" | "yml" => {
                let source = cx.sources.add(&file.path, file.text.clone());
                match cx.read_yaml(source) {
                    Some(root) => add(named, PromptBody::Json(root.to_json())),
                    None => add(named, PromptBody::Text(file.text.to_string())),
                }
            }
            "jsonl" => {
                for (index, line) in file.text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
                    add(Some(format!("{path}:{}", index + 1)), json_or_text(line));
                }
            }
            "txt" => {
                let texts = split_prompts(&file.text);
                let several = texts.len() > 1;
                for (index, text) in texts.into_iter().enumerate() {
                    let label = if several {
                        named.as_ref().map(|name| format!("{name}:{}", index + 1))
                    } else {
                        named.clone()
                    };
                    add(label, PromptBody::Text(text));
                }
            }
            _ => add(named, PromptBody::Text(file.text.to_string())),
        }

        if self.found.len() == before && cx.problems.error_count() == errors {
            no_prompt(span)
                .with_help("write the prompt into the file, or remove it from `prompts`")
                .add_to(&mut cx.problems);
        }
    }

    /// Reads the prompts of a table.
    fn read_table(&mut self, cx: &mut DecodeContext, path: &Path, span: Span, id: Option<&str>) {
        let errors = cx.problems.error_count();
        let prompts = match SheetPath::parse(path) {
            Some(_) => load_table(cx, path, span).as_ref().map(prompts_of_table).unwrap_or_default(),
            None => read_source(cx, path, Some(span))
                .map(|source| prompts_of_text(cx, source, is_tabbed(path)))
                .unwrap_or_default(),
        };
        if prompts.is_empty() && cx.problems.error_count() == errors {
            cx.problems.add(no_prompt(span).with_help("write a prompt in each row, in the column `prompt`"));
        }
        for (label, text) in prompts {
            let body = PromptBody::Text(text);
            self.found.push(MatrixPrompt::new(label, id.map(str::to_owned), span, body));
        }
    }
}

impl MatrixPrompt {
    fn new(label: Option<String>, id: Option<String>, span: Span, body: PromptBody) -> Self {
        let (label, id) = (label.map(composed_name), id.map(composed_name));
        Self { label, id, span, body, config: Value::Null, shown: None }
    }

    /// Returns the prompt as written, with its templates.
    pub(super) fn raw_text(&self) -> String {
        match &self.body {
            PromptBody::Text(text) => text.clone(),
            PromptBody::Json(value) => value.to_string(),
            PromptBody::Code(part) => part.text().to_owned(),
        }
    }

    /// Returns true if `wanted`, in a provider or test, refers to this prompt.
    pub(super) fn is_called(&self, wanted: &str) -> bool {
        let plain = |name: &str| name.strip_prefix("file://").unwrap_or(name).to_owned();
        let wanted_name = plain(wanted);
        let fits = |name: &str| {
            let name = plain(name);
            name == wanted_name || name.strip_prefix(&wanted_name).is_some_and(|rest| rest.starts_with(':'))
        };
        self.label.as_deref().is_some_and(fits)
            || self.id.as_deref().is_some_and(fits)
            || matches!(&self.body, PromptBody::Text(text) if text == wanted)
    }

    /// Renders the prompt as the `input` of a case, with `around` as prefix and suffix of a text. Returns
    /// `None` after adding a diagnostic.
    pub(super) fn render(
        &self,
        cx: &mut DecodeContext,
        templates: &TemplateRenderer,
        scope: &TemplateScope,
        around: (&str, &str),
    ) -> Option<RenderedPrompt> {
        match &self.body {
            PromptBody::Json(value) => {
                let rendered = render_json(cx, templates, scope, self.span, value)?;
                Some(RenderedPrompt::from_json(self.span, rendered))
            }
            PromptBody::Text(text) => {
                let whole = format!("{}{text}{}", around.0, around.1);
                // A text that is JSON is rendered value by value, so that variables can't change its structure.
                if let PromptBody::Json(value) = json_or_text(&whole) {
                    let rendered = render_json(cx, templates, scope, self.span, &value)?;
                    return Some(RenderedPrompt::from_json(self.span, rendered));
                }

                let text = templates.render(cx, &whole, self.span, scope)?;
                Some(RenderedPrompt::from_text(cx, self.span, text))
            }
            // Code was run before, and its result is rendered instead.
            PromptBody::Code(_) => None,
        }
    }
}

/// A prompt after rendering.
pub(super) struct RenderedPrompt {
    /// The prompt as `input` of a case.
    pub(super) input: TreeNode,
    /// True if it contains parts that are not text, such as images.
    pub(super) has_media: bool,
}

impl RenderedPrompt {
    fn from_json(span: Span, value: Value) -> Self {
        let as_text = || text_node(span, serde_json::to_string_pretty(&value).unwrap_or_default());
        let messages = messages_node(span, &value);
        let (input, has_media) = messages.unwrap_or_else(|| (as_text(), false));
        Self { input, has_media }
    }

    fn from_text(cx: &mut DecodeContext, span: Span, text: String) -> Self {
        let value = if text.trim_start().starts_with("- role:") {
            let source = cx.sources.add("prompt.yaml", text.clone());
            cx.try_yaml(source).map(|root| root.to_json())
        } else {
            json_of(&text, &['['])
        };

        let messages = value.as_ref().and_then(|value| messages_node(span, value));
        let (input, has_media) = messages.unwrap_or_else(|| (text_node(span, text), false));
        Self { input, has_media }
    }
}

/// Returns a list of messages as `input`, and true if some of their parts are not text.
fn messages_node(span: Span, value: &Value) -> Option<(TreeNode, bool)> {
    let items = value.as_array().filter(|items| !items.is_empty())?;
    if !items.iter().all(|item| item.get("role").is_some_and(Value::is_string)) {
        return None;
    }

    let mut media = false;
    let messages = items.iter().map(|item| {
        let mut message = item.clone();
        // Google's name for `content`.
        if let Some(parts) = message.as_object_mut().filter(|message| !message.contains_key("content"))
            && let Some(content) = parts.remove("parts")
        {
            message["content"] = content;
        }
        // OpenAI's responses format marks each message with its type.
        if message["type"] == "message"
            && let Some(keys) = message.as_object_mut()
        {
            keys.remove("type");
        }
        if message["role"] == "developer" {
            message["role"] = Value::from("system");
        }
        if let Some(parts) = message.get("content").and_then(Value::as_array) {
            let blocks = parts.iter().map(|part| match part.get("text").and_then(Value::as_str) {
                Some(text) => serde_json::json!({"type": "text", "value": text}),
                None if part.is_string() => part.clone(),
                None => {
                    media = true;
                    serde_json::json!({"type": "text", "value": part.to_string()})
                }
            });
            message["content"] = blocks.collect();
        } else if message.get("content").is_none_or(Value::is_null) && item.get("tool_calls").is_none() {
            message["content"] = Value::from("(no content)");
        }

        json_node(span, &message)
    });
    let messages = messages.collect();

    Some((list_node(span, messages), media))
}

fn render_json(
    cx: &mut DecodeContext,
    templates: &TemplateRenderer,
    scope: &TemplateScope,
    span: Span,
    value: &Value,
) -> Option<Value> {
    Some(match value {
        Value::String(text) => Value::String(templates.render(cx, text, span, scope)?),
        Value::Array(items) => {
            let items = items.iter().map(|item| render_json(cx, templates, scope, span, item));
            Value::Array(items.collect::<Option<Vec<_>>>()?)
        }
        Value::Object(map) => {
            let entries = map
                .iter()
                .map(|(key, value)| Some((key.clone(), render_json(cx, templates, scope, span, value)?)));
            Value::Object(entries.collect::<Option<_>>()?)
        }
        other => other.clone(),
    })
}

/// A text as JSON, if it begins with one of these characters. One that would take too much memory stays a text.
fn json_of(text: &str, begins: &[char]) -> Option<Value> {
    let text = text.trim_start();
    let is_json = text.starts_with(begins) && json_memory(text.as_bytes()) <= MATRIX_VALUE_BYTES;
    is_json.then(|| serde_json::from_str(text).ok()).flatten()
}

fn json_or_text(text: &str) -> PromptBody {
    match json_of(text, &['[', '{']) {
        Some(value) => PromptBody::Json(value),
        None => PromptBody::Text(text.to_owned()),
    }
}

/// Returns the path if the text of a prompt names a file.
fn written_path(text: &str) -> Option<&str> {
    let text = text.trim();
    if let Some(path) = text.strip_prefix("file://") {
        return Some(path);
    }
    if text.starts_with("exec:") {
        return Some(text);
    }

    let ending = text.rsplit_once('.').map(|(_, ending)| ending.split(':').next().unwrap_or(ending))?;
    let is_path = !text.contains(['\n', ' ', '{'])
        && (PROMPT_ENDINGS.contains(&ending) || (ending == "sh" || PROGRAM_ENDINGS.contains(&ending)));
    is_path.then_some(text)
}

fn split_prompts(text: &str) -> Vec<String> {
    let mut prompts = vec![String::new()];
    for line in text.lines() {
        if line.trim() == DIVIDER {
            prompts.push(String::new());
        } else if let Some(last) = prompts.last_mut() {
            last.push_str(line);
            last.push('\n');
        }
    }

    prompts.into_iter().map(|prompt| prompt.trim().to_owned()).filter(|prompt| !prompt.is_empty()).collect()
}

/// Returns the diagnostic for a file without a prompt.
fn no_prompt(span: Span) -> Diagnostic {
    Diagnostic::error(codes::EMPTY_TEXT, "there is no prompt in this file").at(span, "nothing in it")
}

/// Returns the prompts of a text file: from its columns `prompt` and, optionally, `label`; without such columns it is
/// not a table, and each line is a prompt.
fn prompts_of_text(
    cx: &mut DecodeContext,
    source: SourceId,
    is_tabbed: bool,
) -> Vec<(Option<String>, String)> {
    let text = cx.sources.file(source).shared_text();
    let is_table = match TextTable::parse(&text, is_tabbed).header {
        Some(header) => header.cells.iter().any(|cell| cell.text.trim() == "prompt"),
        None => true,
    };
    if is_table {
        let table = read_table_source(cx, source, is_tabbed);
        return table.as_ref().map(prompts_of_table).unwrap_or_default();
    }

    let lines = text.split(['\r', '\n']).map(|line| line.trim_start_matches('\u{feff}'));
    lines.filter(|line| !line.trim().is_empty()).map(|line| (None, line.to_owned())).collect()
}

/// Returns the prompts of a table with their labels.
fn prompts_of_table(table: &SourceTable) -> Vec<(Option<String>, String)> {
    let column = |name: &str| table.header.cells.iter().position(|(header, _)| header.trim() == name);
    let (prompt, label) = (column("prompt"), column("label"));
    let cell = |row: &SourceRow, at: Option<usize>| {
        let text = row.cells.get(at?)?.0.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    table.rows.iter().filter_map(|row| Some((cell(row, label), cell(row, prompt)?))).collect()
}

/// Returns a prompt as functions get it.
pub(super) fn prompt_value(prompt: &MatrixPrompt) -> Value {
    let raw = prompt.raw_text();
    let label = prompt.label.clone().unwrap_or_else(|| raw.clone());
    let mut value = Map::from_iter([("raw".to_owned(), raw.into()), ("label".to_owned(), label.into())]);
    if let Some(id) = &prompt.id {
        value.insert("id".to_owned(), id.as_str().into());
    }

    Value::Object(value)
}
