//! Schemas of graders: one map for each type, and the choice between them.

use serde_json::{Value, json};

use super::SchemaDefinitions;
use super::rubric::judging_keys;
use super::shape::{
    MapSchema, ValueSchema, above, any_map, any_of, anything, at_least, boolean, count, integer, list,
    list_or_none, map_of, other_spelling, reference, string, text, texts, unit, word,
};

/// Grader types by the definition that describes them.
const TYPES: &[(&str, &[&str])] = &[
    ("rubrics", &["rubrics", "rubric"]),
    ("llm-grader", &["llm-grader", "llm-judge"]),
    ("pairwise", &["pairwise"]),
    ("code-grader", &["code-grader", "code-judge"]),
    ("composite", &["composite"]),
    ("text-check-list", &["contains-any", "contains-all", "icontains-any", "icontains-all"]),
    ("text-check", &["contains", "icontains", "starts-with", "ends-with", "equals"]),
    ("pattern", &["regex"]),
    ("is-json", &["is-json"]),
    ("field-accuracy", &["field-accuracy"]),
    ("tool-trajectory", &["tool-trajectory"]),
    ("latency", &["latency"]),
    ("cost", &["cost"]),
    ("token-usage", &["token-usage"]),
    ("execution-metrics", &["execution-metrics"]),
    ("skill-trigger", &["skill-trigger"]),
];

/// Adds the definitions.
pub(super) fn add(defs: &mut SchemaDefinitions) {
    defs.add_shape("grader", choice());
    defs.add_shape(
        "assertion",
        any_of([
            text().with_keyword(
                "description",
                json!("A criterion in one sentence. All strings of a list form one rubrics grader."),
            ),
            reference("grader"),
            reference("include"),
        ]),
    );

    defs.add_shape("assertions", list(reference("assertion")));
    defs.add_keys(
        "include",
        MapSchema::new("an include", "Puts in the graders of a template.").required_key(
            "include",
            text(),
            "The template `.assize/templates/NAME.yaml`, or a path.",
        ),
    );

    defs.add_keys(
        "template",
        MapSchema::new("a template", "Graders that eval files include.")
            .optional_key("$schema", anything(), "The schema of this file, for editors.")
            .optional_key("name", anything(), "Free.")
            .optional_key("description", anything(), "What it is for.")
            .required_key("assertions", reference("assertions"), "The graders."),
    );

    for (name, keys) in judges().into_iter().chain(checks()).chain(limits()) {
        defs.add_keys(name, keys);
    }

    helpers(defs);
}

/// Returns the choice by `type`. An unknown type is a custom grader.
fn choice() -> ValueSchema {
    let mut rules: Vec<Value> = Vec::new();
    let mut all: Vec<String> = Vec::new();
    for (def, names) in TYPES {
        let mut spelled: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        spelled.extend(names.iter().filter_map(|name| other_spelling(name)));

        let is = json!({ "required": ["type"], "properties": { "type": { "enum": spelled } } });
        if *def == "llm-grader" {
            let criteria = json!({ "anyOf": [{ "required": ["criteria"] }, { "required": ["rubrics"] }] });
            rules.push(json!({ "if": is, "then": { "if": criteria, "then": reference("rubrics").0, "else": reference(def).0 } }));
        } else {
            rules.push(json!({ "if": is, "then": reference(def).0 }));
        }

        all.extend(spelled);
    }

    let offered: Vec<&str> = TYPES
        .iter()
        .flat_map(|(_, names)| names.iter().copied())
        .filter(|name| !matches!(*name, "rubric" | "llm-judge" | "code-judge"))
        .collect();
    ValueSchema(json!({
        "type": "object",
        "required": ["type"],
        "not": { "required": ["include"], "properties": { "type": { "enum": [null] } } },
        "properties": { "type": {
            "description": "What kind of grader it is, or the name of a program in `.assize/graders/`.",
            "anyOf": [{ "enum": offered }, text().0],
        } },
        "allOf": rules,
    }))
}

