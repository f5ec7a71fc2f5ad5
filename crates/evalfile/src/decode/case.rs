//! Decoder of a single case.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span, Spanned};
use serde_json::{Map, Value};

use super::common::{
    FoundLines, empty, filled_list, free_map, lines, one_word, refuse, spelled, tags, usable_id,
};
use super::conversation::conversation;
use super::grader::{AssertionContext, inline_rubrics, outcome_rubric};
use super::interpolate::interpolate;
use super::object::{not_blank, string, wrong_type};
use super::suite::{SuiteDefaults, default_kind, keep};
use super::trials::trials;
use super::vars::fill;
use super::workspace::workspace;
use super::{Context, Object, execution, graders, messages};
use crate::codes;
use crate::model::{
    Case, CaseId, CaseMarks, Format, Grader, LineOverrides, Message, OnDependencyFailure, Trials, Unbuilt,
    WorkspaceSpec,
};
use crate::tree::{Data, Entry, Node};

/// Keys of newer versions and common guesses, with the equivalent here.
const FOREIGN: &[(&str, &str)] = &[
    ("name", "write the name as `id`"),
    ("prompts", "write the prompt as `input`"),
    ("prompt", "write the prompt as `input`"),
    ("question", "write the question as `input`"),
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
pub(crate) struct CaseRead {
    /// Id, also of an invalid case: duplicates are detected among all.
    pub(crate) id: Option<Spanned<String>>,
    /// Decoded case; `None` if it has errors.
    pub(crate) case: Option<Arc<Case>>,
    /// Ids of the cases it depends on, with their spans.
    pub(crate) depends_on: Vec<Spanned<String>>,
}

/// Decodes a case. `fallback_id` is its id if it has none (the name of its folder).
pub(crate) fn case(
    cx: &mut Context,
    node: &mut Node,
    defaults: &SuiteDefaults,
    fallback_id: Option<&str>,
) -> CaseRead {
    let before = cx.problems.errors();
    let broken = |id| CaseRead { id, case: None, depends_on: Vec::new() };
    if node.as_map().is_none() {
        let path = cx.sources.file(node.span.source).path();
        let is_line = path.extension().is_some_and(|ending| ending == "jsonl");
        cx.problems.add(not_a_case(node, is_line));
        return broken(None);
    }
    if let Data::Map(entries) = &mut node.data {
        // A given answer is external data: environment variables are not substituted.
        for entry in entries.iter_mut().filter(|entry| entry.key != "output") {
            interpolate(cx, &mut entry.value);
        }
    }
    let vars = vars(cx, node);
    fill(cx, node, &vars);
    let Some(mut object) = Object::new(node, "a case", &mut cx.problems) else { return broken(None) };
    let id = id(cx, &mut object, fallback_id);
    object.entry("vars");
    let parts = Parts::read(cx, &mut object, defaults);
    object.finish(&mut cx.problems);
    let depends_on = parts.depends_on.clone();
    let sound = cx.problems.errors() == before;
    let case = id.clone().filter(|_| sound).map(|id| Arc::new(parts.into_case(cx, id, vars)));
    CaseRead { id, case, depends_on }
}

fn not_a_case(node: &Node, is_line: bool) -> Diagnostic {
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

fn id(cx: &mut Context, object: &mut Object<'_>, fallback: Option<&str>) -> Option<Spanned<String>> {
    let head = object.head();
    let Some(entry) = object.entry("id") else {
        if let Some(fallback) = fallback {
            return usable_id(cx, Spanned::new(fallback.to_owned(), head), "the id of a case");
        }
        cx.problems.add(
            Diagnostic::error(codes::NO_ID, "a case has no id", head, "this case")
                .with_help("add `id:` with a short name that stays the same"),
        );
        return None;
    };
    if entry.value.is_null() {
        cx.problems.add(
            Diagnostic::error(codes::NO_ID, "a case has no id", entry.key_span, "nothing here")
                .with_help("write a short name that stays the same"),
        );
        return None;
    }
    if let Data::Int(_) | Data::Float(_) | Data::Bool(_) = entry.value.data {
        let place = entry.value.place();
        let written = cx.sources.slice(place).to_owned();
        cx.problems.add(
            Diagnostic::error(
                codes::BAD_ID,
                "the id of a case must be a string",
                place,
                format!("found {}", entry.value.kind()),
            )
            .with_help("ids are kept as written, so `007` and `7` must stay apart")
            .with_suggestion("put it in quotes", place, format!("\"{written}\"")),
        );
        return None;
    }
    let id = string(&entry.value, "id", &mut cx.problems)?;
    usable_id(cx, id, "the id of a case")
}

fn vars(cx: &mut Context, node: &Node) -> BTreeMap<String, Value> {
    match node.get("vars") {
        Some(vars) if !vars.is_null() => free_map(cx, vars, "vars").into_iter().collect(),
        _ => BTreeMap::new(),
    }
}

/// Parts of a case while it is decoded.
struct Parts {
    head: Span,
    input: Vec<Message>,
    expected_outcome: Option<Spanned<String>>,
    expected_output: Vec<Message>,
    output: Option<crate::model::GivenOutput>,
    graders: Vec<Arc<Grader>>,
    lines: LineOverrides,
    threshold: Option<Span>,
    targets: Vec<crate::model::TargetRef>,
    trials: Option<Trials>,
    tags: Vec<String>,
    metadata: Map<String, Value>,
    conversation_id: Option<String>,
    conversation: Option<crate::model::Conversation>,
    depends_on: Vec<Spanned<String>>,
    on_dependency_failure: OnDependencyFailure,
    workspace: Option<Arc<WorkspaceSpec>>,
    unbuilt: Vec<Unbuilt>,
}

impl Parts {
    fn read(cx: &mut Context, object: &mut Object<'_>, defaults: &SuiteDefaults) -> Self {
        let format = defaults.format;
        let head = object.head();
        refuse(cx, object, FOREIGN);
        default_kind(cx, object, format);
        let expected_outcome = expected_outcome(cx, object, format);
        let expected_output = expected_output(cx, object, format);
        let output = object.entry("output").map(|entry| messages::given_output(cx, &entry.value, "output"));
        let has_output = output.is_some();
        let mut inner = execution::open(cx, object);
        let targets = execution::targets(cx, object, inner.as_mut());
        let trials = trials(cx, object, inner.as_mut());
        let mut found = FoundLines::default();
        lines(cx, object, &mut found);
        let mut skip_defaults = false;
        if let Some(inner) = &mut inner {
            lines(cx, inner, &mut found);
            skip_defaults = inner.boolean("skip_defaults", &mut cx.problems).is_some_and(|skip| skip.value);
        }
        let threshold = found.pass_span();
        let lines = found.finish(cx);
        let list = execution::grader_list(cx, object, inner.as_mut(), format);
        if let Some(mut inner) = inner {
            belongs_on_suite(cx, &mut inner);
            inner.finish(&mut cx.problems);
        }
        let base = AssertionContext::default();
        let conversation_given = object.has("turns");
        let conversation = conversation(cx, object, &base);
        let input =
            Input { defaults, skip_defaults, optional: has_output || conversation_given }.read(cx, object);
        let mut parts = Self {
            head,
            input,
            expected_outcome,
            expected_output,
            output: output.flatten(),
            graders: Vec::new(),
            lines,
            threshold,
            targets,
            trials,
            tags: tags(cx, object),
            metadata: metadata(cx, object),
            conversation_id: object.text("conversation_id", &mut cx.problems).map(|id| id.value),
            conversation,
            depends_on: Vec::new(),
            on_dependency_failure: OnDependencyFailure::default(),
            workspace: None,
            unbuilt: Vec::new(),
        };
        parts.dependencies(cx, object);
        parts.workspace = workspace(cx, object, &mut parts.unbuilt);
        parts.graders(cx, object, list, base, defaults, skip_defaults, conversation_given);
        parts
    }

    fn dependencies(&mut self, cx: &mut Context, object: &mut Object<'_>) {
        let given = object.entry("depends_on").filter(|entry| !entry.value.is_null());
        if given.is_some_and(|entry| filled_list_or_text(cx, entry)) {
            self.depends_on = object.strings("depends_on", &mut cx.problems);
        }
        if let Some(node) = object.value("on_dependency_failure") {
            let choices = [
                ("skip", OnDependencyFailure::Skip),
                ("fail", OnDependencyFailure::Fail),
                ("run", OnDependencyFailure::Run),
            ];
            self.on_dependency_failure =
                one_word(cx, node, "on_dependency_failure", &choices).unwrap_or_default();
            if self.depends_on.is_empty() {
                cx.problems.add(
                    Diagnostic::warning(
                        codes::NO_EFFECT,
                        "`on_dependency_failure` has no effect",
                        node.place(),
                        "the case depends on no other",
                    )
                    .with_help("add `depends_on: [ID, ...]`, or remove this key"),
                );
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one call, every argument a different fact")]
    fn graders(
        &mut self,
        cx: &mut Context,
        object: &mut Object<'_>,
        list: Option<&Entry>,
        base: AssertionContext,
        defaults: &SuiteDefaults,
        skip_defaults: bool,
        has_turns: bool,
    ) {
        let before = cx.problems.errors();
        let format = defaults.format;
        let inline = object.entry("rubrics").filter(|entry| filled_list_or_text(cx, entry));
        let inline_rubrics = inline.and_then(|entry| inline_rubrics(cx, &entry.value, format)).map(Arc::new);
        let mut own = list.map(|entry| graders::read(cx, entry, format, base)).unwrap_or_default();
        own.splice(0..0, inline_rubrics);
        let suite: &[Arc<Grader>] = match format {
            _ if skip_defaults => &[],
            // In format 1 a case's own list replaces that of the suite.
            Format::One if list.is_some() => &[],
            Format::One | Format::Two => &defaults.graders,
        };
        self.graders = graders::with_suite(cx, list.or(inline), own, suite);
        if cx.problems.errors() > before {
            return;
        }
        if self.graders.is_empty() && !(has_turns && self.turns_are_graded()) {
            if let Some(text) = &self.expected_outcome {
                let text = text.clone();
                self.graders = vec![Arc::new(outcome_rubric(cx, &text.value, text.span))];
            } else if defaults.broken && !skip_defaults {
                cx.problems.add_known();
            } else if !object.has(outcome_keys(format)[0]) {
                cx.problems.add(nothing_to_grade(self.head, format, !self.expected_output.is_empty()));
            }
            return;
        }
        if !self.graders.is_empty() && self.graders.iter().all(|grader| grader.standing.weight.get() == 0.0) {
            let at = list.or(inline).map_or(self.head, |entry| entry.key_span);
            cx.problems.add(
                Diagnostic::error(
                    codes::NO_GRADER_WEIGHT,
                    "all graders of this case have weight 0",
                    at,
                    "no score can come of these",
                )
                .with_help("give at least one grader a weight above 0"),
            );
        }
    }

    fn turns_are_graded(&self) -> bool {
        self.conversation.as_ref().is_none_or(|conversation| {
            conversation.turns.iter().any(|turn| !turn.graders.is_empty() || !turn.expected_output.is_empty())
        })
    }

    fn into_case(self, cx: &Context, id: Spanned<String>, vars: BTreeMap<String, Value>) -> Case {
        let mark = |span: Span| cx.mark(span);
        let marks = CaseMarks {
            id: Some(mark(id.span)),
            expected_outcome: self.expected_outcome.as_ref().map(|text| mark(text.span)),
            threshold: self.threshold.map(mark),
        };
        Case {
            id: CaseId::new(id.value),
            place: cx.place(self.head),
            marks,
            input: self.input,
            expected_outcome: self.expected_outcome.map(|text| text.value),
            expected_output: self.expected_output,
            output: self.output,
            graders: self.graders,
            lines: self.lines,
            targets: self.targets,
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
            unbuilt: self.unbuilt,
        }
    }
}

/// Settings of `execution` that only a suite may have.
const SUITE_ONLY: &[(&str, &str)] = &[
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

fn belongs_on_suite(cx: &mut Context, object: &mut Object<'_>) {
    for (key, help) in SUITE_ONLY {
        if let Some(entry) = object.foreign(key) {
            cx.problems.add(
                Diagnostic::error(
                    codes::NOT_SUPPORTED,
                    format!("`{key}` belongs on the suite"),
                    entry.key_span,
                    "not a setting of a single case",
                )
                .with_help(*help),
            );
        }
    }
}

fn filled_list_or_text(cx: &mut Context, entry: &Entry) -> bool {
    entry.value.as_str().is_some() || filled_list(cx, entry).is_some()
}

fn nothing_to_grade(head: Span, format: Format, has_reference: bool) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        codes::NOTHING_TO_GRADE,
        "there is nothing to grade this case by",
        head,
        "this case",
    );
    let diagnostic = match format {
        Format::One => {
            diagnostic.with_help("add `rubrics`, or `expected_outcome` with what a good answer does")
        }
        Format::Two => diagnostic.with_help("add `assertions`, or `criteria` with what a good answer does"),
    };
    if has_reference {
        diagnostic
            .with_note(
                "`expected_output` alone is an example; it does not say how near another answer must come",
            )
            .with_help("for a plain comparison write: Gives the same answer as the expected output")
    } else {
        diagnostic
    }
}

/// Returns the spellings of the expected outcome, the current one first.
const fn outcome_keys(format: Format) -> [&'static str; 3] {
    match format {
        Format::One => ["expected_outcome", "outcome", "criteria"],
        Format::Two => ["criteria", "expected_outcome", "outcome"],
    }
}

fn expected_outcome(cx: &mut Context, object: &mut Object<'_>, format: Format) -> Option<Spanned<String>> {
    let quiet = if format == Format::One { 2 } else { 1 };
    let entry = spelled(cx, object, &outcome_keys(format), quiet)?;
    if entry.value.is_null() {
        cx.problems.add(empty(&entry.key, entry.key_span));
        return None;
    }
    if entry.value.as_seq().is_some() {
        cx.problems.add(wrong_type(&entry.value, &format!("`{}`", entry.key), "a string").with_help(
            match format {
                Format::One => "write a list of criteria under `rubrics`",
                Format::Two => "write a list of criteria under `assertions`",
            },
        ));
        return None;
    }
    let text = string(&entry.value, &entry.key, &mut cx.problems)?;
    not_blank(text, &entry.key, &mut cx.problems)
}

fn expected_output(cx: &mut Context, object: &mut Object<'_>, format: Format) -> Vec<Message> {
    let entry = match format {
        Format::One => spelled(cx, object, &["expected_messages", "expected_output"], 2),
        Format::Two => spelled(cx, object, &["expected_output", "expected_messages"], 1),
    };
    let Some(entry) = entry.filter(|entry| !entry.value.is_null()) else { return Vec::new() };
    messages::expected(cx, &entry.value, &entry.key).unwrap_or_default()
}

fn metadata(cx: &mut Context, object: &mut Object<'_>) -> Map<String, Value> {
    let mut metadata =
        object.value("metadata").map(|node| free_map(cx, node, "metadata")).unwrap_or_default();
    for key in ["description", "suite"] {
        let Some(entry) = object.entry(key).filter(|entry| !entry.value.is_null()) else { continue };
        if string(&entry.value, key, &mut cx.problems).is_some() {
            keep(cx, &mut metadata, entry);
        }
    }
    metadata
}

/// Decoder of the input of a case.
struct Input<'d> {
    defaults: &'d SuiteDefaults,
    skip_defaults: bool,
    /// True if the case has an answer or turns, so that the input is optional.
    optional: bool,
}

impl Input<'_> {
    fn read(&self, cx: &mut Context, object: &mut Object<'_>) -> Vec<Message> {
        let before = cx.problems.errors();
        let entry = match self.defaults.format {
            Format::One => spelled(cx, object, &["input_messages", "input"], 2),
            Format::Two => spelled(cx, object, &["input", "input_messages"], 1),
        };
        let mut own = match entry {
            Some(entry) if entry.value.is_null() => {
                cx.problems.add(empty(&entry.key, entry.key_span));
                Vec::new()
            }
            Some(entry) => messages::input(cx, &entry.value, &entry.key).unwrap_or_default(),
            None => Vec::new(),
        };
        let own_files = object.entry("input_files").filter(|entry| !entry.value.is_null());
        let files = match own_files {
            Some(entry) => messages::input_files(cx, &entry.value),
            None if self.skip_defaults => Vec::new(),
            None => self.defaults.files.clone(),
        };
        if cx.problems.errors() > before {
            return own;
        }
        let mut all = if self.skip_defaults { Vec::new() } else { self.defaults.input.clone() };
        if entry.is_none() && all.is_empty() {
            if !self.optional && self.defaults.broken && !self.skip_defaults {
                cx.problems.add_known();
            } else if !self.optional {
                cx.problems.add(
                    Diagnostic::error(codes::NO_INPUT, "a case has no input", object.head(), "this case")
                        .with_help(match self.defaults.format {
                            Format::One => "add `input_messages` with what the target is asked",
                            Format::Two => "add `input:` with what the target is asked",
                        }),
                );
            } else if let Some(files) = own_files {
                cx.problems.add(no_place_for_files(files.key_span));
            }
            return own;
        }
        // Files are attached to the case's own input; without one, to the suite's question.
        let target = if own.is_empty() { &mut all } else { &mut own };
        if messages::attach(target, &files).is_err() {
            let at = own_files.or(entry).map_or(object.head(), |entry| entry.key_span);
            cx.problems.add(no_place_for_files(at));
        }
        if all.is_empty() {
            return own;
        }
        all.append(&mut own);
        all
    }
}

fn no_place_for_files(at: Span) -> Diagnostic {
    Diagnostic::error(
        codes::BAD_MESSAGE,
        "there is no user message to attach `input_files` to",
        at,
        "files go before the text of the last user message",
    )
    .with_help(
        "add a message with `role: user`, or attach the files as content blocks `{type: file, value: PATH}`",
    )
}
