//! Schemas of graders: one map for each type, and the choice between them.

use assize_model::{SimilarityMeasure, SqlDialect};
use serde_json::{Value, json};

use super::SchemaDefinitions;
use super::rubric::judging_keys;
use super::shape::{
    MapSchema, ValueSchema, above, any_map, any_of, anything, at_least, boolean, count, filled, integer,
    list, list_or_none, map_of, number, other_spelling, reference, string, text, texts, unit, word,
};

/// Grader types by the definition that describes them.
const TYPES: &[(&str, &[&str])] = &[
    ("rubrics", &["rubrics", "rubric"]),
    ("llm-grader", &["llm-grader", "llm-judge"]),
    ("pairwise", &["pairwise"]),
    ("code-grader", &["code-grader", "code-judge"]),
    ("composite", &["composite"]),
    ("text-check-list", &["contains-any", "contains-all", "icontains-any", "icontains-all"]),
    ("text-check", &["contains", "icontains", "starts-with", "ends-with"]),
    ("equality", &["equals"]),
    ("pattern", &["regex"]),
    ("is-json", &["is-json", "contains-json"]),
    ("sql-check", &["is-sql", "contains-sql"]),
    ("field-accuracy", &["field-accuracy"]),
    ("tool-trajectory", &["tool-trajectory"]),
    ("latency", &["latency"]),
    ("cost", &["cost"]),
    ("token-usage", &["token-usage"]),
    ("execution-metrics", &["execution-metrics"]),
    ("skill-trigger", &["skill-trigger"]),
    ("script", &["javascript", "python", "ruby"]),
    ("similar", &["similar"]),
    ("moderation", &["moderation"]),
    ("classifier", &["classifier"]),
    ("context-recall", &["context-recall"]),
    ("context-check", &["context-relevance", "context-faithfulness"]),
    ("answer-relevance", &["answer-relevance"]),
    ("select-best", &["select-best"]),
    ("max-score", &["max-score"]),
];

/// Adds the definitions.
pub(super) fn add(defs: &mut SchemaDefinitions) {
    defs.add_shape("grader", choice());
    defs.add_shape(
        "assertion",
        any_of([
            text().with_keyword(
                "description",
                json!("Criterion text. All strings of a list form one `rubrics` grader."),
            ),
            reference("grader"),
            reference("include"),
        ]),
    );

    defs.add_shape("assertions", list(reference("assertion")));
    defs.add_keys(
        "include",
        MapSchema::new("an include", "Inserts the graders of a template.").required_key(
            "include",
            text(),
            "Name of a template in `.assize/templates/`, or a path.",
        ),
    );

    defs.add_keys(
        "template",
        MapSchema::new("a template", "Graders for eval files to include.")
            .optional_key("$schema", anything(), "URL or path of the JSON Schema, for editors.")
            .optional_key("name", anything(), "Any value. Not interpreted.")
            .optional_key("description", anything(), "Description.")
            .required_key("assertions", reference("assertions"), "Graders."),
    );

    for (name, keys) in
        judges().into_iter().chain(checks()).chain(measures()).chain(choices()).chain(limits())
    {
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
            "description": "Grader type, or the name of a program in `.assize/graders/`.",
            "anyOf": [{ "enum": offered }, text().0],
        } },
        "allOf": rules,
    }))
}

/// Returns a grader's map with the keys common to all graders.
fn grader(what: &'static str, about: &'static str) -> MapSchema {
    let share = || above(0.0).with_keyword("maximum", json!(1));
    MapSchema::new(what, about)
        .required_key("type", string(), "Grader type.")
        .optional_key("name", text(), "Name shown in results. Default: the type.")
        .older_key("id", "name")
        .optional_key("weight", at_least(0.0), "Weight among the graders of the case. Default: 1.")
        .optional_key(
            "required",
            any_of([boolean(), share()]),
            "Gate: the case fails if the grader's score is below its threshold.",
        )
        .optional_key("min_score", share(), "Pass threshold of the grader, above 0 and at most 1.")
        .optional_key("negate", boolean(), "Inverts the score and the verdict.")
        .optional_key("transform", text(), "JavaScript that changes the answer for this grader.")
}

