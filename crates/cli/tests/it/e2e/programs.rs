//! Programs of files: each key that can name one is tried without consent, which makes no file, and with it, which
//! makes one.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use assize_testkit::cli::CliTest;
use serde_json::Value;

use crate::e2e::bench::cli;
use crate::e2e::extensions::has;

/// A use of a key that names a program.
struct ProgramForm {
    /// The key in the schemas.
    key: &'static str,
    /// Interpreter that it needs.
    needs: &'static str,
    /// The eval file. `MARK` is the path of a file that the program makes.
    text: &'static str,
    /// Another file, with its path.
    other: Option<(&'static str, &'static str)>,
}

const fn form(key: &'static str, text: &'static str) -> ProgramForm {
    ProgramForm { key, needs: "sh", text, other: None }
}

const fn with(
    key: &'static str,
    needs: &'static str,
    text: &'static str,
    path: &'static str,
    other: &'static str,
) -> ProgramForm {
    ProgramForm { key, needs, text, other: Some((path, other)) }
}

const PYTHON: &str = "open('MARK', 'w').close()\ndef call_api(*a): return {'output': 'p'}\ndef made(*a): return 'p'\n\
    def tests(*a): return [{'assert': [{'type': 'contains', 'value': 'p'}]}]\ndef value(*a): return {'output': 'p'}\n";
const MODULE: &str =
    "import fs from 'node:fs';\nfs.writeFileSync('MARK', '');\nexport default (...a) => 'p';\n";
const COMMON: &str =
    "const fs = require('fs');\nfs.writeFileSync('MARK', '');\nmodule.exports = (...a) => 'p';\n";
const SCRIPT: &str = "#!/bin/sh\ntouch MARK\necho '{\"score\": 1}'\n";
const TARGET_USE: &str =
    "execution: {target: t}\ntests: [{id: a, input: q, assertions: [{type: contains, value: x}]}]\n";

