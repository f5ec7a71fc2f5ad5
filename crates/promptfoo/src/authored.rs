//! Tests as extensions get them: as JSON, and back again.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use assize_diagnostic::{Severity, SourceMap, Span};
use assize_document::{MapEntry, TreeNode, read_json_in};
use assize_evalfile::reading::{DecodeContext, LoadScope, SuiteDefaults};
use assize_model::{AuthoredTest, Case};
use serde_json::{Map, Value};

use super::expand::{Combination, MatrixExpander};
use super::pending::{CaseVariant, PendingCase};
use super::prompts::{MatrixPrompt, PromptReader};
use super::providers::MatrixProvider;
use super::read::MatrixFile;
use super::spelling::MatrixSpelling;
use super::template::TemplateRenderer;
use super::test_entries::{MatrixTest, TestReader};
use super::test_judges::JudgeNames;
use super::variables::{circle_of_variables, render_variables};

/// Keys of a test that are read; an extension may put others beside them, for itself.
const TEST_KEYS: [&str; 16] = [
    "assert", "assertScoringFunction", "conversation_id", "criteria", "depends_on", "description",
    "disableDefaultAsserts", "id", "metadata", "options", "prompts", "provider", "providerOutput",
    "providers", "threshold", "vars",
];

/// Everything about a file that is needed to write a case of one of its tests again.
pub(super) struct MatrixSource {
    pub(super) spelling: MatrixSpelling,
    pub root: TreeNode,
    pub(super) prompts: Vec<MatrixPrompt>,
    pub providers: Vec<MatrixProvider>,
    pub(super) templates: Arc<TemplateRenderer>,
    pub(super) judges: JudgeNames,
    pub(super) defaults: Arc<SuiteDefaults>,
    pub sources: SourceMap,
    pub(super) reach: Arc<LoadScope>,
}

impl MatrixSource {
    /// Keeps what cases of a file are written from.
    pub(super) fn new(
        cx: &DecodeContext,
        file: &MatrixFile<'_>,
        judges: &JudgeNames,
        defaults: &Arc<SuiteDefaults>,
    ) -> Self {
        Self {
            spelling: file.spelling,
            root: file.root.clone(),
            prompts: file.prompts.found.clone(),
            providers: file.providers.clone(),
            templates: Arc::clone(&file.templates),
            judges: judges.clone(),
            defaults: Arc::clone(defaults),
            sources: cx.sources.clone(),
            reach: Arc::clone(&cx.reach),
        }
    }
}

/// The test of a matrix file that a case comes from, with one of its combinations of variables. What an extension makes of
/// it is read like a test of the file.
pub(super) struct MatrixAuthoredTest {
    pub source: Arc<MatrixSource>,
    pub id: String,
    /// The test with what the default test adds, and with the variables of the case.
    pub test: MatrixTest,
    pub(super) prompt: Option<MatrixPrompt>,
    /// True if one of the variables is an image, a sound or the like.
    pub(super) has_media: bool,
    /// Variables that code wrote, which are no templates.
    literal: BTreeSet<String>,
    pub value: Value,
}

