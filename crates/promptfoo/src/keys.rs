//! Tables of the keys of matrix files: the top level, tests, their options, and providers.

/// How a key is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixKeySupport {
    /// Read. The text is a remark for the documentation and may be empty.
    Read(&'static str),
    /// Accepted with a warning, for this reason.
    NoEffect(&'static str),
    /// An error, with this advice.
    Refused(&'static str),
}

/// A key of a matrix file or of one of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixKey {
    /// Name in promptfoo's spelling. AgentV's name is the same in snake_case.
    pub name: &'static str,
    /// How it is treated.
    pub support: MatrixKeySupport,
}

use MatrixKeySupport::{NoEffect, Read, Refused};

const fn key(name: &'static str, support: MatrixKeySupport) -> MatrixKey {
    MatrixKey { name, support }
}

/// Every key of the top level, sorted by name.
pub const MATRIX_KEYS: &[MatrixKey] = &[
    key("$schema", Read("for editors")),
    key("assert", Read("AgentV's; assertions of every test")),
    key("assertionTemplates", Read("assertions that `$ref` names")),
    key("author", Read("AgentV's; kept as metadata")),
    key("commandLineOptions", NoEffect("options are given on the command line, or in `.assize/config.yaml`")),
    key("defaultTest", Read("a map or a file")),
    key("defaults", Read("AgentV's; only `grader`, the judge")),
    key("derivedMetrics", Read("formulas over the sums of named scores")),
    key("description", Read("")),
    key("env", Read("variables of templates, as `env.NAME`")),
    key("environment", Read("AgentV's; the folder that agents work in")),
    key("evaluateOptions", Read("see below")),
    key("extensions", Read("functions of JavaScript and Python around tests, if `--allow-code` is given")),
    key("governance", Read("AgentV's; kept as metadata")),
    key("license", Read("AgentV's; kept as metadata")),
    key("metadata", Read("")),
    key("name", Read("AgentV's; the name of the suite")),
    key(
        "nunjucksFilters",
        Read("a map of names and files of JavaScript; those that load modules need `--allow-code`"),
    ),
    key("outputPath", NoEffect("reports are written by `--out FILE`")),
    key("outputs", NoEffect("reports are written by `--out FILE`")),
    key(
        "prompts",
        Read("texts, messages, files, functions in JavaScript, TypeScript and Python, and commands"),
    ),
    key("providerPromptMap", NoEffect("name the prompts under `prompts` of a provider")),
    key("providers", Read("also as `targets`")),
    key("redteam", Refused("attacks are not generated here; write them as tests")),
    key("scenarios", Read("")),
    key("sharing", NoEffect("nothing is sent anywhere")),
    key("tags", Read("a list, or a map that is kept as metadata")),
    key("tests", Read("a list or files; functions in JavaScript, TypeScript and Python too")),
    key("threshold", Read("AgentV's; pass threshold of every test")),
    key("tracing", NoEffect("targets report what they did")),
    key("version", Read("AgentV's; kept as metadata")),
    key("workspace", Read("AgentV's older `environment`")),
    key("writeLatestResults", NoEffect("every run is kept")),
];

/// Keys of tests and of the default test, sorted by name.
pub const TEST_KEYS: &[MatrixKey] = &[
    key("$schema", Read("for editors")),
    key("assert", Read("a list, or a file of one")),
    key("assertScoringFunction", Read("a function in a file; Python and modules need `--allow-code`")),
    key("description", Read("the id of its cases, if there is no `id`")),
    key("disableDefaultAsserts", Read("")),
    key("execution", Read("AgentV's; `skip_defaults`, `threshold` and `assert`")),
    key("id", Read("")),
    key("metadata", Read("")),
    key("options", Read("see below")),
    key("prompts", Read("labels or ids of the prompts that it is run with")),
    key("provider", Read("of a test: the only provider; of the default test: the judge")),
    key("providerOutput", Read("an answer that is graded as it is")),
    key("providers", Read("labels or ids of the providers that it is run with")),
    key("threshold", Read("")),
    key("vars", Read("a map, or a file of one, or a pattern of such files")),
];

/// Keys of `options` of a test, sorted by name.
pub const OPTION_KEYS: &[MatrixKey] = &[
    key("delay", NoEffect("`--requests-per-minute` limits the rate")),
    key(
        "disableConversationVar",
        Read("prompts then show no `_conversation`; later turns show the test all the same"),
    ),
    key("disableDefaultAsserts", Read("")),
    key("disableVarExpansion", Read("")),
    key("factuality", NoEffect("an answer passes unless it contradicts the value")),
    key("includeMetrics", NoEffect("every result has all metrics")),
    key("postprocess", Read("the older name of `transform`")),
    key("prefix", Read("")),
    key("provider", Read("the judge, or a map with `text`, `embedding`, `moderation` and `classification`")),
    key("response_format", NoEffect("judges reply in a fixed format")),
    key("rubricPrompt", Read("the prompt of an `llm-grader`, where there is no criterion")),
    key("runSerially", NoEffect("only tests that take over answers run in order, and these always do")),
    key("showOutput", NoEffect("every result has its answer")),
    key("storeOutputAs", Read("later tests that name it get the output as a variable")),
    key("suffix", Read("")),
    key("timeout", NoEffect("`--request-timeout` limits the time of a request")),
    key("transform", Read("JavaScript, or a file of code")),
    key("transformVars", Read("JavaScript, or a file of it")),
];

/// Keys of `evaluateOptions`, sorted by name.
pub const EVALUATION_KEYS: &[MatrixKey] = &[
    key("budget_usd", Read("AgentV's; the limit in US dollars")),
    key("cache", Read("`false` ignores cached replies")),
    key("delay", NoEffect("`--requests-per-minute` limits the rate")),
    key("filterRange", NoEffect("`--filter` chooses cases")),
    key("maxConcurrency", Read("the number of cases at once")),
    key("maxEvalTimeMs", NoEffect("`--deadline` limits the time of a run")),
    key("repeat", Read("the number of trials of each case")),
    key("showProgressBar", NoEffect("progress is shown on a terminal")),
    key("timeoutMs", NoEffect("`--request-timeout` limits the time of a request")),
];

/// Keys of providers, sorted by name.
pub const PROVIDER_KEYS: &[MatrixKey] = &[
    key("command", Read("AgentV's; the command of a `cli` target")),
    key("config", Read("settings of the model")),
    key("delay", NoEffect("`--requests-per-minute` limits the rate")),
    key("env", Read("")),
    key("id", Read("")),
    key("inputs", NoEffect("no attacks are generated here")),
    key("label", Read("the name in results")),
    key("model", Read("AgentV's")),
    key("prompts", Read("labels or ids of the prompts that it gets")),
    key("runtime", Read("AgentV's")),
    key("transform", Read("JavaScript, or a file of code")),
];