/// Returns the map of a grader about a context.
fn context_grader(what: &'static str, about: &'static str) -> MapSchema {
    grader(what, about)
        .optional_key("context", any_of([text(), list(text())]), "Context: a text, or a list of passages.")
        .optional_key("context_transform", text(), "JavaScript that returns the context, or `file://PATH`.")
        .optional_key("query", text(), "Question that the context was found for. Default: that of the case.")
        .merge(&judging_keys())
        .optional_key("judge", text(), "Judge: a model, the name of a target, or `offline`.")
        .older_key("target", "judge")
}

/// Returns the names of dialects of SQL.
fn dialect() -> ValueSchema {
    let other = SqlDialect::OTHER_NAMES.map(|(name, _)| name);
    word(&SqlDialect::NAMES.into_iter().chain(other).collect::<Vec<_>>())
}

fn judges() -> Vec<(&'static str, MapSchema)> {
    vec![
        (
            "rubrics",
            grader("a rubrics grader", "A judge decides each criterion.")
                .non_null_key("criteria", reference("criteria"), "Criteria.")
                .older_key("rubrics", "criteria")
                .optional_key("prompt", text(), "Instructions for the judge, beside the criteria: text or `file://PATH`.")
                .merge(&judging_keys())
                .optional_key("judge", text(), "Judge: a model, the name of a target, or `offline`.")
                .older_key("target", "judge")
                .one_of(&["criteria", "rubrics"])
                .not_both(&["criteria", "rubrics"]),
        ),
        (
            "llm-grader",
            grader("an LLM grader", "A judge gives the whole answer one score. To grade separate aspects, use `rubrics`.")
                .optional_key("prompt", any_of([text(), reference("prompt-program")]), "Instructions for the judge: text, a file, or a program that prints them.")
                .optional_key("judge", text(), "Judge: a model or the name of a target.")
                .older_key("target", "judge")
                .optional_key("panel", reference("panel"), "Panel: several judges, repeats, escalation.")
                .optional_key("temperature", at_least(0.0).with_keyword("maximum", json!(2)), "Sampling temperature, 0 to 2.")
                .optional_key("max_steps", count(1), "No effect.")
                .optional_key(
                    "preprocessors",
                    list_or_none(reference("preprocessor")),
                    "Programs that turn files of answers into text.",
                )
                .optional_key("config", any_map(), "Settings passed to the prompt program."),
        ),
        (
            "pairwise",
            grader("a pairwise grader", "A judge compares two answers in both orders: win, loss, tie or inconsistent.")
                .optional_key("baseline", any_of([text(), reference("baseline")]), "Answer to compare with: `reference`, text, a file or a recorded run. Default: the reference answer of the case.")
                .older_key("against", "baseline")
                .older_key("compare_to", "baseline")
                .optional_key("criteria", texts(), "Criteria for the better answer. Default: the input and expectations of the case.")
                .optional_key("judge", text(), "Judge: a model, the name of a target, or `offline`.")
                .older_key("target", "judge")
                .optional_key("panel", reference("panel"), "Panel: several judges, repeats, escalation.")
                .optional_key("tie_score", unit(), "Score of a tie. Default: 0.5.")
                .optional_key("inconsistent_score", unit(), "Score if the two orders disagree. Default: 0.5."),
        ),
        (
            "code-grader",
            grader("a code grader", "A program grades the answer. It reads JSON from stdin and prints JSON with a score. Other keys are passed to it.")
                .non_null_key("command", reference("command"), "Command: a list of arguments, or a line for `sh -c`.")
                .older_key("script", "command")
                .optional_key("cwd", text(), "Working folder. Default: the folder of the eval file.")
                .optional_key("timeout_seconds", at_least(0.0), "Timeout in seconds. Default: 60.")
                .optional_key("timeout_ms", at_least(0.0), "Timeout in milliseconds.")
                .optional_key("target", any_of([boolean(), reference("program-target")]), "Lets the program call the judge's model, at most `max_calls` times. Default: 50.")
                .optional_key("pass_env", texts(), "Names of environment variables with model keys to pass to the program.")
                .optional_key("result", word(&["any", "json", "exit-code"]), "What the grade is read from: `json` only, the `exit-code` only (the output is a log), or `any`: JSON, `pass`, `ok`, a number alone, or the exit code of a program that prints nothing. Default: `any`.")
                .optional_key("config", any_map(), "Settings passed to the program.")
                .one_of(&["command", "script"])
                .open(),
        ),
        (
            "composite",
            grader("a composite", "Combines several graders into one.")
                .non_null_key("assertions", reference("assertions"), "Graders to combine.")
                .older_key("assert", "assertions")
                .older_key("evaluators", "assertions")
                .optional_key("aggregator", reference("aggregator"), "How the graders are combined. Default: weighted mean.")
                .one_of(&["assertions", "assert", "evaluators"]),
        ),
    ]
}

