//! Expansion of a matrix: a case for each prompt, test and combination of variables.

use std::collections::BTreeSet;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_script::{Script, ScriptValue};
use serde_json::{Map, Value, json};

use super::assertions::{AssertionWriter, PassRule};
use super::authored::{AuthoredTest, MatrixSource, merged_value};
use super::nodes::{MapNode, json_node, list_node, number_names, text_node};
use super::prompts::{MatrixPrompt, PromptBody, RenderedPrompt};
use super::providers::MatrixProvider;
use super::read::{MatrixFile, place_of};
use super::spelling::MatrixSpelling;
use super::test_judges::{JudgeNames, embedder_of};
use super::tests::MatrixTest;
use super::variables::{
    combinations, count_combinations, read_values, read_variables_script, render_variables, strip_line_ends,
    transform_variables,
};
use crate::codes;
use crate::decode::case::{DecodedCase, decode_prepared_case};
use crate::decode::grader::read_code;
use crate::decode::suite::SuiteDefaults;
use crate::decode::{CaseCollector, DecodeContext};
use crate::model::{AnswerTransform, CodeLanguage, FilePosition, Suite, TargetRef, UnsupportedFeature};
use crate::tree::{MapEntry, NodeValue, TreeNode};

/// Maximum number of cases that a file may come to.
pub const MAX_MATRIX_CASES: usize = 100_000;
/// Maximum number of bytes of all rendered prompts together.
const MAX_MATRIX_BYTES: usize = 256 * 1024 * 1024;
/// Maximum number of letters of a description in an id.
const MAX_ID_LETTERS: usize = 60;

/// Expansion of one file.
pub(super) struct MatrixExpander<'a> {
    file: &'a MatrixFile<'a>,
    judges: &'a JudgeNames,
    /// Source of the tests of cases; `None` where no extension changes them.
    source: Option<Arc<MatrixSource>>,
    ids: BTreeSet<String>,
    cases: usize,
    bytes: usize,
}

impl<'a> MatrixExpander<'a> {
    pub(super) fn new(file: &'a MatrixFile<'a>, judges: &'a JudgeNames) -> Self {
        Self { file, judges, source: None, ids: BTreeSet::new(), cases: 0, bytes: 0 }
    }

    /// Keeps the test of each case.
    pub(super) fn with_source(self, source: Option<MatrixSource>) -> Self {
        Self { source: source.map(Arc::new), ..self }
    }

    /// Adds the cases of all tests, and names the targets of the suite.
    pub(super) fn expand(mut self, cx: &mut DecodeContext, suite: &mut Suite, into: &mut CaseCollector) {
        suite.settings.targets = self
            .file
            .providers
            .iter()
            .map(|provider| target_ref(&provider.name, cx.position(provider.span)))
            .collect();

        for (index, test) in self.file.tests.iter().enumerate() {
            let merged = merge_default(self.file, test);
            if !self.expand_test(cx, index, &merged, into) {
                return;
            }
        }
    }

