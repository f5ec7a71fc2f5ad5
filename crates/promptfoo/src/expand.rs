//! Expands a matrix: one case for each combination of prompt, test and variable values.
//!
//! The number of cases is a product, so it is checked against [`MAX_MATRIX_CASES`] before any case of a test is
//! made, and the size of all rendered prompts is limited as well.
//!
//! A combination can't always be written at once. Variables and prompts may be written by code, and a process
//! is expensive to start. So combinations are collected as [`PendingCase`]s, and for up to [`PENDING_CASES`] of
//! them the code is run together: all calls of one program share a process. If the code may depend on the
//! provider, a pending case has one [`CaseVariant`] for each provider. Variants with equal results are merged
//! again, so a case is only split where providers really get different prompts.
//!
//! If the variables of a test can't be read, its other parts are still checked, see
//! [`MatrixExpander::check_rest`].

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapEntry, NodeValue, TreeNode, ValueSize, codes};
use assize_evalfile::reading::{
    CaseCollector, DecodeContext, DecodedCase, SuiteDefaults, decode_prepared_case, decode_transforms,
};
pub use assize_limits::MATRIX_CASES as MAX_MATRIX_CASES;
use assize_limits::{MATRIX_ANSWERS, MATRIX_BYTES, MEMBER_BYTES, VALUE_BYTES};
use assize_model::{CaseHistory, FilePosition, Suite, TURNS_VARIABLE, TargetRef, UnsupportedFeature};
use assize_records::UniqueIds;
use serde_json::{Map, Value};

use super::assertions::{AssertionWriter, PassRule};
use super::authored::{MatrixAuthoredTest, MatrixSource};
use super::choices::{asks, check_prompts_of_providers, prompts_of, runs};
use super::history::{FileHistory, escaped_for, stand_in, with_turns};
use super::kept_case::{decode_readable_graders, keep_case};
use super::made_size::{exceeds_allowance, too_large};
use super::matrix_file::{MatrixFile, merge_default, place_of};
use super::matrix_test::MatrixTest;
use super::metrics::{MetricMark, MetricNames, named_metrics, take_marks};
use super::nodes::{MapNode, json_node, list_node, number_names, text_node};
use super::pending::{CaseVariant, PendingCase, finish_variables, run_code};
use super::prompts::{MatrixPrompt, PromptBody, RenderedPrompt};
use super::providers::MatrixProvider;
use super::scoring::{scored_by_function, scoring_function, set_scoring};
use super::selections::name_weights;
use super::spelling::MatrixSpelling;
use super::test_judges::JudgeNames;
use super::values::{always_reached, given_text, given_transform};
use super::variables::{
    VariableCombination, absent_variable, blank_variable, combinations, count_combinations, only_variable,
    read_values, read_variables_script, strip_line_ends,
};

/// Number of collected cases at which their code is run.
const PENDING_CASES: usize = 256;
/// Bytes of collected cases at which their code is run.
const PENDING_BYTES: usize = 8 << 20;
/// Maximum number of characters that an id takes from a description.
const MAX_ID_LETTERS: usize = 60;

/// Expansion of one file.
pub(super) struct MatrixExpander<'a> {
    file: &'a MatrixFile<'a>,
    judges: &'a JudgeNames,
    /// What tests take over from each other.
    history: FileHistory,
    /// The file that tests come from, so that their cases can be written again; `None` if no extension changes
    /// tests, and none takes over answers.
    source: Option<Arc<MatrixSource>>,
    ids: UniqueIds,
    /// Ids of tests, one for each combination of variables.
    test_ids: UniqueIds,
    cases: usize,
    /// The size of the cases so far in memory.
    made: ValueSize,
    /// Metrics of the cases so far.
    pub(super) metrics: MetricNames,
    /// Cases whose code has not been run yet.
    pending: Vec<PendingCase<'a>>,
    /// Bytes of them.
    pending_bytes: usize,
}

impl<'a> MatrixExpander<'a> {
    pub(super) fn new(file: &'a MatrixFile<'a>, judges: &'a JudgeNames) -> Self {
        Self {
            file,
            judges,
            history: FileHistory::default(),
            source: None,
            ids: UniqueIds::default(),
            test_ids: UniqueIds::default(),
            cases: 0,
            made: ValueSize::default(),
            metrics: MetricNames::default(),
            pending: Vec::new(),
            pending_bytes: 0,
        }
    }

