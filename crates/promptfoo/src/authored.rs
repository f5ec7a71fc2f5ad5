//! Tests as extensions get them: as JSON, and back again.

use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use assize_diagnostic::{Severity, SourceMap, Span};
use assize_document::TreeNode;
use assize_evalfile::reading::{DecodeContext, LoadScope, SuiteDefaults};
use assize_model::{AuthoredTest, Case};
use assize_rubric::json_equal;
use serde_json::{Map, Value};

use super::assertion_counter::AssertionCounter;
use super::expand::{Combination, MatrixExpander};
use super::matrix_file::MatrixFile;
use super::matrix_test::MatrixTest;
use super::matrix_tests::MatrixTests;
use super::pending::{CaseVariant, PendingCase};
use super::prompts::{MatrixPrompt, PromptReader};
use super::providers::MatrixProvider;
use super::spelling::MatrixSpelling;
use super::template::TemplateRenderer;
use super::test_entries::TestReader;
use super::test_judges::JudgeNames;
use super::test_value::{merged_value, read_changed_test};
use super::variables::{circle_of_variables, render_variables};

/// Everything about a file that is needed to expand one of its tests again.
pub(super) struct MatrixSource {
    pub(super) spelling: MatrixSpelling,
    pub(super) root: TreeNode,
    pub(super) prompts: Vec<MatrixPrompt>,
    pub(super) providers: Vec<MatrixProvider>,
    pub(super) templates: Arc<TemplateRenderer>,
    pub(super) judges: JudgeNames,
    pub(super) defaults: Arc<SuiteDefaults>,
    pub(super) sources: SourceMap,
    pub(super) reach: Arc<LoadScope>,
}

impl MatrixSource {
    /// Keeps the parts of a file that its cases are expanded from.
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

/// The test of a matrix file that a case comes from, with one of its combinations of variables. If an extension changes
/// it, the result is read like a test of the file.
pub(super) struct MatrixAuthoredTest {
    pub(super) source: Arc<MatrixSource>,
    pub(super) id: String,
    /// Id of its test, the same for all prompts.
    test_id: Arc<str>,
    /// The test, merged with the default test, and with the variables of the case.
    pub(super) test: MatrixTest,
    pub(super) prompt: Option<MatrixPrompt>,
    /// True if one of the variables is an image, a sound or another file that is not text.
    pub(super) has_media: bool,
    /// Variables that code returned. They are not templates.
    literal: BTreeSet<String>,
    pub(super) value: Value,
}

impl MatrixAuthoredTest {
    /// Keeps the test and the prompt of a case.
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
            test_id: Arc::clone(&case.test_id),
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
            assize_document::wrong_type(
                node,
                "a judge that `beforeEach` names",
                "the name of a model, such as `openai:gpt-4o-mini`",
            )
            .add_to(&mut cx.problems);
            return None;
        }

        let file = MatrixFile {
            spelling: source.spelling,
            root: &source.root,
            default: MatrixTest::default(),
            prompts: PromptReader { found: source.prompts.clone() },
            providers: source.providers.clone(),
            tests: MatrixTests::default(),
            templates: Arc::clone(&source.templates),
            assertions: AssertionCounter::default(),
        };
        let mut vars: Map<String, Value> =
            test.vars.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect();
        if let Err(circle) = render_variables(cx, &source.templates, span, &self.literal, &mut vars) {
            cx.problems.add(circle_of_variables(&circle, &test.vars, span));
            return None;
        }

        let mut expander = MatrixExpander::new(&file, &source.judges);
        let variant = CaseVariant { vars, ..CaseVariant::default() };
        let case = PendingCase {
            id: self.id.clone(),
            test_id: Arc::clone(&self.test_id),
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
        self.prompt.as_ref().map(super::prompts::prompt_value)
    }

    fn change(&self, changed: &Value) -> Result<Option<Arc<Case>>, String> {
        if json_equal(&self.value, changed) {
            return Ok(None);
        }

        let source = &self.source;
        let mut cx = DecodeContext::with_scope(Arc::clone(&source.reach));
        cx.sources = source.sources.clone();
        let reader = TestReader::new(source.spelling);
        let place = super::matrix_file::place_of(&self.test, source.root.use_span());
        let shown = cx.sources.file(place.source).path().to_path_buf();
        let read = read_changed_test(&mut cx, &reader, Some(&self.test), changed, &shown, "a test");
        let case = read.and_then(|test| {
            let mut case = self.write_case(&mut cx, &test, place)?;
            Arc::make_mut(&mut case).authored = Some(Arc::new(Self {
                source: Arc::clone(source),
                id: self.id.clone(),
                test_id: Arc::clone(&self.test_id),
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

/// Returns the first judge with settings that the file does not define. An extension can't add one, because targets are
/// created before a run begins.
fn undefined_judge<'t>(test: &'t MatrixTest, judges: &JudgeNames) -> Option<&'t TreeNode> {
    let of_assertions = test.assertions.iter().filter_map(|node| node.get("provider"));
    of_assertions
        .chain(&test.options.judge)
        .filter(|node| node.as_map().is_some())
        .find(|node| !judges.iter().any(|(span, _)| *span == node.span))
}