    /// Adds the cases of a test. Returns false when the limit is reached.
    fn expand_test(
        &mut self,
        cx: &mut DecodeContext,
        index: usize,
        test: &MatrixTest,
        into: &mut CaseCollector,
    ) -> bool {
        let span = place_of(test, self.file.root.use_span());
        let Some((values, media)) = read_values(cx, &test.vars, !test.options.disable_expansion) else {
            into.met = true;
            into.broken += 1;
            return true;
        };

        let prompts = self.prompts_of(cx, test, span);
        let count = count_combinations(&values);
        let fits = count.and_then(|count| count.checked_mul(prompts.len().max(1)));
        if fits.is_none_or(|count| self.cases + count > MAX_MATRIX_CASES) || self.bytes > MAX_MATRIX_BYTES {
            cx.problems.add(
                Diagnostic::error(
                    codes::MATRIX_TOO_LARGE,
                    "prompts, tests and variables make too many cases",
                    span,
                    format!(
                        "more than {MAX_MATRIX_CASES} cases, or {} MiB of prompts",
                        MAX_MATRIX_BYTES >> 20
                    ),
                )
                .with_help("name fewer values, or put the cases into a JSONL file"),
            );
            return false;
        }

        let transform = match &test.options.transform_vars {
            None => None,
            Some(written) => match read_variables_script(cx, written) {
                Some(script) => Some((script, written.span)),
                None => return true,
            },
        };
        let several = count.is_some_and(|count| count > 1);
        let base = base_id(test, index);
        for (at, mut vars) in combinations(&values).enumerate() {
            if self.file.spelling == MatrixSpelling::Camel {
                strip_line_ends(&mut vars);
            }
            let unrendered = vars.clone();
            render_variables(&self.file.templates, &mut vars);
            if let Some(script) = &transform
                && !transform_variables(cx, script, &mut vars)
            {
                into.met = true;
                into.broken += 1;
                return true;
            }
            // Changed variables are not what a template was, so that extensions get them as they are.
            let written = if transform.is_some() { &vars } else { &unrendered };
            let stem = if several { format!("{base}/vars-{}", at + 1) } else { base.clone() };
            for (number, prompt) in prompts.iter().enumerate() {
                let id =
                    if prompts.len() > 1 { format!("{stem}/prompt-{}", number + 1) } else { stem.clone() };
                let combination = Combination { test, vars: &vars, prompt: *prompt, media, span };
                self.add_case(cx, id, &combination, written, into);
            }
        }

        true
    }

    /// Returns the prompts that a test is asked; nothing stands for the input of the test itself.
    fn prompts_of(
        &self,
        cx: &mut DecodeContext,
        test: &MatrixTest,
        span: Span,
    ) -> Vec<Option<&'a MatrixPrompt>> {
        let all = &self.file.prompts.found;
        if test.input.is_some() || all.is_empty() {
            return vec![None];
        }

        for wanted in &test.prompts {
            let known =
                all.iter().any(|prompt| prompt.is_called(&wanted.value) || glob_fits(prompt, &wanted.value));
            if !known {
                cx.problems.add(
                    Diagnostic::error(
                        codes::BAD_MATRIX_PART,
                        format!("there is no prompt `{}`", wanted.value),
                        wanted.span,
                        "not one of `prompts`",
                    )
                    .with_help("name a prompt by its `label` or `id`"),
                );
            }
        }

        let wanted = |prompt: &MatrixPrompt| {
            test.prompts.is_empty()
                || test
                    .prompts
                    .iter()
                    .any(|name| prompt.is_called(&name.value) || glob_fits(prompt, &name.value))
        };
        let asked = |prompt: &MatrixPrompt| {
            let providers = &self.file.providers;
            providers.is_empty()
                || providers.iter().any(|provider| asks(provider, prompt) && runs(test, provider))
        };
        let chosen: Vec<_> = all.iter().filter(|prompt| wanted(prompt) && asked(prompt)).map(Some).collect();
        if chosen.is_empty() && test.prompts.is_empty() {
            cx.problems.add(
                Diagnostic::warning(codes::NO_EFFECT, "no provider runs this test", span, "left out")
                    .with_help("check `providers` of the test and `prompts` of the providers"),
            );
        }