    /// Keeps with each case the test that it was made from, and what the test takes over from others.
    pub(super) fn with_source(self, source: Option<MatrixSource>, history: FileHistory) -> Self {
        Self { source: source.map(Arc::new), history, ..self }
    }

    /// Adds the cases of all tests, and sets the targets of the suite. Returns the names of all metrics.
    pub(super) fn expand(
        mut self,
        cx: &mut DecodeContext,
        suite: &mut Suite,
        into: &mut CaseCollector,
    ) -> MetricNames {
        suite.settings.targets = self
            .file
            .providers
            .iter()
            .map(|provider| target_ref(&provider.name, cx.position(provider.span)))
            .collect();
        if let Some(lowered) = &mut cx.lowered {
            lowered.name_targets(self.file.providers.iter().map(|provider| provider.name.as_str()));
        }

        check_prompts_of_providers(cx, self.file);
        // The tests stay in memory beside their cases.
        for test in self.file.tests.parts() {
            self.made += test.size();
        }
        if self.least_texts() > MATRIX_BYTES {
            cx.problems.add(too_large(self.file.root.use_span().start_point()));
            return self.metrics;
        }
        for (index, test) in self.file.tests.all().enumerate() {
            let merged = Rc::new(merge_default(self.file, &test));
            if !self.expand_test(cx, index, merged, into) {
                self.pending.clear();
                break;
            }
        }
        self.add_pending(cx, into);

        self.metrics
    }

    /// Minimum size of all cases in bytes: the variables of each test, for each of its prompts.
    fn least_texts(&self) -> usize {
        let of_test = |test: &MatrixTest| {
            let prompts =
                if test.prompts.is_empty() { self.file.prompts.found.len() } else { test.prompts.len() };
            let texts = |entry: &MapEntry| match &entry.value.data {
                NodeValue::Str(text) => text.len(),
                _ => 0,
            };
            test.vars.iter().map(texts).sum::<usize>().saturating_mul(prompts)
        };
        self.file.tests.written.iter().map(of_test).fold(0, usize::saturating_add)
    }

