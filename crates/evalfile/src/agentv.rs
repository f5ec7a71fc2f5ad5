//! Table of what AgentV 4 reads, and of what becomes of it here. The documentation shows it, and tests walk it.
//!
//! Design: `docs/design/agentv.md`.

/// Treatment of a key or option of AgentV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentvSupport {
    /// It means the same here.
    Read,
    /// It is accepted and changes nothing.
    NoEffect,
    /// A file or command with it is refused, or the run that needs it.
    Refused,
}

/// Place of a key in the files of AgentV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentvPlace {
    /// Top level of an eval file.
    File,
    /// A case of `tests`.
    Case,
    /// `execution` of an eval file.
    Execution,
    /// `trials` of `execution`.
    Trials,
    /// `workspace`.
    Workspace,
    /// `docker` of a workspace.
    Docker,
    /// An item of `repos`.
    Repository,
    /// A hook.
    Hook,
    /// A turn of a conversation.
    Turn,
    /// A grader of this type, with the keys that it needs.
    Grader(&'static str, &'static str),
    /// A criterion of `rubrics`.
    Criterion,
    /// An expected call of `tool-trajectory`.
    Call,
    /// A target with this provider, with the keys that it needs.
    Target(&'static str, &'static str),
    /// An option of `agentv eval`.
    Option,
}

impl AgentvPlace {
    /// Returns a title for tables.
    pub fn title(self) -> String {
        let title = match self {
            Self::File => "Eval file",
            Self::Case => "Case",
            Self::Execution => "`execution`",
            Self::Trials => "`trials`",
            Self::Workspace => "`workspace`",
            Self::Docker => "`docker` of a workspace",
            Self::Repository => "`repos` of a workspace",
            Self::Hook => "Hook",
            Self::Turn => "Turn",
            Self::Grader(kind, _) => return format!("Grader `{kind}`"),
            Self::Criterion => "Criterion",
            Self::Call => "Expected call",
            Self::Target(provider, _) => return format!("Target `{provider}`"),
            Self::Option => "Option of `eval`",
        };
        title.to_owned()
    }
}

/// A key or option of AgentV 4.42.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentvKey {
    /// Place of the key.
    pub place: AgentvPlace,
    /// The key, or the option with its hyphens.
    pub name: &'static str,
    /// A value, as YAML; for an option its value, empty if it has none.
    pub example: &'static str,
    /// Treatment here.
    pub support: AgentvSupport,
    /// The difference, or the advice. A refusal has one.
    pub remark: &'static str,
}

use AgentvPlace::{
    Call, Case, Criterion, Docker, Execution, File, Grader, Hook, Option as Flag, Repository, Target, Trials,
    Turn, Workspace,
};

const fn read(place: AgentvPlace, name: &'static str, example: &'static str) -> AgentvKey {
    AgentvKey { place, name, example, support: AgentvSupport::Read, remark: "" }
}

const fn noted(
    place: AgentvPlace,
    name: &'static str,
    example: &'static str,
    remark: &'static str,
) -> AgentvKey {
    AgentvKey { place, name, example, support: AgentvSupport::Read, remark }
}

const fn idle(
    place: AgentvPlace,
    name: &'static str,
    example: &'static str,
    remark: &'static str,
) -> AgentvKey {
    AgentvKey { place, name, example, support: AgentvSupport::NoEffect, remark }
}

const fn refused(
    place: AgentvPlace,
    name: &'static str,
    example: &'static str,
    remark: &'static str,
) -> AgentvKey {
    AgentvKey { place, name, example, support: AgentvSupport::Refused, remark }
}