        chosen
    }

    fn add_case(
        &mut self,
        cx: &mut DecodeContext,
        id: String,
        combination: &Combination<'_>,
        written: &Map<String, Value>,
        into: &mut CaseCollector,
    ) {
        let before = cx.problems.error_count();
        let id = self.unique_id(id);
        let defaults = Arc::clone(&into.defaults);
        let Some(mut read) = self.write_case(cx, &id, combination, &defaults) else {
            into.met = true;
            into.broken += usize::from(cx.problems.error_count() > before);
            return;
        };

        self.cases += 1;
        if let (Some(source), Some(case)) = (&self.source, read.case.as_mut().map(Arc::make_mut)) {
            let test = combination.with_variables(written);
            case.authored = Some(Arc::new(AuthoredTest {
                source: Arc::clone(source),
                id,
                value: merged_value(&test),
                test,
                prompt: combination.prompt.cloned(),
                has_media: combination.media,
            }));
        }
        into.add_case(cx, read);
    }

    /// Writes a combination as a case, and decodes it. Returns `None` after adding a diagnostic.
    pub(super) fn write_case(
        &mut self,
        cx: &mut DecodeContext,
        id: &str,
        combination: &Combination<'_>,
        defaults: &SuiteDefaults,
    ) -> Option<DecodedCase> {
        let (node, media) = self.case_node(cx, id, combination)?;
        let vars = combination.vars.clone().into_iter().collect();
        let mut read = decode_prepared_case(cx, &node, defaults, vars);
        let transforms = self.transforms(cx, combination.test);
        if let Some(case) = read.case.as_mut().map(Arc::make_mut) {
            case.transforms = transforms;
            case.output_as_text = self.file.spelling == MatrixSpelling::Snake;
            if media || combination.media {
                let place = cx.position(combination.span);
                case.unbuilt
                    .push(UnsupportedFeature { feature: "prompts with images, sounds or documents", place });
            }
            if let Some(feature) = combination.prompt.and_then(|prompt| self.missing_for(prompt)) {
                let place = cx.position(combination.span);
                case.unbuilt.push(UnsupportedFeature { feature, place });
            }
        }
        Some(read)
    }

    /// Writes a combination as a case of the `tests` format.
    fn case_node(
        &mut self,
        cx: &mut DecodeContext,
        id: &str,
        combination: &Combination<'_>,
    ) -> Option<(TreeNode, bool)> {
        let Combination { test, vars, prompt, span, .. } = *combination;
        let scope = self.file.templates.scope(vars);
        let mut case = MapNode::new(span);
        let id_span = test.id.as_ref().map_or(span, |id| id.span);
        case.add("id", id_span, text_node(id_span, id));

        let mut media = false;
        if let Some(input) = &test.input {
            case.add("input", input.use_span(), input.clone());
        } else if let Some(prompt) = prompt {
            let rendered = self.input_of(cx, prompt, combination, &scope)?;
            self.bytes += rendered.text.len();
            media = rendered.has_media;
            case.add("input", prompt.span, rendered.input);
        } else {
            case.add("input", span, text_node(span, plain_input(vars)));
        }
        if let Some(output) = &test.output {
            case.add("output", output.use_span(), output.clone());
        }

        self.add_assertions(cx, &mut case, test, &scope, span)?;
        self.add_metadata(&mut case, test, prompt, span);
        self.add_targets(cx, &mut case, test, prompt, span);
        for entry in &test.case_keys {
            case.add(&entry.key, entry.key_span, self.lower_turns(cx, entry, &scope));
        }
        // The answer that AgentV's authors expect is a variable.
        if self.file.spelling == MatrixSpelling::Snake
            && let Some(entry) = test.vars.iter().find(|entry| entry.key == "expected_output")
        {
            let value = match vars.get("expected_output") {
                Some(Value::String(text)) => text_node(entry.value.use_span(), text.clone()),
                _ => entry.value.clone(),
            };
            case.add("expected_output", entry.key_span, value);
        }

        Some((case.finish(), media))
    }

    fn input_of(
        &self,
        cx: &mut DecodeContext,
        prompt: &MatrixPrompt,
        combination: &Combination<'_>,
        scope: &super::template::TemplateScope,
    ) -> Option<RenderedPrompt> {
        if self.missing_for(prompt).is_some() {
            let text = plain_input(combination.vars);
            return Some(RenderedPrompt {
                input: text_node(prompt.span, text.clone()),
                text,
                has_media: false,
            });
        }

        if let PromptBody::Script(script) = &prompt.body {
            let body = self.write_prompt(cx, script, prompt.span, combination.vars)?;
            let written = MatrixPrompt { body, ..prompt.clone() };
            // `prefix` and `suffix` belong to prompts that are texts.
            return written.render(cx, &self.file.templates, scope, ("", ""));
        }

        // A variable that is a list of messages is the whole conversation.
        if let PromptBody::Text(text) = &prompt.body
            && let Some(name) = only_variable(text)
            && let Some(entry) = combination.test.vars.iter().find(|entry| entry.key == name)
            && entry.value.as_seq().is_some_and(|items| items.iter().all(|item| item.get("role").is_some()))
        {
            return Some(RenderedPrompt {
                input: entry.value.clone(),
                text: String::new(),
                has_media: false,
            });
        }

        let options = &combination.test.options;
        let around =
            (options.prefix.as_deref().unwrap_or_default(), options.suffix.as_deref().unwrap_or_default());
        prompt.render(cx, &self.file.templates, scope, around)
    }

    /// Returns what is missing to ask a prompt.
    fn missing_for(&self, prompt: &MatrixPrompt) -> Option<&'static str> {
        match &prompt.body {
            PromptBody::Program(feature) => Some(*feature),
            // A case has one prompt, whichever target answers it.
            PromptBody::Script(script)
                if self.file.providers.len() > 1 && script.text().contains("provider") =>
            {
                Some("prompts that JavaScript writes for each of several providers")
            }
            PromptBody::Script(_) | PromptBody::Text(_) | PromptBody::Json(_) => None,
        }
    }

    /// Calls the function that writes a prompt. Its result is a template, as in promptfoo. Returns `None` after adding a
    /// diagnostic.
    fn write_prompt(
        &self,
        cx: &mut DecodeContext,
        script: &Script,
        span: Span,
        vars: &Map<String, Value>,
    ) -> Option<PromptBody> {
        let provider = match self.file.providers.as_slice() {
            [only] => json!({"id": only.id, "label": only.name}),
            _ => json!({}),
        };
        let context = json!({"vars": vars, "provider": provider, "config": {}});
        let mut fail = |reason: String| {
            cx.problems.add(
                Diagnostic::error(codes::BAD_SCRIPT, "this script can't write the prompt", span, reason)
                    .with_help("return a text, or a list of messages with `role` and `content`"),
            );
            None
        };

        let written = match script.call(&[("context", &context)]).map(ScriptValue::into_json) {
            Ok(Some(Value::Object(mut parts))) => {
                let config = parts.get("config").and_then(Value::as_object);
                if parts.contains_key("prompt") && config.is_some_and(|config| !config.is_empty()) {
                    return fail(
                        "it sets the `config` of its provider, which is not changed by prompts here"
                            .to_owned(),
                    );
                }
                match parts.remove("prompt") {
                    Some(prompt) => prompt,
                    None => Value::Object(parts),
                }
            }
            Ok(value) => value.unwrap_or_default(),
            Err(error) => return fail(error.to_string()),
        };

        match written {
            Value::Null => fail("it returns nothing".to_owned()),
            Value::String(text) => Some(PromptBody::Text(text)),
            other => Some(PromptBody::Json(other)),
        }
    }

    fn add_assertions(
        &self,
        cx: &mut DecodeContext,
        case: &mut MapNode,
        test: &MatrixTest,
        scope: &super::template::TemplateScope,
        span: Span,
    ) -> Option<()> {
        let rule = match (self.file.spelling, &test.threshold) {
            (MatrixSpelling::Camel, None) => PassRule::Each,
            (MatrixSpelling::Camel | MatrixSpelling::Snake, _) => PassRule::Mean,
        };
        match &test.threshold {
            Some(threshold) => case.add_number("threshold", threshold.span, threshold.value),
            // The assertions decide, not their mean.
            None if rule == PassRule::Each => case.add_number("threshold", span, 0.0),
            None => {}
        }

        let judge = test.options.judge.as_ref().and_then(|node| self.judge_name(node));
        let embedder = test.options.judge.as_ref().and_then(|node| embedder_of(node, self.judges));
        let writer = AssertionWriter {
            spelling: self.file.spelling,
            templates: &self.file.templates,
            scope,
            root: self.file.root,
            judge: judge.as_deref(),
            embedder: embedder.as_deref(),
            rubric_prompt: test.options.rubric_prompt.as_ref(),
            judges: self.judges,
        };
        let before = cx.problems.error_count();
        let mut graders: Vec<TreeNode> =
            test.assertions.iter().filter_map(|node| writer.grader(cx, node, rule, 0)).collect();
        number_names(&mut graders);
        if cx.problems.error_count() > before {
            return None;
        }

        let at = test.assert_span.unwrap_or(span);
        if !graders.is_empty() {
            case.add("assertions", at, list_node(at, graders));
        } else if !test.case_keys.iter().any(|entry| entry.key == "criteria" || entry.key == "turns") {
            cx.problems.add(
                Diagnostic::warning(
                    codes::NO_ASSERTIONS,
                    "the test has no assertions",
                    span,
                    "any answer passes",
                )
                .with_help("add `assert` to the test, or to the default test"),
            );
            case.add("assertions", span, list_node(span, vec![any_answer(span)]));
        }

        Some(())
    }

    /// Returns the name of the judge that options name.
    fn judge_name(&self, node: &TreeNode) -> Option<String> {
        match node.as_str() {
            Some(name) => Some(name.trim().to_owned()),
            None => self.judges.iter().find(|(span, _)| *span == node.span).map(|(_, name)| name.clone()),
        }
    }

    fn add_metadata(&self, case: &mut MapNode, test: &MatrixTest, prompt: Option<&MatrixPrompt>, span: Span) {
        let mut metadata = MapNode::new(span);
        if let Some(description) = test.description.as_ref().filter(|text| !text.trim().is_empty()) {
            metadata.add_text("description", description.clone());
        }
        for entry in &test.metadata {
            metadata.add(&entry.key, entry.key_span, entry.value.clone());
        }
        if self.file.prompts.found.len() > 1
            && let Some(label) = prompt.and_then(|prompt| prompt.label.clone())
        {
            metadata.add_text("prompt", label);
        }

        let node = metadata.finish();
        if node.as_map().is_some_and(|entries| !entries.is_empty()) {
            case.add("metadata", span, node);
        }
    }

    /// Names the targets of a case, if they are not those of all.
    fn add_targets(
        &self,
        cx: &mut DecodeContext,
        case: &mut MapNode,
        test: &MatrixTest,
        prompt: Option<&MatrixPrompt>,
        span: Span,
    ) {
        let all = &self.file.providers;
        for wanted in &test.providers {
            if !all.iter().any(|provider| is_called(provider, &wanted.value)) && !all.is_empty() {
                cx.problems.add(
                    Diagnostic::error(
                        codes::UNKNOWN_TARGET,
                        format!("there is no provider `{}`", wanted.value),
                        wanted.span,
                        "not one of `providers`",
                    )
                    .with_help("name a provider by its `label` or `id`"),
                );
            }
        }

        let chosen: Vec<&MatrixProvider> = all
            .iter()
            .filter(|provider| runs(test, provider) && prompt.is_none_or(|prompt| asks(provider, prompt)))
            .collect();
        if chosen.len() == all.len() || chosen.is_empty() {
            return;
        }

        let names = chosen.iter().map(|provider| text_node(provider.span, provider.name.clone())).collect();
        let mut execution = MapNode::new(span);
        execution.add("targets", span, list_node(span, names));
        case.add("execution", span, execution.finish());
    }

    /// Writes the assertions of turns as graders.
    fn lower_turns(
        &self,
        cx: &mut DecodeContext,
        entry: &MapEntry,
        scope: &super::template::TemplateScope,
    ) -> TreeNode {
        let NodeValue::Seq(turns) = &entry.value.data else { return entry.value.clone() };
        if entry.key != "turns" {
            return entry.value.clone();
        }

        let writer = AssertionWriter {
            spelling: self.file.spelling,
            templates: &self.file.templates,
            scope,
            root: self.file.root,
            judge: None,
            embedder: None,
            rubric_prompt: None,
            judges: self.judges,
        };
        let turns = turns.iter().map(|turn| {
            let mut lowered = MapNode::new(turn.use_span());
            for part in turn.as_map().unwrap_or_default() {
                match part.value.as_seq().filter(|_| part.key == "assert" || part.key == "assertions") {
                    Some(items) => {
                        let graders = items
                            .iter()
                            .filter_map(|item| writer.grader(cx, item, PassRule::Mean, 0))
                            .collect();
                        lowered.add("assertions", part.key_span, list_node(part.value.use_span(), graders));
                    }
                    None => lowered.add(&part.key, part.key_span, part.value.clone()),
                }
            }
            lowered.finish()
        });

        list_node(entry.value.use_span(), turns.collect())
    }

    /// Returns the scripts that change the answers of a test: those of its providers first, then its own.
    fn transforms(&self, cx: &mut DecodeContext, test: &MatrixTest) -> Vec<AnswerTransform> {
        let of_providers = self.file.providers.iter().filter_map(|provider| {
            let (code, span) = provider.transform.as_ref()?;
            Some((code, *span, Some(provider.name.clone())))
        });
        let own = test.options.transform.iter().map(|code| (&code.value, code.span, None));

        let mut transforms = Vec::new();
        for (code, span, target) in of_providers.chain(own) {
            let code = read_code(cx, &text_node(span, code.clone()), "transform", CodeLanguage::JavaScript);
            transforms.extend(code.map(|code| AnswerTransform { code, target }));
        }
        transforms
    }

    fn unique_id(&mut self, id: String) -> String {
        let mut unique = id.clone();
        let mut number = 2;
        while !self.ids.insert(unique.clone()) {
            unique = format!("{id}-{number}");
            number += 1;
        }
        unique
    }
}