    /// Adds the cases of a test. Returns false if the limit has been reached.
    fn expand_test(
        &mut self,
        cx: &mut DecodeContext,
        index: usize,
        test: Rc<MatrixTest>,
        into: &mut CaseCollector,
    ) -> bool {
        let span = place_of(&test, self.file.root.use_span());
        let values = read_values(cx, &test.vars, !test.options.disable_expansion);
        let Some((values, media)) = values.filter(|_| !test.is_broken) else {
            self.check_rest(cx, &test, span, &into.defaults);
            into.met = true;
            into.broken += 1;
            return true;
        };

        let prompts = prompts_of(cx, self.file, &test, span);
        let count = count_combinations(&values);
        let fits = count.and_then(|count| count.checked_mul(prompts.len().max(1)));
        let so_far = self.cases + self.pending.len();
        let providers = self.file.providers.len().max(1);
        let is_too_many = |count: usize| {
            so_far + count > MAX_MATRIX_CASES || (so_far + count).saturating_mul(providers) > MATRIX_ANSWERS
        };
        if fits.is_none_or(is_too_many) {
            cx.problems.add(too_large(span));
            return false;
        }

        let transform = match &test.options.transform_vars {
            None => None,
            Some(written) => match read_variables_script(cx, written) {
                Some(script) => Some(Rc::new((script, written.span))),
                None => return true,
            },
        };
        let several = count.is_some_and(|count| count > 1);
        self.pending_bytes += test.size().total();
        let base = base_id(&test, index);
        let cluster = self.history.cluster_of(self.file, index, &test);
        for (at, VariableCombination { mut vars, code }) in combinations(&values).enumerate() {
            // The code of several tests is run together, so that the calls of a program share a process.
            let is_full = self.pending.len() >= PENDING_CASES || self.pending_bytes >= PENDING_BYTES;
            if is_full && !self.add_pending(cx, into) {
                return false;
            }

            let transform = transform.clone();
            // Extensions see variables with their templates, unless code or a script changed the variables.
            let is_shown = self.source.is_some() && code.is_empty() && transform.is_none();
            let unrendered = is_shown.then(|| {
                let mut vars = vars.clone();
                if self.file.spelling == MatrixSpelling::Camel {
                    strip_line_ends(&mut vars);
                }
                vars
            });
            // Variables may refer to the results of code. If there is code, they are completed after it has run.
            let changes = (&*test, transform.as_deref());
            let histories: Vec<Option<CaseHistory>> = prompts
                .iter()
                .map(|prompt| self.history.of_case(self.file, (index, at), &test, *prompt))
                .collect();
            let used = histories.iter().flatten().flat_map(|history| &history.uses);
            let mut written: BTreeSet<String> = used.map(ToString::to_string).collect();
            vars.extend(written.iter().map(|name| (name.clone(), stand_in(name))));
            let shows_turns = histories.iter().flatten().any(|history| history.shows_turns);
            if shows_turns {
                written.insert(TURNS_VARIABLE.to_owned());
                vars.insert(TURNS_VARIABLE.to_owned(), Value::Array(Vec::new()));
            }
            let answers = self.file.templates.made_of(&vars, &written);
            if code.is_empty() && !finish_variables(cx, self.file, changes, &written, &mut vars) {
                self.check_rest(cx, &test, span, &into.defaults);
                into.met = true;
                into.broken += 1;
                return true;
            }
            if shows_turns {
                vars.remove(TURNS_VARIABLE);
            }
            let stem = if several { format!("{base}/vars-{}", at + 1) } else { base.clone() };
            let test_id: Arc<str> = self.test_ids.take(&stem).into();
            for ((number, prompt), history) in prompts.iter().enumerate().zip(histories) {
                let id = if prompts.len() > 1 {
                    format!("{test_id}/prompt-{}", number + 1)
                } else {
                    test_id.to_string()
                };
                let variant = CaseVariant {
                    vars: vars.clone(),
                    code: code.clone(),
                    unrendered: unrendered.clone(),
                    answers: answers.clone(),
                    ..CaseVariant::default()
                };
                let variants = self.variants(cx, &test, *prompt, variant);
                for variant in &variants {
                    let size = size_of(&variant.vars);
                    self.made += size;
                    self.pending_bytes += size.total();
                }
                if exceeds_allowance(cx, self.made) {
                    cx.problems.add(too_large(span));
                    return false;
                }
                let (test, transform) = (Rc::clone(&test), transform.clone());
                let test_id = Arc::clone(&test_id);
                let (prompt, cluster) = (*prompt, cluster.clone());
                let case = PendingCase {
                    id,
                    test_id,
                    test,
                    transform,
                    prompt,
                    media,
                    span,
                    history,
                    cluster,
                    variants,
                };
                self.pending.push(case);
            }
        }

        true
    }

    /// Returns the variants of a case: a single one, or one for each provider if the code may depend on the
    /// provider.
    fn variants(
        &self,
        cx: &DecodeContext,
        test: &MatrixTest,
        prompt: Option<&MatrixPrompt>,
        variant: CaseVariant,
    ) -> Vec<CaseVariant> {
        let of_prompt = prompt.and_then(|prompt| match &prompt.body {
            PromptBody::Code(part) => Some(part),
            PromptBody::Text(_) | PromptBody::Json(_) => None,
        });
        let mut parts = of_prompt.into_iter().chain(variant.code.iter().map(|(_, part)| part));
        // With targets on the command line, every target gets every case.
        if !cx.reach.targets.is_empty() || !parts.any(|part| part.may_depend_on_provider()) {
            return vec![variant];
        }

        let matching = self.file.providers.iter().enumerate().filter(|(_, provider)| {
            runs(test, provider) && prompt.is_none_or(|prompt| asks(provider, prompt))
        });
        let variants: Vec<CaseVariant> =
            matching.map(|(at, _)| CaseVariant { providers: vec![at], ..variant.clone() }).collect();
        if variants.is_empty() { vec![variant] } else { variants }
    }

    /// Runs the code of the pending cases, and adds the cases. Returns false if the limit has been reached.
    fn add_pending(&mut self, cx: &mut DecodeContext, into: &mut CaseCollector) -> bool {
        let mut pending = std::mem::take(&mut self.pending);
        self.pending_bytes = 0;
        run_code(cx, self.file, &mut pending);

        for case in pending {
            if exceeds_allowance(cx, self.made) {
                cx.problems.add(too_large(case.span));
                return false;
            }
            if case.variants.iter().any(|variant| variant.is_broken) {
                into.met = true;
                into.broken += 1;
                continue;
            }
            let several = case.variants.len() > 1;
            for (number, variant) in case.variants.iter().enumerate() {
                let id =
                    if several { format!("{}/provider-{}", case.id, number + 1) } else { case.id.clone() };
                self.add_case(cx, id, &Combination { case: &case, variant }, into);
            }
        }

        true
    }