/// Returns a grader's map with the keys common to all graders.
fn grader(what: &'static str, about: &'static str) -> MapSchema {
    let share = || above(0.0).with_keyword("maximum", json!(1));
    MapSchema::new(what, about)
        .required_key("type", string(), "What kind of grader it is.")
        .optional_key("name", text(), "Its name in results; its type unless given.")
        .older_key("id", "name")
        .optional_key(
            "weight",
            at_least(0.0),
            "How much it counts among the graders of the case; 1 unless given.",
        )
        .optional_key(
            "required",
            any_of([boolean(), share()]),
            "Whether the case fails if the grader stays below its line.",
        )
        .optional_key("min_score", share(), "The grader's own line, above 0 and at most 1.")
        .optional_key("negate", boolean(), "Turns score and verdict around.")
}

fn judges() -> Vec<(&'static str, MapSchema)> {
    vec![
        (
            "rubrics",
            grader("a rubrics grader", "A judge decides criterion by criterion.")
                .non_null_key("criteria", reference("criteria"), "The criteria.")
                .older_key("rubrics", "criteria")
                .merge(&judging_keys())
                .optional_key("judge", text(), "Who judges: a model, a target's name, `offline`.")
                .older_key("target", "judge")
                .one_of(&["criteria", "rubrics"])
                .not_both(&["criteria", "rubrics"]),
        ),
        (
            "llm-grader",
            grader("an LLM grader", "A judge gives one number for the whole answer. For things that can be told apart, use `rubrics`.")
                .optional_key("prompt", any_of([text(), reference("prompt-program")]), "What to judge by: a text, a file, or a program that prints it.")
                .optional_key("judge", text(), "Who judges: a model, a target's name.")
                .older_key("target", "judge")
                .optional_key("panel", reference("panel"), "Several judges, repeats, escalation.")
                .optional_key("temperature", at_least(0.0).with_keyword("maximum", json!(2)), "Sampling temperature, 0 to 2.")
                .optional_key("max_steps", count(1), "Steps a judge with tools may take.")
                .optional_key("config", any_map(), "Settings of the prompt program."),
        ),
        (
            "pairwise",
            grader("a pairwise grader", "A judge says which of two answers is better, asked in both orders: win, loss, tie or inconsistent.")
                .optional_key("baseline", any_of([text(), reference("baseline")]), "The answer to compare with: `reference`, a text, a file or a recorded run; the case's reference answer unless given.")
                .older_key("against", "baseline")
                .older_key("compare_to", "baseline")
                .optional_key("criteria", texts(), "What makes an answer the better one; what was asked and expected unless given.")
                .optional_key("judge", text(), "Who judges: a model, a target's name, `offline`.")
                .older_key("target", "judge")
                .optional_key("panel", reference("panel"), "Several judges, repeats, escalation.")
                .optional_key("tie_score", unit(), "What a tie is worth; 0.5 unless given.")
                .optional_key("inconsistent_score", unit(), "What it is worth if the two orders disagree; 0.5 unless given."),
        ),
        (
            "code-grader",
            grader("a code grader", "A program decides. It reads JSON from stdin and prints JSON with a score; other keys go to it.")
                .non_null_key("command", reference("command"), "The program: a list, or a text for `sh -c`.")
                .older_key("script", "command")
                .optional_key("cwd", text(), "The folder it runs in; that of the eval file unless given.")
                .optional_key("timeout_seconds", at_least(0.0), "How long it may take; 60 unless given.")
                .optional_key("timeout_ms", at_least(0.0), "How long it may take, in milliseconds.")
                .optional_key("target", any_of([boolean(), reference("program-target")]), "Whether the program may ask the judge's model, and how often: 50 times unless `max_calls` says otherwise.")
                .optional_key("pass_env", texts(), "Keys of models, by the names of their variables, that the program sees nevertheless.")
                .optional_key("config", any_map(), "Settings that the program gets.")
                .one_of(&["command", "script"])
                .open(),
        ),
        (
            "composite",
            grader("a composite", "Several graders combined into one.")
                .non_null_key("assertions", reference("assertions"), "The members.")
                .older_key("assert", "assertions")
                .older_key("evaluators", "assertions")
                .optional_key("aggregator", reference("aggregator"), "How members are combined; their weighted mean unless given.")
                .one_of(&["assertions", "assert", "evaluators"]),
        ),
    ]
}