/// One combination of a test.
pub(super) struct Combination<'a> {
    pub(super) test: &'a MatrixTest,
    pub(super) vars: &'a Map<String, Value>,
    pub(super) prompt: Option<&'a MatrixPrompt>,
    pub(super) media: bool,
    pub(super) span: Span,
}

impl Combination<'_> {
    /// Returns the test with these variables instead of lists of them.
    fn with_variables(&self, vars: &Map<String, Value>) -> MatrixTest {
        let known = |name: &str| self.test.vars.iter().find(|entry| entry.key == name);
        let entries = vars.iter().map(|(name, value)| match known(name) {
            Some(entry) if entry.value.to_json() == *value => entry.clone(),
            entry => {
                let span = entry.map_or(self.span, |entry| entry.value.use_span());
                MapEntry { key: name.clone(), key_span: span, value: json_node(span, value) }
            }
        });
        let mut test = MatrixTest { vars: entries.collect(), ..self.test.clone() };
        test.options.transform_vars = None;
        test
    }
}

/// Merges a test with the settings of its scenario.
pub(super) fn merge_tests(settings: &MatrixTest, test: &MatrixTest, scenario: Option<&str>) -> MatrixTest {
    let mut merged = merge(settings, test);
    merged.skip_defaults |= settings.skip_defaults;
    let parts = [scenario, settings.description.as_deref(), test.description.as_deref()];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    merged.description = (!parts.is_empty()).then(|| parts.join(": "));
    merged.id.clone_from(&test.id);
    merged.head = test.head.or(settings.head);
    merged
}