    fn add_case(
        &mut self,
        cx: &mut DecodeContext,
        id: String,
        combination: &Combination<'_>,
        into: &mut CaseCollector,
    ) {
        let before = cx.problems.error_count();
        let id = self.ids.take(&id);
        let defaults = Arc::clone(&into.defaults);
        let Some(mut read) = self.write_case(cx, &id, combination, &defaults) else {
            into.met = true;
            into.broken += usize::from(cx.problems.error_count() > before);
            return;
        };

        self.cases += 1;
        if let (Some(source), Some(case)) = (&self.source, read.case.as_mut().map(Arc::make_mut)) {
            case.authored = Some(Arc::new(MatrixAuthoredTest::new(Arc::clone(source), id, combination)));
        }
        into.add_case(cx, read);
    }

    /// Writes a combination as a case and decodes it. Returns `None` after adding a diagnostic.
    pub(super) fn write_case(
        &mut self,
        cx: &mut DecodeContext,
        id: &str,
        combination: &Combination<'_>,
        defaults: &SuiteDefaults,
    ) -> Option<DecodedCase> {
        self.file.templates.filters.report_failures(cx);
        self.file.assertions.begin_test();
        let Combination { case: pending, variant } = *combination;
        // Read early, so that its errors are reported together with errors of the assertions.
        let scoring = scoring_function(cx, &pending.test);
        let Some(CaseNode { mut node, has_media: media, marks, turns }) = self.case_node(cx, id, combination)
        else {
            decode_transforms(cx, &list_node(pending.span, self.transforms(&pending.test)));
            return None;
        };
        self.metrics.add(&marks);
        let vars = variant.vars.clone().into_iter().collect();
        let mut read = decode_prepared_case(cx, &node, defaults, vars);
        if read.case.is_none() && cx.lowered.is_some() {
            (node, read) = decode_readable_graders(cx, node, defaults, &variant.vars);
        }
        if let Some(case) = read.case.as_mut().map(Arc::make_mut) {
            if let (Some(function), [grader]) = (scoring, case.graders.as_mut_slice()) {
                set_scoring(Arc::make_mut(grader), function);
            }
            case.metrics = named_metrics(&case.graders, &marks);
            if let Some(turns) = turns {
                case.vars.insert(TURNS_VARIABLE.to_owned(), turns);
            }
            case.conversation_id = case.conversation_id.take().or_else(|| pending.cluster.clone());
            let prompt = || node.get("input").map(TreeNode::to_json).unwrap_or_default();
            case.history =
                pending.history.clone().map(|history| Arc::new(CaseHistory { prompt: prompt(), ..history }));
            case.prompt = pending.prompt.and_then(|prompt| prompt.shown.clone());
            case.test = (*pending.test_id != *id).then(|| Arc::clone(&pending.test_id));
            if case.compares_answers() {
                name_weights(cx, case, &pending.test, self.file.root);
            }
            case.output_as_text = self.file.spelling == MatrixSpelling::Snake;
            let place = cx.position(pending.span);
            if media || pending.media {
                let feature = "a prompt with images, sounds or documents";
                case.unbuilt.push(UnsupportedFeature { feature: feature.into(), place: place.clone() });
            }
            case.unrun_code =
                variant.unrun.iter().cloned().chain(self.file.templates.filters.unrun()).collect();
            match &variant.unrun_prompt {
                // A given answer can be graded without its prompt.
                Some(_) if case.output.is_some() => {
                    let feature = "the code of a prompt, which is not run without `--allow-code`,";
                    case.unbuilt.push(UnsupportedFeature { feature: feature.into(), place });
                }
                Some(code) => case.unrun_code.push(code.clone()),
                None => {}
            }
        }
        if cx.lowered.is_some() {
            keep_case(cx, &node, &variant.vars, pending, &read);
        }
        Some(read)
    }