impl MatrixAuthoredTest {
    /// Keeps the test of a case, and the prompt that it is asked.
    pub(super) fn new(source: Arc<MatrixSource>, id: String, combination: &Combination<'_>) -> Self {
        let Combination { case, variant } = *combination;
        let test = combination.test();
        let prompt = case.prompt.map(|prompt| match &variant.prompt {
            Some(body) => MatrixPrompt { body: body.clone(), ..prompt.clone() },
            None => prompt.clone(),
        });
        Self {
            source,
            id,
            value: merged_value(&test),
            test,
            prompt,
            has_media: case.media,
            literal: variant.code.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    fn write_case(&self, cx: &mut DecodeContext, test: &MatrixTest, span: Span) -> Option<Arc<Case>> {
        let source = &*self.source;
        if let Some(node) = undefined_judge(test, &source.judges) {
            cx.problems.add(assize_document::wrong_type(
                node,
                "a judge that `beforeEach` names",
                "the name of a model, such as `openai:gpt-4o-mini`",
            ));
            return None;
        }

        let file = MatrixFile {
            spelling: source.spelling,
            root: &source.root,
            default: MatrixTest::default(),
            prompts: PromptReader { found: source.prompts.clone() },
            providers: source.providers.clone(),
            tests: Vec::new(),
            templates: Arc::clone(&source.templates),
        };
        let mut vars: Map<String, Value> =
            test.vars.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect();
        if let Err(circle) = render_variables(&source.templates, &self.literal, &mut vars) {
            cx.problems.add(circle_of_variables(&circle, &test.vars, span));
            return None;
        }

        let mut expander = MatrixExpander::new(&file, &source.judges);
        let variant = CaseVariant { vars, ..CaseVariant::default() };
        let case = PendingCase {
            id: self.id.clone(),
            // The item that is run knows its rivals from the plan.
            group: Arc::from(self.id.as_str()),
            test: Rc::new(test.clone()),
            transform: None,
            prompt: self.prompt.as_ref(),
            media: self.has_media,
            span,
            variants: Vec::new(),
        };
        let combination = Combination { case: &case, variant: &variant };
        expander.write_case(cx, &self.id, &combination, &source.defaults)?.case
    }
}

impl AuthoredTest for MatrixAuthoredTest {
    fn id(&self) -> &str {
        &self.id
    }

    fn value(&self) -> &Value {
        &self.value
    }

    fn prompt(&self) -> Option<Value> {
        self.prompt.as_ref().map(super::extensions::prompt_value)
    }

    fn change(&self, changed: &Value) -> Result<Option<Arc<Case>>, String> {
        if values_agree(&self.value, changed) {
            return Ok(None);
        }

        let source = &self.source;
        let mut cx = DecodeContext::with_scope(Arc::clone(&source.reach));
        cx.sources = source.sources.clone();
        let reader = TestReader::new(source.spelling);
        let place = super::read::place_of(&self.test, source.root.use_span());
        let shown = cx.sources.file(place.source).path().to_path_buf();
        let read = read_changed_test(&mut cx, &reader, Some(&self.test), changed, &shown, "a test");
        let case = read.and_then(|test| {
            let mut case = self.write_case(&mut cx, &test, place)?;
            Arc::make_mut(&mut case).authored = Some(Arc::new(Self {
                source: Arc::clone(source),
                id: self.id.clone(),
                value: merged_value(&test),
                test,
                prompt: self.prompt.clone(),
                has_media: self.has_media,
                literal: self.literal.clone(),
            }));
            Some(case)
        });

        let errors: Vec<String> = cx
            .problems
            .into_vec()
            .into_iter()
            .filter(|found| found.severity == Severity::Error)
            .map(|found| format!("{}: {}", found.title, found.primary.text))
            .collect();
        match case {
            Some(case) if errors.is_empty() => Ok(Some(case)),
            _ => Err(errors.join("; ")),
        }
    }
}

impl fmt::Debug for MatrixAuthoredTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthoredTest")
            .field("id", &self.id)
            .field("value", &self.value)
            .finish_non_exhaustive()
    }
}

/// Returns the first judge with settings that is none of those that the file defines: targets are made before a run begins.
fn undefined_judge<'t>(test: &'t MatrixTest, judges: &JudgeNames) -> Option<&'t TreeNode> {
    let of_assertions = test.assertions.iter().filter_map(|node| node.get("provider"));
    of_assertions
        .chain(&test.options.judge)
        .filter(|node| node.as_map().is_some())
        .find(|node| !judges.iter().any(|(span, _)| *span == node.span))
}

/// Returns a test as JSON.
pub(super) fn test_value(test: &MatrixTest) -> Value {
    let mut value = Map::new();
    let mut add = |key: &str, part: Value| value.insert(key.to_owned(), part);
    let names = |all: &[assize_diagnostic::SpannedValue<String>]| -> Value {
        all.iter().map(|name| name.value.as_str()).collect()
    };

    if let Some(id) = &test.id {
        add("id", id.value.as_str().into());
    }
    if let Some(description) = &test.description {
        add("description", description.as_str().into());
    }
    add("vars", object_of(&test.vars));
    if !test.assertions.is_empty() {
        add("assert", test.assertions.iter().map(TreeNode::to_json).collect());
    }
    if let Some(scoring) = &test.scoring {
        add("assertScoringFunction", scoring.value.as_str().into());
    }
    if let Some(threshold) = &test.threshold {
        add("threshold", threshold.value.into());
    }
    if !test.metadata.is_empty() {
        add("metadata", object_of(&test.metadata));
    }
    if !test.prompts.is_empty() {
        add("prompts", names(&test.prompts));
    }
    if !test.providers.is_empty() {
        add("providers", names(&test.providers));
    }
    if let Some(output) = &test.output {
        add("providerOutput", output.to_json());
    }
    if test.skip_defaults {
        add("disableDefaultAsserts", true.into());
    }
    let options = options_value(test);
    if !options.is_empty() {
        add("options", Value::Object(options));
    }
    for entry in &test.case_keys {
        add(&entry.key, entry.value.to_json());
    }

    Value::Object(value)
}

/// Returns a test with what the default test adds as JSON. Maps and lists that it does not have are there and empty, so that a
/// function may add to them.
pub(super) fn merged_value(test: &MatrixTest) -> Value {
    let mut value = test_value(test);
    if let Value::Object(keys) = &mut value {
        keys.entry("assert").or_insert_with(|| Value::Array(Vec::new()));
        for key in ["options", "metadata"] {
            keys.entry(key).or_insert_with(|| Value::Object(Map::new()));
        }
    }
    value
}

