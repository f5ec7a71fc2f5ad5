//! Schemas of eval files, their cases, and answers to grade.

use assize_evalfile::reading::{MAX_TRIALS, strategy_names};
use serde_json::{Value, json};

use super::rubric::{judging_keys, threshold_keys};
use super::shape::{
    MapSchema, ValueSchema, above, any_map, any_of, anything, boolean, count, integer, list, list_or_none,
    reference, string, text, texts, word,
};
use super::{SchemaDefinitions, workspace};

/// Keys of the list of cases.
const CASE_LIST_KEYS: [&str; 4] = ["tests", "evalcases", "eval_cases", "cases"];

/// Adds the definitions.
pub(super) fn add(defs: &mut SchemaDefinitions) {
    let settings = settings();
    let cases = settings.clone().one_of(&CASE_LIST_KEYS).not_both(&CASE_LIST_KEYS).to_schema();
    let is_matrix = json!({
        "anyOf": [{ "required": ["prompts"] }, { "required": ["providers"] }, { "required": ["scenarios"] }],
    });
    defs.add_shape(
        "suite",
        ValueSchema(json!({ "if": is_matrix, "then": { "$ref": "#/$defs/matrix" }, "else": cases.0 })),
    );
    defs.add_keys("suite-settings", settings);

    let case = case();
    defs.add_keys("case-in-folder", case.clone());

    let mut with_id = case;
    with_id =
        with_id.required_key("id", id(), "Case id, unique in the suite. A string, so numbers need quotes.");
    defs.add_keys("case", with_id);
    defs.add_shape(
        "cases",
        any_of([
            text().with_keyword(
                "description",
                json!("Path of a YAML or JSONL file with cases, or of a folder."),
            ),
            list(any_of([reference("case"), text()])),
        ]),
    );

    defs.add_keys("suite-execution", suite_execution());
    defs.add_keys("case-execution", case_execution());
    defs.add_keys(
        "trials",
        MapSchema::new("`trials`", "Runs each case several times.")
            .required_key("count", integer(1, MAX_TRIALS), "Number of trials of each case.")
            .optional_key(
                "strategy",
                word(&strategy_names()),
                "How the trials become one result. Default: `pass_at_k`.",
            )
            .optional_key(
                "early_stop",
                boolean(),
                "Stop after the first trial that passes. Only with `pass_at_k`.",
            )
            .optional_key(
                "cost_limit_usd",
                above(0.0),
                "Budget for the trials of one case in US dollars. No trial starts once it is spent.",
            ),
    );

    defs.add_keys(
        "target-ref",
        MapSchema::new("a target of `targets`", "A target to run the cases against.")
            .required_key("name", id(), "Name shown in results.")
            .optional_key("use_target", text(), "Target of the targets file that this name refers to.")
            .optional_key(
                "hooks",
                reference("hooks"),
                "Commands to run before and after cases in its workspace.",
            ),
    );

    defs.add_keys(
        "case-transform",
        MapSchema::new("a `transform` of a case", "Code that changes the answers of one target, or of all.")
            .required_key("value", text(), "JavaScript, or `file://PATH` of JavaScript or Python.")
            .optional_key("target", text(), "Name of the target whose answers it changes. Default: all."),
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
        .optional_key("target", id(), "Name of the target to run, as in the targets file.")
        .merge(&trial_keys())
        .merge(&threshold_keys())
        .optional_key("tags", texts(), "Tags, for selecting cases with `--tag`.")
        .optional_key("metadata", any_map(), "Any data. Not interpreted.")
        .optional_key(
            "evaluator",
            word(&["llm-judge", "llm-grader", "rubric", "rubrics"]),
            "Grader type to use when none is given (deprecated).",
        )
        .optional_key(
            "input_files",
            any_of([text(), list(text())]),
            "Files to attach to the last user message, before its text.",
        )
        .optional_key(
            "workspace",
            any_of([text(), reference("workspace")]),
            "Workspace folder for the case, or the path of a workspace file.",
        )
        .not_both(&["assertions", "assert", "evaluators"])
}

fn settings() -> MapSchema {
    let mut keys =
        MapSchema::new("an eval file", "A suite: cases, how to run them, and how to grade the answers.")
            .optional_key("$schema", anything(), "URL or path of the JSON Schema, for editors.")
            .non_null_key(
                "tests",
                reference("cases"),
                "Cases (the `tests` format), or the path of a file or folder with cases.",
            )
            .non_null_key(
                "evalcases",
                reference("cases"),
                "Cases (the `evalcases` format), or the path of a file or folder with cases.",
            )
            .older_key("eval_cases", "tests")
            .older_key("cases", "tests")
            .optional_key("name", id(), "Suite name shown in results. Default: the file name.")
            .optional_key("dataset", id(), "Suite name (the `evalcases` format).")
            .optional_key("description", string(), "Description of the suite.")
            .optional_key(
                "targets",
                list(reference("target")),
                "Definitions of targets for this file, as in a targets file.",
            )
            .non_null_key("input", reference("input"), "Messages to put before those of each case.")
            .optional_key(
                "execution",
                reference("suite-execution"),
                "Settings for running and judging the cases.",
            )
            .optional_key(
                "preprocessors",
                list_or_none(reference("preprocessor")),
                "Programs that turn files of answers into text.",
            )
            .merge(&shared_keys());
    for key in ["version", "author", "license", "category", "governance", "requires"] {
        keys = keys.optional_key(key, anything(), "Any data. Not interpreted.");
    }

    keys
}

/// Returns the keys of trials, which a suite, a case, and `execution` of both may have.
fn trial_keys() -> MapSchema {
    MapSchema::new("", "")
        .optional_key(
            "trials",
            any_of([integer(1, MAX_TRIALS), reference("trials")]),
            "Runs each case several times.",
        )
        .older_key("repeat", "trials")
        .not_both(&["trials", "repeat"])
}

/// Returns the settings of `execution` common to suites and cases.
fn execution(about: &'static str) -> MapSchema {
    MapSchema::new("`execution`", about)
        .optional_key("target", id(), "Name of the target to run, as in the targets file.")
        .non_null_key(
            "targets",
            list(any_of([id(), reference("target-ref")])),
            "Targets. Each case runs against each of them.",
        )
        .merge(&trial_keys())
        .merge(&threshold_keys())
        .non_null_key("assertions", reference("assertions"), "Graders.")
        .older_key("assert", "assertions")
        .non_null_key("evaluators", reference("assertions"), "Graders (the `evalcases` format).")
        .not_both(&["target", "targets"])
        .not_both(&["assertions", "assert", "evaluators"])
}

fn suite_execution() -> MapSchema {
    execution("Settings for running and judging the cases.")
        .merge(&judging_keys())
        .optional_key("workers", integer(1, 50), "Maximum number of cases to run at once, 1 to 50.")
        .optional_key("judge", text(), "Judge: a model, the name of a target, or `offline`.")
        .optional_key("budget_usd", above(0.0), "Budget of the run in US dollars.")
        .optional_key("cache", boolean(), "Whether to use the reply cache. Default: `true`.")
        .optional_key("cache_path", text(), "No effect. The reply cache is in `.assize/cache`.")
        .optional_key(
            "fail_on_error",
            boolean(),
            "Stop starting cases after one that could not be run or judged.",
        )
}

fn case_execution() -> MapSchema {
    execution("Settings of this case that override those of the suite.").optional_key(
        "skip_defaults",
        boolean(),
        "Ignore the suite's graders, input and attachments.",
    )
}

fn case() -> MapSchema {
    MapSchema::new("a case", "One input with its expectations.")
        .non_null_key("id", id(), "Case id, unique in the suite. Default: the name of its folder.")
        .non_null_key("input", reference("input"), "Input for the target: text, or a list of messages.")
        .non_null_key("input_messages", reference("input"), "Input for the target (the `evalcases` format).")
        .non_null_key("output", reference("given-output"), "Answer to grade. If given, no target is run.")
        .non_null_key("criteria", text(), "What a good answer does, in one sentence. Shown to the judge.")
        .non_null_key("expected_outcome", text(), "What a good answer does (the `evalcases` format). Shown to the judge.")
        .older_key("outcome", "criteria")
        .optional_key("expected_output", reference("expected-output"), "Reference answer. Shown to the judge.")
        .optional_key("expected_messages", reference("expected-output"), "Reference answer (the `evalcases` format). Shown to the judge.")
        .non_null_key("rubrics", reference("criteria"), "Criteria: short form of one `rubrics` grader.")
        .optional_key("execution", reference("case-execution"), "Settings of this case that override those of the suite.")
        .optional_key(
            "transform",
            any_of([text(), list(any_of([text(), reference("case-transform")]))]),
            "Code that changes the answer before it is graded.",
        )
        .optional_key("vars", any_map(), "Values for `{{ name }}` placeholders in the texts of the case.")
        .optional_key("description", string(), "Any text. Not interpreted.")
        .optional_key("suite", string(), "Any text. Not interpreted.")
        .optional_key("conversation_id", text(), "Id of the conversation that the case belongs to.")
        .non_null_key("turns", list(reference("turn")), "Turns of a conversation, each with its input and graders.")
        .optional_key("mode", word(&["conversation"]), "Kind of case. Only with `turns`.")
        .optional_key("aggregation", word(&["mean", "min", "max"]), "How the scores of turns are aggregated. Only with `turns`.")
        .optional_key("on_turn_failure", word(&["continue", "stop"]), "Whether to continue after a turn that fails. Only with `turns`.")
        .optional_key("window_size", count(1), "Number of previous turns to show to the judge. Only with `turns`.")
        .optional_key("depends_on", any_of([text(), list(string())]), "Ids of cases that must run first.")
        .optional_key("on_dependency_failure", word(&["skip", "fail", "run"]), "What to do with this case if one of them fails.")
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
        let mut keys = MapSchema::new("a message", "A message of a conversation.")
            .required_key("role", role(), "Role of the sender.")
            .optional_key("content", content, "Content: text, an object, or a list of content blocks.")
            .optional_key("tool_calls", list_or_none(any_map()), "Tool calls.")
            .optional_key("name", text(), "Name of the sender.")
            .one_of(&["content", "tool_calls"]);
        for key in [
            "tool_call_id", "id", "timestamp", "start_time", "end_time", "cost_usd", "duration_ms",
            "token_usage", "metadata",
        ] {
            keys = keys.optional_key(key, anything(), "Metadata of the message. Not interpreted.");
        }

        keys
    };

    let block = || any_of([string(), reference("block")]);
    defs.add_keys("message", message(any_of([string(), any_map(), list_or_none(block())])));
    defs.add_keys("answer-message", message(any_of([string(), any_map(), list_or_none(anything())])));
    defs.add_keys(
        "block",
        MapSchema::new("a content block", "A part of a message.")
            .required_key(
                "type",
                ValueSchema(json!({ "enum": ["text", "file", "image"] })),
                "Type of the block.",
            )
            .required_key("value", string(), "Text, or path of the file."),
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
        MapSchema::new("a turn", "One turn of a conversation.")
            .required_key("input", reference("input"), "Input for the target.")
            .optional_key("expected_output", reference("expected-output"), "Reference answer.")
            .optional_key("assertions", reference("assertions"), "Graders of this turn.")
            .older_key("assert", "assertions"),
    );
}