    /// Writes a combination as the node of a case in the `tests` format.
    fn case_node(
        &mut self,
        cx: &mut DecodeContext,
        id: &str,
        combination: &Combination<'_>,
    ) -> Option<CaseNode> {
        let Combination { case: PendingCase { test, prompt, span, history, .. }, variant } = *combination;
        let (prompt, span, vars, pending_history) = (*prompt, *span, &variant.vars, history.as_ref());
        let with_turns = with_turns(prompt, vars, variant.turns.as_ref());
        let seen = with_turns.as_ref().unwrap_or(vars);
        let scope = self.file.templates.scope(seen);
        let mut case = MapNode::new(span);
        let id_span = test.id.as_ref().map_or(span, |id| id.span);
        case.add("id", id_span, text_node(id_span, id));

        let mut media = false;
        if let Some(input) = &test.input {
            case.add("input", input.use_span(), input.clone());
        } else if let Some(prompt) = prompt {
            if let Some(problem) = absent_variable(test, vars, prompt, span) {
                return cx.problems.reject(problem);
            }
            let escaped = escaped_for(cx, &self.file.templates, prompt, seen, &variant.answers);
            let escaped = escaped.map(|seen| self.file.templates.scope(&seen));
            let rendered = self.input_of(cx, prompt, combination, escaped.as_ref().unwrap_or(&scope))?;
            media = rendered.has_media;
            if rendered.input.as_str().is_some_and(|text| text.trim().is_empty())
                && let Some(problem) = blank_variable(cx, &test.vars, prompt)
            {
                return cx.problems.reject(problem);
            }
            case.add("input", prompt.span, rendered.input);
        } else {
            case.add("input", span, text_node(span, plain_input(vars)));
        }
        if let Some(output) = &test.output {
            case.add("output", output.use_span(), given_text(output));
        }

        let transforms = self.transforms(test);
        if !transforms.is_empty() {
            case.add("transform", span, list_node(span, transforms));
        }
        let marks = self.add_assertions(cx, &mut case, test, (&scope, variant), span)?;
        self.add_metadata(&mut case, test, prompt, span);
        self.add_targets(&mut case, combination);
        for entry in &test.case_keys {
            case.add(&entry.key, entry.key_span, self.lower_turns(cx, entry, (&scope, variant)));
        }
        // In AgentV's files, the variable `expected_output` is the expected answer.
        if self.file.spelling == MatrixSpelling::Snake
            && let Some(entry) = test.vars.iter().find(|entry| entry.key == "expected_output")
        {
            let value = match vars.get("expected_output") {
                Some(Value::String(text)) => text_node(entry.value.use_span(), text.clone()),
                _ => entry.value.clone(),
            };
            case.add("expected_output", entry.key_span, value);
        }

        let node = case.finish();
        self.made += node.size();
        let is_turn = pending_history.is_some_and(|history| history.shows_turns);
        let turns = with_turns.filter(|_| is_turn).and_then(|mut vars| vars.remove(TURNS_VARIABLE));
        Some(CaseNode { node, has_media: media, marks, turns })
    }

    fn input_of(
        &self,
        cx: &mut DecodeContext,
        prompt: &MatrixPrompt,
        combination: &Combination<'_>,
        scope: &super::template::TemplateScope,
    ) -> Option<RenderedPrompt> {
        let Combination { case: PendingCase { test, .. }, variant } = *combination;
        if variant.unrun_prompt.is_some() {
            let text = plain_input(&variant.vars);
            return Some(RenderedPrompt { input: text_node(prompt.span, text), has_media: false });
        }

        if let Some(body) = &variant.prompt {
            let written = MatrixPrompt { body: body.clone(), ..prompt.clone() };
            // `prefix` and `suffix` are only for prompts that are text.
            return written.render(cx, &self.file.templates, scope, ("", ""));
        }

        // If the prompt is a single variable that is a list of messages, the variable is the whole
        // conversation.
        if let PromptBody::Text(text) = &prompt.body
            && let Some(name) = only_variable(text)
            && let Some(entry) = test.vars.iter().find(|entry| entry.key == name)
            && entry.value.as_seq().is_some_and(|items| items.iter().all(|item| item.get("role").is_some()))
        {
            return Some(RenderedPrompt { input: entry.value.clone(), has_media: false });
        }

        let options = &test.options;
        let around =
            (options.prefix.as_deref().unwrap_or_default(), options.suffix.as_deref().unwrap_or_default());
        prompt.render(cx, &self.file.templates, scope, around)
    }

