//! `extensions`: files with functions that run around tests, and the suite as JSON that they receive and may
//! change.

use std::path::Path;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapEntry, NodeValue, TreeNode, codes, read_json_in, wrong_type};
use assize_evalfile::reading::{DecodeContext, read_language};
use assize_model::{
    CodeLanguage, CodeProgram, Extension, ExtensionHook, GraderCommand, HookEvent, PYTHON_LOADER,
    UnsupportedFeature, WorkspaceHook,
};
use assize_rubric::json_equal;
use serde_json::{Map, Value, json};

use super::matrix_test::{DEFAULT_TEST, MatrixTest};
use super::nodes::json_node;
use super::prompts::{MatrixPrompt, PromptReader, prompt_value};
use super::providers::MatrixProvider;
use super::spelling::MatrixSpelling;
use super::test_entries::TestReader;
use super::test_value::{read_changed_test, test_value};
use super::values::no_effect;

/// Hosts that call a function once, in a workspace.
const PYTHON_HOST: &str = include_str!("../hosts/workspace_hook.py");
const NODE_HOST: &str = include_str!("../hosts/workspace_hook.mjs");

/// AgentV's built-in extension.
const AGENT_RULES: &str = "agentv:agent-rules";
/// Keys of AgentV's built-in extension that copy files into the workspace.
const RULE_KEYS: [&str; 4] = ["skills", "hooks", "agents", "rules"];
/// Advice for an entry that does not name a file of functions.
const ENTRY_HELP: &str = "write `file://PATH.js:beforeAll`, with the name of a function after the path";

/// The extensions of a file: supported and unsupported ones.
#[derive(Debug, Default)]
pub(super) struct ReadExtensions {
    pub(super) list: Vec<Extension>,
    pub(super) unbuilt: Vec<UnsupportedFeature>,
}

/// Reads the entries of `extensions`.
pub(super) fn read_extensions(cx: &mut DecodeContext, entry: &MapEntry) -> ReadExtensions {
    let mut read = ReadExtensions::default();
    let items = match &entry.value.data {
        NodeValue::Seq(items) => items.as_slice(),
        _ => std::slice::from_ref(&entry.value),
    };
    for item in items {
        match &item.data {
            NodeValue::Str(written) => match written.trim().strip_prefix("file://") {
                Some(path) => read.list.extend(read_file(cx, written.trim(), path, item.use_span())),
                None if is_agent_rules(written) => no_effect(
                    &MapEntry { key: written.clone(), key_span: item.use_span(), value: item.clone() },
                    "agents find the rules of their workspace themselves",
                )
                .add_to(&mut cx.problems),
                None => {
                    Diagnostic::error(codes::BAD_MATRIX_PART, "an extension has to be a function in a file")
                        .at(item.use_span(), "not a path that begins with `file://`")
                        .with_help(ENTRY_HELP)
                        .add_to(&mut cx.problems);
                }
            },
            NodeValue::Map(_) if item.get("id").and_then(TreeNode::as_str).is_some_and(is_agent_rules) => {
                if RULE_KEYS.iter().any(|key| item.get(key).is_some()) {
                    let feature = "copying rules into the workspace by `agentv:agent-rules`";
                    read.unbuilt.push(UnsupportedFeature {
                        feature: feature.into(),
                        place: cx.position(item.use_span()),
                    });
                }
            }
            _ => {
                let problem = wrong_type(item, "an extension", "the path of a file with a function");
                cx.problems.add(problem.with_help(ENTRY_HELP));
            }
        }
    }

    read
}

fn is_agent_rules(written: &str) -> bool {
    written.trim().strip_prefix(AGENT_RULES).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

fn read_file(cx: &mut DecodeContext, written: &str, rest: &str, span: Span) -> Option<Extension> {
    // The colon after a drive letter is not a separator.
    let (path, function) = match rest.rsplit_once(':') {
        Some((path, function)) if !path.is_empty() && !function.contains(['/', '\\', '.']) => {
            (path, Some(function).filter(|function| !function.is_empty()))
        }
        _ => (rest, None),
    };
    let language = read_language(cx, "extensions", path, span)?;

    let file = cx.read_text(path, span)?;
    let path = std::path::absolute(&file.path).unwrap_or(file.path);
    Some(Extension {
        written: written.strip_prefix("file://").unwrap_or(written).to_owned(),
        hook: function.and_then(ExtensionHook::from_name),
        program: CodeProgram {
            language,
            path: Some(path),
            text: file.text,
            function: function.map(str::to_owned),
        },
        place: cx.position(span),
    })
}

/// The parts of a file that extensions receive and may change.
pub(super) struct SuiteParts<'a> {
    pub(super) prompts: &'a mut Vec<MatrixPrompt>,
    pub(super) default: &'a mut MatrixTest,
    pub(super) tests: &'a mut Vec<MatrixTest>,
}

