//! Schemas of targets, configuration and prices.

use serde_json::{Value, json};

use super::SchemaDefinitions;
use super::rubric::judging_keys;
use super::shape::{
    MapSchema, ValueSchema, any_of, anything, at_least, boolean, count, integer, list, list_or_none, number,
    reference, string, text, texts, unit,
};
use crate::decode::provider_names;
use crate::model::SESSION_FORMATS;

/// Providers whose settings are all known.
const KNOWN_PROVIDERS: [&str; 5] = ["openai", "openai-compatible", "openrouter", "cli", "command"];

/// Settings of agents, recordings and mocks, which models and commands do not accept.
const OTHER_TARGET_SETTINGS: &[&str] = &[
    "args", "arguments", "binary", "cli_path", "delay_max_ms", "delay_min_ms", "delay_ms", "executable",
    "fail", "file", "fixtures", "format", "log_dir", "log_directory", "log_format", "log_output_format",
    "max_budget_usd", "max_turns", "path", "response", "session_dir", "stream_log", "system_prompt",
    "transcript",
];

/// Adds the definitions.
pub(super) fn add(defs: &mut SchemaDefinitions) {
    let target = target();
    // Only the keys of models and commands are all known, so only these are restricted to a list.
    let known: Vec<&String> =
        target.properties.keys().filter(|key| !OTHER_TARGET_SETTINGS.contains(&key.as_str())).collect();
    let strict = json!({
        "if": { "required": ["provider"], "properties": { "provider": { "enum": KNOWN_PROVIDERS } } },
        "then": {
            "propertyNames": { "anyOf": [{ "enum": known }, { "pattern": "^x-" }] },
            "properties": { "base_url": address(), "endpoint": address() },
        },
    });

    defs.add_keys("target", target.rule(strict));
    defs.add_keys("health-check", health_check());
    defs.add_keys(
        "targets",
        MapSchema::new("a targets file", "What is asked: models, commands.")
            .optional_key("$schema", anything(), "The schema of this file, for editors.")
            .optional_key("version", anything(), "Free.")
            .optional_key("description", anything(), "Free.")
            .required_key(
                "targets",
                list(reference("target")).with_keyword("maxItems", json!(1000)),
                "The targets.",
            ),
    );

    defs.add_keys("config", config());
    defs.add_keys(
        "prices",
        MapSchema::new("a prices file", "What models cost and how much they read.").required_key(
            "models",
            reference("price-rows"),
            "The models, named as judges are: `openai:gpt-4o-mini`.",
        ),
    );

    defs.add_shape(
        "price-rows",
        ValueSchema(json!({ "type": "object", "additionalProperties": reference("price-row").0 })),
    );
    defs.add_keys("price-row", price_row());
}

/// Returns the shape of a value, or of an environment variable in its place.
fn or_variable(shape: ValueSchema) -> ValueSchema {
    any_of([shape, ValueSchema(json!({ "type": "string", "pattern": "\\$\\{\\{" }))])
}

/// Returns the shape of a kind of target: the preferred spellings, and any other, which the decoder checks.
fn provider() -> ValueSchema {
    any_of([ValueSchema(json!({ "enum": provider_names().collect::<Vec<_>>() })), text()])
}

/// Returns the schema of a server address, or of a variable that holds it.
fn address() -> Value {
    json!({ "type": ["string", "null"], "pattern": "^\\s*([Hh][Tt][Tt][Pp][Ss]?://[^/?#:\\s]|[^\\s]*\\$\\{\\{)" })
}