    fn add_assertions(
        &self,
        cx: &mut DecodeContext,
        case: &mut MapNode,
        test: &MatrixTest,
        (scope, variant): (&super::template::TemplateScope, &CaseVariant),
        span: Span,
    ) -> Option<Vec<MetricMark>> {
        let rule = match (self.file.spelling, &test.threshold) {
            _ if test.scoring.is_some() => PassRule::Mean,
            (MatrixSpelling::Camel, None) => PassRule::Each,
            (MatrixSpelling::Camel | MatrixSpelling::Snake, _) => PassRule::Mean,
        };
        match &test.threshold {
            // The function decides about the test. It receives the threshold.
            _ if test.scoring.is_some() => case.add_number("threshold", span, 0.0),
            Some(threshold) => {
                if threshold.value == 0.0 && self.file.spelling == MatrixSpelling::Camel {
                    cx.problems.add(always_reached("a test", threshold.span));
                }
                case.add_number("threshold", threshold.span, threshold.value);
            }
            // The assertions decide about the test, not their mean.
            None if rule == PassRule::Each => case.add_number("threshold", span, 0.0),
            None => {}
        }

        let judge = test.options.judge.as_ref().and_then(|node| self.judge_name(node));
        let writer = AssertionWriter {
            judge: judge.as_deref(),
            judge_setting: test.options.judge.as_ref(),
            rubric_prompt: test.options.rubric_prompt.as_ref(),
            ..self.assertion_writer(scope, variant)
        };
        let before = cx.problems.error_count();
        let mut graders: Vec<TreeNode> = Vec::new();
        for node in &test.assertions {
            let grader = writer.grader(cx, node, rule, 0);
            if let (None, Some(lowered)) = (&grader, &mut cx.lowered) {
                lowered.leave_out(node.span);
            }
            graders.extend(grader);
        }
        number_names(&mut graders);
        if let Some(scoring) = test.scoring.as_ref().filter(|_| !graders.is_empty()) {
            graders = vec![scored_by_function(graders, scoring.span)];
        }
        let marks = take_marks(&mut graders);
        // A conversion continues with the assertions that could be read.
        let goes_on = cx.lowered.is_some() && !graders.is_empty();
        if cx.problems.error_count() > before && !goes_on {
            return None;
        }

        let at = test.assert_span.unwrap_or(span);
        if !graders.is_empty() {
            case.add("assertions", at, list_node(at, graders));
        } else if !test.case_keys.iter().any(|entry| entry.key == "criteria" || entry.key == "turns") {
            Diagnostic::warning(codes::NO_ASSERTIONS, "the test has no assertions")
                .at(span, "any answer passes")
                .with_help("add `assert` to the test, or to the default test")
                .add_to(&mut cx.problems);
            case.add("assertions", span, list_node(span, vec![any_answer(span)]));
        }

        Some(marks)
    }

