//! Schemas of eval files, their cases, and answers to grade.

use serde_json::{Value, json};

use super::rubric::{judging, lines};
use super::shape::{
    Keys, Shape, above, any_of, anything, boolean, count, free, like, list, list_or_none, string, text,
    texts, whole, word,
};
use super::{Defs, workspace};
use crate::decode::trials;

/// Keys of the list of cases.
const LISTS: [&str; 4] = ["tests", "evalcases", "eval_cases", "cases"];

/// Adds the definitions.
pub(super) fn add(defs: &mut Defs) {
    let settings = settings();
    defs.shape("suite", settings.clone().one_of(&LISTS).not_both(&LISTS).shape());
    defs.keys("suite-settings", settings);
    let case = case();
    defs.keys("case-in-folder", case.clone());
    let mut with_id = case;
    with_id = with_id.needed("id", id(), "Its name, unique in its suite. Text, so numbers need quotes.");
    defs.keys("case", with_id);
    defs.shape(
        "cases",
        any_of([
            text().with(
                "description",
                json!("The path of a YAML or JSONL file with the cases, or of a folder."),
            ),
            list(any_of([like("case"), text()])),
        ]),
    );
    defs.keys("suite-execution", suite_execution());
    defs.keys("case-execution", case_execution());
    defs.keys(
        "trials",
        Keys::of("`trials`", "Several runs of each case.")
            .needed("count", whole(1, trials::MOST), "How many.")
            .key("strategy", word(&trials::words()), "What they come to; `pass_at_k` unless given.")
            .key("early_stop", boolean(), "Whether no run follows one that passed; with `pass_at_k`.")
            .key(
                "cost_limit_usd",
                above(0.0),
                "US dollars that the runs of one case may spend: none is begun after.",
            ),
    );
    defs.keys(
        "target-ref",
        Keys::of("a target of `targets`", "A target that the cases are run against.")
            .needed("name", id(), "Its name in results.")
            .key("use_target", text(), "The target of the targets file behind it.")
            .key("hooks", like("hooks"), "Commands around its use in a workspace."),
    );
    workspace::add(defs);
    messages(defs);
    defs.keys("answer", answer());
}

/// Returns the shape of an id: no blanks around it.
fn id() -> Shape {
    Shape(json!({ "type": "string", "pattern": "^\\S(.*\\S)?$" }))
}

/// Returns the keys common to suites and cases: graders, targets and thresholds.
fn shared() -> Keys {
    Keys::of("", "")
        .filled("assertions", like("assertions"), "Graders: criteria as plain strings, or maps with `type`.")
        .older("assert", "assertions")
        .older("evaluators", "assertions")
        .key("target", id(), "Name of the target that answers, from the targets file.")
        .and(&repeats())
        .and(&lines())
        .key("tags", texts(), "Labels for `--tag`.")
        .key("metadata", free(), "Free data, kept.")
        .key(
            "evaluator",
            word(&["llm-judge", "llm-grader", "rubric", "rubrics"]),
            "The kind of grader where none is given (an older key).",
        )
        .key(
            "input_files",
            any_of([text(), list(text())]),
            "Paths put before the text of the last user message.",
        )
        .key(
            "workspace",
            any_of([text(), like("workspace")]),
            "The folder the case is worked on in, or a file that describes it.",
        )
        .not_both(&["assertions", "assert", "evaluators"])
}

fn settings() -> Keys {
    let mut keys = Keys::of("an eval file", "Cases, how to get answers to them, and what good answers do.")
        .key("$schema", anything(), "The schema of this file, for editors.")
        .filled("tests", like("cases"), "The cases (format 2), or where they are.")
        .filled("evalcases", like("cases"), "The cases (format 1), or where they are.")
        .older("eval_cases", "tests")
        .older("cases", "tests")
        .key("name", id(), "The suite's name in results; the file name unless given.")
        .key("dataset", id(), "The suite's name (the key of format 1).")
        .key("description", string(), "What the suite is about.")
        .filled("input", like("input"), "Messages before those of each case.")
        .key("execution", like("suite-execution"), "How the cases are run and judged.")
        .key(
            "preprocessors",
            Shape(json!({ "type": ["array", "object"] })),
            "Conversion of attachments; not built yet.",
        )
        .and(&shared());
    for key in ["version", "author", "license", "category", "governance", "requires"] {
        keys = keys.key(key, anything(), "Free data, kept.");
    }
    keys
}

