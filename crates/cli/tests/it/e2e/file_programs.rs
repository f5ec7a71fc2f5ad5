//! Prompts, tests and variables that come from programs, run by the interpreters of their languages.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::e2e::bench::{KEY, cli, rows};

/// Returns true if all of these programs exist; otherwise prints that the test is skipped.
fn has(programs: &[&str]) -> bool {
    let is_there = |program: &&&str| {
        let mut command = Command::new(program);
        let started = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        started.is_ok()
    };
    let missing: Vec<&&str> = programs.iter().filter(|program| !is_there(program)).collect();
    if !missing.is_empty() {
        // Bypasses the test harness, which captures output: the summary counts these lines.
        let line = format!("\nSKIPPED 1 test of programs that write parts of files: no {missing:?}\n");
        std::io::stdout().write_all(line.as_bytes()).expect("stdout takes a line");
    }
    missing.is_empty()
}

fn text<'r>(row: &'r Value, key: &str) -> &'r str {
    row[key].as_str().unwrap_or_else(|| panic!("{key} is a text: {row}"))
}

/// The answers of a run by case. The provider `echo` answers with its prompt.
fn answers(rows: &[Value]) -> Vec<(&str, &str, &str)> {
    rows.iter().map(|row| (text(row, "case_id"), text(row, "answer"), text(row, "verdict"))).collect()
}

#[test]
fn prompts_come_from_functions_and_commands() {
    if !has(&["python3", "node", "sh"]) {
        return;
    }
    let mut cli = cli();
    cli.without_consent();
    cli.env("OPENAI_API_KEY", KEY);
    cli.file(
        "prompts.py",
        "import json, os, sys\n\
         class Chat:\n    @staticmethod\n    def make(context):\n        print('noise')\n        return [{'role': 'user', 'content': context['vars']['a'] + context['config']['mark']}]\n\
         def key(context):\n    return context['provider']['id'] + ' ' + os.environ.get('OPENAI_API_KEY', 'no key')\n\
         if __name__ == '__main__':\n    print('whole', json.loads(sys.argv[1])['vars']['a'])\n",
    );
    cli.file("load.mjs", "import path from 'node:path';\nexport default async ({ vars }) => `${path.basename('x/y')} {{ a }} ${vars.a}`;\n");
    cli.file("line.sh", "printf '%s %s' \"$1\" \"$2\"\n");
    cli.file(
        "p.yaml",
        "prompts:\n\
         - {id: 'file://prompts.py:Chat.make', config: {mark: '!'}}\n\
         - file://prompts.py:key\n\
         - file://prompts.py\n\
         - file://load.mjs\n\
         - 'exec:sh line.sh \"$HOME `id`\"'\n\
         providers: [echo]\n\
         tests: [{vars: {a: \"tea; 'x'\"}, assert: [{type: javascript, value: 'true'}]}]\n",
    );
    let refused = cli.run(&["eval", "p.yaml", "--run-dir", "none"]).expect_code(2);
    for told in [
        "only with `--allow-code`", "prompt `prompts.py:key` (Python code)",
        "prompt `load.mjs` (JavaScript code)", "(a command)",
    ] {
        assert!(refused.stderr.contains(told), "{told}: {}", refused.stderr);
    }
    assert!(!cli.path("none").exists());

    cli.run(&["eval", "p.yaml", "--allow-code", "--run-dir", "run"]).expect_code(0);
    let found = rows(&cli, "run");
    let expected = [
        ("test-1/prompt-1", "tea; 'x'!", "pass"),
        ("test-1/prompt-2", "echo no key", "pass"),
        ("test-1/prompt-3", "whole tea; 'x'", "pass"),
        ("test-1/prompt-4", "y tea; 'x' tea; 'x'", "pass"),
        (
            "test-1/prompt-5",
            "$HOME `id` {\"vars\":{\"a\":\"tea; 'x'\"},\"provider\":{\"id\":\"echo\",\"label\":\"echo\"},\"config\":{}}",
            "pass",
        ),
    ];
    assert_eq!(answers(&found), expected, "{found:#?}");
}

