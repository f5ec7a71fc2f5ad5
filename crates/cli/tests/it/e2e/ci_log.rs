//! Untrusted text in the log of a CI job: none of its lines is a command there.

use assize_testkit::cli::{CliOutput, CliTest};
use serde_json::json;

use crate::e2e::bench::cli;

/// Commands of GitHub Actions, of its older form, and of Azure Pipelines.
const COMMANDS: [&str; 3] =
    ["::set-output name=deploy::yes", "##[error]forged", "##vso[task.setvariable variable=a]b"];

#[track_caller]
fn no_commands(output: &CliOutput, annotations: bool) {
    for text in [&output.stdout, &output.stderr] {
        for line in text.split(['\n', '\r']) {
            assert!(annotations || !line.trim_start().starts_with("::"), "{line}");
            assert!(!line.starts_with("::set-output"), "{line}");
            assert!(!line.contains("##[") && !line.contains("##vso["), "{line}");
        }
    }
}

/// A finished run over answers that have a command at each column at which a line may break.
fn run() -> CliTest {
    let mut cli = cli();
    cli.env("GITHUB_ACTIONS", "true").env("CI", "true");
    let mut answers = String::new();
    for (number, command) in COMMANDS.iter().enumerate() {
        for width in 55..100 {
            let answer = format!("refund {} {command} refund", "x".repeat(width));
            answers.push_str(
                &json!({"id": format!("{number}-{width} {command}"), "answer": answer}).to_string(),
            );
            answers.push('\n');
        }
    }
    cli.file("answers.jsonl", answers);
    cli.file(
        "r.yaml",
        "- Says `refund`\n- 'Mentions xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx ::set-output name=a::b `nothing`'\n- '##vso[a] `refund`'\n",
    );
    cli
}

#[test]
fn results_hold_no_commands() {
    let cli = run();
    for more in [&["--show", "all"][..], &["--json"], &["--show", "failed"]] {
        let mut words = vec![
            "grade", "r.yaml", "--answers", "answers.jsonl", "--judge", "offline", "--run-dir", "run",
            "--force",
        ];
        words.retain(|word| *word != "--force");
        std::fs::remove_dir_all(cli.path("run")).ok();
        words.extend(more);
        no_commands(&cli.run(&words), false);
    }

    for words in [
        &["explain", "run"][..],
        &["explain", "run", "--json"],
        &["score", "run", "--show", "all"],
        &["score", "run", "--json"],
        &["compare", "run", "run"],
        &["compare", "run", "run", "--format", "markdown"],
        &["compare", "--trend", "run"],
        &["calibrate", "noise", "run"],
        &["review", "run", "--plain"],
        &["labels", "run"],
    ] {
        no_commands(&cli.run(words), false);
    }
}

#[test]
fn diagnostics_and_conversions_hold_no_commands() {
    let cli = run();
    for command in COMMANDS {
        let text = format!(
            "tests:\n- id: a\n  input: |\n    {command}\n  criteria: x\n  '{command}': 1\n  assertions: ['{command}']\n"
        );
        cli.file("s.eval.yaml", text);
        for words in [
            &["validate", "s.eval.yaml"][..],
            &["lint", "s.eval.yaml"],
            &["validate", "s.eval.yaml", "--format", "json"],
            &["validate", "s.eval.yaml", "--format", "sarif"],
            &["lint", "s.eval.yaml", "--format", "sarif"],
            &["eval", "s.eval.yaml", "--judge", "offline", "--run-dir", "other"],
            &["validate", command],
            &["explain", command],
        ] {
            no_commands(&cli.run(words), false);
        }
        for words in [
            &["validate", "s.eval.yaml", "--format", "github"],
            &["lint", "s.eval.yaml", "--format", "github"],
        ] {
            no_commands(&cli.run(words), true);
        }

        cli.file("c.yaml", format!("tests:\n- id: a\n  input: |\n    x\n    {command}\n  criteria: x\n"));
        no_commands(&cli.run(&["convert", "c.yaml", "--to", "tests"]).expect_code(2), false);
        cli.run(&["convert", "c.yaml", "--to", "tests", "--out", &format!("{}.yaml", command.len())])
            .expect_code(0);
    }
}