/// Returns the keys of trials: of a suite, of a case, and of `execution` of both.
fn repeats() -> Keys {
    Keys::of("", "")
        .key("trials", any_of([whole(1, trials::MOST), like("trials")]), "Several runs of each case.")
        .older("repeat", "trials")
        .not_both(&["trials", "repeat"])
}

/// Returns the settings of `execution` common to suites and cases.
fn execution(about: &'static str) -> Keys {
    Keys::of("`execution`", about)
        .key("target", id(), "Name of the target that answers, from the targets file.")
        .filled(
            "targets",
            list(any_of([id(), like("target-ref")])),
            "Several targets: each case is run against each.",
        )
        .and(&repeats())
        .and(&lines())
        .filled("assertions", like("assertions"), "Graders.")
        .older("assert", "assertions")
        .filled("evaluators", like("assertions"), "Graders (the place of format 1).")
        .not_both(&["target", "targets"])
        .not_both(&["assertions", "assert", "evaluators"])
}

fn suite_execution() -> Keys {
    execution("How the cases are run and judged.")
        .and(&judging())
        .key("workers", whole(1, 50), "Cases at once, 1 to 50.")
        .key("judge", text(), "Who judges: a model, a target's name, `offline`.")
        .key("budget_usd", above(0.0), "US dollars that the run may spend.")
        .key("cache", boolean(), "`false` asks every model anew; replies are remembered otherwise.")
        .key("cache_path", text(), "Without effect: replies are kept in `.assize/cache`.")
        .key(
            "fail_on_error",
            boolean(),
            "Whether no case is begun after one that could not be run or judged.",
        )
}

fn case_execution() -> Keys {
    execution("What this case does differently.").key(
        "skip_defaults",
        boolean(),
        "Whether the suite's graders, input and attachments are left out.",
    )
}

fn case() -> Keys {
    Keys::of("a case", "One question, and what a good answer to it does.")
        .filled("id", id(), "Its name, unique in its suite; that of its folder unless given.")
        .filled("input", like("input"), "What is asked: a text, or messages.")
        .filled("input_messages", like("input"), "What is asked (the key of format 1).")
        .filled("output", like("given-output"), "The answer itself: no target is run then.")
        .filled("criteria", text(), "What a good answer does, in a sentence; shown to the judge.")
        .filled("expected_outcome", text(), "What a good answer does (the key of format 1).")
        .older("outcome", "criteria")
        .key("expected_output", like("expected-output"), "An example of a good answer; shown to the judge.")
        .key("expected_messages", like("expected-output"), "An example of a good answer (the key of format 1).")
        .filled("rubrics", like("criteria"), "Criteria, the short form of one rubrics grader.")
        .key("execution", like("case-execution"), "What this case does differently.")
        .key("vars", free(), "Values for `{{ name }}` in the case's texts.")
        .key("description", string(), "Free text, kept.")
        .key("suite", string(), "Free text, kept.")
        .key("conversation_id", text(), "The conversation it belongs to.")
        .filled("turns", list(like("turn")), "A conversation turn by turn: what is said to the target, and who grades each answer.")
        .key("mode", word(&["conversation"]), "With `turns`.")
        .key("aggregation", word(&["mean", "min", "max"]), "What turns come to; with `turns`.")
        .key("on_turn_failure", word(&["continue", "stop"]), "What follows a turn that fails; with `turns`.")
        .key("window_size", count(1), "How many turns are shown; with `turns`.")
        .key("depends_on", any_of([text(), list(string())]), "Ids of the cases that come before.")
        .key("on_dependency_failure", word(&["skip", "fail", "run"]), "What becomes of it when they fail.")
        .and(&shared())
        .not_both(&["input", "input_messages"])
        .not_both(&["expected_output", "expected_messages"])
        .not_both(&["criteria", "expected_outcome", "outcome"])
        .rule(json!({
            "anyOf": [
                { "required": ["turns"] },
                { "not": { "anyOf": (["mode", "aggregation", "on_turn_failure", "window_size"]).map(filled) } },
            ],
        }))
}