/// Returns a test with what the default test adds; its assertions only unless the test disables them.
fn merge_default(file: &MatrixFile<'_>, test: &MatrixTest) -> MatrixTest {
    let mut merged = if test.skip_defaults {
        merge(&MatrixTest { assertions: Vec::new(), assert_span: None, ..file.default.clone() }, test)
    } else {
        merge(&file.default, test)
    };
    merged.id.clone_from(&test.id);
    merged.description.clone_from(&test.description);
    merged
}

/// Returns a test with what another one adds: its assertions come first, its other settings hold where the test has none.
pub(super) fn merge(outer: &MatrixTest, test: &MatrixTest) -> MatrixTest {
    let mut merged = test.clone();
    let add_missing = |own: &mut Vec<MapEntry>, other: &[MapEntry]| {
        let mut all: Vec<MapEntry> =
            other.iter().filter(|entry| !own.iter().any(|known| known.key == entry.key)).cloned().collect();
        all.append(own);
        *own = all;
    };
    add_missing(&mut merged.vars, &outer.vars);
    add_missing(&mut merged.metadata, &outer.metadata);
    add_missing(&mut merged.case_keys, &outer.case_keys);

    let mut assertions = outer.assertions.clone();
    assertions.append(&mut merged.assertions);
    merged.assertions = assertions;
    merged.assert_span = test.assert_span.or(outer.assert_span);
    if merged.threshold.is_none() {
        merged.threshold.clone_from(&outer.threshold);
    }
    if merged.prompts.is_empty() {
        merged.prompts.clone_from(&outer.prompts);
    }
    if merged.providers.is_empty() {
        merged.providers.clone_from(&outer.providers);
    }

    let (own, other) = (&mut merged.options, &outer.options);
    own.judge = own.judge.take().or_else(|| other.judge.clone());
    own.transform = own.transform.take().or_else(|| other.transform.clone());
    own.transform_vars = own.transform_vars.take().or_else(|| other.transform_vars.clone());
    own.rubric_prompt = own.rubric_prompt.take().or_else(|| other.rubric_prompt.clone());
    own.prefix = own.prefix.take().or_else(|| other.prefix.clone());
    own.suffix = own.suffix.take().or_else(|| other.suffix.clone());
    own.disable_expansion |= other.disable_expansion;

    merged
}

