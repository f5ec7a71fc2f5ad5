//! Schemas of graders: one map for each type, and the choice between them.

use serde_json::{Value, json};

use super::Defs;
use super::rubric::judging;
use super::shape::{
    Keys, Shape, above, any_of, anything, at_least, boolean, count, free, like, list, list_or_none, map_of,
    string, text, texts, twin, unit, whole, word,
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
pub(super) fn add(defs: &mut Defs) {
    defs.shape("grader", choice());
    defs.shape(
        "assertion",
        any_of([
            text().with(
                "description",
                json!("A criterion in one sentence. All strings of a list form one rubrics grader."),
            ),
            like("grader"),
            like("include"),
        ]),
    );
    defs.shape("assertions", list(like("assertion")));
    defs.keys(
        "include",
        Keys::of("an include", "Puts in the graders of a template.").needed(
            "include",
            text(),
            "The template `.assize/templates/NAME.yaml`, or a path.",
        ),
    );
    defs.keys(
        "template",
        Keys::of("a template", "Graders that eval files include.")
            .key("$schema", anything(), "The schema of this file, for editors.")
            .key("name", anything(), "Free.")
            .key("description", anything(), "What it is for.")
            .needed("assertions", like("assertions"), "The graders."),
    );
    for (name, keys) in judges().into_iter().chain(checks()).chain(limits()) {
        defs.keys(name, keys);
    }
    helpers(defs);
}

/// Returns the choice by `type`. An unknown type is a custom grader.
fn choice() -> Shape {
    let mut rules: Vec<Value> = Vec::new();
    let mut all: Vec<String> = Vec::new();
    for (def, names) in TYPES {
        let mut spelled: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        spelled.extend(names.iter().filter_map(|name| twin(name)));
        let is = json!({ "required": ["type"], "properties": { "type": { "enum": spelled } } });
        if *def == "llm-grader" {
            let criteria = json!({ "anyOf": [{ "required": ["criteria"] }, { "required": ["rubrics"] }] });
            rules.push(json!({ "if": is, "then": { "if": criteria, "then": like("rubrics").0, "else": like(def).0 } }));
        } else {
            rules.push(json!({ "if": is, "then": like(def).0 }));
        }
        all.extend(spelled);
    }
    let offered: Vec<&str> = TYPES
        .iter()
        .flat_map(|(_, names)| names.iter().copied())
        .filter(|name| !matches!(*name, "rubric" | "llm-judge" | "code-judge"))
        .collect();
    Shape(json!({
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
fn grader(what: &'static str, about: &'static str) -> Keys {
    let share = || above(0.0).with("maximum", json!(1));
    Keys::of(what, about)
        .needed("type", string(), "What kind of grader it is.")
        .key("name", text(), "Its name in results; its type unless given.")
        .older("id", "name")
        .key("weight", at_least(0.0), "How much it counts among the graders of the case; 1 unless given.")
        .key(
            "required",
            any_of([boolean(), share()]),
            "Whether the case fails if the grader stays below its line.",
        )
        .key("min_score", share(), "The grader's own line, above 0 and at most 1.")
        .key("negate", boolean(), "Turns score and verdict around.")
}

fn judges() -> Vec<(&'static str, Keys)> {
    vec![
        (
            "rubrics",
            grader("a rubrics grader", "A judge decides criterion by criterion.")
                .filled("criteria", like("criteria"), "The criteria.")
                .older("rubrics", "criteria")
                .and(&judging())
                .key("judge", text(), "Who judges: a model, a target's name, `offline`.")
                .older("target", "judge")
                .one_of(&["criteria", "rubrics"])
                .not_both(&["criteria", "rubrics"]),
        ),
        (
            "llm-grader",
            grader("an LLM grader", "A judge gives one number for the whole answer. For things that can be told apart, use `rubrics`.")
                .key("prompt", any_of([text(), like("prompt-program")]), "What to judge by: a text, a file, or a program that prints it.")
                .key("judge", text(), "Who judges: a model, a target's name.")
                .older("target", "judge")
                .key("panel", like("panel"), "Several judges, repeats, escalation.")
                .key("temperature", at_least(0.0).with("maximum", json!(2)), "Sampling temperature, 0 to 2.")
                .key("max_steps", count(1), "Steps a judge with tools may take.")
                .key("config", free(), "Settings of the prompt program."),
        ),
        (
            "pairwise",
            grader("a pairwise grader", "A judge says which of two answers is better, asked in both orders: win, loss, tie or inconsistent.")
                .key("baseline", any_of([text(), like("baseline")]), "The answer to compare with: `reference`, a text, a file or a recorded run; the case's reference answer unless given.")
                .older("against", "baseline")
                .older("compare_to", "baseline")
                .key("criteria", texts(), "What makes an answer the better one; what was asked and expected unless given.")
                .key("judge", text(), "Who judges: a model, a target's name, `offline`.")
                .older("target", "judge")
                .key("panel", like("panel"), "Several judges, repeats, escalation.")
                .key("tie_score", unit(), "What a tie is worth; 0.5 unless given.")
                .key("inconsistent_score", unit(), "What it is worth if the two orders disagree; 0.5 unless given."),
        ),
        (
            "code-grader",
            grader("a code grader", "A program decides. It reads JSON from stdin and prints JSON with a score; other keys go to it.")
                .filled("command", like("command"), "The program: a list, or a text for `sh -c`.")
                .older("script", "command")
                .key("cwd", text(), "The folder it runs in; that of the eval file unless given.")
                .key("timeout_seconds", at_least(0.0), "How long it may take; 60 unless given.")
                .key("timeout_ms", at_least(0.0), "How long it may take, in milliseconds.")
                .key("target", any_of([boolean(), like("program-target")]), "Whether the program may ask the judge's model, and how often: 50 times unless `max_calls` says otherwise.")
                .key("pass_env", texts(), "Keys of models, by the names of their variables, that the program sees nevertheless.")
                .key("config", free(), "Settings that the program gets.")
                .one_of(&["command", "script"])
                .open(),
        ),
        (
            "composite",
            grader("a composite", "Several graders combined into one.")
                .filled("assertions", like("assertions"), "The members.")
                .older("assert", "assertions")
                .older("evaluators", "assertions")
                .key("aggregator", like("aggregator"), "How members are combined; their weighted mean unless given.")
                .one_of(&["assertions", "assert", "evaluators"]),
        ),
    ]
}

fn checks() -> Vec<(&'static str, Keys)> {
    let one = "A fixed rule about the answer's text; needs no judge.";
    vec![
        ("text-check", grader("a text check", one).needed("value", text(), "The text to look for.")),
        (
            "text-check-list",
            grader("a text check", one).needed("value", any_of([text(), list(text())]), "The texts to look for."),
        ),
        (
            "pattern",
            grader("a text check", "A JavaScript pattern that the answer must match somewhere; needs no judge.")
                .needed("value", string().with("minLength", json!(1)), "The pattern.")
                .key("flags", string().with("pattern", json!("^[dgimsuvy]*$")), "`i` ignores case, `m` makes ^ and $ match at lines, `s` lets the dot match newlines."),
        ),
        (
            "is-json",
            grader("a JSON check", "The whole answer is JSON.")
                .key("schema", any_of([text(), free(), boolean()]), "A JSON Schema that it must keep, or the path of one."),
        ),
        (
            "field-accuracy",
            grader("a field-accuracy grader", "Fields of the answer against those of `expected_output`, both JSON.")
                .needed("fields", list(like("field")), "The fields that are compared.")
                .key("aggregation", word(&["weighted_average", "all_or_nothing"]), "How fields become a score."),
        ),
        (
            "tool-trajectory",
            grader("a tool-trajectory grader", "The tool calls behind the answer against those that are expected.")
                .needed(
                    "mode",
                    word(&["any_order", "in_order", "exact", "superset", "subset"]),
                    "How calls are compared.",
                )
                .key("expected", list_or_none(like("expected-call")), "The calls, in order.")
                .key("minimums", map_of(count(1)), "The least number of calls by tool, for `mode: any_order`.")
                .key("args_match", like("args-match"), "How arguments are compared.")
                .rule(json!({
                    "if": { "properties": { "mode": { "enum": ["any_order", "any-order"] } } },
                    "then": { "required": ["minimums"], "not": { "required": ["expected"], "properties": { "expected": { "type": "array" } } } },
                    "else": { "required": ["expected"], "not": { "required": ["minimums"], "properties": { "minimums": { "type": "object" } } } },
                })),
        ),
        (
            "skill-trigger",
            grader("a skill-trigger grader", "Whether an agent used a skill.")
                .needed("skill", text(), "The name of the skill.")
                .key("should_trigger", boolean(), "`false` turns the question around."),
        ),
    ]
}

fn limits() -> Vec<(&'static str, Keys)> {
    vec![
        (
            "latency",
            grader("a latency limit", "The answer came in time.").needed(
                "threshold",
                at_least(0.0),
                "Milliseconds.",
            ),
        ),
        (
            "cost",
            grader("a cost limit", "The answer was cheap enough.").needed(
                "budget",
                at_least(0.0),
                "US dollars.",
            ),
        ),
        (
            "token-usage",
            grader("a token limit", "The answer took few tokens.")
                .key("max_total", count(0), "Most tokens in all.")
                .key("max_input", count(0), "Most input tokens.")
                .key("max_output", count(0), "Most output tokens.")
                .one_of(&["max_total", "max_input", "max_output"]),
        ),
        (
            "execution-metrics",
            grader("an execution-metrics grader", "Limits on how the answer came about.")
                .key("max_tool_calls", count(0), "Most calls of tools.")
                .key("max_llm_calls", count(0), "Most calls of models.")
                .key("max_tokens", count(0), "Most tokens.")
                .key("max_cost_usd", at_least(0.0), "Most US dollars.")
                .key("max_duration_ms", at_least(0.0), "Most milliseconds.")
                .key(
                    "target_exploration_ratio",
                    unit(),
                    "The share of looking-around calls that is aimed at.",
                )
                .key("exploration_tolerance", unit(), "How far from it the share may be.")
                .one_of(&[
                    "max_tool_calls",
                    "max_llm_calls",
                    "max_tokens",
                    "max_cost_usd",
                    "max_duration_ms",
                    "target_exploration_ratio",
                ]),
        ),
    ]
}

fn helpers(defs: &mut Defs) {
    let argument = any_of([string(), Shape(json!({ "type": "integer" }))]);
    defs.shape("command", any_of([text(), list(argument)]));
    defs.keys(
        "prompt-program",
        Keys::of("a prompt", "A program that prints the prompt.")
            .filled("command", like("command"), "The program.")
            .older("script", "command")
            .key("config", free(), "Settings that it gets.")
            .one_of(&["command", "script"]),
    );
    defs.keys(
        "baseline",
        Keys::of("`baseline`", "The answer to compare with.")
            .key("text", text(), "The answer itself.")
            .key("file", text(), "A file that holds it.")
            .key(
                "run",
                text(),
                "A recorded run: a folder, an id or `last`, with `@TARGET` for one of several targets.",
            )
            .one_of(&["text", "file", "run"])
            .not_both(&["text", "file"])
            .not_both(&["text", "run"])
            .not_both(&["file", "run"]),
    );
    defs.keys(
        "program-target",
        Keys::of("`target`", "How a program may ask the target.").key(
            "max_calls",
            whole(1, i64::from(u32::MAX)),
            "Most calls.",
        ),
    );
    defs.keys(
        "field",
        Keys::of("a field", "A field that is compared.")
            .needed(
                "path",
                text(),
                "Names joined by dots, with `[N]` for an item of a list: `order.items[0].price`.",
            )
            .key(
                "match",
                word(&["exact", "numeric_tolerance", "date"]),
                "How values are compared; `exact` unless given.",
            )
            .key("tolerance", at_least(0.0), "How far apart numbers may be, for `numeric_tolerance`.")
            .key("relative", boolean(), "Whether `tolerance` is a share of the expected number.")
            .key("formats", texts(), "How dates are written, for `date`: `DD/MM/YYYY`.")
            .key("required", boolean(), "Whether a field that the answer lacks is wrong.")
            .key("weight", at_least(0.0), "How much it counts; 1 unless given."),
    );
    defs.shape("args-match", any_of([word(&["exact", "superset", "subset", "ignore"]), list(string())]));
    defs.keys(
        "expected-call",
        Keys::of("an expected call", "A call of a tool.")
            .needed("tool", text(), "The name of the tool.")
            .key("args", any_of([free(), Shape(json!({ "const": "any" }))]), "Its arguments, or `any`.")
            .key("args_match", like("args-match"), "How they are compared.")
            .key("max_duration_ms", at_least(0.0), "How long it may take, in milliseconds."),
    );
    defs.keys(
        "aggregator",
        Keys::of("an aggregator", "How members of a composite are combined.")
            .needed("type", word(&["weighted_average", "threshold", "code-grader", "llm-grader", "code-judge", "llm-judge"]), "Which way.")
            .key("weights", map_of(at_least(0.0)), "Weights of members by name, for `weighted_average`.")
            .key("threshold", unit(), "The share of members that must pass, for `threshold`.")
            .key("command", like("command"), "The program, for `code-grader`.")
            .older("path", "command")
            .older("script", "command")
            .key("cwd", text(), "The folder it runs in.")
            .key("prompt", any_of([text(), like("prompt-program")]), "What the judge is told, for `llm-grader`.")
            .key("judge", text(), "Who judges, for `llm-grader`.")
            .older("target", "judge")
            .rule(json!({ "if": { "properties": { "type": { "const": "threshold" } } }, "then": { "required": ["threshold"] } })),
    );
}
