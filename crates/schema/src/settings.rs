//! Schemas of targets, configuration and prices.

use assize_evalfile::reading::provider_names;
use assize_model::SESSION_FORMATS;
use serde_json::{Value, json};

use super::SchemaDefinitions;
use super::rubric::judging_keys;
use super::shape::{
    MapSchema, ValueSchema, any_map, any_of, anything, at_least, boolean, count, integer, list, list_or_none,
    number, reference, string, text, texts, unit,
};

/// Providers whose settings are all known.
const KNOWN_PROVIDERS: [&str; 5] = ["openai", "openai-compatible", "openrouter", "cli", "command"];

/// Settings of agents, recordings, servers and mocks, which models and commands do not accept.
const OTHER_TARGET_SETTINGS: &[&str] = &[
    "args", "arguments", "binary", "body", "cli_path", "delay_max_ms", "delay_min_ms", "delay_ms", "env",
    "executable", "fail", "file", "fixtures", "format", "headers", "log_dir", "log_directory", "log_format",
    "log_output_format", "max_budget_usd", "max_turns", "method", "path", "query", "response", "session_dir",
    "status", "stream_log", "system_prompt", "transcript", "url",
];

/// Adds the definitions.
pub(super) fn add(defs: &mut SchemaDefinitions) {
    let target = target();
    // Only models and commands have a complete list of known keys, so only their keys are restricted.
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
        MapSchema::new("a targets file", "Targets: the models and commands that answer cases or judge them.")
            .optional_key("$schema", anything(), "URL or path of the JSON Schema, for editors.")
            .optional_key("version", anything(), "Any value. Not interpreted.")
            .optional_key("description", anything(), "Any value. Not interpreted.")
            .required_key(
                "targets",
                list(reference("target")).with_keyword("maxItems", json!(1000)),
                "Targets.",
            ),
    );

    defs.add_keys("config", config());
    defs.add_keys(
        "prices",
        MapSchema::new("a prices file", "Prices and context windows of models.").required_key(
            "models",
            reference("price-rows"),
            "Models by name, such as `openai:gpt-4o-mini`.",
        ),
    );

    defs.add_shape(
        "price-rows",
        ValueSchema(json!({ "type": "object", "additionalProperties": reference("price-row").0 })),
    );
    defs.add_keys("price-row", price_row());
}

/// Returns the shape of a value, or of an environment variable instead of it.
fn or_variable(shape: ValueSchema) -> ValueSchema {
    any_of([shape, ValueSchema(json!({ "type": "string", "pattern": "\\$\\{\\{" }))])
}