    /// Returns a writer for assertions of a test without a judge.
    fn assertion_writer<'w>(
        &'w self,
        scope: &'w super::template::TemplateScope,
        variant: &'w CaseVariant,
    ) -> AssertionWriter<'w> {
        AssertionWriter {
            spelling: self.file.spelling,
            templates: &self.file.templates,
            scope,
            vars: &variant.vars,
            answers: &variant.answers,
            root: self.file.root,
            judge: None,
            judge_setting: None,
            rubric_prompt: None,
            judges: self.judges,
            count: &self.file.assertions,
        }
    }

    /// Returns the name of the judge in `options`.
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

    /// Sets the targets of a case, unless it has all targets.
    fn add_targets(&self, case: &mut MapNode, combination: &Combination<'_>) {
        let Combination { case: PendingCase { test, prompt, span, .. }, variant } = *combination;
        let span = *span;
        let all = &self.file.providers;
        let chosen: Vec<&MatrixProvider> = all
            .iter()
            .enumerate()
            .filter(|(at, _)| variant.providers.is_empty() || variant.providers.contains(at))
            .map(|(_, provider)| provider)
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

    /// Writes the assertions in `turns` as graders.
    fn lower_turns(
        &self,
        cx: &mut DecodeContext,
        entry: &MapEntry,
        (scope, variant): (&super::template::TemplateScope, &CaseVariant),
    ) -> TreeNode {
        let NodeValue::Seq(turns) = &entry.value.data else { return entry.value.clone() };
        if entry.key != "turns" {
            return entry.value.clone();
        }

        let writer = self.assertion_writer(scope, variant);
        let turns = turns.iter().map(|turn| {
            let mut lowered = MapNode::new(turn.use_span());
            for part in turn.as_map().unwrap_or_default() {
                match part.value.as_seq().filter(|_| part.key == "assert" || part.key == "assertions") {
                    Some(items) => {
                        let mut graders: Vec<TreeNode> = items
                            .iter()
                            .filter_map(|item| writer.grader(cx, item, PassRule::Mean, 0))
                            .collect();
                        take_marks(&mut graders);
                        lowered.add("assertions", part.key_span, list_node(part.value.use_span(), graders));
                    }
                    None => lowered.add(&part.key, part.key_span, part.value.clone()),
                }
            }
            lowered.finish()
        });

        list_node(entry.value.use_span(), turns.collect())
    }

    /// Returns the code that changes the answers of a test, as `transform` of the case: first the providers' code, then
    /// the test's.
    fn transforms(&self, test: &MatrixTest) -> Vec<TreeNode> {
        let of_providers = self.file.providers.iter().filter_map(|provider| {
            let (code, span) = provider.transform.as_ref()?;
            Some((code, *span, Some(&provider.name)))
        });
        let own = test.options.transform.iter().map(|code| (&code.value, code.span, None));

        let written = of_providers.chain(own).map(|(code, span, target)| {
            let mut transform = MapNode::new(span);
            transform.add_text("value", code.clone());
            if let Some(target) = target {
                transform.add_text("target", target.clone());
            }
            transform.finish()
        });
        test.output.as_ref().and_then(given_transform).into_iter().chain(written).collect()
    }
}

/// The memory that variables take.
fn size_of(vars: &Map<String, Value>) -> ValueSize {
    fn of_value(value: &Value) -> ValueSize {
        let mut size = ValueSize { texts: 0, values: VALUE_BYTES };
        match value {
            Value::String(text) => size.texts += text.len(),
            Value::Array(items) => items.iter().for_each(|item| size += of_value(item)),
            Value::Object(entries) => size += size_of(entries),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        size
    }
    let mut size = ValueSize::default();
    for (name, value) in vars {
        size += ValueSize { texts: name.len(), values: MEMBER_BYTES };
        size += of_value(value);
    }
    size
}

/// A case in the `tests` format that has not been decoded yet.
struct CaseNode {
    node: TreeNode,
    /// True if a part is an image, a sound, or another file that is not text.
    has_media: bool,
    /// Metrics of its graders, in the same order.
    marks: Vec<MetricMark>,
    /// The turns that it shows.
    turns: Option<Value>,
}

/// One case to write: a pending case and one of its variants.
#[derive(Clone, Copy)]
pub(super) struct Combination<'a> {
    pub(super) case: &'a PendingCase<'a>,
    pub(super) variant: &'a CaseVariant,
}

impl Combination<'_> {
    /// Returns the test with this combination of variables instead of lists of values. Templates in the
    /// variables are not rendered, if extensions are to see them.
    pub(super) fn test(&self) -> MatrixTest {
        let Combination { case, variant } = *self;
        let vars = variant.unrendered.as_ref().unwrap_or(&variant.vars);
        let known = |name: &str| case.test.vars.iter().find(|entry| entry.key == name);
        let entries = vars.iter().map(|(name, value)| match known(name) {
            Some(entry) if entry.value.to_json() == *value => entry.clone(),
            entry => {
                let span = entry.map_or(case.span, |entry| entry.value.use_span());
                MapEntry { key: name.clone(), key_span: span, value: json_node(span, value) }
            }
        });
        let mut test = MatrixTest { vars: entries.collect(), ..MatrixTest::clone(&case.test) };
        test.options.transform_vars = None;
        test
    }
}

fn target_ref(name: &str, place: FilePosition) -> TargetRef {
    TargetRef { name: name.to_owned(), use_target: None, hooks: None, place }
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

/// Returns the grader for a test without assertions: any answer passes unless it is empty.
fn any_answer(span: Span) -> TreeNode {
    let mut grader = MapNode::new(span);
    grader.add_text("name", "answered");
    grader.add_text("type", "regex");
    grader.add_text("value", r"\S");
    grader.add_flag("required", true);
    grader.add_number("min_score", span, 1.0);
    grader.finish()
}

/// Returns the base of a test's ids: its own id, else its description, else its number.
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