fn target_ref(name: &str, place: FilePosition) -> TargetRef {
    TargetRef { name: name.to_owned(), use_target: None, hooks: None, place }
}

/// Returns true if a provider is asked this prompt.
fn asks(provider: &MatrixProvider, prompt: &MatrixPrompt) -> bool {
    provider.prompts.is_empty()
        || provider.prompts.iter().any(|name| prompt.is_called(name) || glob_fits(prompt, name))
}

/// Returns true if a test is run with a provider.
fn runs(test: &MatrixTest, provider: &MatrixProvider) -> bool {
    test.providers.is_empty() || test.providers.iter().any(|wanted| is_called(provider, &wanted.value))
}

fn is_called(provider: &MatrixProvider, wanted: &str) -> bool {
    let fits = |name: &str| match wanted.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == wanted || name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with(':')),
    };
    fits(&provider.name) || fits(&provider.id)
}

fn glob_fits(prompt: &MatrixPrompt, wanted: &str) -> bool {
    let Some(start) = wanted.strip_suffix('*') else { return false };
    [&prompt.label, &prompt.id].into_iter().flatten().any(|name| name.starts_with(start))
}

/// Returns the name of the variable if a text is nothing but one.
fn only_variable(text: &str) -> Option<&str> {
    let name = text.trim().strip_prefix("{{")?.strip_suffix("}}")?.trim();
    name.chars().all(|c| c.is_alphanumeric() || c == '_').then_some(name)
}

