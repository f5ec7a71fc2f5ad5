//! `list` and the names of runs: which runs there are, newest first, and the names that select them.

use assize_testkit::cli::CliOutput;
use serde_json::Value;

use crate::e2e::bench::cli;

const PASSING: &str = "name: good\ntests:\n- id: a\n  criteria: x\n  input: q\n  output: apples\n  assertions: [{type: contains, value: apples}]\n";
const FAILING: &str = "name: bad\ntests:\n- id: b\n  criteria: x\n  input: q\n  output: apples\n  assertions: [{type: contains, value: pears}]\n";

fn list(output: &CliOutput) -> Value {
    serde_json::from_str(&output.stdout).expect("JSON")
}

#[test]
fn runs_are_listed_newest_first_under_the_names_that_commands_take() {
    let cli = cli();
    let output = cli.run(&["list"]).expect_code(0);
    assert!(output.stdout.is_empty() && output.stderr.contains("no runs"), "{}", output.stderr);
    assert_eq!(list(&cli.run(&["list", "--json"]).expect_code(0)), serde_json::json!([]));

    cli.file("good.yaml", PASSING);
    cli.file("bad.yaml", FAILING);
    cli.run(&["eval", "good.yaml"]).expect_code(0);
    cli.run(&["eval", "bad.yaml"]).expect_code(1);

    let listed = list(&cli.run(&["list", "--json"]).expect_code(0));
    let names: Vec<_> = listed.as_array().expect("a list").iter().map(|run| run["name"].clone()).collect();
    assert_eq!(names, ["last", "last~1"]);
    assert_eq!((&listed[0]["suites"][0], &listed[0]["exit_code"]), (&"bad".into(), &1.into()));
    assert_eq!((&listed[1]["suites"][0], &listed[1]["pass_rate"]), (&"good".into(), &1.0.into()));
    assert_eq!(listed[1]["counts"]["pass"], 1);

    // The names select the runs.
    cli.run(&["explain", "last", "b"]).expect_code(0);
    cli.run(&["explain", "last~1", "a"]).expect_code(0);
    cli.run(&["explain", "last~2", "a"]).expect_code(2);

    let of_suite = list(&cli.run(&["list", "--suite", "good", "--json"]).expect_code(0));
    assert_eq!((of_suite.as_array().map(Vec::len), &of_suite[0]["name"]), (Some(1), &"last~1".into()));
}

#[test]
fn lists_fit_narrow_terminals() {
    let mut cli = cli();
    cli.env("COLUMNS", "40");
    cli.file("good.yaml", PASSING);
    cli.run(&["eval", "good.yaml"]).expect_code(0);
    let text = cli.run(&["list"]).expect_code(0).stdout;
    assert!(text.contains("last") && text.contains("good") && text.contains("passed"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains("1/1 passed, $0"), "{text}");
}

#[test]
fn a_run_takes_one_line_of_a_usual_terminal() {
    let mut cli = cli();
    cli.env("COLUMNS", "80");
    cli.file("good.yaml", PASSING.replace("name: good", "name: a-suite-with-quite-a-long-name-for-a-list"));
    cli.run(&["eval", "good.yaml"]).expect_code(0);
    cli.file("bad.yaml", FAILING);
    cli.run(&["eval", "bad.yaml"]).expect_code(1);
    let text = cli.run(&["list"]).expect_code(0).stdout;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.contains("a-suite-with") && text.contains('…'), "{text}");
}

#[test]
fn a_run_that_cannot_be_read_is_listed_as_such() {
    let cli = cli();
    cli.file(".assize/runs/20260101-000000-x/run.json", "{");
    let text = cli.run(&["list"]).expect_code(0).stdout;
    assert!(text.contains("unreadable"), "{text}");
    assert!(list(&cli.run(&["list", "--json"]).expect_code(0))[0]["error"].is_string());
}

#[test]
fn listed_ids_are_names_that_commands_take() {
    let mut cli = cli();
    cli.env("COLUMNS", "40");
    cli.file("good.yaml", PASSING).file("bad.yaml", FAILING);
    cli.run(&["eval", "bad.yaml"]).expect_code(1);
    cli.run(&["eval", "good.yaml"]).expect_code(0);

    let text = cli.run(&["list"]).expect_code(0).stdout;
    let ids: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("last"))
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    assert_eq!(ids.len(), 2, "{text}");
    for (id, case) in ids.iter().zip(["a", "b"]) {
        cli.run(&["explain", id, case]).expect_code(0);
        cli.run(&["report", id]).expect_code(0);
    }
    cli.run(&["compare", ids[0], ids[0]]).expect_code(0);
}

#[test]
fn a_run_is_named_by_the_suites_of_which_cases_were_selected() {
    let cli = cli();
    cli.file("evals/good.eval.yaml", PASSING).file("evals/bad.eval.yaml", FAILING);
    let output = cli.run(&["eval", "evals", "--filter", "a*"]).expect_code(0);
    assert!(!output.stdout.contains("0 cases"), "{}", output.stdout);
    let listed = cli.run(&["list"]).expect_code(0).stdout;
    assert!(listed.contains("good") && !listed.contains("bad"), "{listed}");
}

#[test]
fn runs_in_folders_of_their_own_are_listed_under_their_paths_while_they_are_there() {
    let cli = cli();
    cli.file("good.yaml", PASSING);
    cli.run(&["eval", "good.yaml", "--run-dir", "runs/first"]).expect_code(0);
    cli.run(&["eval", "good.yaml"]).expect_code(0);
    let names = || {
        let listed = list(&cli.run(&["list", "--json"]).expect_code(0));
        let listed = listed.as_array().expect("a list").clone();
        listed.iter().map(|run| run["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(), ["last", "runs/first"]);
    cli.run(&["explain", "runs/first", "a"]).expect_code(0);
    std::fs::remove_dir_all(cli.path("runs/first")).expect("it can be removed");
    assert_eq!(names(), ["last"]);
}