fn checks() -> Vec<(&'static str, MapSchema)> {
    let one = "A fixed rule about the answer's text; needs no judge.";
    vec![
        ("text-check", grader("a text check", one).required_key("value", text(), "The text to look for.")),
        (
            "text-check-list",
            grader("a text check", one).required_key("value", any_of([text(), list(text())]), "The texts to look for."),
        ),
        (
            "pattern",
            grader("a text check", "A JavaScript pattern that the answer must match somewhere; needs no judge.")
                .required_key("value", string().with_keyword("minLength", json!(1)), "The pattern.")
                .optional_key("flags", string().with_keyword("pattern", json!("^[dgimsuvy]*$")), "`i` ignores case, `m` makes ^ and $ match at lines, `s` lets the dot match newlines."),
        ),
        (
            "is-json",
            grader("a JSON check", "The whole answer is JSON.")
                .optional_key("schema", any_of([text(), any_map(), boolean()]), "A JSON Schema that it must keep, or the path of one."),
        ),
        (
            "field-accuracy",
            grader("a field-accuracy grader", "Fields of the answer against those of `expected_output`, both JSON.")
                .required_key("fields", list(reference("field")), "The fields that are compared.")
                .optional_key("aggregation", word(&["weighted_average", "all_or_nothing"]), "How fields become a score."),
        ),
        (
            "tool-trajectory",
            grader("a tool-trajectory grader", "The tool calls behind the answer against those that are expected.")
                .required_key(
                    "mode",
                    word(&["any_order", "in_order", "exact", "superset", "subset"]),
                    "How calls are compared.",
                )
                .optional_key("expected", list_or_none(reference("expected-call")), "The calls, in order.")
                .optional_key("minimums", map_of(count(1)), "The least number of calls by tool, for `mode: any_order`.")
                .optional_key("args_match", reference("args-match"), "How arguments are compared.")
                .rule(json!({
                    "if": { "properties": { "mode": { "enum": ["any_order", "any-order"] } } },
                    "then": { "required": ["minimums"], "not": { "required": ["expected"], "properties": { "expected": { "type": "array" } } } },
                    "else": { "required": ["expected"], "not": { "required": ["minimums"], "properties": { "minimums": { "type": "object" } } } },
                })),
        ),
        (
            "skill-trigger",
            grader("a skill-trigger grader", "Whether an agent used a skill.")
                .required_key("skill", text(), "The name of the skill.")
                .optional_key("should_trigger", boolean(), "`false` turns the question around."),
        ),
    ]
}

fn limits() -> Vec<(&'static str, MapSchema)> {
    vec![
        (
            "latency",
            grader("a latency limit", "The answer came in time.").required_key(
                "threshold",
                at_least(0.0),
                "Milliseconds.",
            ),
        ),
        (
            "cost",
            grader("a cost limit", "The answer was cheap enough.").required_key(
                "budget",
                at_least(0.0),
                "US dollars.",
            ),
        ),
        (
            "token-usage",
            grader("a token limit", "The answer took few tokens.")
                .optional_key("max_total", count(0), "Most tokens in all.")
                .optional_key("max_input", count(0), "Most input tokens.")
                .optional_key("max_output", count(0), "Most output tokens.")
                .one_of(&["max_total", "max_input", "max_output"]),
        ),
        (
            "execution-metrics",
            grader("an execution-metrics grader", "Limits on how the answer came about.")
                .optional_key("max_tool_calls", count(0), "Most calls of tools.")
                .optional_key("max_llm_calls", count(0), "Most calls of models.")
                .optional_key("max_tokens", count(0), "Most tokens.")
                .optional_key("max_cost_usd", at_least(0.0), "Most US dollars.")
                .optional_key("max_duration_ms", at_least(0.0), "Most milliseconds.")
                .optional_key(
                    "target_exploration_ratio",
                    unit(),
                    "The share of looking-around calls that is aimed at.",
                )
                .optional_key("exploration_tolerance", unit(), "How far from it the share may be.")
                .one_of(&[
                    "max_tool_calls", "max_llm_calls", "max_tokens", "max_cost_usd", "max_duration_ms",
                    "target_exploration_ratio",
                ]),
        ),
    ]
}

