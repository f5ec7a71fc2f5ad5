//! `init`: the files it writes work at once, and existing files stay.

use serde_json::json;

use crate::e2e::bench::{KEY, cli, holds, object};

/// The schema named in a file's first line, as a path.
fn schema_of(cli: &assize_testkit::cli::CliTest, path: &str) -> std::path::PathBuf {
    let text = cli.read(path);
    let first = text.lines().next().unwrap_or_default();
    let named =
        first.strip_prefix("# yaml-language-server: $schema=").unwrap_or_else(|| panic!("{path}: {first}"));
    cli.path(path).parent().expect("inside").join(named)
}

#[test]
fn what_is_written_is_sound_and_runs_without_a_model() {
    for (format, yaml, run) in [
        ("tests", vec!["evals/first.eval.yaml"], vec!["eval", "evals"]),
        ("evalcases", vec!["evals/first.eval.yaml"], vec!["eval", "evals"]),
        (
            "scorecard",
            vec![
                "scorecard/rubrics/Q.yaml", "scorecard/benchmarks/Q-FACT.yaml",
                "scorecard/benchmarks/Q-TONE.yaml",
            ],
            vec!["scorecard", "score", "scorecard"],
        ),
    ] {
        let cli = cli();
        let output = cli.run(&["init", "--format", format, "--json"]).expect_code(0);
        let done = object(&output);
        let written: Vec<&str> =
            done["written"].as_array().expect("a list").iter().filter_map(|path| path.as_str()).collect();
        for path in yaml.iter().copied().chain([".assize/config.yaml"]) {
            assert!(written.contains(&path), "{format}: {written:?}");
            assert!(schema_of(&cli, path).is_file(), "{path} names no schema that is there");
        }
        let folder = if format == "scorecard" { "scorecard" } else { "evals" };
        let checked = cli.run(&["validate", folder, "--max-warnings", "0"]).expect_code(0);
        assert!(checked.stdout.contains("no problems"), "{}", checked.stdout);
        cli.run(&["lint", folder]).expect_code(0);
        // One of the cases of a suite fails, so that the reports have content.
        let graded = cli.run(&run).expect_code(i32::from(format != "scorecard"));
        assert_eq!(
            graded.stdout.contains("assize explain last delivery"),
            format != "scorecard",
            "{}",
            graded.stdout
        );
        let workflow = cli.read(".github/workflows/evals.yaml");
        assert!(
            workflow.contains(&run[..2].join(" ")) && !workflow.contains('@'.to_string().repeat(2).as_str())
        );
        assert!(workflow.contains(&run[..2].join(" ")), "{workflow}");
        assert!(
            !["@SUBJECT@", "@RUN@", "@SECRET@", "@DEFAULTS@", "@PREFIX@"]
                .iter()
                .any(|mark| workflow.contains(mark)),
            "{workflow}"
        );
        for line in ["/.assize/runs/", "/.assize/cache/", ".env"] {
            assert!(cli.read(".gitignore").lines().any(|written| written == line), "{line}");
        }
    }
}

#[test]
fn commands_without_a_path_read_the_folder_they_are_started_in() {
    let cli = cli();
    cli.run(&["init"]).expect_code(0);
    assert!(cli.run(&["validate"]).expect_code(0).stdout.contains("1 file, 3 cases"));
    assert!(cli.run(&["lint"]).expect_code(0).stdout.contains("1 file"));
    // One of them fails, so that the reports have content.
    let counts = object(&cli.run(&["eval", "--json"]).expect_code(1))["counts"].clone();
    assert_eq!((&counts["pass"], &counts["fail"]), (&json!(2), &json!(1)));
}

#[test]
fn a_converted_file_names_its_schema_where_there_is_one() {
    let cli = cli();
    cli.file("old.yaml", "evalcases:\n- {id: a, input: q, output: x, expected_outcome: Says x}\n");
    cli.run(&["convert", "old.yaml", "--to", "tests", "--out", "bare.eval.yaml"]).expect_code(0);
    assert!(!cli.read("bare.eval.yaml").contains("yaml-language-server"));
    cli.run(&["schema", "--out", ".assize/schemas"]).expect_code(0);
    cli.run(&["convert", "old.yaml", "--to", "tests", "--out", "./deep/er/new.eval.yaml"]).expect_code(0);
    assert!(schema_of(&cli, "deep/er/new.eval.yaml").is_file());
    cli.run(&["validate", "deep"]).expect_code(0);
}