fn checks() -> Vec<(&'static str, MapSchema)> {
    let one = "A text check. Needs no judge.";
    vec![
        ("text-check", grader("a text check", one).required_key("value", filled(), "Text to look for.")),
        ("equality", grader("a text check", one).required_key("value", string(), "Text that the answer must be.")),
        (
            "text-check-list",
            grader("a text check", one).required_key("value", any_of([filled(), list(filled())]), "Texts to look for."),
        ),
        (
            "pattern",
            grader("a text check", "A JavaScript regular expression that must match somewhere in the answer. Needs no judge.")
                .required_key("value", filled(), "Regular expression.")
                .optional_key("flags", string().with_keyword("pattern", json!("^[dgimsuvy]*$")), "Flags: `i` ignores case, `m` lets `^` and `$` match at line ends, `s` lets `.` match newlines."),
        ),
        (
            "is-json",
            grader("a JSON check", "Checks that the whole answer is JSON, or for `contains-json` that JSON is in it.")
                .optional_key("schema", any_of([text(), any_map(), boolean()]), "JSON Schema to validate against, or its path."),
        ),
        (
            "sql-check",
            grader("an SQL check", "Checks that the answer, or for `contains-sql` a code block of it, is SQL.")
                .optional_key("database_type", dialect(), "Dialect. Default: `MySQL`.")
                .optional_key("allowed_tables", texts(), "Patterns of allowed tables, such as `select::null::users`.")
                .optional_key("allowed_columns", texts(), "Patterns of allowed columns, such as `select::users::id`."),
        ),
        (
            "field-accuracy",
            grader("a field-accuracy grader", "Compares JSON fields of the answer with those of `expected_output`.")
                .required_key("fields", list(reference("field")), "Fields to compare.")
                .optional_key("aggregation", word(&["weighted_average", "all_or_nothing"]), "How the fields are aggregated."),
        ),
        (
            "tool-trajectory",
            grader("a tool-trajectory grader", "Compares the tool calls of the target with the expected ones.")
                .required_key(
                    "mode",
                    word(&["any_order", "in_order", "exact", "superset", "subset"]),
                    "How calls are matched.",
                )
                .optional_key("expected", list_or_none(reference("expected-call")), "Expected calls, in order.")
                .optional_key("minimums", map_of(count(1)), "Minimum number of calls of each tool, for `mode: any_order`.")
                .optional_key("args_match", reference("args-match"), "How arguments are matched.")
                .rule(json!({
                    "if": { "properties": { "mode": { "enum": ["any_order", "any-order"] } } },
                    "then": { "required": ["minimums"], "not": { "required": ["expected"], "properties": { "expected": { "type": "array" } } } },
                    "else": { "required": ["expected"], "not": { "required": ["minimums"], "properties": { "minimums": { "type": "object" } } } },
                })),
        ),
        (
            "skill-trigger",
            grader("a skill-trigger grader", "Checks that an agent used a skill.")
                .required_key("skill", text(), "Name of the skill.")
                .optional_key("should_trigger", boolean(), "`false` checks that the skill was not used."),
        ),
        (
            "script",
            grader("a script", "JavaScript, Python or Ruby decides. JavaScript runs without any access; the others run only if code is allowed.")
                .required_key("value", text(), "An expression, the body of a function, or `file://PATH`.")
                .optional_key("threshold", number(), "Pass threshold for a number.")
                .optional_key("config", anything(), "Settings passed to the script as `context.config`."),
        ),
    ]
}

