//! Decoder of a single case.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span, SpannedValue};
use assize_document::{MapEntry, MapReader, NodeValue, TreeNode, check_not_blank, codes, string, wrong_type};
use assize_model::{
    AnswerCheck, AnswerTransform, Case, CaseId, CaseMarks, EvalFileFormat, GivenOutput, Grader, GraderKind,
    OnDependencyFailure, ThresholdOverrides, Trials, UnsupportedFeature, WorkspaceSpec,
};
use assize_rubric::CaseMessage;
use serde_json::{Map, Value};

use super::common::{
    DecodedThresholds, check_id, decode_free_map, decode_keyword, decode_tags, decode_thresholds, empty,
    find_own_spelling, find_spelling, non_empty_list, refuse_foreign_keys,
};
use super::conversation::decode_conversation;
use super::grader::{AssertionContext, decode_inline_rubrics, decode_transforms, grader_from_outcome};
use super::interpolate::interpolate_described;
use super::preprocessors::merge_preprocessors;
use super::suite::{SuiteDefaults, check_default_kind, keep_in_metadata};
use super::trials::decode_trials;
use super::vars::fill_templates;
use super::workspace::decode_workspace;
use super::{DecodeContext, execution, graders, messages};

/// Keys of newer versions, and common guesses, with the equivalent in this format.
const FOREIGN_KEYS: &[(&str, &str)] = &[
    ("name", "write the name as `id`"),
    ("prompts", "write the prompt as `input`"),
    ("prompt", "write the prompt as `input`"),
    ("question", "write the question as `input`"),
    ("asserts", "write the graders as `assertions`"),
    ("value", "indent it as far as the `type` of its grader"),
    ("expected", "write what a good answer says as `expected_output`"),
    ("answer", "write the answer to grade as `output`"),
    ("provider", "name the target: `execution: {target: NAME}`"),
    ("providers", "name the targets: `execution: {targets: [NAME, ...]}`"),
    ("options", "write graders' settings on the graders, the target under `execution`"),
    (
        "assert_scoring_function",
        "the score of a case is the weighted mean of its graders; set their `weight`",
    ),
    ("environment", "write `workspace` for the folder to work in"),
    ("run", "write `execution: {threshold: ...}` on the case, other run settings on the suite"),
];

/// Result of decoding a case.
pub struct DecodedCase {
    /// Id, also of an invalid case: duplicates are detected among all.
    pub(crate) id: Option<SpannedValue<String>>,
    /// Decoded case; `None` if it has errors.
    pub case: Option<Arc<Case>>,
    /// Ids of the cases it depends on, with their spans.
    pub(crate) depends_on: Vec<SpannedValue<String>>,
}

/// Decodes a case. `fallback_id`, the name of its folder, is used if the case has no id.
pub(crate) fn decode_case(
    cx: &mut DecodeContext,
    node: &mut TreeNode,
    defaults: &SuiteDefaults,
    fallback_id: Option<&str>,
) -> DecodedCase {
    let before = cx.problems.error_count();
    let broken = |id| DecodedCase { id, case: None, depends_on: Vec::new() };
    if node.as_map().is_none() {
        let path = cx.sources.file(node.span.source).path();
        let is_line = path.extension().is_some_and(|ending| ending == "jsonl");
        cx.problems.add(not_a_case(node, is_line));
        return broken(None);
    }

    if let NodeValue::Map(entries) = &mut node.data {
        // A given answer is external data: environment variables are not substituted.
        interpolate_described(cx, entries, "output");
    }

    let vars = decode_vars(cx, node);
    fill_templates(cx, node, &vars);

    decode_filled_case(cx, node, defaults, fallback_id, vars, before)
}

/// Decodes a case with final texts, in which no variables are substituted.
pub fn decode_prepared_case(
    cx: &mut DecodeContext,
    node: &TreeNode,
    defaults: &SuiteDefaults,
    vars: BTreeMap<String, Value>,
) -> DecodedCase {
    let before = cx.problems.error_count();
    decode_filled_case(cx, node, defaults, None, vars, before)
}

