//! Schemas of eval files, their cases, and answers to grade.

use serde_json::{Value, json};

use super::rubric::{judging_keys, threshold_keys};
use super::shape::{
    MapSchema, ValueSchema, above, any_map, any_of, anything, boolean, count, integer, list, list_or_none,
    reference, string, text, texts, word,
};
use super::{SchemaDefinitions, workspace};
use crate::decode::trials;

/// Keys of the list of cases.
const CASE_LIST_KEYS: [&str; 4] = ["tests", "evalcases", "eval_cases", "cases"];

/// Adds the definitions.
pub(super) fn add(defs: &mut SchemaDefinitions) {
    let settings = settings();
    defs.add_shape("suite", settings.clone().one_of(&CASE_LIST_KEYS).not_both(&CASE_LIST_KEYS).to_schema());
    defs.add_keys("suite-settings", settings);

    let case = case();
    defs.add_keys("case-in-folder", case.clone());

    let mut with_id = case;
    with_id =
        with_id.required_key("id", id(), "Its name, unique in its suite. Text, so numbers need quotes.");
    defs.add_keys("case", with_id);
    defs.add_shape(
        "cases",
        any_of([
            text().with_keyword(
                "description",
                json!("The path of a YAML or JSONL file with the cases, or of a folder."),
            ),
            list(any_of([reference("case"), text()])),
        ]),
    );

    defs.add_keys("suite-execution", suite_execution());
    defs.add_keys("case-execution", case_execution());
    defs.add_keys(
        "trials",
        MapSchema::new("`trials`", "Several runs of each case.")
            .required_key("count", integer(1, trials::MAX_TRIALS), "How many.")
            .optional_key(
                "strategy",
                word(&trials::strategy_names()),
                "What they come to; `pass_at_k` unless given.",
            )
            .optional_key(
                "early_stop",
                boolean(),
                "Whether no run follows one that passed; with `pass_at_k`.",
            )
            .optional_key(
                "cost_limit_usd",
                above(0.0),
                "US dollars that the runs of one case may spend: none is begun after.",
            ),
    );

    defs.add_keys(
        "target-ref",
        MapSchema::new("a target of `targets`", "A target that the cases are run against.")
            .required_key("name", id(), "Its name in results.")
            .optional_key("use_target", text(), "The target of the targets file behind it.")
            .optional_key("hooks", reference("hooks"), "Commands around its use in a workspace."),
    );

    workspace::add(defs);
    messages(defs);

    defs.add_keys("answer", answer());
}

/// Returns the shape of an id: no blanks around it.
fn id() -> ValueSchema {
    ValueSchema(json!({ "type": "string", "pattern": "^\\S(.*\\S)?$" }))
}

/// Returns the keys common to suites and cases: graders, targets and thresholds.
fn shared_keys() -> MapSchema {
    MapSchema::new("", "")
        .non_null_key(
            "assertions",
            reference("assertions"),
            "Graders: criteria as plain strings, or maps with `type`.",
        )
        .older_key("assert", "assertions")
        .older_key("evaluators", "assertions")
        .optional_key("target", id(), "Name of the target that answers, from the targets file.")
        .merge(&trial_keys())
        .merge(&threshold_keys())
        .optional_key("tags", texts(), "Labels for `--tag`.")
        .optional_key("metadata", any_map(), "Free data, kept.")
        .optional_key(
            "evaluator",
            word(&["llm-judge", "llm-grader", "rubric", "rubrics"]),
            "The kind of grader where none is given (an older key).",
        )
        .optional_key(
            "input_files",
            any_of([text(), list(text())]),
            "Paths put before the text of the last user message.",
        )
        .optional_key(
            "workspace",
            any_of([text(), reference("workspace")]),
            "The folder the case is worked on in, or a file that describes it.",
        )
        .not_both(&["assertions", "assert", "evaluators"])
}