/// Every key of every format that can name a program, in each of its spellings and places.
const FORMS: &[ProgramForm] = &[
    // Graders.
    form(
        "command",
        "tests: [{id: a, input: q, output: x, assertions: [{type: code-grader, command: [touch, MARK]}]}]",
    ),
    form(
        "command",
        "tests: [{id: a, input: q, output: x, assertions: [{type: code-grader, command: touch MARK}]}]",
    ),
    form(
        "script",
        "tests: [{id: a, input: q, output: x, assertions: [{type: code-grader, script: [touch, MARK]}]}]",
    ),
    form(
        "command",
        "assertions: [{type: code-grader, command: touch MARK}]\ntests: [{id: a, input: q, output: x}]",
    ),
    form(
        "command",
        "tests: [{id: a, input: [{role: user, content: q}], output: [{role: user, content: q}, {role: assistant, content: x}], turns: [{input: q, assertions: [{type: code-grader, command: touch MARK}]}]}]",
    ),
    form(
        "prompt",
        "tests: [{id: a, input: q, output: x, assertions: [{type: llm-grader, prompt: {command: [touch, MARK]}}]}]",
    ),
    form(
        "aggregator",
        "tests: [{id: a, input: q, output: x, assertions: [{type: composite, name: c, assertions: [{name: d, type: contains, value: x}], aggregator: {type: code-grader, command: touch MARK}}]}]",
    ),
    form(
        "aggregator",
        "tests: [{id: a, input: q, output: x, assertions: [{type: composite, name: c, assertions: [{name: d, type: code-grader, command: touch MARK}], aggregator: {type: threshold, threshold: 0.5}}]}]",
    ),
    with(
        "type",
        "sh",
        "tests: [{id: a, input: q, output: x, assertions: [{type: my-own}]}]",
        ".assize/graders/my-own.sh",
        SCRIPT,
    ),
    with(
        "type",
        "sh",
        "tests: [{id: a, input: q, output: x, assertions: [{type: my-own}]}]",
        ".agentv/assertions/my-own.sh",
        SCRIPT,
    ),
    form(
        "evaluators",
        "evalcases: [{id: a, outcome: good, input_messages: [{role: user, content: q}], output: x, evaluators: [{name: c, type: code_judge, script: touch MARK}]}]",
    ),
    // Targets.
    form("command", "targets: [{name: t, provider: cli, command: touch MARK}]\nTARGET"),
    form("command", "targets: [{name: t, provider: cli, command: [touch, MARK]}]\nTARGET"),
    form("command_template", "targets: [{name: t, provider: cli, command_template: touch MARK}]\nTARGET"),
    with(
        "use_target",
        "sh",
        "TARGET",
        ".assize/targets.yaml",
        "targets: [{name: u, provider: cli, command: touch MARK}, {name: t, use_target: u}]",
    ),
    form(
        "fallback_targets",
        "targets: [{name: t, provider: mock, fail: down, fallback_targets: [u]}, {name: u, provider: cli, command: touch MARK}]\nTARGET",
    ),
    form(
        "healthcheck",
        "targets: [{name: t, provider: mock, response: x, healthcheck: {command: touch MARK}}]\nTARGET",
    ),
    form(
        "healthcheck",
        "targets: [{name: t, provider: mock, response: x, healthcheck: {type: command, command_template: [touch, MARK]}}]\nTARGET",
    ),
    with(
        "executable",
        "sh",
        "targets: [{name: t, provider: codex, executable: DIR/agent.sh}]\nTARGET",
        "agent.sh",
        SCRIPT,
    ),
    with(
        "executable",
        "sh",
        "targets: [{name: t, provider: claude, executable: DIR/agent.sh}]\nTARGET",
        "agent.sh",
        SCRIPT,
    ),
    with(
        "provider",
        "sh",
        "targets: [{name: t, provider: my-own}]\nTARGET",
        ".assize/providers/my-own.sh",
        SCRIPT,
    ),
    with(
        "provider",
        "sh",
        "targets: [{name: t, provider: my-own}]\nTARGET",
        ".agentv/providers/my-own.sh",
        SCRIPT,
    ),
    with(
        "command",
        "sh",
        "TARGET",
        ".assize/targets.yaml",
        "targets: [{name: t, provider: cli, command: touch MARK}]",
    ),
    with(
        "healthcheck",
        "sh",
        "TARGET",
        ".assize/targets.yaml",
        "targets: [{name: t, provider: mock, response: x, healthcheck: {command: touch MARK}}]",
    ),
    with(
        "provider_batching",
        "sh",
        "TARGET",
        ".assize/targets.yaml",
        "targets: [{name: t, provider: cli, command: 'touch MARK; cat {OUTPUT_FILE}', provider_batching: true}]",
    ),
    // Workspaces.
    form("before_all", "workspace: {template: ., hooks: {before_all: {command: touch MARK}}}\nMOCK"),
    form("before_each", "workspace: {template: ., hooks: {before_each: touch MARK}}\nMOCK"),
    form("after_each", "workspace: {template: ., hooks: {after_each: {script: touch MARK}}}\nMOCK"),
    form("after_all", "workspace: {template: ., hooks: {after_all: {command: [touch, MARK]}}}\nMOCK"),
    form(
        "hooks",
        "workspace: {template: .}\ntargets: [{name: t, provider: mock, response: x}]\nexecution: {targets: [{name: t, hooks: {before_each: {command: touch MARK}}}]}\ntests: [{id: a, input: q, assertions: [{type: contains, value: x}]}]",
    ),
    form(
        "hooks",
        "targets: [{name: t, provider: mock, response: x}]\nexecution: {target: t}\ntests: [{id: a, input: q, workspace: {template: ., hooks: {before_all: touch MARK}}, assertions: [{type: contains, value: x}]}]",
    ),
    with(
        "preprocessors",
        "sh",
        "preprocessors: [{type: xlsx, command: [touch, MARK]}]\nTARGET",
        ".assize/targets.yaml",
        r#"targets:
- name: t
  provider: cli
  command: |
    printf 'PK' > a.xlsx
    printf '%s' '{"output": [{"role": "assistant", "content": [{"type": "file", "media_type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "path": "a.xlsx"}]}]}'
"#,
    ),
    // Matrix files: providers.
    form("providers", "prompts: [p]\nproviders: ['exec:touch MARK']\nCHECK"),
    with("providers", "python3", "prompts: [p]\nproviders: ['file://code.py']\nCHECK", "code.py", PYTHON),
    with(
        "providers",
        "python3",
        "prompts: [p]\nproviders: ['python:code.py:call_api']\nCHECK",
        "code.py",
        PYTHON,
    ),
    with("providers", "node", "prompts: [p]\nproviders: ['file://code.mjs']\nCHECK", "code.mjs", MODULE),
    with(
        "providers",
        "python3",
        "prompts: [p]\nproviders: ['file://own-targets.yaml']\nCHECK",
        "own-targets.yaml",
        "[{id: 'exec:touch MARK'}]",
    ),
    form("command", "prompts: [p]\nproviders: [{id: cli, config: {command: touch MARK}}]\nCHECK"),
    form("command", "prompts: [p]\nproviders: [{id: command, config: {command: touch MARK}}]\nCHECK"),
    form(
        "command",
        "prompts: [p]\nproviders: [{id: claude, config: {command: [sh, -c, 'touch MARK']}}]\nCHECK",
    ),
    form(
        "command",
        "prompts: [p]\nproviders: [{id: claude-code, config: {command: [sh, -c, 'touch MARK']}}]\nCHECK",
    ),
    form(
        "command",
        "prompts: [p]\nproviders: [{id: codex, config: {command: [sh, -c, 'touch MARK']}}]\nCHECK",
    ),
    form(
        "command",
        "prompts: [p]\nproviders: [{id: copilot, config: {command: [sh, -c, 'touch MARK']}}]\nCHECK",
    ),
    form(
        "command",
        "prompts: [p]\nproviders: [{id: gemini-cli, config: {command: [sh, -c, 'touch MARK']}}]\nCHECK",
    ),
    form(
        "command",
        "prompts: [p]\nproviders: [{id: opencode, config: {command: [sh, -c, 'touch MARK']}}]\nCHECK",
    ),
    form("command", "prompts: [p]\nproviders: [{id: pi, config: {command: [sh, -c, 'touch MARK']}}]\nCHECK"),
    form(
        "command",
        "prompts: [p]\nproviders: [{id: cli, command: touch MARK}]\nworkspace: {template: .}\ntests: [{id: a, criteria: x, assert: [{type: contains, value: x}]}]",
    ),
    form(
        "hooks",
        "prompts: [p]\nproviders: [echo]\nworkspace: {template: ., hooks: {before_each: {command: [touch, MARK]}}}\nCHECK",
    ),
    // Matrix files: code.
    form("prompts", "prompts: ['exec:touch MARK']\nproviders: [echo]\nCHECK"),
    with(
        "prompts",
        "python3",
        "prompts: ['file://code.py:made']\nproviders: [echo]\nCHECK",
        "code.py",
        PYTHON,
    ),
    with("prompts", "python3", "prompts: ['file://code.py']\nproviders: [echo]\nCHECK", "code.py", PYTHON),
    with("prompts", "node", "prompts: ['file://code.mjs']\nproviders: [echo]\nCHECK", "code.mjs", MODULE),
    with(
        "tests",
        "python3",
        "prompts: [p]\nproviders: [echo]\ntests: ['file://code.py:tests']",
        "code.py",
        PYTHON,
    ),
    with("tests", "node", "prompts: [p]\nproviders: [echo]\ntests: file://code.mjs", "code.mjs", MODULE),
    with(
        "vars",
        "python3",
        "prompts: ['{{ v }}']\nproviders: [echo]\ntests: [{vars: {v: 'file://code.py'}, assert: [{type: contains, value: p}]}]",
        "code.py",
        "open('MARK', 'w').close()\ndef get_var(*a): return {'output': 'p'}\n",
    ),
    with(
        "vars",
        "node",
        "prompts: ['{{ v }}']\nproviders: [echo]\ntests: [{vars: {v: 'file://code.mjs'}, assert: [{type: contains, value: p}]}]",
        "code.mjs",
        MODULE,
    ),
    with(
        "nunjucksFilters",
        "node",
        "prompts: ['{{ \"p\" | own }}']\nproviders: [echo]\nnunjucksFilters: {own: ./code.cjs}\nCHECK",
        "code.cjs",
        COMMON,
    ),
    with(
        "extensions",
        "python3",
        "prompts: [p]\nproviders: [echo]\nextensions: ['file://code.py:made']\nCHECK",
        "code.py",
        PYTHON,
    ),
    form(
        "value",
        "prompts: [p]\nproviders: [echo]\ntests: [{assert: [{type: python, value: \"bool(open('MARK', 'w'))\"}]}]",
    ),
    form(
        "value",
        "prompts: [p]\nproviders: [echo]\ntests: [{assert: [{type: assert-set, assert: [{type: python, value: \"bool(open('MARK', 'w'))\"}]}]}]",
    ),
    form(
        "value",
        "tests: [{id: a, input: q, output: x, assertions: [{type: python, value: \"bool(open('MARK', 'w'))\"}]}]",
    ),
    ProgramForm {
        key: "value",
        needs: "ruby",
        text: "prompts: [p]\nproviders: [echo]\ntests: [{assert: [{type: ruby, value: \"File.write('MARK', '') == 0\"}]}]",
        other: None,
    },
    with(
        "value",
        "node",
        "prompts: [p]\nproviders: [echo]\ntests: [{assert: [{type: javascript, value: 'file://code.cjs'}]}]",
        "code.cjs",
        COMMON,
    ),
    with(
        "transform",
        "node",
        "prompts: [p]\nproviders: [echo]\ntests: [{options: {transform: 'file://code.cjs'}, assert: [{type: contains, value: p}]}]",
        "code.cjs",
        COMMON,
    ),
    with(
        "transform",
        "python3",
        "prompts: [p]\nproviders: [echo]\ntests: [{assert: [{type: contains, value: p, transform: 'file://code.py:made'}]}]",
        "code.py",
        PYTHON,
    ),
    with(
        "transform",
        "python3",
        "prompts: [p]\nproviders: [{id: echo, transform: 'file://code.py:made'}]\nCHECK",
        "code.py",
        PYTHON,
    ),
    with(
        "contextTransform",
        "python3",
        "prompts: [p]\nproviders: [echo]\ntests: [{assert: [{type: context-relevance, contextTransform: 'file://code.py:made'}]}]",
        "code.py",
        PYTHON,
    ),
    with(
        "assertScoringFunction",
        "python3",
        "prompts: [p]\nproviders: [echo]\ntests: [{assertScoringFunction: 'file://code.py:made', assert: [{type: contains, value: p, metric: m}]}]",
        "code.py",
        PYTHON,
    ),
    with(
        "defaultTest",
        "python3",
        "prompts: [p]\nproviders: [echo]\ndefaultTest: {assert: [{type: python, value: 'file://code.py:made'}]}\ntests: [{vars: {a: b}}]",
        "code.py",
        PYTHON,
    ),
];