/// Returns the condition that a key is present and not empty.
fn filled(key: &str) -> Value {
    json!({ "required": [key], "not": { "properties": { key: { "type": "null" } } } })
}

fn messages(defs: &mut Defs) {
    defs.shape("input", any_of([text(), list(like("message"))]));
    let role = || Shape(json!({ "enum": ["system", "user", "assistant", "tool"] }));
    let message = |content: Shape| {
        let mut keys = Keys::of("a message", "What somebody said.")
            .needed("role", role(), "Who said it.")
            .key("content", content, "What was said: a text, an object, or a list of blocks.")
            .key("tool_calls", list_or_none(free()), "Tools that were called.")
            .key("name", text(), "The name of who said it.")
            .one_of(&["content", "tool_calls"]);
        for key in [
            "tool_call_id",
            "id",
            "timestamp",
            "start_time",
            "end_time",
            "cost_usd",
            "duration_ms",
            "token_usage",
            "metadata",
        ] {
            keys = keys.key(key, anything(), "Recorded with the message, kept.");
        }
        keys
    };
    let block = || any_of([string(), like("block")]);
    defs.keys("message", message(any_of([string(), free(), list_or_none(block())])));
    defs.keys("answer-message", message(any_of([string(), free(), list_or_none(anything())])));
    defs.keys(
        "block",
        Keys::of("a content block", "A part of a message.")
            .needed("type", Shape(json!({ "enum": ["text", "file", "image"] })), "What it is.")
            .needed("value", string(), "The text, or the path of the file."),
    );
    let role_is_there = json!({ "type": "object", "required": ["role"] });
    let answers = |kinds: Value| {
        Shape(json!({
            "type": kinds,
            "if": role_is_there.clone(),
            "then": like("answer-message").0,
            "else": {
                "if": { "type": "array", "contains": role_is_there.clone() },
                "then": { "items": like("answer-message").0 },
            },
        }))
    };
    let expected = answers(json!(["string", "object", "array", "number", "boolean"]));
    let expected = expected.with("pattern", json!("\\S")).with("minItems", json!(1));
    defs.shape("expected-output", expected);
    defs.shape("given-output", answers(json!(["string", "object", "array"])));
    defs.keys(
        "turn",
        Keys::of("a turn", "One step of a conversation.")
            .needed("input", like("input"), "What is said to the target.")
            .key("expected_output", like("expected-output"), "An example of a good answer.")
            .key("assertions", like("assertions"), "Graders of this turn.")
            .older("assert", "assertions"),
    );
}

fn answer() -> Keys {
    Keys::of("an answer", "An answer to grade: a line of the file given to `assize grade --answers`. Other keys are kept as metadata.")
        .filled("answer", like("given-output"), "The answer.")
        .older("output", "answer")
        .key("id", any_of([id(), Shape(json!({ "type": "integer" }))]), "Its name; `line-N` unless given.")
        .key("question", anything(), "What was asked; shown to the judge.")
        .older("input", "question")
        .key("reference", anything(), "An example of a good answer; shown to the judge.")
        .older("expected_output", "reference")
        .key("expected_outcome", anything(), "What a good answer does; shown to the judge.")
        .older("criteria", "expected_outcome")
        .key("file_changes", string(), "What changed in files, as a unified diff; shown to the judge.")
        .key("tags", texts(), "Labels for `--tag`.")
        .key("metadata", anything(), "Free data, kept.")
        .one_of(&["answer", "output"])
        .open()
}