fn decode_filled_case(
    cx: &mut DecodeContext,
    node: &TreeNode,
    defaults: &SuiteDefaults,
    fallback_id: Option<&str>,
    vars: BTreeMap<String, Value>,
    before: usize,
) -> DecodedCase {
    let Some(mut object) = MapReader::new(node, "a case", &mut cx.problems) else {
        return DecodedCase { id: None, case: None, depends_on: Vec::new() };
    };
    let id = decode_id(cx, &mut object, fallback_id);

    object.entry("vars");
    let parts = PartialCase::decode(cx, &mut object, defaults);

    object.finish(&mut cx.problems);
    let turns = parts.conversation.iter().flat_map(|conversation| &conversation.turns);
    let graders: Vec<Arc<Grader>> =
        parts.graders.iter().chain(turns.flat_map(|turn| &turn.graders)).cloned().collect();
    let preprocessors = merge_preprocessors(cx, &defaults.preprocessors, &graders, parts.head);

    let depends_on = parts.depends_on.clone();
    let sound = cx.problems.error_count() == before;
    let case = id.clone().filter(|_| sound).map(|id| {
        let case = parts.into_case(cx, defaults, id, vars);
        Arc::new(Case { preprocessors, ..case })
    });

    DecodedCase { id, case, depends_on }
}

fn not_a_case(node: &TreeNode, is_line: bool) -> Diagnostic {
    let diagnostic = wrong_type(node, "a case", "a map");
    if is_line {
        return diagnostic.with_help("write an object on each line: {\"id\": ..., \"input\": ...}");
    }

    match node.as_str() {
        Some(text) if text.starts_with("file:") => {
            diagnostic.with_help("a reference to a file of cases begins with `file://`")
        }
        Some(text) if ["yaml", "yml", "jsonl"].iter().any(|ending| text.ends_with(&format!(".{ending}"))) => {
            diagnostic.with_help(format!("to take the cases of that file, write `file://{text}`"))
        }
        _ => diagnostic.with_help("begin each case with `- id: NAME`"),
    }
}

fn decode_id(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    fallback: Option<&str>,
) -> Option<SpannedValue<String>> {
    let head = object.head();
    let Some(entry) = object.entry("id") else {
        if let Some(fallback) = fallback {
            return check_id(cx, SpannedValue::new(fallback.to_owned(), head), "the id of a case");
        }

        return Diagnostic::error(codes::NO_ID, "a case has no id")
            .at(head, "this case")
            .with_help("add `id:` with a short, stable name")
            .reject_in(&mut cx.problems);
    };
    if entry.value.is_null() {
        return Diagnostic::error(codes::NO_ID, "a case has no id")
            .at(entry.key_span, "nothing here")
            .with_help("write a short, stable name")
            .reject_in(&mut cx.problems);
    }

    if let NodeValue::Int(_) | NodeValue::Float(_) | NodeValue::Bool(_) = entry.value.data {
        let place = entry.value.use_span();
        let written = cx.sources.slice(place).to_owned();
        return Diagnostic::error(codes::BAD_ID, "the id of a case must be a string")
            .at(place, format!("found {}", entry.value.type_name()))
            .with_help("ids are kept as written, so `007` and `7` differ")
            .with_suggestion("put it in quotes", place, format!("\"{written}\""))
            .reject_in(&mut cx.problems);
    }

    let id = string(&entry.value, "id", &mut cx.problems)?;
    check_id(cx, id, "the id of a case")
}

fn decode_vars(cx: &mut DecodeContext, node: &TreeNode) -> BTreeMap<String, Value> {
    match node.get("vars") {
        Some(vars) if !vars.is_null() => decode_free_map(cx, vars, "vars").into_iter().collect(),
        _ => BTreeMap::new(),
    }
}

/// Parts of a case while it is decoded.
struct PartialCase {
    head: Span,
    input: Vec<CaseMessage>,
    expected_outcome: Option<SpannedValue<String>>,
    expected_output: Vec<CaseMessage>,
    output: Option<assize_model::GivenOutput>,
    transforms: Vec<AnswerTransform>,
    graders: Vec<Arc<Grader>>,
    thresholds: ThresholdOverrides,
    threshold: Option<Span>,
    targets: Vec<assize_model::TargetRef>,
    trials: Option<Trials>,
    tags: Vec<String>,
    metadata: Map<String, Value>,
    conversation_id: Option<String>,
    conversation: Option<assize_model::Conversation>,
    depends_on: Vec<SpannedValue<String>>,
    on_dependency_failure: OnDependencyFailure,
    workspace: Option<Arc<WorkspaceSpec>>,
    unbuilt: Vec<UnsupportedFeature>,
}