/// Returns the shape of a kind of target: the preferred spellings, and any other text, which the decoder
/// checks.
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
        "A system under test or a judge: a model, a command, an agent. `${{ NAME }}` inserts an environment variable.",
    )
    .required_key("name", text(), "Target name, as used in eval files.")
    .optional_key(
        "provider",
        provider(),
        "Type of target: a model provider, a command, an agent, a mock or a recording.",
    )
    .optional_key("use_target", text(), "Name of another target to use instead.")
    .optional_key("model", text(), "Model name.")
    .older_key("deployment", "model")
    .optional_key("base_url", string(), "Base URL of the server.")
    .older_key("endpoint", "base_url")
    .optional_key("api_key", text(), "API key, from a variable: `${{ OPENAI_API_KEY }}`.")
    .optional_key("api_format", text(), "API to use: `chat` or `responses`.")
    .optional_key(
        "temperature",
        or_variable(at_least(0.0).with_keyword("maximum", json!(2))),
        "Sampling temperature, 0 to 2.",
    )
    .optional_key("seed", or_variable(count(0)), "Sampling seed.")
    .optional_key(
        "max_output_tokens",
        or_variable(count(1)),
        "Maximum number of tokens of an answer, or of a judge's reply.",
    )
    .optional_key("context_tokens", or_variable(integer(1, 1_000_000_000)), "Context window of the model in tokens.")
    .optional_key("thinking_budget", or_variable(number()), "Maximum number of thinking tokens.")
    .optional_key(
        "command",
        any_of([text(), list(string())]),
        "Command: a line for the shell, or a list of arguments.",
    )
    .older_key("command_template", "command")
    .optional_key("files_format", string(), "How attached files are written into the command.")
    .older_key("attachments_format", "files_format")
    .optional_key(
        "cwd",
        text(),
        "Working folder: of a command relative to the eval file, of an agent to this file.",
    )
    .optional_key(
        "timeout_seconds",
        or_variable(ValueSchema(json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 604_800 }))),
        "Timeout of an answer in seconds.",
    )
    .optional_key(
        "healthcheck",
        reference("health-check"),
        "Check that the target is available before it is used.",
    )
    .optional_key("verbose", or_variable(boolean()), "No effect.")
    .optional_key("keep_temp_files", or_variable(boolean()), "No effect.")
    .optional_key("workspace_template", anything(), "Workspace folder to copy. Not supported yet.")
    .optional_key("grader_target", string(), "Judge of its answers.")
    .older_key("judge_target", "grader_target")
    .optional_key("workers", or_variable(integer(1, 50)), "Maximum number of answers at once.")
    .optional_key("max_retries", or_variable(integer(0, 100)), "Maximum number of retries of a failed call.")
    .optional_key("retry_initial_delay_ms", milliseconds(), "Delay before the first retry, in milliseconds.")
    .optional_key("retry_max_delay_ms", milliseconds(), "Longest delay between retries, in milliseconds.")
    .optional_key("retry_backoff_factor", or_variable(number()), "No effect. The delay doubles with each retry.")
    .optional_key("retry_status_codes", or_variable(list_or_none(integer(100, 599))), "No effect.")
    .optional_key("provider_batching", or_variable(boolean()), "Sends all cases to one run of the command.")
    .optional_key("fallback_targets", texts(), "Targets to try if this one fails.")
    .optional_key("hooks", anything(), "Hooks. Not supported yet.")
    .optional_key("runtime", anything(), "Where AgentV runs a provider. Only `host` is supported.")
    .optional_key("subagent_mode_allowed", or_variable(boolean()), "No effect.")
    .open()
    .one_of(&["provider", "use_target"]);
    for key in ["region", "project", "location", "resource", "version", "api_version"] {
        keys = keys.optional_key(key, string(), "Location of the model on Azure, Bedrock or Vertex.");
    }

    add_agent_keys(add_answer_keys(keys))
}

/// Adds the settings of agents: the program and its arguments.
fn add_agent_keys(mut keys: MapSchema) -> MapSchema {
    let program = || any_of([text(), list(string())]);
    keys = keys.optional_key("executable", program(), "Program of an agent, or a list that begins with it.");

    for older in ["binary", "cli_path"] {
        keys = keys.older_key(older, "executable");
    }

    keys = keys
        .optional_key("args", list_or_none(string()), "Additional arguments for an agent.")
        .older_key("arguments", "args")
        .optional_key("system_prompt", number_or_text(), "System prompt of an agent.")
        .optional_key("max_turns", number_or_text(), "Maximum number of turns of an agent.")
        .optional_key(
            "max_budget_usd",
            number_or_text(),
            "Budget of an agent for one answer, in US dollars.",
        );
    let about = "No effect for agents: their output is their log.";
    for key in ["log_dir", "log_directory", "log_format", "log_output_format"] {
        keys = keys.optional_key(key, string(), about);
    }

    keys.optional_key("stream_log", any_of([boolean(), string()]), about)
}