fn answer() -> MapSchema {
    MapSchema::new("an answer", "An answer to grade: a line of the file given to `assize grade --answers`. Further keys are an error unless `--columns` names them.")
        .non_null_key("answer", reference("given-output"), "Answer to grade.")
        .older_key("output", "answer")
        .older_key("response", "answer")
        .older_key("completion", "answer")
        .older_key("prediction", "answer")
        .older_key("model_output", "answer")
        .optional_key("id", any_of([id(), ValueSchema(json!({ "type": "integer" }))]), "Id of the answer. Default: `line-N`.")
        .optional_key("question", anything(), "Question that was asked. Shown to the judge.")
        .older_key("input", "question")
        .older_key("prompt", "question")
        .older_key("query", "question")
        .optional_key("reference", anything(), "Reference answer. Shown to the judge.")
        .older_key("expected_output", "reference")
        .older_key("reference_answer", "reference")
        .optional_key("expected_outcome", anything(), "What a good answer does. Shown to the judge.")
        .older_key("criteria", "expected_outcome")
        .optional_key("file_changes", string(), "File changes as a unified diff. Shown to the judge.")
        .optional_key("tags", texts(), "Tags, for selecting cases with `--tag`.")
        .optional_key("cluster", anything(), "Cluster: answers with the same value are not independent.")
        .optional_key("conversation_id", anything(), "Id of the conversation that the answer belongs to. Used as its cluster.")
        .optional_key("metadata", anything(), "Any other data. Not shown to the judge.")
        .one_of(&["answer", "output", "response", "completion", "prediction", "model_output"])
}