const CODE: AgentvPlace = Grader("code-grader", "command: [x]");
const LLM: AgentvPlace = Grader("llm-grader", "");
const COMPOSITE: AgentvPlace = Grader(
    "composite",
    "assertions: [{name: a, type: contains, value: a}], aggregator: {type: weighted_average}",
);
const TRAJECTORY: AgentvPlace = Grader("tool-trajectory", "mode: in_order, expected: [{tool: a}]");
const FIELDS: AgentvPlace = Grader("field-accuracy", "fields: [{path: a, match: exact}]");
const TOKENS: AgentvPlace = Grader("token-usage", "max_total: 9");
const METRICS: AgentvPlace = Grader("execution-metrics", "max_tokens: 9");
const CONTAINS: AgentvPlace = Grader("contains", "value: a");
const MODEL: AgentvPlace = Target("openai", "model: m");
const AZURE: AgentvPlace = Target("azure", "model: m");
const ANTHROPIC: AgentvPlace = Target("anthropic", "model: m");
const CLI: AgentvPlace = Target("cli", "command: answer");
const CLAUDE: AgentvPlace = Target("claude-cli", "");
const CODEX: AgentvPlace = Target("codex-cli", "");
const COPILOT: AgentvPlace = Target("copilot-cli", "");
const MOCK: AgentvPlace = Target("mock", "response: a");
const REPLAY: AgentvPlace = Target("replay", "fixtures: a.jsonl");

const LOGS: &str = "the output of an agent is its log";
const CAMEL: &str = "the spelling in snake_case is read";
const OWN_MODEL: &str = "set the model in the configuration of the agent itself";
const NO_PUBLISHING: &str =
    "runs stay in `.assize/runs`; copy the folder, or write a report with `--out FILE`";
const RECORDS: &str =
    "a run keeps its answers; a target with 'provider: replay' reads them from the run's folder";
const TELEMETRY: &str = "export spans from the stored run with `assize report --format otlp`";