/// Adds the settings of commands, recordings and mocks: the source of the answers.
fn add_answer_keys(mut keys: MapSchema) -> MapSchema {
    keys = keys.optional_key("path", text(), "File or folder of recorded sessions or answers.");

    for older in ["fixtures", "file", "transcript", "session_dir"] {
        keys = keys.older_key(older, "path");
    }

    keys = keys
        .optional_key(
            "format",
            session_format(),
            "Format of recorded sessions. Default: detected from the logs.",
        )
        .optional_key("stdin", string(), "Standard input of the command. May contain placeholders.")
        .optional_key("stream", session_format(), "Format of the log that the command prints.")
        .optional_key(
            "response",
            anything(),
            "Answer of a mock: text, an object, or messages. Of a server: JavaScript that finds the answer.",
        )
        .optional_key("url", text(), "Address of a server with an interface of its own.")
        .optional_key("method", text(), "Method of its requests.")
        .optional_key("headers", any_map(), "Headers of its requests, as templates.")
        .optional_key("query", any_map(), "Parameters that are added to the address, as templates.")
        .optional_key("body", anything(), "Body of its requests: a map, a list or a text, with templates.")
        .optional_key("status", text(), "JavaScript that decides which statuses are a success.")
        .optional_key("env", any_map(), "Values of the environment that templates may name as `env.NAME`.")
        .optional_key("fail", text(), "Error message with which a mock fails.");

    for (key, about) in [
        ("delay_ms", "Delay of a mock in milliseconds."),
        ("delay_min_ms", "Minimum delay of a mock in milliseconds."),
        ("delay_max_ms", "Maximum delay of a mock in milliseconds."),
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
    MapSchema::new("a health check", "Check that a target is available.")
        .optional_key("type", ValueSchema(json!({ "enum": ["http", "command", null] })), "Type of source.")
        .optional_key("url", text(), "URL that must respond.")
        .non_null_key("command", any_of([text(), list(string())]), "Command that must succeed.")
        .older_key("command_template", "command")
        .optional_key("cwd", text(), "Working folder, relative to the eval file.")
        .optional_key("timeout_seconds", or_variable(number()), "Timeout in seconds.")
        .one_of(&["url", "command", "command_template"])
}

fn config() -> MapSchema {
    let mut keys =
        MapSchema::new("a config file", "Defaults for settings that neither eval files nor options give.");
    for (name, about) in [
        ("threshold", "Pass threshold, 0 to 1."),
        ("borderline", "Borderline threshold, 0 to 1. Scores below it fail."),
    ] {
        keys = keys.optional_key(name, or_variable(unit()), about);
    }

    keys.merge(&judging_keys())
        .optional_key("$schema", anything(), "URL or path of the JSON Schema, for editors.")
        .optional_key("judge", text(), "Judge: a model, the name of a target, or `offline`.")
        .optional_key(
            "workers",
            or_variable(integer(1, 50)),
            "Maximum number of cases to run at once, 1 to 50.",
        )
        .optional_key(
            "max_concurrency",
            or_variable(integer(1, 100_000)),
            "Maximum number of calls in flight, over all models.",
        )
        .optional_key(
            "requests_per_minute",
            or_variable(count(1)),
            "Maximum number of calls per minute to a model.",
        )
        .optional_key(
            "tokens_per_minute",
            or_variable(count(1)),
            "Maximum number of tokens per minute to a model.",
        )
        .optional_key("request_timeout", text(), "Timeout of a call, such as `90s` or `2m`.")
        .optional_key("targets", text(), "Path of the targets file.")
        .optional_key("env_file", text(), "Path of the `.env` file.")
}

fn price_row() -> MapSchema {
    let price = || at_least(0.0).with_keyword("maximum", json!(1_000_000));
    MapSchema::new("a row of prices", "Prices in US dollars per million tokens.")
        .optional_key("input", price(), "Input tokens.")
        .optional_key("cached_input", price(), "Input tokens read from the provider's cache.")
        .optional_key("cache_write", price(), "Tokens written to the provider's cache.")
        .optional_key("output", price(), "Output tokens.")
        .optional_key("context_tokens", integer(1, 1_000_000_000), "Context window of the model in tokens.")
        .optional_key(
            "batch_discount",
            integer(0, 100),
            "Percent that the provider takes off for requests in batches.",
        )
        .one_of(&["input", "context_tokens", "batch_discount"])
        .rule(json!({ "dependentRequired": { "input": ["output"], "output": ["input"], "cached_input": ["input"], "cache_write": ["input"] } }))
}

#[cfg(test)]
mod tests {
    use assize_evalfile::reading::TYPED_TARGET_KEYS;

    use super::*;

    /// Returns true if a schema allows a number or a boolean, as opposed to a variable or a text.
    fn is_typed(schema: &Value) -> bool {
        let is_text = |one: &Value| one["type"] == "string" && one.get("pattern").is_none();
        let types = ["number", "integer", "boolean"];
        match schema["anyOf"].as_array() {
            Some(several) => !several.iter().any(is_text) && several.iter().any(is_typed),
            None => types.iter().any(|name| schema["type"] == *name),
        }
    }

    /// Returns true if a schema allows a variable.
    fn takes_variables(schema: &Value) -> bool {
        schema["pattern"] == "\\$\\{\\{"
            || schema["anyOf"].as_array().is_some_and(|all| all.iter().any(takes_variables))
    }

    #[test]
    fn numbers_and_booleans_of_targets_may_come_from_variables() {
        for (key, schema) in &target().properties {
            assert!(!is_typed(schema) || takes_variables(schema), "{key} lacks `or_variable`");
            assert!(
                !is_typed(schema) || TYPED_TARGET_KEYS.contains(&key.as_str()),
                "{key} is not in `TYPED`"
            );
        }
    }
}