impl PartialCase {
    fn decode(cx: &mut DecodeContext, object: &mut MapReader<'_>, defaults: &SuiteDefaults) -> Self {
        let head = object.head();

        refuse_foreign_keys(cx, object, FOREIGN_KEYS);
        check_default_kind(cx, object);

        let expected_outcome = decode_expected_outcome(cx, object);
        let expected_output = decode_expected_output(cx, object);
        let output = object.entry("output").map(|entry| match written_file(&entry.value) {
            Some((path, span)) => {
                cx.read_text(path, span).map(|file| GivenOutput::Text(file.text.to_string()))
            }
            None => messages::decode_given_output(cx, &entry.value, "output"),
        });
        let has_output = output.is_some();
        let mut inner = execution::open_execution(cx, object);
        let targets = execution::decode_targets(cx, object, inner.as_mut());
        let trials = decode_trials(cx, object, inner.as_mut());
        let mut found = DecodedThresholds::default();
        decode_thresholds(cx, object, &mut found);

        let mut skip_defaults = false;
        if let Some(inner) = &mut inner {
            decode_thresholds(cx, inner, &mut found);
            skip_defaults = inner.boolean("skip_defaults", &mut cx.problems).is_some_and(|skip| skip.value);
        }

        let threshold = found.pass_span();
        let thresholds = found.finish(cx);
        let list = execution::find_grader_list(cx, object, inner.as_mut());

        if let Some(mut inner) = inner {
            report_suite_settings(cx, &mut inner);
            inner.finish(&mut cx.problems);
        }

        let base = AssertionContext::default();
        let conversation_given = object.has("turns");
        let conversation = decode_conversation(cx, object, &base);
        let input = InputDecoder { defaults, skip_defaults, optional: has_output || conversation_given }
            .decode(cx, object);
        let mut parts = Self {
            head,
            input,
            expected_outcome,
            expected_output,
            output: output.flatten(),
            transforms: object.value("transform").map(|node| decode_transforms(cx, node)).unwrap_or_default(),
            graders: Vec::new(),
            thresholds,
            threshold,
            targets,
            trials,
            tags: decode_tags(cx, object),
            metadata: decode_metadata(cx, object),
            conversation_id: object.text("conversation_id", &mut cx.problems).map(|id| id.value),
            conversation,
            depends_on: Vec::new(),
            on_dependency_failure: OnDependencyFailure::default(),
            workspace: None,
            unbuilt: Vec::new(),
        };

        parts.decode_dependencies(cx, object);
        parts.workspace = decode_workspace(cx, object, &mut parts.unbuilt);
        parts.decode_graders(cx, object, list, base, defaults, skip_defaults, conversation_given);

        parts
    }