fn settings() -> MapSchema {
    let mut keys =
        MapSchema::new("an eval file", "Cases, how to get answers to them, and what good answers do.")
            .optional_key("$schema", anything(), "The schema of this file, for editors.")
            .non_null_key("tests", reference("cases"), "The cases (format 2), or where they are.")
            .non_null_key("evalcases", reference("cases"), "The cases (format 1), or where they are.")
            .older_key("eval_cases", "tests")
            .older_key("cases", "tests")
            .optional_key("name", id(), "The suite's name in results; the file name unless given.")
            .optional_key("dataset", id(), "The suite's name (the key of format 1).")
            .optional_key("description", string(), "What the suite is about.")
            .non_null_key("input", reference("input"), "Messages before those of each case.")
            .optional_key("execution", reference("suite-execution"), "How the cases are run and judged.")
            .optional_key(
                "preprocessors",
                ValueSchema(json!({ "type": ["array", "object"] })),
                "Conversion of attachments; not built yet.",
            )
            .merge(&shared_keys());
    for key in ["version", "author", "license", "category", "governance", "requires"] {
        keys = keys.optional_key(key, anything(), "Free data, kept.");
    }

    keys
}

/// Returns the keys of trials: of a suite, of a case, and of `execution` of both.
fn trial_keys() -> MapSchema {
    MapSchema::new("", "")
        .optional_key(
            "trials",
            any_of([integer(1, trials::MAX_TRIALS), reference("trials")]),
            "Several runs of each case.",
        )
        .older_key("repeat", "trials")
        .not_both(&["trials", "repeat"])
}

/// Returns the settings of `execution` common to suites and cases.
fn execution(about: &'static str) -> MapSchema {
    MapSchema::new("`execution`", about)
        .optional_key("target", id(), "Name of the target that answers, from the targets file.")
        .non_null_key(
            "targets",
            list(any_of([id(), reference("target-ref")])),
            "Several targets: each case is run against each.",
        )
        .merge(&trial_keys())
        .merge(&threshold_keys())
        .non_null_key("assertions", reference("assertions"), "Graders.")
        .older_key("assert", "assertions")
        .non_null_key("evaluators", reference("assertions"), "Graders (the place of format 1).")
        .not_both(&["target", "targets"])
        .not_both(&["assertions", "assert", "evaluators"])
}

fn suite_execution() -> MapSchema {
    execution("How the cases are run and judged.")
        .merge(&judging_keys())
        .optional_key("workers", integer(1, 50), "Cases at once, 1 to 50.")
        .optional_key("judge", text(), "Who judges: a model, a target's name, `offline`.")
        .optional_key("budget_usd", above(0.0), "US dollars that the run may spend.")
        .optional_key("cache", boolean(), "`false` asks every model anew; replies are remembered otherwise.")
        .optional_key("cache_path", text(), "Without effect: replies are kept in `.assize/cache`.")
        .optional_key(
            "fail_on_error",
            boolean(),
            "Whether no case is begun after one that could not be run or judged.",
        )
}

fn case_execution() -> MapSchema {
    execution("What this case does differently.").optional_key(
        "skip_defaults",
        boolean(),
        "Whether the suite's graders, input and attachments are left out.",
    )
}

fn case() -> MapSchema {
    MapSchema::new("a case", "One question, and what a good answer to it does.")
        .non_null_key("id", id(), "Its name, unique in its suite; that of its folder unless given.")
        .non_null_key("input", reference("input"), "What is asked: a text, or messages.")
        .non_null_key("input_messages", reference("input"), "What is asked (the key of format 1).")
        .non_null_key("output", reference("given-output"), "The answer itself: no target is run then.")
        .non_null_key("criteria", text(), "What a good answer does, in a sentence; shown to the judge.")
        .non_null_key("expected_outcome", text(), "What a good answer does (the key of format 1).")
        .older_key("outcome", "criteria")
        .optional_key("expected_output", reference("expected-output"), "An example of a good answer; shown to the judge.")
        .optional_key("expected_messages", reference("expected-output"), "An example of a good answer (the key of format 1).")
        .non_null_key("rubrics", reference("criteria"), "Criteria, the short form of one rubrics grader.")
        .optional_key("execution", reference("case-execution"), "What this case does differently.")
        .optional_key("vars", any_map(), "Values for `{{ name }}` in the case's texts.")
        .optional_key("description", string(), "Free text, kept.")
        .optional_key("suite", string(), "Free text, kept.")
        .optional_key("conversation_id", text(), "The conversation it belongs to.")
        .non_null_key("turns", list(reference("turn")), "A conversation turn by turn: what is said to the target, and who grades each answer.")
        .optional_key("mode", word(&["conversation"]), "With `turns`.")
        .optional_key("aggregation", word(&["mean", "min", "max"]), "What turns come to; with `turns`.")
        .optional_key("on_turn_failure", word(&["continue", "stop"]), "What follows a turn that fails; with `turns`.")
        .optional_key("window_size", count(1), "How many turns are shown; with `turns`.")
        .optional_key("depends_on", any_of([text(), list(string())]), "Ids of the cases that come before.")
        .optional_key("on_dependency_failure", word(&["skip", "fail", "run"]), "What becomes of it when they fail.")
        .merge(&shared_keys())
        .not_both(&["input", "input_messages"])
        .not_both(&["expected_output", "expected_messages"])
        .not_both(&["criteria", "expected_outcome", "outcome"])
        .rule(json!({
            "anyOf": [
                { "required": ["turns"] },
                { "not": { "anyOf": (["mode", "aggregation", "on_turn_failure", "window_size"]).map(require_filled) } },
            ],
        }))
}

