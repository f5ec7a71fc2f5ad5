//! Tests as extensions get them: as JSON, and back again.

use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use assize_diagnostic::{Severity, SourceMap, Span};
use assize_document::TreeNode;
use assize_evalfile::reading::{DecodeContext, LoadScope, SuiteDefaults};
use assize_model::{AuthoredTest, Case, CaseHistory, TURNS_VARIABLE};
use assize_rubric::json_equal;
use serde_json::{Map, Value};

use super::assertion_counter::AssertionCounter;
use super::expand::{Combination, MatrixExpander};
use super::history::stand_in;
use super::matrix_file::{MatrixFile, place_of};
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
    /// True if the templates in its variables are rendered already.
    is_rendered: bool,
    /// What the case takes over from others.
    history: Option<CaseHistory>,
    cluster: Option<String>,
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
            is_rendered: variant.unrendered.is_none(),
            history: case.history.clone(),
            cluster: case.cluster.clone(),
        }
    }

    /// The context to write a case of the file again, and the place of the test.
    fn context(&self) -> (DecodeContext, Span) {
        self.source.templates.begin_case();
        let mut cx = DecodeContext::with_scope(Arc::clone(&self.source.reach));
        cx.sources = self.source.sources.clone();
        (cx, place_of(&self.test, self.source.root.use_span()))
    }

    /// Writes the case of a test, with the answers to others that it takes over, or with what stands for them.
    fn write_case(
        &self,
        cx: &mut DecodeContext,
        test: &MatrixTest,
        span: Span,
        answers: Option<&Map<String, Value>>,
    ) -> Option<Arc<Case>> {
        let source = &*self.source;
        if let Some(node) = undefined_judge(test, &source.judges) {
            assize_document::wrong_type(
                node,
                "a judge that `beforeEach` names",
                "the name of a model, such as `openai:gpt-6-luna`",
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
        let used = self.history.iter().flat_map(|history| &history.uses).map(ToString::to_string);
        let mut taken: BTreeSet<String> = used.collect();
        for name in &taken {
            let answer = answers.and_then(|answers| answers.get(name));
            vars.insert(name.clone(), answer.cloned().unwrap_or_else(|| stand_in(name)));
        }
        let turns = answers.and_then(|answers| answers.get(TURNS_VARIABLE)).cloned();
        if let Some(turns) = &turns {
            taken.insert(TURNS_VARIABLE.to_owned());
            vars.insert(TURNS_VARIABLE.to_owned(), turns.clone());
        }
        let made_of_answers = source.templates.made_of(&vars, &taken);
        let literal = if self.is_rendered && answers.is_some() {
            vars.keys().cloned().collect()
        } else {
            self.literal.union(&taken).cloned().collect()
        };
        if let Err(circle) = render_variables(cx, &source.templates, span, &literal, &mut vars) {
            return cx.problems.reject(circle_of_variables(&circle, &test.vars, span));
        }

        let mut expander = MatrixExpander::new(&file, &source.judges);
        if turns.is_some() {
            vars.remove(TURNS_VARIABLE);
        }
        let variant = CaseVariant { vars, turns, answers: made_of_answers, ..CaseVariant::default() };
        let case = PendingCase {
            id: self.id.clone(),
            test_id: Arc::clone(&self.test_id),
            test: Rc::new(test.clone()),
            transform: None,
            prompt: self.prompt.as_ref(),
            media: self.has_media,
            span,
            history: self.history.clone(),
            cluster: self.cluster.clone(),
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

        let (mut cx, place) = self.context();
        let reader = TestReader::new(self.source.spelling);
        let shown = cx.sources.file(place.source).path().to_path_buf();
        let read = read_changed_test(&mut cx, &reader, Some(&self.test), changed, &shown, "a test");
        let case = read.and_then(|test| {
            let mut case = self.write_case(&mut cx, &test, place, None)?;
            Arc::make_mut(&mut case).authored = Some(Arc::new(Self {
                source: Arc::clone(&self.source),
                id: self.id.clone(),
                test_id: Arc::clone(&self.test_id),
                value: merged_value(&test),
                test,
                prompt: self.prompt.clone(),
                has_media: self.has_media,
                literal: self.literal.clone(),
                is_rendered: false,
                history: self.history.clone(),
                cluster: self.cluster.clone(),
            }));
            Some(case)
        });

        written(cx, case).map(Some)
    }

    fn with_answers(&self, answers: &Map<String, Value>) -> Result<Arc<Case>, String> {
        let (mut cx, place) = self.context();
        let case = self.write_case(&mut cx, &self.test, place, Some(answers));
        written(cx, case)
    }
}

/// Returns a case that was written without errors, or else the errors in words.
fn written(cx: DecodeContext, case: Option<Arc<Case>>) -> Result<Arc<Case>, String> {
    let found = cx.problems.into_vec();
    let errors: Vec<String> = found
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .map(|found| format!("{}: {}", found.title, found.primary.text))
        .collect();
    case.filter(|_| errors.is_empty()).ok_or_else(|| errors.join("; "))
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