    fn decode_dependencies(&mut self, cx: &mut DecodeContext, object: &mut MapReader<'_>) {
        let given = object.entry("depends_on").filter(|entry| !entry.value.is_null());
        if given.is_some_and(|entry| is_filled_list_or_text(cx, entry)) {
            self.depends_on = object.names("depends_on", &mut cx.problems);
        }

        if let Some(node) = object.value("on_dependency_failure") {
            self.on_dependency_failure =
                decode_keyword(cx, node, "on_dependency_failure", &OnDependencyFailure::NAMED)
                    .unwrap_or_default();

            if self.depends_on.is_empty() {
                Diagnostic::warning(codes::NO_EFFECT, "`on_dependency_failure` has no effect")
                    .at(node.use_span(), "the case has no `depends_on`")
                    .with_help("add `depends_on: [ID, ...]`, or remove this key")
                    .add_to(&mut cx.problems);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one call, every argument a different fact")]
    fn decode_graders(
        &mut self,
        cx: &mut DecodeContext,
        object: &mut MapReader<'_>,
        list: Option<&MapEntry>,
        base: AssertionContext,
        defaults: &SuiteDefaults,
        skip_defaults: bool,
        has_turns: bool,
    ) {
        let before = cx.problems.error_count();
        let inline = object.entry("rubrics").filter(|entry| is_filled_list_or_text(cx, entry));
        let inline_rubrics = inline.and_then(|entry| decode_inline_rubrics(cx, &entry.value)).map(Arc::new);
        let mut own = list.map(|entry| graders::decode_list(cx, entry, base)).unwrap_or_default();
        own.splice(0..0, inline_rubrics);

        // In the `evalcases` format, a case's own list replaces the suite's.
        let skips_suite = skip_defaults || cx.format == EvalFileFormat::One && list.is_some();
        let suite = if skips_suite { &[] } else { defaults.graders.as_slice() };

        self.graders = graders::combine_with_suite(cx, list.or(inline), own, suite);

        if cx.problems.error_count() > before {
            return;
        }

        if self.graders.is_empty() && !(has_turns && self.turns_are_graded()) {
            if let Some(text) = &self.expected_outcome {
                let text = text.clone();
                self.graders = vec![Arc::new(grader_from_outcome(cx, &text.value, text.span))];
            } else if defaults.broken && !skip_defaults {
                cx.problems.count_error();
            } else if !object.has(outcome_keys(cx.format)[0]) {
                cx.problems.add(nothing_to_grade(self.head, cx.format, !self.expected_output.is_empty()));
            }
            return;
        }

        if !self.graders.is_empty() && self.graders.iter().all(|grader| grader.weighting.weight.get() == 0.0)
        {
            let at = list.or(inline).map_or(self.head, |entry| entry.key_span);
            Diagnostic::error(codes::NO_GRADER_WEIGHT, "all graders of this case have weight 0")
                .at(at, "no weight, no score")
                .with_help("give at least one grader a weight above 0")
                .add_to(&mut cx.problems);
        }

        if let Some(output) = &self.output {
            let recorded = match output {
                GivenOutput::Messages(messages) => {
                    Some(messages.iter().map(|message| message.to_json().to_string()).collect::<String>())
                }
                GivenOutput::Text(_) | GivenOutput::Json(_) => None,
            };
            for grader in &self.graders {
                if let Some(missing) = missing_measure(&grader.kind, recorded.as_deref()) {
                    cx.problems.add(never_decided(&grader.name, missing, self.head));
                }
            }
        }
    }

    fn turns_are_graded(&self) -> bool {
        self.conversation.as_ref().is_none_or(|conversation| {
            conversation.turns.iter().any(|turn| !turn.graders.is_empty() || !turn.expected_output.is_empty())
        })
    }

    fn into_case(
        self,
        cx: &DecodeContext,
        defaults: &SuiteDefaults,
        id: SpannedValue<String>,
        vars: BTreeMap<String, Value>,
    ) -> Case {
        let own = self.workspace.as_ref().and_then(|workspace| workspace.docker.clone());
        let container = own.or_else(|| defaults.container.clone());
        let mark = |span: Span| cx.mark(span);
        let marks = CaseMarks {
            id: Some(mark(id.span)),
            expected_outcome: self.expected_outcome.as_ref().map(|text| mark(text.span)),
            threshold: self.threshold.map(mark),
        };
        Case {
            id: CaseId::new(id.value),
            place: cx.position(self.head),
            marks,
            input: self.input,
            expected_outcome: self.expected_outcome.map(|text| text.value),
            expected_output: self.expected_output,
            output: self.output,
            graders: self.graders,
            thresholds: self.thresholds,
            targets: self.targets,
            transforms: self.transforms,
            output_as_text: false,
            preprocessors: Arc::clone(&defaults.preprocessors),
            container,
            file_changes: None,
            trials: self.trials,
            tags: self.tags,
            metadata: self.metadata,
            conversation_id: self.conversation_id,
            vars,
            conversation: self.conversation,
            depends_on: self.depends_on.into_iter().map(|id| CaseId::new(id.value)).collect(),
            on_dependency_failure: self.on_dependency_failure,
            workspace: self.workspace,
            test: None,
            metrics: Vec::new(),
            prompt: None,
            authored: None,
            history: None,
            unbuilt: self.unbuilt,
            unrun_code: Vec::new(),
        }
    }
}

/// Settings of `execution` that only a suite may have.
const SUITE_ONLY_KEYS: &[(&str, &str)] = &[
    ("workers", "move it into the `execution` of the suite"),
    ("cache", "move it into the `execution` of the suite"),
    ("cache_path", "move it into the `execution` of the suite"),
    ("budget_usd", "move it into the `execution` of the suite"),
    ("fail_on_error", "move it into the `execution` of the suite"),
    ("judge", "name the judge in the `execution` of the suite, or on a grader"),
    ("panel", "set it in the `execution` of the suite, or on a grader"),
    ("judging", "set it in the `execution` of the suite, or on a grader"),
    ("evidence", "set it in the `execution` of the suite, or on a grader"),
    ("truncate", "set it in the `execution` of the suite, or on a grader"),
];

fn report_suite_settings(cx: &mut DecodeContext, object: &mut MapReader<'_>) {
    for (key, help) in SUITE_ONLY_KEYS {
        if let Some(entry) = object.foreign(key) {
            Diagnostic::error(codes::NOT_SUPPORTED, format!("`{key}` belongs on the suite"))
                .at(entry.key_span, "not a setting of a single case")
                .with_help(*help)
                .add_to(&mut cx.problems);
        }
    }
}

fn is_filled_list_or_text(cx: &mut DecodeContext, entry: &MapEntry) -> bool {
    entry.value.as_str().is_some() || non_empty_list(cx, entry).is_some()
}

fn nothing_to_grade(head: Span, format: EvalFileFormat, has_reference: bool) -> Diagnostic {
    let diagnostic = Diagnostic::error(codes::NOTHING_TO_GRADE, "there is nothing to grade this case by")
        .at(head, "this case")
        .with_help(format.choose(
            "add `rubrics`, or `expected_outcome` with what a good answer does",
            "add `assertions`, or `criteria` with what a good answer does",
        ));
    if has_reference {
        diagnostic
            .with_note("`expected_output` alone is an example, not a criterion")
            .with_help("for a plain comparison write: Gives the same answer as the expected output")
    } else {
        diagnostic
    }
}

/// Returns the spellings of the expected outcome, the current one first.
fn outcome_keys(format: EvalFileFormat) -> [&'static str; 3] {
    format.choose(["expected_outcome", "outcome", "criteria"], ["criteria", "expected_outcome", "outcome"])
}

fn decode_expected_outcome(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
) -> Option<SpannedValue<String>> {
    let entry = find_spelling(cx, object, &outcome_keys(cx.format), cx.format.choose(2, 1))?;
    if entry.value.is_null() {
        return cx.problems.reject(empty(&entry.key, entry.key_span));
    }

    if entry.value.as_seq().is_some() {
        return wrong_type(&entry.value, &format!("`{}`", entry.key), "a string")
            .with_help(cx.format.choose(
                "write the list of criteria under `rubrics`, as in `rubrics: [Names the date]`",
                "write the list of criteria under `assertions`, as in `assertions: [Names the date]`",
            ))
            .reject_in(&mut cx.problems);
    }

    let text = string(&entry.value, &entry.key, &mut cx.problems)?;
    check_not_blank(text, &entry.key, &mut cx.problems)
}

/// Description of tool calls for messages about missing data.
const TOOL_CALLS: &str = "the tool calls behind it";

/// Returns what a grader needs to know about an answer but can't know about a given one, as a noun phrase.
/// `json` has the messages of the answer, which may contain measurements; `None` for an answer without messages.
fn missing_measure(kind: &GraderKind, json: Option<&str>) -> Option<&'static str> {
    const TIME: &str = "how long it took";
    const COST: &str = "what it cost";
    const TOKENS: &str = "the tokens it took";

    let lacks = |key: &str| !json.is_some_and(|messages| messages.contains(key));
    let (no_time, no_cost, no_tokens) = (lacks("duration_ms"), lacks("cost_usd"), lacks("token_usage"));
    let check = match kind {
        GraderKind::Check(check) => check,
        GraderKind::Composite(composite) => {
            return composite.members.iter().find_map(|member| missing_measure(&member.kind, json));
        }
        GraderKind::Transformed(changed) => return missing_measure(&changed.inner.kind, json),
        _ => return None,
    };
    match check {
        AnswerCheck::Latency { .. } => no_time.then_some(TIME),
        AnswerCheck::Cost { .. } => no_cost.then_some(COST),
        AnswerCheck::TokenUsage(_) => no_tokens.then_some(TOKENS),
        AnswerCheck::ToolTrajectory(_) | AnswerCheck::SkillTrigger(_) => json.is_none().then_some(TOOL_CALLS),
        AnswerCheck::ExecutionMetrics(limits) => {
            let needs_calls = limits.max_tool_calls.is_some()
                || limits.max_llm_calls.is_some()
                || limits.target_exploration_ratio.is_some();
            let needed = [
                (limits.max_duration.is_some() && no_time, TIME),
                (limits.max_cost_usd.is_some() && no_cost, COST),
                (limits.max_tokens.is_some() && no_tokens, TOKENS),
                (needs_calls && json.is_none(), TOOL_CALLS),
            ];
            needed.into_iter().find(|(is_missing, _)| *is_missing).map(|(_, what)| what)
        }
        AnswerCheck::Text(_)
        | AnswerCheck::IsJson(_)
        | AnswerCheck::Sql(_)
        | AnswerCheck::FieldAccuracy(_)
        | AnswerCheck::Script(_) => None,
    }
}

/// Returns the warning about a grader that can never decide on a case with a given answer.
fn never_decided(grader: &str, missing: &str, head: Span) -> Diagnostic {
    let help = if missing == TOOL_CALLS {
        "give `output` as messages with their tool calls, or remove the grader"
    } else {
        "remove the grader, or remove `output` so that a target answers; messages may also record it"
    };
    Diagnostic::warning(
        codes::LIMIT_WITHOUT_MEASURE,
        format!("grader `{grader}` can't decide: a given answer does not record {missing}"),
    )
    .at(head, "the `output` of this case is given")
    .with_help(help)
}

fn decode_expected_output(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Vec<CaseMessage> {
    let entry = find_own_spelling(cx, object, "expected_messages", "expected_output");
    let Some(entry) = entry.filter(|entry| !entry.value.is_null()) else { return Vec::new() };
    messages::decode_expected_messages(cx, &entry.value, &entry.key).unwrap_or_default()
}

fn decode_metadata(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Map<String, Value> {
    let mut metadata =
        object.value("metadata").map(|node| decode_free_map(cx, node, "metadata")).unwrap_or_default();
    for key in ["description", "suite"] {
        let Some(entry) = object.entry(key).filter(|entry| !entry.value.is_null()) else { continue };
        if string(&entry.value, key, &mut cx.problems).is_some() {
            keep_in_metadata(cx, &mut metadata, entry);
        }
    }

    metadata
}

/// Decoder of the input of a case.
struct InputDecoder<'d> {
    defaults: &'d SuiteDefaults,
    skip_defaults: bool,
    /// True if the case has an answer or turns, so that the input is optional.
    optional: bool,
}

impl InputDecoder<'_> {
    fn decode(&self, cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Vec<CaseMessage> {
        let before = cx.problems.error_count();
        let entry = find_own_spelling(cx, object, "input_messages", "input");
        let mut own = match entry {
            Some(entry) if entry.value.is_null() => {
                cx.problems.add(empty(&entry.key, entry.key_span));
                Vec::new()
            }
            Some(entry) => messages::decode_input(cx, &entry.value, &entry.key).unwrap_or_default(),
            None => Vec::new(),
        };

        let own_files = object.entry("input_files").filter(|entry| !entry.value.is_null());
        let files = match own_files {
            Some(entry) => messages::decode_input_files(cx, &entry.value),
            None if self.skip_defaults => Vec::new(),
            None => self.defaults.files.clone(),
        };

        if cx.problems.error_count() > before {
            return own;
        }

        let mut all = if self.skip_defaults { Vec::new() } else { self.defaults.input.clone() };
        if entry.is_none() && all.is_empty() {
            if !self.optional && self.defaults.broken && !self.skip_defaults {
                cx.problems.count_error();
            } else if !self.optional {
                Diagnostic::error(codes::NO_INPUT, "a case has no input")
                    .at(object.head(), "this case")
                    .with_help(cx.format.choose(
                        "add `input_messages` with the message to the target",
                        "add `input:` with the message to the target",
                    ))
                    .add_to(&mut cx.problems);
            } else if let Some(files) = own_files {
                cx.problems.add(no_message_for_files(files.key_span));
            }
            return own;
        }

        // Files are attached to the case's own input; if it has none, to the suite's.
        let target = if own.is_empty() { &mut all } else { &mut own };
        if messages::attach_files(target, &files).is_err() {
            let at = own_files.or(entry).map_or(object.head(), |entry| entry.key_span);
            cx.problems.add(no_message_for_files(at));
        }
        if all.is_empty() {
            return own;
        }

        all.append(&mut own);
        all
    }
}

fn no_message_for_files(at: Span) -> Diagnostic {
    Diagnostic::error(codes::BAD_MESSAGE, "no user message to attach `input_files` to")
        .at(at, "files go before the text of the last user message")
        .with_help(
            "add a message with `role: user`, or attach the files as content blocks `{type: \
             file, value: PATH}`",
        )
}
/// Returns the path of a value `file://PATH`, which means that the file holds the text.
fn written_file(node: &TreeNode) -> Option<(&str, Span)> {
    let text = node.as_str()?.trim();
    (text.starts_with("file://") && !text.contains('\n')).then(|| (text, node.use_span()))
}