fn helpers(defs: &mut SchemaDefinitions) {
    let argument = any_of([string(), ValueSchema(json!({ "type": "integer" }))]);
    defs.add_shape("command", any_of([text(), list(argument)]));
    defs.add_keys(
        "prompt-program",
        MapSchema::new("a prompt", "A program that prints the prompt.")
            .non_null_key("command", reference("command"), "The program.")
            .older_key("script", "command")
            .optional_key("config", any_map(), "Settings that it gets.")
            .one_of(&["command", "script"]),
    );

    defs.add_keys(
        "baseline",
        MapSchema::new("`baseline`", "The answer to compare with.")
            .optional_key("text", text(), "The answer itself.")
            .optional_key("file", text(), "A file that holds it.")
            .optional_key(
                "run",
                text(),
                "A recorded run: a folder, an id or `last`, with `@TARGET` for one of several targets.",
            )
            .one_of(&["text", "file", "run"])
            .not_both(&["text", "file"])
            .not_both(&["text", "run"])
            .not_both(&["file", "run"]),
    );

    defs.add_keys(
        "program-target",
        MapSchema::new("`target`", "How a program may ask the target.").optional_key(
            "max_calls",
            integer(1, i64::from(u32::MAX)),
            "Most calls.",
        ),
    );

    defs.add_keys(
        "field",
        MapSchema::new("a field", "A field that is compared.")
            .required_key(
                "path",
                text(),
                "Names joined by dots, with `[N]` for an item of a list: `order.items[0].price`.",
            )
            .optional_key(
                "match",
                word(&["exact", "numeric_tolerance", "date"]),
                "How values are compared; `exact` unless given.",
            )
            .optional_key(
                "tolerance",
                at_least(0.0),
                "How far apart numbers may be, for `numeric_tolerance`.",
            )
            .optional_key("relative", boolean(), "Whether `tolerance` is a share of the expected number.")
            .optional_key("formats", texts(), "How dates are written, for `date`: `DD/MM/YYYY`.")
            .optional_key("required", boolean(), "Whether a field that the answer lacks is wrong.")
            .optional_key("weight", at_least(0.0), "How much it counts; 1 unless given."),
    );

    defs.add_shape("args-match", any_of([word(&["exact", "superset", "subset", "ignore"]), list(string())]));
    defs.add_keys(
        "expected-call",
        MapSchema::new("an expected call", "A call of a tool.")
            .required_key("tool", text(), "The name of the tool.")
            .optional_key(
                "args",
                any_of([any_map(), ValueSchema(json!({ "const": "any" }))]),
                "Its arguments, or `any`.",
            )
            .optional_key("args_match", reference("args-match"), "How they are compared.")
            .optional_key("max_duration_ms", at_least(0.0), "How long it may take, in milliseconds."),
    );

    defs.add_keys(
        "aggregator",
        MapSchema::new("an aggregator", "How members of a composite are combined.")
            .required_key("type", word(&["weighted_average", "threshold", "code-grader", "llm-grader", "code-judge", "llm-judge"]), "Which way.")
            .optional_key("weights", map_of(at_least(0.0)), "Weights of members by name, for `weighted_average`.")
            .optional_key("threshold", unit(), "The share of members that must pass, for `threshold`.")
            .optional_key("command", reference("command"), "The program, for `code-grader`.")
            .older_key("path", "command")
            .older_key("script", "command")
            .optional_key("cwd", text(), "The folder it runs in.")
            .optional_key("prompt", any_of([text(), reference("prompt-program")]), "What the judge is told, for `llm-grader`.")
            .optional_key("judge", text(), "Who judges, for `llm-grader`.")
            .older_key("target", "judge")
            .rule(json!({ "if": { "properties": { "type": { "const": "threshold" } } }, "then": { "required": ["threshold"] } })),
    );
}
