//! Schema of files with prompts, providers and tests, in both spellings.

use assize_promptfoo::{ASSERTION_TYPES, AssertionSupport};
use serde_json::json;

use super::SchemaDefinitions;
use super::shape::{
    MapSchema, ValueSchema, any_map, any_of, anything, boolean, list, map_of, number, reference, string, text,
};

/// Adds the definitions.
pub(super) fn add(defs: &mut SchemaDefinitions) {
    let one_or_list = |item: ValueSchema| any_of([item.clone(), list(item)]);
    let texts = || one_or_list(string());

    defs.add_keys("matrix", file());
    defs.add_keys("matrix-prompt", prompt());
    defs.add_keys("matrix-derived-metric", derived_metric());
    defs.add_keys("matrix-provider", provider());
    defs.add_keys("matrix-test", test("a test", texts()));
    defs.add_keys("matrix-default-test", test("the default test", texts()));
    defs.add_keys("matrix-assertion", assertion());
    defs.add_keys(
        "matrix-test-options",
        MapSchema::new("`options` of a test", "Settings for the prompt and the grading of a test.")
            .optional_key("provider", anything(), "Judge of its assertions.")
            .optional_key("transform", text(), "Code that changes the answer.")
            .camel_key("transformVars", text(), "JavaScript that changes the variables.")
            .older_key("postprocess", "transform")
            .camel_key("rubricPrompt", anything(), "Prompt of the judge.")
            .optional_key("prefix", string(), "Text before the prompt.")
            .optional_key("suffix", string(), "Text after the prompt.")
            .camel_key(
                "disableVarExpansion",
                boolean(),
                "Lists are single values: they do not multiply the cases.",
            )
            .camel_key("disableDefaultAsserts", boolean(), "Whether to ignore the default assertions.")
            .camel_key("storeOutputAs", string(), "Name of the output for later tests, which are refused.")
            .camel_key("runSerially", anything(), "No effect.")
            .camel_key("disableConversationVar", boolean(), "Whether prompts show no conversation so far.")
            .optional_key("delay", anything(), "No effect.")
            .optional_key("timeout", anything(), "No effect.")
            .optional_key("factuality", anything(), "No effect.")
            .optional_key("response_format", anything(), "No effect.")
            .optional_key("showOutput", anything(), "No effect.")
            .optional_key("includeMetrics", anything(), "No effect.")
            .open(),
    );
    defs.add_keys(
        "matrix-test-execution",
        MapSchema::new("`execution` of a test", "Settings of a test (snake_case files).")
            .optional_key("skip_defaults", boolean(), "Whether to ignore the default assertions.")
            .optional_key("threshold", number(), "Pass threshold of the test, 0 to 1.")
            .optional_key("assert", list(anything()), "Assertions.")
            .optional_key("cache", anything(), "No effect.")
            .optional_key("fail_on_error", anything(), "No effect.")
            .optional_key("budget_usd", anything(), "No effect."),
    );
    defs.add_keys(
        "matrix-scenario",
        MapSchema::new("a scenario", "Every configuration combined with every test.")
            .optional_key("description", string(), "Description.")
            .optional_key("id", string(), "Scenario id.")
            .optional_key("name", string(), "Name.")
            .required_key("config", tests(), "Configurations: a list of variables, or a file with them.")
            .optional_key("tests", tests(), "Tests, or a file of them."),
    );
    defs.add_keys(
        "matrix-options",
        MapSchema::new("the options of an evaluation", "Settings for running the file.")
            .camel_key("maxConcurrency", anything(), "Maximum number of cases to run at once.")
            .optional_key("repeat", anything(), "Number of trials of each case.")
            .optional_key("cache", boolean(), "`false` ignores cached replies.")
            .optional_key("budget_usd", number(), "Limit in US dollars.")
            .optional_key("delay", anything(), "No effect.")
            .camel_key("timeoutMs", anything(), "No effect.")
            .camel_key("maxEvalTimeMs", anything(), "No effect.")
            .camel_key("filterRange", anything(), "No effect.")
            .camel_key("showProgressBar", anything(), "No effect."),
    );
    defs.add_keys(
        "matrix-defaults",
        MapSchema::new("`defaults` of providers", "Default providers.")
            .optional_key("grader", string(), "Judge.")
            .optional_key("provider", anything(), "No effect.")
            .optional_key("system_message", anything(), "No effect."),
    );
}

