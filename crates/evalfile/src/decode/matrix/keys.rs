//! Table of the keys that a matrix file may have at its top level.

/// Treatment of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixKeySupport {
    /// It is read; with a remark for the documentation, perhaps an empty one.
    Read(&'static str),
    /// It is accepted with a warning, for this reason.
    NoEffect(&'static str),
    /// It is an error, with this advice.
    Refused(&'static str),
}

/// A key of the top level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixKey {
    /// Name in promptfoo's spelling. AgentV's is the same in snake_case.
    pub name: &'static str,
    /// Treatment here.
    pub support: MatrixKeySupport,
}

use MatrixKeySupport::{NoEffect, Read, Refused};

const fn key(name: &'static str, support: MatrixKeySupport) -> MatrixKey {
    MatrixKey { name, support }
}

/// Every key, by name.
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
    key("evaluateOptions", Read("`maxConcurrency`, `repeat`, `cache` and `budget_usd`")),
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
    key("tracing", NoEffect("targets tell what they did themselves")),
    key("version", Read("AgentV's; kept as metadata")),
    key("workspace", Read("AgentV's older `environment`")),
    key("writeLatestResults", NoEffect("every run is kept")),
];