fn options_value(test: &MatrixTest) -> Map<String, Value> {
    let options = &test.options;
    let text = |text: &Option<String>| text.as_deref().map(Value::from);
    let code = |code: &Option<assize_diagnostic::SpannedValue<String>>| {
        code.as_ref().map(|code| Value::from(code.value.as_str()))
    };
    let parts = [
        ("provider", options.judge.as_ref().map(TreeNode::to_json)),
        ("transform", code(&options.transform)),
        ("transformVars", code(&options.transform_vars)),
        ("rubricPrompt", options.rubric_prompt.as_ref().map(TreeNode::to_json)),
        ("prefix", text(&options.prefix)),
        ("suffix", text(&options.suffix)),
        ("disableVarExpansion", options.disable_expansion.then_some(Value::Bool(true))),
    ];
    parts.into_iter().filter_map(|(key, part)| Some((key.to_owned(), part?))).collect()
}

fn object_of(entries: &[MapEntry]) -> Value {
    entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect::<Map<_, _>>().into()
}

/// Reads a test as a function returned it; of what is as it was given, the original stays with its place in the file. A test
/// that is new has none. Returns `None` after adding a diagnostic.
pub(super) fn read_changed_test(
    cx: &mut DecodeContext,
    reader: &TestReader,
    original: Option<&MatrixTest>,
    changed: &Value,
    shown: &Path,
    what: &'static str,
) -> Option<MatrixTest> {
    let sent = original.map(merged_value).unwrap_or_default();
    if let Some(original) = original
        && (values_agree(&sent, changed) || values_agree(&test_value(original), changed))
    {
        return Some(original.clone());
    }

    // References of a test are relative to the file it stands in.
    let home = original.and_then(|test| test.head).map(|head| cx.folder_of(head.source));
    let shown = match (home, shown.file_name()) {
        (Some(home), Some(name)) => home.join(name),
        _ => shown.to_path_buf(),
    };
    let text = with_known_keys(changed, &sent).to_string();
    let length = text.len();
    let source = cx.sources.add(shown, text);
    let root = read_json_in(&cx.sources, source, 0..length, &mut cx.problems)?;
    let mut read = reader.read_test(cx, &root, what)?;

    if let Some(original) = original {
        keep_unchanged(&mut read, original, &sent, changed);
    }
    Some(read)
}

fn with_known_keys(changed: &Value, sent: &Value) -> Value {
    let Value::Object(keys) = changed else { return changed.clone() };
    let is_known = |key: &str| TEST_KEYS.contains(&key) || sent.get(key).is_some();
    keys.iter()
        .filter(|(key, _)| is_known(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect::<Map<_, _>>()
        .into()
}

/// Puts back the parts of a test that are as they were, whose places tell judges apart and say where references begin.
fn keep_unchanged(read: &mut MatrixTest, original: &MatrixTest, sent: &Value, changed: &Value) {
    let is_same = |key: &str| match (sent.get(key), changed.get(key)) {
        (Some(sent), Some(changed)) => values_agree(sent, changed),
        (sent, changed) => sent.is_none() && changed.is_none(),
    };
    let keep_entries = |read: &mut Vec<MapEntry>, original: &[MapEntry]| {
        for entry in read {
            let is_same = |known: &&MapEntry| {
                known.key == entry.key && values_agree(&known.value.to_json(), &entry.value.to_json())
            };
            if let Some(known) = original.iter().find(is_same) {
                *entry = known.clone();
            }
        }
    };

    read.head = original.head;
    keep_entries(&mut read.vars, &original.vars);
    keep_entries(&mut read.metadata, &original.metadata);
    for node in &mut read.assertions {
        let written = node.to_json();
        if let Some(known) = original.assertions.iter().find(|known| values_agree(&known.to_json(), &written))
        {
            *node = known.clone();
        }
    }
    if is_same("id") {
        read.id.clone_from(&original.id);
    }
    if is_same("options") {
        read.options = original.options.clone();
    } else if let (Some(judge), Some(known)) = (&read.options.judge, &original.options.judge)
        && values_agree(&judge.to_json(), &known.to_json())
    {
        read.options.judge = Some(known.clone());
    }
    if is_same("threshold") {
        read.threshold.clone_from(&original.threshold);
        read.has_own_threshold = original.has_own_threshold;
    }
    if is_same("assert") {
        read.assert_span = original.assert_span;
    }
    if is_same("providerOutput") {
        read.output.clone_from(&original.output);
    }
    read.input.clone_from(&original.input);
}

/// Returns true if two values are the same for JavaScript, for which 1 and 1.0 are one number.
pub(super) fn values_agree(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| values_agree(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| values_agree(a, b)))
        }
        _ => a == b,
    }
}