fn file() -> MapSchema {
    MapSchema::new(
        "a file with prompts and providers",
        "Prompts, providers and tests. Each combination is a case.",
    )
    .optional_key("$schema", anything(), "URL or path of the JSON Schema, for editors.")
    .optional_key("name", text(), "Name of the suite.")
    .optional_key("description", anything(), "Description.")
    .optional_key("tags", anything(), "Tags.")
    .optional_key("metadata", anything(), "Metadata.")
    .optional_key("governance", anything(), "Metadata.")
    .optional_key("version", anything(), "Metadata.")
    .optional_key("author", anything(), "Metadata.")
    .optional_key("license", anything(), "Metadata.")
    .optional_key("env", any_map(), "Variables for templates, as `env.NAME`.")
    .optional_key(
        "prompts",
        any_of([text(), list(any_of([text(), reference("matrix-prompt"), list(anything())])), any_map()]),
        "Prompts: texts, files, or maps with `raw`.",
    )
    .optional_key(
        "providers",
        any_of([text(), list(any_of([text(), reference("matrix-provider"), any_map()])), any_map()]),
        "Providers: names, or maps with `id`.",
    )
    .older_key("targets", "providers")
    .optional_key(
        "tests",
        any_of([text(), list(any_of([text(), reference("matrix-test"), file_of_tests()])), file_of_tests()]),
        "Tests, or files of them.",
    )
    .optional_key(
        "scenarios",
        any_of([list(any_of([text(), reference("matrix-scenario")])), anything()]),
        "Scenarios: every configuration combined with every test.",
    )
    .camel_key(
        "defaultTest",
        any_of([text(), reference("matrix-default-test")]),
        "Defaults for every test.",
    )
    .optional_key(
        "assert",
        list(any_of([reference("matrix-assertion"), anything()])),
        "Assertions for every test.",
    )
    .older_key("assertions", "assert")
    .optional_key("threshold", number(), "Pass threshold of a test, 0 to 1.")
    .camel_key("evaluateOptions", reference("matrix-options"), "Settings for running the file.")
    .camel_key("assertionTemplates", any_map(), "Assertions that `$ref` can refer to.")
    .optional_key("workspace", anything(), "Folder in which targets work.")
    .optional_key("environment", anything(), "Folder in which agents work.")
    .optional_key("defaults", reference("matrix-defaults"), "Default providers.")
    .camel_key("outputPath", anything(), "No effect.")
    .optional_key("sharing", anything(), "No effect.")
    .camel_key("writeLatestResults", anything(), "No effect.")
    .optional_key(
        "extensions",
        any_of([extension(), list(extension())]),
        "Functions that are run around the tests, such as `file://hooks.js:beforeEach`. They need `--allow-code`.",
    )
    .camel_key("commandLineOptions", anything(), "No effect.")
    .camel_key(
        "derivedMetrics",
        list(reference("matrix-derived-metric")),
        "Metrics that are computed from the sums of named scores, in order.",
    )
    .camel_key(
        "nunjucksFilters",
        map_of(string()),
        "Filters of templates: names, each with a file of JavaScript.",
    )
    .optional_key("tracing", anything(), "No effect.")
    .optional_key("outputs", anything(), "No effect.")
    .camel_key("providerPromptMap", anything(), "No effect.")
}

/// An entry of `derivedMetrics`.
fn derived_metric() -> MapSchema {
    MapSchema::new("a derived metric", "A metric that is computed from named scores.")
        .required_key("name", text(), "Name, which formulas below it may use.")
        .required_key(
            "value",
            any_of([string(), number()]),
            "Formula over sums of named scores, and `__count`, the number of results: `correct / __count`.",
        )
        .optional_key("description", anything(), "No effect.")
}

/// An entry of `extensions`.
fn extension() -> ValueSchema {
    let built_in = "^\\s*agentv:agent-rules";
    let path = json!({ "type": "string", "pattern": format!("^\\s*file://|{built_in}") });
    let map = json!({
        "type": "object",
        "properties": { "id": { "type": "string", "pattern": built_in } },
        "required": ["id"],
    });
    ValueSchema(json!({ "anyOf": [path, map] }))
}

/// Tests of a scenario, or a file of them.
fn tests() -> ValueSchema {
    any_of([list(any_of([text(), reference("matrix-test")])), anything()])
}

/// A map that names a file of tests.
fn file_of_tests() -> ValueSchema {
    let named = |key: &str| json!({ "required": [key], "not": { "required": ["vars"] } });
    ValueSchema(json!({ "type": "object", "anyOf": [named("path"), named("include")] }))
}

fn prompt() -> MapSchema {
    MapSchema::new("an entry of `prompts`", "A prompt with a label.")
        .optional_key("label", string(), "Name by which providers and tests refer to it.")
        .optional_key("id", string(), "Name, or the path of a file.")
        .optional_key("raw", anything(), "Text, or a list of messages.")
        .older_key("prompt", "raw")
        .older_key("content", "raw")
        .older_key("file", "raw")
        .older_key("function_file", "raw")
        .optional_key("prefix", string(), "Text before the prompt.")
        .optional_key("suffix", string(), "Text after the prompt.")
        .optional_key("config", anything(), "Settings for a function that writes the prompt.")
}