fn measures() -> Vec<(&'static str, MapSchema)> {
    vec![
        (
            "similar",
            grader("a comparison of meaning", "Compares the answer with texts by embeddings.")
                .required_key("value", any_of([text(), list(text())]), "Text to compare with, or several. One match is enough.")
                .optional_key("measure", word(&SimilarityMeasure::NAMES), "How vectors are compared.")
                .optional_key("threshold", number(), "Minimum similarity, or maximum distance.")
                .optional_key("target", text(), "Model for embeddings."),
        ),
        (
            "moderation",
            grader("a moderation grader", "A model for moderation flags none of the categories.")
                .optional_key("value", texts(), "Categories that count. Default: all.")
                .optional_key("target", text(), "Model for moderation. Default: OpenAI's."),
        ),
        (
            "classifier",
            grader("a classifier", "A model gives the answer a class.")
                .optional_key("value", text(), "Class. Default: the one with the highest score.")
                .optional_key("threshold", number(), "Minimum score of the class. Default: 1.")
                .required_key("target", text(), "Model that classifies texts."),
        ),
        (
            "context-recall",
            context_grader("a context-recall grader", "A judge decides of each statement of `value` if the context supports it.")
                .required_key("value", text(), "Expected answer."),
        ),
        (
            "context-check",
            context_grader("a context grader", "A judge decides of each statement: of the context, if the question needs it; of the answer, if the context supports it.")
                .one_of(&["context", "context_transform"]),
        ),
        (
            "answer-relevance",
            grader("an answer-relevance grader", "Compares the question with questions that a judge writes for the answer, by embeddings.")
                .optional_key("query", text(), "Question. Default: that of the case.")
                .optional_key("threshold", number(), "Minimum mean similarity. Default: 0.5.")
                .optional_key("judge", text(), "Judge that writes the questions: a model or the name of a target.")
                .optional_key("embedding", text(), "Model for embeddings."),
        ),
    ]
}

fn choices() -> Vec<(&'static str, MapSchema)> {
    vec![
        (
            "select-best",
            grader("a choice by a judge", "A judge compares the answers of all targets to the case, each two in both orders. The best one passes.")
                .required_key("criteria", texts(), "Criteria for the best answer.")
                .optional_key("judge", text(), "Judge: a model, the name of a target, or `offline`.")
                .older_key("target", "judge")
                .optional_key("panel", reference("panel"), "Panel: several judges, repeats, escalation."),
        ),
        (
            "max-score",
            grader("a choice by score", "Of the answers of all targets to the case, the one with the highest score of the other graders passes.")
                .optional_key("method", word(&["average", "sum"]), "Combination of the scores. Default: `average`.")
                .optional_key("weights", map_of(at_least(0.0)), "Weights by the name of a grader. Default: 1 each.")
                .optional_key("threshold", number(), "Minimum combined score: below it, no answer passes."),
        ),
    ]
}