fn target() -> MapSchema {
    let milliseconds = || or_variable(integer(0, 3_600_000));
    let mut keys = MapSchema::new(
        "a target",
        "What is asked: a model, a command. `${{ NAME }}` takes a variable of the environment.",
    )
    .required_key("name", text(), "Its name, which eval files use.")
    .optional_key(
        "provider",
        provider(),
        "What it is: a provider of models, a command, an agent, a mock, a recording.",
    )
    .optional_key("use_target", text(), "Another target that this one stands for.")
    .optional_key("model", text(), "The model.")
    .older_key("deployment", "model")
    .optional_key("base_url", string(), "The address of the server.")
    .older_key("endpoint", "base_url")
    .optional_key("api_key", text(), "The key, from a variable: `${{ OPENAI_API_KEY }}`.")
    .optional_key("api_format", text(), "`chat` or `responses`.")
    .optional_key(
        "temperature",
        or_variable(at_least(0.0).with_keyword("maximum", json!(2))),
        "Sampling temperature, 0 to 2.",
    )
    .optional_key("seed", or_variable(count(0)), "Seed of the sampling.")
    .optional_key(
        "max_output_tokens",
        or_variable(count(1)),
        "Most tokens of an answer, or of each reply where the target judges.",
    )
    .optional_key("context_tokens", or_variable(integer(1, 1_000_000_000)), "Most tokens the model can read.")
    .optional_key("thinking_budget", or_variable(number()), "Most tokens of thinking.")
    .optional_key(
        "command",
        any_of([text(), list(string())]),
        "The command: a line for the shell, or a list.",
    )
    .older_key("command_template", "command")
    .optional_key("files_format", string(), "How attached files are put into the command.")
    .older_key("attachments_format", "files_format")
    .optional_key("cwd", text(), "The folder the command runs in.")
    .optional_key(
        "timeout_seconds",
        or_variable(ValueSchema(json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 604_800 }))),
        "How long an answer may take.",
    )
    .optional_key(
        "healthcheck",
        reference("health-check"),
        "How to see whether it is there, before anything is asked.",
    )
    .optional_key("verbose", or_variable(boolean()), "Without effect.")
    .optional_key("keep_temp_files", or_variable(boolean()), "Without effect.")
    .optional_key("workspace_template", anything(), "A folder that is copied; not built yet.")
    .optional_key("grader_target", string(), "Who judges its answers.")
    .older_key("judge_target", "grader_target")
    .optional_key("workers", or_variable(integer(1, 50)), "Most answers at once.")
    .optional_key("max_retries", or_variable(integer(0, 100)), "How often a failed call is made again.")
    .optional_key("retry_initial_delay_ms", milliseconds(), "The first wait before that.")
    .optional_key("retry_max_delay_ms", milliseconds(), "The longest wait.")
    .optional_key("retry_backoff_factor", or_variable(number()), "Without effect: waits double.")
    .optional_key("retry_status_codes", or_variable(list_or_none(integer(100, 599))), "Without effect.")
    .optional_key("provider_batching", or_variable(boolean()), "All cases in one run of the command.")
    .optional_key("fallback_targets", texts(), "Targets to fall back on when this one fails.")
    .optional_key("hooks", anything(), "Commands around it; not built yet.")
    .optional_key("subagent_mode_allowed", or_variable(boolean()), "Without effect.")
    .open()
    .one_of(&["provider", "use_target"]);
    for key in ["region", "project", "location", "resource", "version", "api_version"] {
        keys = keys.optional_key(key, string(), "Where the model is: of Azure, Bedrock or Vertex.");
    }

    add_agent_keys(add_answer_keys(keys))
}

/// Adds the settings of agents: the program and its arguments.
fn add_agent_keys(mut keys: MapSchema) -> MapSchema {
    let program = || any_of([text(), list(string())]);
    keys =
        keys.optional_key("executable", program(), "The program of an agent, or a list that begins with it.");

    for older in ["binary", "cli_path"] {
        keys = keys.older_key(older, "executable");
    }

    keys = keys
        .optional_key("args", list_or_none(string()), "More words for the command line of an agent.")
        .older_key("arguments", "args")
        .optional_key("system_prompt", number_or_text(), "What an agent is told beside its task.")
        .optional_key("max_turns", number_or_text(), "Most turns of an agent.")
        .optional_key("max_budget_usd", number_or_text(), "US dollars that an agent may spend on an answer.");
    let about = "Without effect for agents: their output is their log.";
    for key in ["log_dir", "log_directory", "log_format", "log_output_format"] {
        keys = keys.optional_key(key, string(), about);
    }

    keys.optional_key("stream_log", any_of([boolean(), string()]), about)
}