#[test]
fn tests_come_from_programs_and_a_changed_one_is_noticed() {
    if !has(&["python3", "node"]) {
        return;
    }
    let mut cli = cli();
    cli.without_consent();
    let write = |word: &str| {
        let text = format!(
            "def generate_tests(config=None):\n    words = (config or {{}}).get('words', ['{word}'])\n\
             \x20   return [{{'description': w[:1] + '-test', 'vars': {{'a': w}}, 'assert': [{{'type': 'contains', 'value': w}}]}} for w in words]\n"
        );
        cli.file("tests.py", text);
    };
    write("tea");
    // More than a pipe can hold.
    cli.file(
        "many.cjs",
        "const fs = require('fs');\nmodule.exports = () => [{ description: 'long', vars: { a: 'x'.repeat(300000) }, assert: [{ type: 'contains', value: 'xx' }] }];\n",
    );
    cli.file(
        "p.yaml",
        "prompts: ['{{ a }}']\nproviders: [echo]\ntests:\n- file://tests.py\n- {path: 'file://tests.py:generate_tests', config: {words: [milk, '{% raw %}{{ a }}{% endraw %}']}}\n- file://many.cjs\n",
    );
    let refused = cli.run(&["eval", "p.yaml"]).expect_code(2);
    for told in [
        "p.yaml:4:3: tests `tests.py` (Python code)",
        "tests `tests.py:generate_tests` (Python code)",
        "p.yaml:6:3: tests `many.cjs` (JavaScript code)",
    ] {
        assert!(refused.stderr.contains(told), "{told}: {}", refused.stderr);
    }
    let valid = cli.run(&["validate", "p.yaml"]).expect_code(0);
    assert_eq!(valid.stderr.matches("W0407").count() + valid.stdout.matches("W0407").count(), 1);

    cli.run(&["eval", "p.yaml", "--allow-code", "--run-dir", "run"]).expect_code(0);
    let found = rows(&cli, "run");
    let ids: Vec<&Value> = found.iter().map(|row| &row["case_id"]).collect();
    assert_eq!(ids, ["long", "m-test", "t-test", "{-test"], "{found:#?}");

    write("tap");
    let resumed = cli.run(&["eval", "p.yaml", "--allow-code", "--resume", "run"]).expect_code(0);
    assert!(resumed.stderr.contains("3 cases kept"), "{}", resumed.stderr);
    assert_eq!(text(&rows(&cli, "run")[2], "answer"), "tap");
    assert!(!cli.path("__pycache__").exists());
}

#[test]
fn variables_come_from_programs() {
    if !has(&["python3", "node"]) {
        return;
    }
    let cli = cli();
    cli.file("role.py", "def get_var(name, prompt, others):\n    return {'output': f\"{name} for {others['role']} in {prompt} {{{{ role }}}}\"}\n");
    cli.file("who.mjs", "import 'node:os';\nexport default (name, prompt, vars, provider) => (vars.role === 'none' ? { error: 'no such role' } : { output: `${provider.label}` });\n");
    cli.file(
        "p.yaml",
        "prompts: ['{{ system }} | {{ who }}']\nproviders: [{id: echo, label: one}, {id: echo, label: two}]\n\
         defaultTest: {vars: {system: file://role.py, who: file://who.mjs}, assert: [{type: contains, value: tea}]}\n\
         tests: [{description: good, vars: {role: tea}}]\n",
    );
    cli.run(&["eval", "p.yaml", "--allow-code", "--run-dir", "run"]).expect_code(0);
    let found = rows(&cli, "run");
    let system = "system for tea in {{ system }} | {{ who }} {{ role }}";
    let (one, two) = (format!("{system} | one"), format!("{system} | two"));
    assert_eq!(
        answers(&found),
        [("good/provider-1", one.as_str(), "pass"), ("good/provider-2", two.as_str(), "pass")],
        "{found:#?}"
    );

    cli.file(
        "bad.yaml",
        "prompts: ['{{ who }}']\nproviders: [echo]\ntests: [{vars: {role: none, who: file://who.mjs}, assert: [{type: contains, value: tea}]}]\n",
    );
    let bad = cli.run(&["eval", "bad.yaml", "--allow-code"]).expect_code(2);
    assert!(bad.stderr.contains("`who.mjs` can't write the variable"), "{}", bad.stderr);
    assert!(bad.stderr.contains("bad.yaml:3:") && bad.stderr.contains("no such role"), "{}", bad.stderr);
}

#[test]
fn a_program_that_fails_is_named_with_its_last_error() {
    if !has(&["python3", "node", "sh"]) {
        return;
    }
    let cli = cli();
    cli.file("missing.py", "import no_such_module_here\n");
    cli.file("throws.py", "def make(context):\n    x = 1\n    return context['vars']['none']\n");
    cli.file("exits.py", "import os, sys\ndef make(context):\n    print('step one', file=sys.stderr)\n    print('ValueError: at the end', file=sys.stderr, flush=True)\n    os._exit(3)\n");
    cli.file("module.mjs", "import 'no-such-package-here';\nexport default () => 'x';\n");
    cli.file("number.py", "def make(context):\n    return 4\n");
    for (prompt, place) in [
        ("file://missing.py:make", "ModuleNotFoundError: No module named 'no_such_module_here' (line 1)"),
        ("file://throws.py:make", "KeyError: 'none' (line 3)"),
        ("file://throws.py:absent", "has no function 'absent'"),
        ("file://exits.py:make", "ValueError: at the end"),
        ("file://module.mjs", "Cannot find package 'no-such-package-here'"),
        ("file://number.py:make", "it returned `4`, which is not a prompt"),
        ("exec:sh -c 'echo out of tea >&2; exit 4'", "out of tea"),
        ("exec:no-such-command-here", "no-such-command-here"),
    ] {
        let prompt = serde_json::to_string(prompt).expect("a text");
        cli.file("p.yaml", format!("prompts: [{prompt}]\nproviders: [echo]\ntests: [{{assert: [{{type: contains, value: a}}]}}]\n"));
        let failed = cli.run(&["eval", "p.yaml", "--allow-code"]).expect_code(2);
        assert!(
            failed.stderr.contains("E0426") && failed.stderr.contains("p.yaml:1:11"),
            "{}",
            failed.stderr
        );
        assert!(failed.stderr.contains(place), "{prompt}: {}", failed.stderr);
    }
}