fn limits() -> Vec<(&'static str, MapSchema)> {
    vec![
        (
            "latency",
            grader("a latency limit", "Limits the time the answer took.").required_key(
                "threshold",
                at_least(0.0),
                "Limit in milliseconds.",
            ),
        ),
        (
            "cost",
            grader("a cost limit", "Limits the cost of the answer.").required_key(
                "budget",
                at_least(0.0),
                "Limit in US dollars.",
            ),
        ),
        (
            "token-usage",
            grader("a token limit", "Limits the tokens of the answer.")
                .optional_key("max_total", count(0), "Maximum total tokens.")
                .optional_key("max_input", count(0), "Maximum input tokens.")
                .optional_key("max_output", count(0), "Maximum output tokens.")
                .one_of(&["max_total", "max_input", "max_output"]),
        ),
        (
            "execution-metrics",
            grader(
                "an execution-metrics grader",
                "Limits tool calls, model calls, tokens, cost and time of the answer.",
            )
            .optional_key("max_tool_calls", count(0), "Maximum number of tool calls.")
            .optional_key("max_llm_calls", count(0), "Maximum number of model calls.")
            .optional_key("max_tokens", count(0), "Maximum number of tokens.")
            .optional_key("max_cost_usd", at_least(0.0), "Maximum cost in US dollars.")
            .optional_key("max_duration_ms", at_least(0.0), "Maximum duration in milliseconds.")
            .optional_key("target_exploration_ratio", unit(), "Expected share of exploratory calls, 0 to 1.")
            .optional_key("exploration_tolerance", unit(), "Allowed deviation from the expected share.")
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
            .non_null_key("command", reference("command"), "Command.")
            .older_key("script", "command")
            .optional_key("config", any_map(), "Settings passed to the program.")
            .one_of(&["command", "script"]),
    );

    defs.add_keys(
        "baseline",
        MapSchema::new("`baseline`", "Answer to compare with.")
            .optional_key("text", text(), "Text of the answer.")
            .optional_key("file", text(), "Path of a file with the answer.")
            .optional_key(
                "run",
                text(),
                "Recorded run: a folder, an id or `last`. Add `@TARGET` to choose one of several targets.",
            )
            .one_of(&["text", "file", "run"])
            .not_both(&["text", "file"])
            .not_both(&["text", "run"])
            .not_both(&["file", "run"]),
    );

    defs.add_keys(
        "program-target",
        MapSchema::new("`target`", "Access of a program to the judge's model.").optional_key(
            "max_calls",
            integer(1, i64::from(u32::MAX)),
            "Maximum number of calls.",
        ),
    );

    defs.add_keys(
        "field",
        MapSchema::new("a field", "A field to compare.")
            .required_key(
                "path",
                text(),
                "Path of the field: names joined by dots, `[N]` for a list item, such as `order.items[0].price`.",
            )
            .optional_key(
                "match",
                word(&["exact", "numeric_tolerance", "date"]),
                "How values are compared. Default: `exact`.",
            )
            .optional_key(
                "tolerance",
                at_least(0.0),
                "Allowed difference, for `numeric_tolerance`.",
            )
            .optional_key("relative", boolean(), "Whether `tolerance` is relative to the expected number.")
            .optional_key("formats", texts(), "Date formats, for `date`, such as `DD/MM/YYYY`.")
            .optional_key("required", boolean(), "Whether a missing field counts as wrong.")
            .optional_key("weight", at_least(0.0), "Weight. Default: 1."),
    );

    defs.add_shape("args-match", any_of([word(&["exact", "superset", "subset", "ignore"]), list(string())]));
    defs.add_keys(
        "expected-call",
        MapSchema::new("an expected call", "A tool call.")
            .required_key("tool", text(), "Name of the tool.")
            .optional_key(
                "args",
                any_of([any_map(), ValueSchema(json!({ "const": "any" }))]),
                "Arguments, or `any`.",
            )
            .optional_key("args_match", reference("args-match"), "How arguments are matched.")
            .optional_key("max_duration_ms", at_least(0.0), "Timeout in milliseconds."),
    );

    defs.add_keys(
        "aggregator",
        MapSchema::new("an aggregator", "How the graders of a composite are combined.")
            .required_key("type", word(&["weighted_average", "threshold", "code-grader", "llm-grader", "code-judge", "llm-judge"]), "Type of aggregation.")
            .optional_key("weights", map_of(at_least(0.0)), "Weights of graders by name, for `weighted_average`.")
            .optional_key("threshold", unit(), "Share of graders that must pass, for `threshold`.")
            .optional_key("command", reference("command"), "Command, for `code-grader`.")
            .older_key("path", "command")
            .older_key("script", "command")
            .optional_key("cwd", text(), "Working folder.")
            .optional_key("prompt", any_of([text(), reference("prompt-program")]), "Instructions for the judge, for `llm-grader`.")
            .optional_key("judge", text(), "Judge, for `llm-grader`.")
            .older_key("target", "judge")
            .rule(json!({ "if": { "properties": { "type": { "const": "threshold" } } }, "then": { "required": ["threshold"] } })),
    );
}