/// Adds the settings of commands, recordings and mocks: the source of the answers.
fn add_answer_keys(mut keys: MapSchema) -> MapSchema {
    keys = keys.optional_key("path", text(), "The file or folder of recorded sessions or answers.");

    for older in ["fixtures", "file", "transcript", "session_dir"] {
        keys = keys.older_key(older, "path");
    }

    keys = keys
        .optional_key(
            "format",
            session_format(),
            "The form of recorded sessions; told by the logs unless given.",
        )
        .optional_key("stdin", string(), "What a command is given on standard input; has placeholders.")
        .optional_key("stream", session_format(), "The form of log that a command prints.")
        .optional_key(
            "response",
            anything(),
            "The answer of a mock to everything: a text, an object, or messages.",
        )
        .optional_key("fail", text(), "The message with which a mock fails.");

    for (key, about) in [
        ("delay_ms", "How long a mock waits."),
        ("delay_min_ms", "How long a mock waits at least."),
        ("delay_max_ms", "How long a mock waits at most."),
    ] {
        keys = keys.optional_key(key, or_variable(integer(0, 3_600_000)), about);
    }

    keys
}

/// Returns the shape of an argument: a word or a number.
fn number_or_text() -> ValueSchema {
    any_of([string(), number()])
}

/// Returns the shape of an agent log format, in any letter case.
fn session_format() -> ValueSchema {
    any_of([
        ValueSchema(json!({ "enum": SESSION_FORMATS.iter().chain(&["auto"]).collect::<Vec<_>>() })),
        string(),
    ])
}

fn health_check() -> MapSchema {
    MapSchema::new("a health check", "How to see whether a target is there.")
        .optional_key("type", ValueSchema(json!({ "enum": ["http", "command", null] })), "Which kind.")
        .optional_key("url", text(), "The address that must answer.")
        .non_null_key("command", any_of([text(), list(string())]), "The command that must succeed.")
        .older_key("command_template", "command")
        .optional_key("cwd", text(), "The folder it runs in.")
        .optional_key("timeout_seconds", or_variable(number()), "How long it may take.")
        .one_of(&["url", "command", "command_template"])
}

fn config() -> MapSchema {
    let mut keys = MapSchema::new("a config file", "What files and commands leave open.");
    for (name, about) in [
        ("threshold", "The pass line, 0 to 1."),
        ("borderline", "The line between fail and borderline, 0 to 1."),
    ] {
        keys = keys.optional_key(name, or_variable(unit()), about);
    }

    keys.merge(&judging_keys())
        .optional_key("$schema", anything(), "The schema of this file, for editors.")
        .optional_key("judge", text(), "Who judges: a model, a target's name, `offline`.")
        .optional_key("workers", or_variable(integer(1, 50)), "Cases at once, 1 to 50.")
        .optional_key("max_concurrency", or_variable(integer(1, 100_000)), "Calls at once, over all models.")
        .optional_key("requests_per_minute", or_variable(count(1)), "Most calls a minute to a model.")
        .optional_key("tokens_per_minute", or_variable(count(1)), "Most tokens a minute to a model.")
        .optional_key("request_timeout", text(), "How long a call may take: `90s`, `2m`.")
        .optional_key("targets", text(), "The path of the targets file.")
        .optional_key("env_file", text(), "The path of the file with variables.")
}

fn price_row() -> MapSchema {
    let price = || at_least(0.0).with_keyword("maximum", json!(1_000_000));
    MapSchema::new("a row of prices", "US dollars for a million tokens.")
        .optional_key("input", price(), "Tokens that go in.")
        .optional_key("cached_input", price(), "Tokens that the provider had in its cache.")
        .optional_key("cache_write", price(), "Tokens written to that cache.")
        .optional_key("output", price(), "Tokens that come out.")
        .optional_key("context_tokens", integer(1, 1_000_000_000), "Most tokens the model can read.")
        .one_of(&["input", "context_tokens"])
        .rule(json!({ "dependentRequired": { "input": ["output"], "output": ["input"], "cached_input": ["input"], "cache_write": ["input"] } }))
}