/// Checks of a benchmark that start a program, each with the interpreter that it needs.
const CHECKS: [(&str, &str); 4] = [
    ("sh", "{type: code-grader, command: [touch, MARK]}"),
    ("sh", "{type: my-own}"),
    ("python3", "{type: python, value: \"bool(open('MARK', 'w'))\"}"),
    ("node", "{type: javascript, value: 'file://code.cjs'}"),
];

#[test]
fn no_check_of_a_scorecard_starts_a_program_without_consent() {
    let mut failed = Vec::new();
    for (_, check) in CHECKS.iter().filter(|(needs, _)| has(needs)) {
        let mut cli = cli();
        cli.without_consent();
        write(&cli, "code.cjs", COMMON);
        write(&cli, ".assize/graders/my-own.sh", SCRIPT);
        let card = format!(
            "rubrics:\n- {{code: R, label: r, weight: 1.0, aggregation_method: WEIGHTED_AVERAGE, passing_threshold: 0.5, benchmarks: [C]}}\n\
             benchmarks:\n- {{code: C, parent_rubric: R, concept: c, weight: 1.0, threshold: 0.5, evaluator_type: code, \
             inclusion_criteria: Apply when asked. Flag if wrong., evaluator_config: {{deterministic: [{check}]}}}}\n\
             cases:\n- {{id: a, candidate_output: x}}\n"
        );
        write(&cli, "card.yaml", &card);
        let made = || cli.path("made").exists();
        let validated = cli.run(&["validate", "card.yaml"]);
        let refused = cli.run(&["scorecard", "run", "card.yaml"]);
        if made()
            || refused.code != Some(2)
            || !refused.stderr.contains("--allow-code")
            || !validated.stdout.contains(": runs ")
        {
            failed.push(format!("{check}\n{}{}{}", validated.stdout, validated.stderr, refused.stderr));
        }
        let allowed = cli.run(&["scorecard", "run", "card.yaml", "--allow-code"]);
        if !made() {
            failed.push(format!("{check}\n{}{}", allowed.stdout, allowed.stderr));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Keys of the schemas whose names sound as if they named programs, and do not.
const HARMLESS: &[&str] = &[
    "aggregation", "aggregation_method", "benchmark_code", "code", "commandLineOptions",
    "command_line_options", "decided_after", "docker", "exit_code", "filter", "filterRange", "filter_range",
    "postprocess", "function_file", "llm_prompt_file", "prompt_file", "transformVars", "transform_vars",
    "transcript",
];

/// Other spellings of keys in the list.
const SPELLINGS: &[(&str, &str)] = &[
    ("assert_scoring_function", "assertScoringFunction"),
    ("context_transform", "contextTransform"),
    ("nunjucks_filters", "nunjucksFilters"),
    ("default_test", "defaultTest"),
];

fn write(cli: &CliTest, path: &str, text: &str) {
    let mark = cli.path("made").display().to_string();
    let text = text
        .replace("TARGET", TARGET_USE)
        .replace("MOCK", &format!("targets: [{{name: t, provider: mock, response: x}}]\n{TARGET_USE}"))
        .replace("CHECK", "tests: [{assert: [{type: contains, value: p}]}]\n")
        .replace("MARK", &mark)
        .replace("DIR", &cli.dir().display().to_string());
    cli.file(path, text);
    fs::set_permissions(cli.path(path), fs::Permissions::from_mode(0o755)).expect("changed");
}

fn fixture(form: &ProgramForm) -> CliTest {
    let mut cli = cli();
    cli.without_consent();
    // Nobody listens there.
    cli.env("OPENAI_API_KEY", "sk-test").env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
    if let Some((path, text)) = form.other {
        write(&cli, path, text);
    }
    write(&cli, "s.eval.yaml", form.text);
    cli
}

#[test]
fn no_key_of_any_format_starts_a_program_without_consent() {
    let mut failed = Vec::new();
    for form in FORMS.iter().filter(|form| has(form.needs)) {
        let cli = fixture(form);
        // The offline judge takes no prompt.
        let judge = if matches!(form.key, "prompt" | "contextTransform") { "openai:m" } else { "offline" };
        let made = |cli: &CliTest| cli.path("made").exists();
        let mut note = |what: &str, output: &str| {
            failed.push(format!("{what}: {}: {}\n{output}", form.key, form.text));
        };

        for command in [
            &["validate", "s.eval.yaml"][..],
            &["lint", "s.eval.yaml"],
            &["eval", "s.eval.yaml", "--judge", judge, "--dry-run", "--allow-code"],
        ] {
            let output = cli.run(command);
            if made(&cli) {
                note(command[0], &output.stderr);
            }
        }
        // A project can't consent for itself.
        cli.file(".env", "ASSIZE_ALLOW_CODE=1\n");
        let refused = cli.run(&["eval", "s.eval.yaml", "--judge", judge, "--run-dir", "none"]);
        let is_named = refused.code == Some(2)
            && ["--allow-code", "assize trust", "nothing was run"]
                .iter()
                .all(|said| refused.stderr.contains(said))
            && (refused.stderr.contains("s.eval.yaml:") || refused.stderr.contains("targets.yaml:"));
        if made(&cli) || cli.path("none").exists() || !is_named {
            note("refused", &refused.stderr);
        }

        let allowed =
            cli.run(&["eval", "s.eval.yaml", "--judge", judge, "--max-retries", "0", "--allow-code"]);
        if !made(&cli) {
            note("allowed", &format!("{}{}", allowed.stdout, allowed.stderr));
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), FORMS.len(), failed.join("\n"));
}

#[test]
fn each_key_that_may_name_a_program_is_in_the_list() {
    const WORDS: [&str; 13] = [
        "command", "hook", "script", "health", "process", "exten", "filter", "transform", "docker", "exec",
        "func", "before_", "after_",
    ];
    fn collect(schema: &Value, keys: &mut BTreeSet<String>) {
        match schema {
            Value::Object(members) => {
                if let Some(Value::Object(properties)) = members.get("properties") {
                    keys.extend(properties.keys().cloned());
                }
                members.values().for_each(|member| collect(member, keys));
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, keys)),
            _ => {}
        }
    }

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let mut keys = BTreeSet::new();
    for name in
        ["suite", "matrix", "targets", "case", "template", "scorecard", "scorecard-benchmark", "config"]
    {
        let text = fs::read_to_string(folder.join(format!("{name}.schema.json"))).expect("a schema");
        collect(&serde_json::from_str(&text).expect("JSON"), &mut keys);
    }
    let tried: BTreeSet<&str> = FORMS.iter().map(|form| form.key).collect();
    let is_known = |key: &str| {
        let key = SPELLINGS.iter().find(|(other, _)| *other == key).map_or(key, |(_, key)| key);
        tried.contains(key)
            || HARMLESS.contains(&key)
            || ["description", "descriptions", "execution"].contains(&key)
    };
    let missing: Vec<&String> =
        keys.iter().filter(|key| WORDS.iter().any(|word| key.contains(word)) && !is_known(key)).collect();
    assert!(missing.is_empty(), "not tried: {missing:?}");
}

#[test]
fn all_programs_of_a_plan_are_listed_with_their_places() {
    let mut cli = cli();
    cli.without_consent();
    cli.file(
        "s.eval.yaml",
        "targets:\n- {name: t, provider: cli, command: \"echo one\\n echo error: two\", healthcheck: {command: [touch, made]}}\n\
         execution: {target: t}\ntests:\n- id: a\n  input: q\n  assertions:\n  - {type: code-grader, name: c, command: [touch, made]}\n",
    );
    let refused = cli.run(&["eval", "s.eval.yaml"]).expect_code(2);
    for line in [
        "  s.eval.yaml:2:10: target `t` (a command): `echo one ... (1 more lines)`",
        "  s.eval.yaml:2:10: target `t` (a health check): `touch made`",
        "  s.eval.yaml:8:6: grader `c` (a grading program): `touch made`",
    ] {
        assert!(refused.stderr.lines().any(|told| told == line), "{line}\n{}", refused.stderr);
    }
}

#[test]
fn trusted_folders_are_listed_outside_of_them_and_revoked() {
    let mut cli = cli();
    cli.without_consent();
    let data = cli.path("data");
    cli.env("XDG_DATA_HOME", data.display().to_string());
    let suite = "tests: [{id: a, input: q, output: x, assertions: [{type: code-grader, command: 'touch ../made; echo 1'}]}]";
    for folder in ["mine", "theirs"] {
        cli.file(format!("{folder}/s.eval.yaml"), suite);
    }
    let made = || fs::remove_file(cli.path("made")).is_ok();
    let eval = |files: &[&str]| {
        cli.run(&[&["eval"], files].concat());
        made()
    };

    assert!(!eval(&["mine/s.eval.yaml"]));
    cli.run(&["trust", "mine"]).expect_code(0);
    let list = cli.path("data/assize/trusted-folders.json");
    assert_eq!(fs::metadata(&list).expect("written").permissions().mode() & 0o777, 0o600);
    assert!(cli.run(&["trust", "--list"]).expect_code(0).stdout.trim_end().ends_with("/mine"));
    assert!(eval(&["mine/s.eval.yaml"]));
    // Running untrusted files together with trusted ones does not make them trusted.
    assert!(!eval(&["theirs/s.eval.yaml"]) && !eval(&["mine/s.eval.yaml", "theirs/s.eval.yaml"]));
    symlink(cli.path("theirs/s.eval.yaml"), cli.path("mine/link.eval.yaml")).expect("linked");
    assert!(!eval(&["mine/link.eval.yaml"]));

    fs::set_permissions(&list, fs::Permissions::from_mode(0o644)).expect("changed");
    let open = cli.run(&["eval", "mine/s.eval.yaml"]).expect_code(2);
    assert!(open.stderr.contains("chmod 600"), "{}", open.stderr);
    fs::set_permissions(&list, fs::Permissions::from_mode(0o600)).expect("changed");

    fs::rename(cli.path("mine"), cli.path("moved")).expect("moved");
    symlink(cli.path("moved"), cli.path("mine")).expect("linked");
    assert!(!eval(&["moved/s.eval.yaml"]) && !eval(&["mine/s.eval.yaml"]));
    let listed = cli.run(&["trust", "--list", "--json"]).expect_code(0).stdout;
    assert!(listed.contains("\"trusted\": false"), "{listed}");
    fs::remove_file(cli.path("mine")).expect("removed");
    fs::rename(cli.path("moved"), cli.path("mine")).expect("moved back");

    assert!(eval(&["mine/s.eval.yaml"]));
    cli.run(&["trust", "mine", "--revoke"]).expect_code(0);
    assert!(!eval(&["mine/s.eval.yaml"]));
    let unknown = cli.run(&["trust", "mine", "--revoke"]).expect_code(2);
    assert!(unknown.stderr.contains("is not in the list"), "{}", unknown.stderr);
    cli.run(&["trust", "mine/s.eval.yaml"]).expect_code(2);
    assert!(cli.run(&["trust", "--list"]).expect_code(0).stdout.contains("no folder is trusted"));
}

#[test]
fn the_environment_consents_and_no_file_of_variables_moves_the_list() {
    let mut cli = cli();
    cli.without_consent();
    cli.file(
        "s.eval.yaml",
        "tests: [{id: a, input: q, output: x, assertions: [{type: code-grader, command: 'touch made; echo {\"score\": 1}'}]}]",
    );
    cli.file(".env", format!("ASSIZE_ALLOW_CODE=1\nXDG_DATA_HOME={}\n", cli.path("data").display()));
    cli.run(&["trust", "."]).expect_code(0);
    assert!(!cli.path("data").exists());
    cli.run(&["trust", ".", "--revoke"]).expect_code(0);

    for value in ["", "0", "true", "yes"] {
        cli.env("ASSIZE_ALLOW_CODE", value);
        cli.run(&["eval", "s.eval.yaml"]).expect_code(2);
        assert!(!cli.path("made").exists(), "{value}");
    }
    cli.env("ASSIZE_ALLOW_CODE", "1");
    cli.run(&["eval", "s.eval.yaml"]);
    assert!(cli.path("made").exists());
}

#[test]
fn init_trusts_only_what_it_made() {
    let mut cli = cli();
    cli.without_consent();
    cli.file("theirs/s.eval.yaml", "tests: []\n");
    cli.run(&["init", "theirs", "--yes"]).expect_code(0);
    assert!(cli.run(&["trust", "--list"]).expect_code(0).stdout.contains("no folder is trusted"));
    cli.run(&["init", "new", "--yes"]).expect_code(0);
    assert!(cli.run(&["trust", "--list"]).expect_code(0).stdout.trim_end().ends_with("/new"));
}