/// Every key and option of AgentV 4.42.4 outside of its own settings file, which is not read.
pub const AGENTV_KEYS: &[AgentvKey] = &[
    read(File, "$schema", "s"),
    read(File, "name", "a"),
    read(File, "description", "a"),
    read(File, "category", "a"),
    read(File, "version", "'1'"),
    read(File, "author", "a"),
    read(File, "tags", "[a]"),
    read(File, "license", "MIT"),
    read(File, "requires", "{agentv: '>=4'}"),
    read(File, "metadata", "{a: b}"),
    read(File, "governance", "{owner: a}"),
    read(File, "input", "a"),
    noted(File, "input_files", "[a.txt]", "a missing file is an error"),
    noted(File, "tests", "[{id: a, input: a, criteria: a}]", "also a file, a folder or a pattern"),
    read(File, "target", "a"),
    read(File, "execution", "{target: a}"),
    read(File, "assertions", "[a]"),
    noted(File, "evaluators", "[{name: a, type: contains, value: a}]", "an older spelling of `assertions`"),
    noted(File, "assert", "[a]", "an older spelling of `assertions`"),
    noted(File, "eval_cases", "[{id: a, input: a, criteria: a}]", "an older spelling of `tests`"),
    read(File, "preprocessors", "[{type: xlsx, command: [x]}]"),
    noted(File, "workspace", "{template: folder}", "see below"),
    read(Case, "id", "a"),
    read(Case, "vars", "{a: b}"),
    read(Case, "criteria", "a"),
    read(Case, "input", "a"),
    noted(Case, "input_files", "[a.txt]", "a missing file is an error"),
    read(Case, "expected_output", "a"),
    read(Case, "assertions", "[a]"),
    noted(Case, "evaluators", "[{name: a, type: contains, value: a}]", "an older spelling of `assertions`"),
    noted(Case, "assert", "[a]", "an older spelling of `assertions`"),
    noted(Case, "rubrics", "[a]", "an older spelling"),
    noted(Case, "expected_outcome", "a", "an older spelling of `criteria`"),
    read(Case, "execution", "{target: a}"),
    read(Case, "workspace", "{template: folder}"),
    read(Case, "metadata", "{a: b}"),
    read(Case, "conversation_id", "a"),
    read(Case, "suite", "a"),
    read(Case, "depends_on", "[other]"),
    read(Case, "on_dependency_failure", "skip"),
    read(Case, "mode", "conversation"),
    read(Case, "turns", "[{input: a, assertions: [a]}]"),
    read(Case, "aggregation", "mean"),
    read(Case, "on_turn_failure", "stop"),
    read(Case, "window_size", "2"),
    read(Execution, "target", "a"),
    read(Execution, "targets", "[a, {name: b, use_target: a}]"),
    read(Execution, "workers", "2"),
    read(Execution, "assertions", "[a]"),
    noted(
        Execution, "evaluators", "[{name: a, type: contains, value: a}]", "an older spelling of `assertions`",
    ),
    refused(Execution, "skip_defaults", "true", "belongs in the `execution` of a case"),
    noted(Execution, "cache", "true", "replies of models are kept anyway"),
    idle(Execution, "cache_path", "a", "the cache is `.assize/cache`"),
    read(Execution, "trials", "{count: 2}"),
    read(Execution, "budget_usd", "1"),
    refused(Execution, "budgetUsd", "1", CAMEL),
    read(Execution, "fail_on_error", "true"),
    refused(Execution, "failOnError", "true", CAMEL),
    read(Execution, "threshold", "0.5"),
    read(Trials, "count", "2"),
    noted(Trials, "strategy", "mean", "see [Trials](#trials-and-dependencies)"),
    read(Trials, "cost_limit_usd", "1"),
    refused(Trials, "costLimitUsd", "1", CAMEL),
    read(Workspace, "template", "folder"),
    noted(Workspace, "isolation", "per_test", "`per_test` if not set"),
    read(Workspace, "repos", "[{path: a, source: {type: git, url: 'https://h/r'}}]"),
    read(Workspace, "hooks", "{before_all: {command: [x]}}"),
    read(Workspace, "mode", "temp"),
    read(Workspace, "path", "folder"),
    noted(Workspace, "docker", "{image: i}", "program graders run in it; needs `docker`"),
    refused(Workspace, "env", "{required_commands: [git]}", "check for programs in a `before_all` hook"),
    read(Docker, "image", "i"),
    read(Docker, "timeout", "300"),
    read(Docker, "memory", "2g"),
    read(Docker, "cpus", "1"),
    read(Repository, "path", "a"),
    read(Repository, "repo", "org/name"),
    read(Repository, "commit", "abc"),
    read(Repository, "base_commit", "abc"),
    read(Repository, "ancestor", "1"),
    read(Repository, "sparse", "[a]"),
    read(Hook, "command", "[x]"),
    noted(Hook, "script", "[x]", "an older spelling of `command`"),
    read(Hook, "timeout_ms", "100"),
    refused(Hook, "timeoutMs", "100", CAMEL),
    read(Hook, "cwd", "folder"),
    read(Hook, "reset", "fast"),
    read(Turn, "input", "a"),
    read(Turn, "expected_output", "a"),
    read(Turn, "assertions", "[a]"),
    read(CONTAINS, "name", "a"),
    read(CONTAINS, "weight", "2"),
    read(CONTAINS, "required", "true"),
    read(CONTAINS, "min_score", "0.5"),
    read(CONTAINS, "negate", "true"),
    read(CONTAINS, "value", "a"),
    noted(CODE, "command", "[x]", "see [Graders](#graders) for exit codes"),
    noted(CODE, "script", "[x]", "an older spelling of `command`"),
    read(CODE, "cwd", "folder"),
    noted(CODE, "target", "{max_calls: 3}", "lends the judge's model"),
    read(CODE, "config", "{a: b}"),
    read(LLM, "prompt", "'Is {{output}} polite?'"),
    noted(LLM, "rubrics", "[{id: a, outcome: a}]", "an older spelling of type `rubrics`"),
    noted(LLM, "target", "a", "the judge"),
    read(LLM, "temperature", "0"),
    refused(LLM, "model", "m", "name the judge: `target: NAME`, or `--judge PROVIDER:MODEL`"),
    noted(
        LLM,
        "preprocessors",
        "[{type: xlsx, command: [x]}]",
        "hold for the whole case; graders of a case that convert a type differently are refused",
    ),
    idle(LLM, "max_steps", "3", "judges are called once and use no tools"),
    read(COMPOSITE, "assertions", "[{name: a, type: contains, value: a}]"),
    noted(
        COMPOSITE, "evaluators", "[{name: a, type: contains, value: a}]", "an older spelling of `assertions`",
    ),
    read(COMPOSITE, "aggregator", "{type: threshold, threshold: 0.5}"),
    read(TRAJECTORY, "mode", "exact"),
    read(Grader("tool-trajectory", "mode: any_order"), "minimums", "{a: 1}"),
    read(TRAJECTORY, "expected", "[{tool: a}]"),
    read(TRAJECTORY, "args_match", "subset"),
    refused(TRAJECTORY, "argsMatch", "subset", CAMEL),
    read(Call, "tool", "a"),
    read(Call, "args", "{a: 1}"),
    read(Call, "max_duration_ms", "100"),
    read(Call, "args_match", "subset"),
    refused(Call, "maxDurationMs", "100", CAMEL),
    refused(Call, "argsMatch", "subset", CAMEL),
    read(FIELDS, "fields", "[{path: a, match: numeric_tolerance, tolerance: 1, weight: 2, required: true}]"),
    read(FIELDS, "aggregation", "all_or_nothing"),
    read(Grader("latency", "threshold: 9"), "threshold", "9"),
    read(Grader("cost", "budget: 9"), "budget", "9"),
    read(TOKENS, "max_total", "9"),
    read(TOKENS, "max_input", "9"),
    read(TOKENS, "max_output", "9"),
    read(METRICS, "max_tool_calls", "9"),
    read(METRICS, "max_llm_calls", "9"),
    read(METRICS, "max_tokens", "9"),
    read(METRICS, "max_cost_usd", "9"),
    read(METRICS, "max_duration_ms", "9"),
    read(METRICS, "target_exploration_ratio", "0.5"),
    read(Grader("execution-metrics", "target_exploration_ratio: 0.5"), "exploration_tolerance", "0.5"),
    read(Criterion, "id", "a"),
    read(Criterion, "outcome", "a"),
    read(Criterion, "operator", "contradiction"),
    read(Criterion, "weight", "2"),
    read(Criterion, "required", "true"),
    read(Criterion, "min_score", "0.5"),
    read(Criterion, "score_ranges", "[{score_range: [0, 10], outcome: a}]"),
    read(MODEL, "name", "a"),
    read(MODEL, "provider", "openai"),
    noted(MODEL, "use_target", "other", "stands alone, without `provider`"),
    read(MODEL, "grader_target", "other"),
    noted(MODEL, "judge_target", "other", "an older spelling of `grader_target`"),
    read(MODEL, "workers", "2"),
    idle(MODEL, "subagent_mode_allowed", "true", "agents are not dispatched to others"),
    read(MODEL, "fallback_targets", "[other]"),
    read(MODEL, "max_retries", "2"),
    read(MODEL, "retry_initial_delay_ms", "2"),
    read(MODEL, "retry_max_delay_ms", "2"),
    idle(MODEL, "retry_backoff_factor", "3", "waits double"),
    idle(MODEL, "retry_status_codes", "[500]", "the client knows which failures may pass"),
    read(MODEL, "model", "m"),
    noted(MODEL, "deployment", "m", "an older spelling of `model`"),
    read(MODEL, "base_url", "'http://h/v1'"),
    noted(MODEL, "endpoint", "'http://h/v1'", "an older spelling of `base_url`"),
    read(MODEL, "api_key", "k"),
    read(MODEL, "api_format", "responses"),
    read(MODEL, "temperature", "0"),
    read(MODEL, "max_output_tokens", "9"),
    read(AZURE, "resource", "r"),
    read(AZURE, "version", "'2024-10-21'"),
    read(AZURE, "api_version", "'2024-10-21'"),
    idle(ANTHROPIC, "thinking_budget", "9", "the provider's default is used"),
    noted(CLI, "command", "answer", "values are passed as data, never as script"),
    read(CLI, "provider_batching", "true"),
    read(CLI, "files_format", "'{path}'"),
    noted(CLI, "attachments_format", "'{path}'", "an older spelling of `files_format`"),
    read(CLI, "cwd", "folder"),
    read(CLI, "timeout_seconds", "9"),
    idle(CLI, "verbose", "true", "commands are not echoed"),
    idle(CLI, "keep_temp_files", "true", "temporary files are removed"),
    read(CLI, "healthcheck", "{command: ok}"),
    idle(
        CLI,
        "hooks",
        "{before_each: {command: [x]}}",
        "AgentV does not run them either; write them under `execution: {targets: [...]}` of the eval file",
    ),
    refused(CLI, "workspace_template", "folder", "write `workspace: {template: FOLDER}` in the eval file"),
    read(CLAUDE, "executable", "claude"),
    noted(CLAUDE, "binary", "claude", "an older spelling of `executable`"),
    noted(CLAUDE, "command", "claude", "an older spelling of `executable`"),
    read(CLAUDE, "model", "m"),
    read(CLAUDE, "cwd", "folder"),
    read(CLAUDE, "timeout_seconds", "9"),
    read(CLAUDE, "system_prompt", "s"),
    read(CLAUDE, "max_turns", "9"),
    read(CLAUDE, "max_budget_usd", "9"),
    idle(CLAUDE, "log_dir", "a", LOGS),
    idle(CLAUDE, "log_directory", "a", LOGS),
    idle(CLAUDE, "log_format", "json", LOGS),
    idle(CLAUDE, "log_output_format", "json", LOGS),
    idle(CLAUDE, "stream_log", "raw", LOGS),
    read(CODEX, "args", "[a]"),
    noted(CODEX, "arguments", "[a]", "an older spelling of `args`"),
    idle(CODEX, "model_reasoning_effort", "low", OWN_MODEL),
    noted(COPILOT, "cli_path", "copilot", "an older spelling of `executable`"),
    idle(COPILOT, "cli_url", "'http://h'", OWN_MODEL),
    idle(COPILOT, "github_token", "t", "set the variable that the agent reads"),
    idle(COPILOT, "subprovider", "p", OWN_MODEL),
    idle(COPILOT, "base_url", "'http://h'", OWN_MODEL),
    idle(COPILOT, "api_key", "k", OWN_MODEL),
    idle(COPILOT, "bearer_token", "k", OWN_MODEL),
    idle(COPILOT, "api_version", "v", OWN_MODEL),
    idle(COPILOT, "api_format", "chat", OWN_MODEL),
    read(MOCK, "response", "a"),
    refused(MOCK, "trace", "{}", "give messages with tool calls as `response`"),
    read(REPLAY, "fixtures", "a.jsonl"),
    noted(REPLAY, "source_target", "a", "an older spelling of `source`"),
    refused(REPLAY, "suite", "a", "a case is found by its id and repeat"),
    refused(REPLAY, "eval_path", "a", "a case is found by its id and repeat"),
    refused(REPLAY, "variant", "a", "a case is found by its id and repeat"),
    refused(
        Target("vscode", ""),
        "wait",
        "true",
        "an editor can't be controlled; run the agent's own program",
    ),
    refused(Target("agentv", "model: m"), "model", "m", "AgentV's own agent; run the agent's own program"),
    noted(Flag, "--target", "a", "repeatable"),
    read(Flag, "--targets", "targets.yaml"),
    noted(Flag, "--test-id", "a", "`--filter`"),
    read(Flag, "--workers", "2"),
    refused(
        Flag,
        "--output",
        "run",
        "name the folder of the run with '--run-dir DIR'; '-o FILE' writes a report",
    ),
    noted(Flag, "--out", "r.html", "a report; repeatable"),
    refused(Flag, "--output-format", "yaml", "name the report by its ending, as in '--out report.json'"),
    refused(Flag, "--experiment", "a", "name the folder of the run with '--run-dir DIR'"),
    refused(Flag, "--results-repo", "a", NO_PUBLISHING),
    refused(Flag, "--results-branch", "a", NO_PUBLISHING),
    refused(Flag, "--results-remote", "a", NO_PUBLISHING),
    refused(Flag, "--results-push", "", NO_PUBLISHING),
    refused(Flag, "--no-results-push", "", NO_PUBLISHING),
    refused(Flag, "--results-require-push", "", NO_PUBLISHING),
    noted(Flag, "--dry-run", "", "an estimate; for canned answers use a `mock` target"),
    refused(Flag, "--dry-run-delay", "9", "a 'mock' target has 'delay_ms'"),
    refused(Flag, "--dry-run-delay-min", "9", "a 'mock' target has 'delay_min_ms'"),
    refused(Flag, "--dry-run-delay-max", "9", "a 'mock' target has 'delay_max_ms'"),
    refused(Flag, "--agent-timeout", "9", "set 'timeout_seconds' of the target in the targets file"),
    read(Flag, "--max-retries", "2"),
    refused(Flag, "--cache", "", "replies of models are cached anyway; '--no-cache' turns that off"),
    refused(Flag, "--cache-path", "a", "the cache is '.assize/cache'"),
    read(Flag, "--no-cache", ""),
    refused(
        Flag,
        "--verbose",
        "",
        "print all cases with '--show all', and one of them with 'assize explain last CASE'",
    ),
    refused(Flag, "--workspace-mode", "temp", "set 'mode' of the workspace in the eval file"),
    refused(Flag, "--workspace-path", "a", "set 'path' of the workspace in the eval file"),
    read(Flag, "--keep-workspaces", ""),
    refused(Flag, "--otel-file", "a", TELEMETRY),
    refused(Flag, "--export-otel", "", TELEMETRY),
    refused(Flag, "--otel-backend", "a", TELEMETRY),
    refused(Flag, "--otel-capture-content", "", TELEMETRY),
    refused(Flag, "--otel-group-turns", "", TELEMETRY),
    refused(
        Flag,
        "--retry-errors",
        "run",
        "ask again for incomplete cases with '--resume RUN --retry-incomplete'",
    ),
    noted(Flag, "--resume", "", "continues the newest run, or the one that is named"),
    noted(
        Flag,
        "--rerun-failed",
        "run",
        "a new run of the failed and incomplete cases; the other run keeps its results, because asking until cases pass would inflate \
         the pass rate",
    ),
    refused(Flag, "--strict", "", "files are checked in any case; '--deny warnings' stops at warnings"),
    refused(Flag, "--artifacts", "a", "name the folder of the run with '--run-dir DIR'"),
    refused(Flag, "--grader-target", "a", "name the judge with '--judge openai:gpt-4o-mini'"),
    refused(
        Flag,
        "--model",
        "m",
        "name the judge with '--judge PROVIDER:MODEL', or a target with '--target PROVIDER:MODEL'",
    ),
    refused(Flag, "--output-messages", "1", "a run keeps all messages"),
    read(Flag, "--threshold", "0.5"),
    read(Flag, "--budget-usd", "1"),
    read(Flag, "--tag", "a"),
    read(Flag, "--exclude-tag", "a"),
    refused(Flag, "--transcript", "a.jsonl", "define a target with 'provider: transcript' and its 'path'"),
    refused(Flag, "--record-replay", "a.jsonl", RECORDS),
    refused(Flag, "--record-replay-variant", "a", RECORDS),
];