/// Returns the condition that a key is present and not empty.
fn require_filled(key: &str) -> Value {
    json!({ "required": [key], "not": { "properties": { key: { "type": "null" } } } })
}

fn messages(defs: &mut SchemaDefinitions) {
    defs.add_shape("input", any_of([text(), list(reference("message"))]));
    let role = || ValueSchema(json!({ "enum": ["system", "user", "assistant", "tool"] }));
    let message = |content: ValueSchema| {
        let mut keys = MapSchema::new("a message", "What somebody said.")
            .required_key("role", role(), "Who said it.")
            .optional_key("content", content, "What was said: a text, an object, or a list of blocks.")
            .optional_key("tool_calls", list_or_none(any_map()), "Tools that were called.")
            .optional_key("name", text(), "The name of who said it.")
            .one_of(&["content", "tool_calls"]);
        for key in [
            "tool_call_id", "id", "timestamp", "start_time", "end_time", "cost_usd", "duration_ms",
            "token_usage", "metadata",
        ] {
            keys = keys.optional_key(key, anything(), "Recorded with the message, kept.");
        }

        keys
    };

    let block = || any_of([string(), reference("block")]);
    defs.add_keys("message", message(any_of([string(), any_map(), list_or_none(block())])));
    defs.add_keys("answer-message", message(any_of([string(), any_map(), list_or_none(anything())])));
    defs.add_keys(
        "block",
        MapSchema::new("a content block", "A part of a message.")
            .required_key("type", ValueSchema(json!({ "enum": ["text", "file", "image"] })), "What it is.")
            .required_key("value", string(), "The text, or the path of the file."),
    );

    let role_is_there = json!({ "type": "object", "required": ["role"] });
    let answers = |kinds: Value| {
        ValueSchema(json!({
            "type": kinds,
            "if": role_is_there.clone(),
            "then": reference("answer-message").0,
            "else": {
                "if": { "type": "array", "contains": role_is_there.clone() },
                "then": { "items": reference("answer-message").0 },
            },
        }))
    };

    let expected = answers(json!(["string", "object", "array", "number", "boolean"]));
    let expected = expected.with_keyword("pattern", json!("\\S")).with_keyword("minItems", json!(1));
    defs.add_shape("expected-output", expected);
    defs.add_shape("given-output", answers(json!(["string", "object", "array"])));

    defs.add_keys(
        "turn",
        MapSchema::new("a turn", "One step of a conversation.")
            .required_key("input", reference("input"), "What is said to the target.")
            .optional_key("expected_output", reference("expected-output"), "An example of a good answer.")
            .optional_key("assertions", reference("assertions"), "Graders of this turn.")
            .older_key("assert", "assertions"),
    );
}

fn answer() -> MapSchema {
    MapSchema::new("an answer", "An answer to grade: a line of the file given to `assize grade --answers`. Other keys are kept as metadata.")
        .non_null_key("answer", reference("given-output"), "The answer.")
        .older_key("output", "answer")
        .optional_key("id", any_of([id(), ValueSchema(json!({ "type": "integer" }))]), "Its name; `line-N` unless given.")
        .optional_key("question", anything(), "What was asked; shown to the judge.")
        .older_key("input", "question")
        .optional_key("reference", anything(), "An example of a good answer; shown to the judge.")
        .older_key("expected_output", "reference")
        .optional_key("expected_outcome", anything(), "What a good answer does; shown to the judge.")
        .older_key("criteria", "expected_outcome")
        .optional_key("file_changes", string(), "What changed in files, as a unified diff; shown to the judge.")
        .optional_key("tags", texts(), "Labels for `--tag`.")
        .optional_key("metadata", anything(), "Free data, kept.")
        .one_of(&["answer", "output"])
        .open()
}