#[test]
fn what_is_there_stays_unless_it_is_to_be_overwritten() {
    let cli = cli();
    cli.file("evals/first.eval.yaml", "mine\n").file(".gitignore", "target\n");
    let kept = object(&cli.run(&["init", "--yes", "--json"]).expect_code(0));
    assert_eq!(kept["kept"], serde_json::json!(["evals/first.eval.yaml"]));
    assert_eq!(cli.read("evals/first.eval.yaml"), "mine\n");
    assert!(cli.read(".gitignore").starts_with("target\n/.assize/runs/\n"));
    let shown = cli.run(&["init"]).expect_code(0).stdout;
    assert!(shown.contains("kept   evals/first.eval.yaml") && shown.contains("--force"), "{shown}");
    assert!(shown.contains("same   .env.example"), "{shown}");
    cli.run(&["init", "--force"]).expect_code(0);
    assert!(cli.read("evals/first.eval.yaml").contains("tests:"));
    assert_eq!(cli.read(".gitignore").matches(".env").count(), 1);
}

#[test]
fn the_folder_is_quoted_only_where_a_shell_needs_it() {
    let shown = cli().run(&["init", "my-evals"]).expect_code(0).stdout;
    assert!(shown.contains("cd my-evals\n"), "{shown}");
}

#[test]
fn keys_are_noticed_and_never_written_down() {
    let mut cli = cli();
    cli.env("OPENAI_API_KEY", KEY);
    let shown = cli.run(&["init", "here it is"]).expect_code(0).stdout;
    assert!(shown.contains("cd 'here it is'"), "{shown}");
    let config = cli.read("here it is/.assize/config.yaml");
    assert!(config.contains("openai:MODEL") && config.ends_with("judge: offline\n"), "{config}");
    assert!(!holds(cli.dir(), KEY) && !shown.contains(KEY));
    cli.run(&["init", "named", "--judge", "anthropic:some-model"]).expect_code(0);
    assert!(cli.read("named/.assize/config.yaml").ends_with("judge: anthropic:some-model\n"));
    let workflow = cli.read("named/.github/workflows/evals.yaml");
    assert!(!workflow.contains("--judge"), "the configuration names it: {workflow}");
    assert!(workflow.contains("ANTHROPIC_API_KEY: ${{ secrets.ANTHROPIC_API_KEY }}"), "{workflow}");
}

#[test]
fn the_workflow_keeps_what_a_failed_case_must_not_cost_again() {
    let cli = cli();
    cli.run(&["init"]).expect_code(0);
    let workflow = cli.read(".github/workflows/evals.yaml");
    let at = |text: &str| workflow.find(text).unwrap_or_else(|| panic!("no {text}: {workflow}"));
    assert!(!workflow.contains("actions/cache@"), "saves nothing after a failure: {workflow}");
    assert_eq!(workflow.matches("actions/cache/restore@v4").count(), 2);
    assert_eq!(workflow.matches("actions/cache/save@v4").count(), 2);
    assert!(at("if: steps.install.outputs.built == 'true'") < at("- name: Run"), "{workflow}");
    assert!(at("- name: Run") < at("if: always() && hashFiles('.assize/cache/**') != ''"), "{workflow}");
    assert!(workflow.contains("run: assize eval evals\n"), "{workflow}");
    assert!(at("assize report -o report.html -o summary.md") < at("GITHUB_STEP_SUMMARY"), "{workflow}");
    assert!(workflow.contains("\n            report.html\n"), "{workflow}");
    assert!(workflow.contains("github.ref_name == github.event.repository.default_branch"), "{workflow}");
}

#[test]
fn a_workflow_that_github_would_not_read_or_that_lacks_its_judge_is_named() {
    let cli = cli();
    std::fs::create_dir(cli.path(".git")).expect("created");
    let shown = cli.run(&["init", "deep/er", "--judge", "ollama:qwen3"]).expect_code(0).stdout;
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("move deep/er/.github/workflows/evals.yaml to .github/workflows/"), "{shown}");
    assert!(shown.contains("GitHub's runners can't reach"), "{shown}");
    let workflow = cli.read("deep/er/.github/workflows/evals.yaml");
    for text in ["working-directory: \"deep/er\"", "path: deep/er/.assize/cache", "deep/er/report.html"] {
        assert!(workflow.contains(text), "{text}: {workflow}");
    }

    let at_the_root = object(&cli.run(&["init", "--json"]).expect_code(0));
    assert_eq!(at_the_root["notes"], serde_json::json!([]));
}

#[test]
fn a_judge_that_is_no_name_is_refused_before_anything_is_written() {
    let cli = cli();
    for judge in ["", "a b", "x\nrun: rm", "$(id)", "-x"] {
        let refused = cli.run(&["init", &format!("--judge={judge}")]).expect_code(2);
        assert!(refused.stderr.contains("names no judge"), "{}", refused.stderr);
    }
    assert!(std::fs::read_dir(cli.dir()).expect("readable").next().is_none());
}