impl SuiteParts<'_> {
    /// Returns the suite as extensions receive it.
    pub(super) fn to_value(
        &self,
        description: Option<&Value>,
        providers: &[MatrixProvider],
        scenarios: Option<&TreeNode>,
    ) -> Value {
        let providers: Vec<Value> =
            providers.iter().map(|provider| json!({"id": provider.id, "label": provider.name})).collect();
        let mut suite = Map::new();
        if let Some(description) = description {
            suite.insert("description".to_owned(), description.clone());
        }
        suite.insert("prompts".to_owned(), self.prompts.iter().map(prompt_value).collect());
        suite.insert("providers".to_owned(), providers.into());
        suite.insert("tests".to_owned(), self.tests.iter().map(test_value).collect());
        if let Some(scenarios) = scenarios {
            suite.insert("scenarios".to_owned(), scenarios.to_json());
        }
        suite.insert("defaultTest".to_owned(), default_value(self.default));

        Value::Object(suite)
    }

    /// Applies what extensions changed in the tests, the prompts and the default test. Returns the scenarios if
    /// they were changed. `path` is the path of the file.
    pub(super) fn apply(
        self,
        cx: &mut DecodeContext,
        spelling: MatrixSpelling,
        path: &Path,
        sent: &Value,
        changed: &Value,
    ) -> Option<TreeNode> {
        let reader = TestReader::new(spelling);
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let shown = path.with_file_name(format!("{name} (as `extensions` changed it)"));
        let is_other = |key: &str| changed.get(key).filter(|value| !json_equal(&sent[key], value));

        let given = self.tests;
        if let Some(Value::Array(all)) = is_other("tests") {
            let read = all.iter().enumerate().filter_map(|(index, changed)| {
                let is_same = |test: &&MatrixTest| json_equal(&test_value(test), changed);
                let original = given.iter().find(is_same).or_else(|| given.get(index));
                read_changed_test(cx, &reader, original, changed, &shown, "a test")
            });
            let read = read.collect();
            *given = read;
        } else if let Some(reference) = is_other("tests") {
            // Like the file itself, an extension may name a file of tests.
            *given =
                read_value(cx, &shown, reference).map(|root| reader.read_list(cx, &root)).unwrap_or_default();
        }
        if let Some(changed) = is_other("defaultTest").filter(|changed| changed.is_object()) {
            let read = read_changed_test(cx, &reader, Some(self.default), changed, &shown, DEFAULT_TEST);
            *self.default = read.unwrap_or_default();
        }
        if let Some(Value::Array(all)) = is_other("prompts") {
            let source = cx.sources.add(&shown, Value::Array(all.clone()).to_string());
            let span = Span::new(source, 0, 0);
            let mut read = Vec::new();
            for changed in all {
                let is_same = |prompt: &&MatrixPrompt| json_equal(&prompt_value(prompt), changed);
                match self.prompts.iter().find(is_same) {
                    Some(same) => read.push(same.clone()),
                    None => read.extend(read_prompt(cx, &json_node(span, changed))),
                }
            }
            *self.prompts = read;
        }

        if let Some(changed) = is_other("providers") {
            let root = read_value(cx, &shown, changed)?;
            Diagnostic::warning(codes::NO_EFFECT, "the providers that `beforeAll` changed have no effect")
                .at(root.use_span(), "not taken")
                .with_help("name the providers in the file, or with `--target`")
                .add_to(&mut cx.problems);
        }

        read_value(cx, &shown, is_other("scenarios")?)
    }
}

/// Parses a value that an extension returned. It becomes a separate source, because judges are identified by their
/// spans.
fn read_value(cx: &mut DecodeContext, shown: &Path, value: &Value) -> Option<TreeNode> {
    let text = value.to_string();
    let length = text.len();
    let source = cx.sources.add(shown, text);
    read_json_in(&cx.sources, source, 0..length, &mut cx.problems)
}

/// Reads a prompt that an extension wrote.
fn read_prompt(cx: &mut DecodeContext, node: &TreeNode) -> Vec<MatrixPrompt> {
    let mut reader = PromptReader::default();
    reader.read_list(cx, &TreeNode::new(node.span, NodeValue::Seq(vec![node.clone()])));
    reader.found
}

/// Returns the default test, whose assertions may be added to whether it has any or not.
fn default_value(test: &MatrixTest) -> Value {
    let mut value = test_value(test);
    if let Value::Object(keys) = &mut value {
        keys.entry("assert").or_insert_with(|| json!([]));
    }
    value
}

/// Returns extensions as hooks of the workspace. `path` is the path of the eval file.
pub(super) fn workspace_functions(list: &[Extension], path: &Path) -> Vec<(HookEvent, WorkspaceHook)> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let events = [
        (ExtensionHook::BeforeAll, HookEvent::BeforeAll),
        (ExtensionHook::BeforeEach, HookEvent::BeforeEach),
        (ExtensionHook::AfterEach, HookEvent::AfterEach),
        (ExtensionHook::AfterAll, HookEvent::AfterAll),
    ];

    let python = [PYTHON_LOADER, PYTHON_HOST].concat();
    let mut functions = Vec::new();
    for extension in list {
        for (hook, event) in events.into_iter().filter(|(hook, _)| extension.runs_at(*hook)) {
            let words: &[&str] = match extension.program.language {
                CodeLanguage::Python => &["python3", "-c", &python],
                CodeLanguage::JavaScript => &["node", "--input-type=module", "-e", NODE_HOST],
                CodeLanguage::TypeScript => {
                    &["node", "--experimental-strip-types", "--input-type=module", "-e", NODE_HOST]
                }
                // Extensions can't be in Ruby.
                CodeLanguage::Ruby => continue,
            };
            let file = extension.program.path.as_deref().unwrap_or(Path::new("")).display().to_string();
            let function = extension.program.function.as_deref().unwrap_or("default");
            let arguments = [&file, function, hook.name(), &folder.display().to_string()];
            let words = words.iter().copied().chain(arguments).map(str::to_owned).collect();
            let function = WorkspaceHook {
                command: Some(GraderCommand::Argv(words)),
                cwd: folder.clone(),
                timeout: Some(hook.time_limit()),
                reset: None,
                place: extension.place.clone(),
            };
            functions.push((event, function));
        }
    }

    functions
}
