//! Schemas of targets, configuration and prices.

use serde_json::{Value, json};

use super::Defs;
use super::rubric::judging;
use super::shape::{
    Keys, Shape, any_of, anything, at_least, boolean, count, like, list, list_or_none, number, string, text,
    texts, unit, whole,
};
use crate::decode::provider_names;
use crate::model::SESSION_FORMATS;

/// Providers whose settings are all known.
const KNOWN: [&str; 5] = ["openai", "openai-compatible", "openrouter", "cli", "command"];

/// Settings of agents, recordings and mocks, which models and commands do not accept.
const OTHERS: &[&str] = &[
    "args",
    "arguments",
    "binary",
    "cli_path",
    "delay_max_ms",
    "delay_min_ms",
    "delay_ms",
    "executable",
    "fail",
    "file",
    "fixtures",
    "format",
    "log_dir",
    "log_directory",
    "log_format",
    "log_output_format",
    "max_budget_usd",
    "max_turns",
    "path",
    "response",
    "session_dir",
    "stream_log",
    "system_prompt",
    "transcript",
];

/// Adds the definitions.
pub(super) fn add(defs: &mut Defs) {
    let target = target();
    // Only the keys of models and commands are all known, so only these are restricted to a list.
    let known: Vec<&String> =
        target.properties.keys().filter(|key| !OTHERS.contains(&key.as_str())).collect();
    let strict = json!({
        "if": { "required": ["provider"], "properties": { "provider": { "enum": KNOWN } } },
        "then": {
            "propertyNames": { "anyOf": [{ "enum": known }, { "pattern": "^x-" }] },
            "properties": { "base_url": address(), "endpoint": address() },
        },
    });
    defs.keys("target", target.rule(strict));
    defs.keys("health-check", health_check());
    defs.keys(
        "targets",
        Keys::of("a targets file", "What is asked: models, commands.")
            .key("$schema", anything(), "The schema of this file, for editors.")
            .key("version", anything(), "Free.")
            .key("description", anything(), "Free.")
            .needed("targets", list(like("target")).with("maxItems", json!(1000)), "The targets."),
    );
    defs.keys("config", config());
    defs.keys(
        "prices",
        Keys::of("a prices file", "What models cost and how much they read.").needed(
            "models",
            like("price-rows"),
            "The models, named as judges are: `openai:gpt-4o-mini`.",
        ),
    );
    defs.shape("price-rows", Shape(json!({ "type": "object", "additionalProperties": like("price-row").0 })));
    defs.keys("price-row", price_row());
}

/// Returns the shape of a value, or of an environment variable in its place.
fn or_variable(shape: Shape) -> Shape {
    any_of([shape, Shape(json!({ "type": "string", "pattern": "\\$\\{\\{" }))])
}

/// Returns the shape of a kind of target: the preferred spellings, and any other, which the decoder checks.
fn provider() -> Shape {
    any_of([Shape(json!({ "enum": provider_names().collect::<Vec<_>>() })), text()])
}

/// Returns the schema of a server address, or of a variable that holds it.
fn address() -> Value {
    json!({ "type": ["string", "null"], "pattern": "^\\s*([Hh][Tt][Tt][Pp][Ss]?://[^/?#:\\s]|[^\\s]*\\$\\{\\{)" })
}

fn target() -> Keys {
    let milliseconds = || or_variable(whole(0, 3_600_000));
    let mut keys = Keys::of(
        "a target",
        "What is asked: a model, a command. `${{ NAME }}` takes a variable of the environment.",
    )
    .needed("name", text(), "Its name, which eval files use.")
    .key(
        "provider",
        provider(),
        "What it is: a provider of models, a command, an agent, a mock, a recording.",
    )
    .key("use_target", text(), "Another target that this one stands for.")
    .key("model", text(), "The model.")
    .older("deployment", "model")
    .key("base_url", string(), "The address of the server.")
    .older("endpoint", "base_url")
    .key("api_key", text(), "The key, from a variable: `${{ OPENAI_API_KEY }}`.")
    .key("api_format", text(), "`chat` or `responses`.")
    .key("temperature", or_variable(at_least(0.0).with("maximum", json!(2))), "Sampling temperature, 0 to 2.")
    .key("seed", or_variable(count(0)), "Seed of the sampling.")
    .key(
        "max_output_tokens",
        or_variable(count(1)),
        "Most tokens of an answer, or of each reply where the target judges.",
    )
    .key("context_tokens", or_variable(whole(1, 1_000_000_000)), "Most tokens the model can read.")
    .key("thinking_budget", or_variable(number()), "Most tokens of thinking.")
    .key("command", any_of([text(), list(string())]), "The command: a line for the shell, or a list.")
    .older("command_template", "command")
    .key("files_format", string(), "How attached files are put into the command.")
    .older("attachments_format", "files_format")
    .key("cwd", text(), "The folder the command runs in.")
    .key(
        "timeout_seconds",
        or_variable(Shape(json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 604_800 }))),
        "How long an answer may take.",
    )
    .key("healthcheck", like("health-check"), "How to see whether it is there, before anything is asked.")
    .key("verbose", or_variable(boolean()), "Without effect.")
    .key("keep_temp_files", or_variable(boolean()), "Without effect.")
    .key("workspace_template", anything(), "A folder that is copied; not built yet.")
    .key("grader_target", string(), "Who judges its answers.")
    .older("judge_target", "grader_target")
    .key("workers", or_variable(whole(1, 50)), "Most answers at once.")
    .key("max_retries", or_variable(whole(0, 100)), "How often a failed call is made again.")
    .key("retry_initial_delay_ms", milliseconds(), "The first wait before that.")
    .key("retry_max_delay_ms", milliseconds(), "The longest wait.")
    .key("retry_backoff_factor", or_variable(number()), "Without effect: waits double.")
    .key("retry_status_codes", or_variable(list_or_none(whole(100, 599))), "Without effect.")
    .key("provider_batching", or_variable(boolean()), "All cases in one run of the command.")
    .key("fallback_targets", texts(), "Targets to fall back on when this one fails.")
    .key("hooks", anything(), "Commands around it; not built yet.")
    .key("subagent_mode_allowed", or_variable(boolean()), "Without effect.")
    .open()
    .one_of(&["provider", "use_target"]);
    for key in ["region", "project", "location", "resource", "version", "api_version"] {
        keys = keys.key(key, string(), "Where the model is: of Azure, Bedrock or Vertex.");
    }
    of_agents(of_answers(keys))
}