fn provider() -> MapSchema {
    MapSchema::new("a provider", "A target of this file.")
        .optional_key("id", string(), "Provider and model, such as `openai:gpt-5-mini`.")
        .optional_key("label", string(), "Name shown in results.")
        .optional_key(
            "config",
            anything(),
            "Settings: `temperature`, `max_tokens`, `apiBaseUrl`, `apiKey`, ...",
        )
        .optional_key("prompts", anything(), "Prompts to use with this provider.")
        .optional_key("transform", text(), "JavaScript that changes the answers.")
        .optional_key("env", anything(), "Variables.")
        .optional_key("model", anything(), "Model.")
        .optional_key("runtime", anything(), "No effect.")
        .optional_key("command", anything(), "Command.")
        .optional_key("delay", anything(), "No effect.")
        .optional_key("inputs", anything(), "No effect.")
        .open()
}

fn test(what: &'static str, texts: ValueSchema) -> MapSchema {
    MapSchema::new(what, "A test: variables and assertions.")
        .optional_key("$schema", anything(), "URL or path of the JSON Schema, for editors.")
        .optional_key("id", text(), "Id of the cases.")
        .optional_key("description", string(), "Description. Default id of the cases.")
        .optional_key("vars", any_of([text(), any_map()]), "Variables, or a file of them.")
        .optional_key(
            "assert",
            any_of([text(), list(any_of([text(), reference("matrix-assertion")])), any_map()]),
            "Assertions.",
        )
        .older_key("assertions", "assert")
        .optional_key(
            "threshold",
            number(),
            "Pass threshold, 0 to 1. Without one, every assertion must pass.",
        )
        .optional_key("metadata", any_map(), "Metadata.")
        .optional_key("prompts", texts.clone(), "Prompts to use.")
        .optional_key("providers", texts, "Providers to use.")
        .optional_key("provider", anything(), "Provider to use. In the default test: the judge.")
        .camel_key("providerOutput", anything(), "Answer to grade. If given, no provider is called.")
        .camel_key(
            "assertScoringFunction",
            string(),
            "Function that makes score and verdict of the named scores: `file://score.js`.",
        )
        .camel_key("disableDefaultAsserts", boolean(), "Whether to ignore the default assertions.")
        .optional_key("options", reference("matrix-test-options"), "Settings for the prompt and the grading.")
        .optional_key("execution", reference("matrix-test-execution"), "Settings (snake_case files).")
        .optional_key("input", anything(), "Input instead of the prompts (snake_case files).")
        .optional_key("criteria", anything(), "What a good answer does (snake_case files).")
        .optional_key("conversation_id", anything(), "Id of the conversation that the test belongs to.")
        .optional_key("mode", anything(), "Kind of conversation.")
        .optional_key("turns", anything(), "Turns of a conversation.")
        .optional_key("aggregation", anything(), "How turn scores are aggregated.")
        .optional_key("on_turn_failure", anything(), "Whether to continue after a turn that fails.")
        .optional_key("window_size", anything(), "Number of previous turns to show to the judge.")
        .optional_key("depends_on", anything(), "Ids of tests that must run first.")
        .optional_key("on_dependency_failure", anything(), "What to do with this test if one of them fails.")
        .optional_key("input_files", anything(), "Files to attach.")
        .optional_key("expected_output", anything(), "Reference answer.")
        .optional_key("tags", anything(), "Tags.")
}

fn assertion() -> MapSchema {
    let mut names: Vec<String> = Vec::new();
    for row in ASSERTION_TYPES.iter().filter(|row| !matches!(row.support, AssertionSupport::Refused(_))) {
        names.push(row.name.to_owned());
        names.push(format!("not-{}", row.name));
    }

    // AgentV's files may use custom types.
    let types = ValueSchema(json!({ "type": "string", "examples": names }));
    MapSchema::new("an assertion", "A check of the answer.")
        .optional_key("type", types, "Type. The prefix `not-` inverts it.")
        .optional_key("value", anything(), "What to compare with, a criterion, or code.")
        .optional_key("threshold", anything(), "Limit or threshold, depending on the type.")
        .optional_key("weight", anything(), "Weight. With 0, the assertion is reported but can't fail.")
        .optional_key("metric", anything(), "Name shown in results.")
        .older_key("name", "metric")
        .older_key("id", "metric")
        .optional_key("provider", anything(), "Judge.")
        .older_key("target", "provider")
        .optional_key("transform", anything(), "JavaScript that changes the answer for this assertion.")
        .camel_key("contextTransform", anything(), "JavaScript that returns the context of an answer.")
        .camel_key("rubricPrompt", anything(), "Prompt of the judge.")
        .optional_key("prompt", anything(), "Prompt of the judge (snake_case files).")
        .optional_key("negate", boolean(), "Inverts the result.")
        .optional_key("config", anything(), "Settings passed to code.")
        .optional_key("budget", anything(), "Limit in US dollars.")
        .optional_key("assert", anything(), "Assertions of a set.")
        .older_key("assertions", "assert")
        .optional_key("description", anything(), "Description.")
        .optional_key("reason", anything(), "Description.")
        .open()
}