/// Returns the input of a test without prompts: its variables.
fn plain_input(vars: &Map<String, Value>) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let lines: Vec<String> = match vars.iter().collect::<Vec<_>>().as_slice() {
        [(_, only)] => vec![text(only)],
        all => all.iter().map(|(name, value)| format!("{name}: {}", text(value))).collect(),
    };
    let whole = lines.join("\n");

    if whole.trim().is_empty() { "(no prompt)".to_owned() } else { whole }
}

/// Returns the grader of a test without assertions: there is an answer.
fn any_answer(span: Span) -> TreeNode {
    let mut grader = MapNode::new(span);
    grader.add_text("name", "answered");
    grader.add_text("type", "regex");
    grader.add_text("value", r"\S");
    grader.add_flag("required", true);
    grader.add_number("min_score", span, 1.0);
    grader.finish()
}

/// Returns the id of a test: its own, its description, or its number.
fn base_id(test: &MatrixTest, index: usize) -> String {
    if let Some(id) = &test.id {
        return id.value.trim().to_owned();
    }

    let description = test.description.as_deref().unwrap_or_default();
    let clean: String =
        description.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_ID_LETTERS).collect();
    let clean = clean.split_whitespace().collect::<Vec<_>>().join(" ");

    if clean.is_empty() { format!("test-{}", index + 1) } else { clean }
}