/// Adds the settings of agents: the program and its arguments.
fn of_agents(mut keys: Keys) -> Keys {
    let program = || any_of([text(), list(string())]);
    keys = keys.key("executable", program(), "The program of an agent, or a list that begins with it.");
    for older in ["binary", "cli_path"] {
        keys = keys.older(older, "executable");
    }
    keys = keys
        .key("args", list_or_none(string()), "More words for the command line of an agent.")
        .older("arguments", "args")
        .key("system_prompt", number_or_text(), "What an agent is told beside its task.")
        .key("max_turns", number_or_text(), "Most turns of an agent.")
        .key("max_budget_usd", number_or_text(), "US dollars that an agent may spend on an answer.");
    let about = "Without effect for agents: their output is their log.";
    for key in ["log_dir", "log_directory", "log_format", "log_output_format"] {
        keys = keys.key(key, string(), about);
    }
    keys.key("stream_log", any_of([boolean(), string()]), about)
}

/// Adds the settings of commands, recordings and mocks: the source of the answers.
fn of_answers(mut keys: Keys) -> Keys {
    keys = keys.key("path", text(), "The file or folder of recorded sessions or answers.");
    for older in ["fixtures", "file", "transcript", "session_dir"] {
        keys = keys.older(older, "path");
    }
    keys = keys
        .key("format", session_format(), "The form of recorded sessions; told by the logs unless given.")
        .key("stdin", string(), "What a command is given on standard input; has placeholders.")
        .key("stream", session_format(), "The form of log that a command prints.")
        .key("response", anything(), "The answer of a mock to everything: a text, an object, or messages.")
        .key("fail", text(), "The message with which a mock fails.");
    for (key, about) in [
        ("delay_ms", "How long a mock waits."),
        ("delay_min_ms", "How long a mock waits at least."),
        ("delay_max_ms", "How long a mock waits at most."),
    ] {
        keys = keys.key(key, or_variable(whole(0, 3_600_000)), about);
    }
    keys
}

/// Returns the shape of an argument: a word or a number.
fn number_or_text() -> Shape {
    any_of([string(), number()])
}

/// Returns the shape of an agent log format, in any letter case.
fn session_format() -> Shape {
    any_of([Shape(json!({ "enum": SESSION_FORMATS.iter().chain(&["auto"]).collect::<Vec<_>>() })), string()])
}

fn health_check() -> Keys {
    Keys::of("a health check", "How to see whether a target is there.")
        .key("type", Shape(json!({ "enum": ["http", "command", null] })), "Which kind.")
        .key("url", text(), "The address that must answer.")
        .filled("command", any_of([text(), list(string())]), "The command that must succeed.")
        .older("command_template", "command")
        .key("cwd", text(), "The folder it runs in.")
        .key("timeout_seconds", or_variable(number()), "How long it may take.")
        .one_of(&["url", "command", "command_template"])
}

fn config() -> Keys {
    let mut keys = Keys::of("a config file", "What files and commands leave open.");
    for (name, about) in [
        ("threshold", "The pass line, 0 to 1."),
        ("borderline", "The line between fail and borderline, 0 to 1."),
    ] {
        keys = keys.key(name, or_variable(unit()), about);
    }
    keys.and(&judging())
        .key("$schema", anything(), "The schema of this file, for editors.")
        .key("judge", text(), "Who judges: a model, a target's name, `offline`.")
        .key("workers", or_variable(whole(1, 50)), "Cases at once, 1 to 50.")
        .key("max_concurrency", or_variable(whole(1, 100_000)), "Calls at once, over all models.")
        .key("requests_per_minute", or_variable(count(1)), "Most calls a minute to a model.")
        .key("tokens_per_minute", or_variable(count(1)), "Most tokens a minute to a model.")
        .key("request_timeout", text(), "How long a call may take: `90s`, `2m`.")
        .key("targets", text(), "The path of the targets file.")
        .key("env_file", text(), "The path of the file with variables.")
}

fn price_row() -> Keys {
    let price = || at_least(0.0).with("maximum", json!(1_000_000));
    Keys::of("a row of prices", "US dollars for a million tokens.")
        .key("input", price(), "Tokens that go in.")
        .key("cached_input", price(), "Tokens that the provider had in its cache.")
        .key("cache_write", price(), "Tokens written to that cache.")
        .key("output", price(), "Tokens that come out.")
        .key("context_tokens", whole(1, 1_000_000_000), "Most tokens the model can read.")
        .one_of(&["input", "context_tokens"])
        .rule(json!({ "dependentRequired": { "input": ["output"], "output": ["input"], "cached_input": ["input"], "cache_write": ["input"] } }))
}
