//! Cases that depend on each other, the order of cases, several targets, and runs that end early.

use assize_testkit::cli::{CliOutput, CliTest};
use serde_json::{Value, json};

use crate::runs::support::{printed, rows};

/// Targets that answer as their names suggest.
const TARGETS: &str = "targets:\n- {name: good, provider: cli, command: echo yes}\n- {name: bad, provider: cli, \
                       command: echo no}\n- {name: broken, provider: cli, command: exit 3}\n";

fn fixture(suite: &str) -> CliTest {
    let cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    cli.file(".assize/targets.yaml", TARGETS);
    cli.file("suite.yaml", suite);
    cli
}

/// A case with a check, and more keys.
fn case(id: &str, more: &str) -> String {
    format!("- {{id: {id}, criteria: c, input: i, assertions: [{{type: contains, value: 'yes'}}]{more}}}\n")
}

fn run(cli: &CliTest, more: &[&str]) -> CliOutput {
    let mut args = vec!["eval", "suite.yaml", "--json", "-q", "--run-dir", "run"];
    args.extend(more);
    let _ = std::fs::remove_dir_all(cli.path("run"));
    cli.run(&args)
}

/// Case ids with verdict and error kind, in the order in which they finished.
fn finished(cli: &CliTest) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let row = |row: &Value| (text(&row["case_id"]), text(&row["verdict"]), text(&row["error"]["kind"]));
    rows(cli, "run/results.jsonl").iter().map(row).collect()
}

fn of<'a>(rows: &'a [(String, String, String)], id: &str) -> (&'a str, &'a str) {
    let row = rows.iter().find(|row| row.0 == id).expect("a row");
    (&row.1, &row.2)
}

#[test]
fn a_case_waits_for_what_it_depends_on_wherever_that_stands() {
    let cli = fixture(&format!(
        "name: s\nexecution: {{target: good}}\ntests:\n{}{}{}",
        case("last", ", depends_on: [middle]"),
        case("middle", ", depends_on: first"),
        case("first", ""),
    ));
    for more in [&[][..], &["-j", "1"], &["--shuffle", "--seed", "3"]] {
        let output = run(&cli, more);
        assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
        let ids: Vec<String> = finished(&cli).into_iter().map(|row| row.0).collect();
        assert_eq!(ids, ["first", "middle", "last"], "{more:?}");
    }
}

#[test]
fn what_a_failed_dependency_means_is_said_and_never_a_zero() {
    let cli = fixture(&format!(
        "name: s\nexecution: {{target: bad}}\ntests:\n{}{}{}{}{}",
        case("first", ""),
        case("skips", ", depends_on: [first]"),
        case("fails", ", depends_on: [first], on_dependency_failure: fail"),
        case("runs", ", depends_on: [first], on_dependency_failure: run, execution: {target: good}"),
        case("behind", ", depends_on: [skips]"),
    ));
    let output = run(&cli, &[]);
    assert_eq!(output.code, Some(1), "{}{}", output.stdout, output.stderr);
    let rows = finished(&cli);
    assert_eq!(of(&rows, "first"), ("fail", ""));
    assert_eq!(of(&rows, "skips"), ("incomplete", "skipped"));
    assert_eq!(of(&rows, "fails"), ("fail", "dependency_failed"));
    assert_eq!(of(&rows, "runs"), ("pass", ""));
    assert_eq!(of(&rows, "behind"), ("incomplete", "skipped"));
    let stored = crate::runs::support::rows(&cli, "run/results.jsonl");
    for id in ["skips", "fails", "behind"] {
        let row = stored.iter().find(|row| row["case_id"] == id).expect("a row");
        assert_eq!((&row["score"], &row["answer"]), (&Value::Null, &Value::Null), "{row}");
        assert!(row["error"]["message"].as_str().unwrap().contains('`'), "{row}");
    }
    let printed = printed(&output);
    assert_eq!(
        printed["counts"],
        json!({"pass": 1, "borderline": 0, "fail": 2, "incomplete": 0, "skipped": 2})
    );
    // The mean is over scored cases, without skipped ones.
    assert_eq!(printed["metrics"]["mean_score"]["n"], 2);
    let shown = cli.run(&["eval", "suite.yaml", "-q"]);
    assert!(shown.stdout.contains("2 skipped") && shown.stdout.contains("– skipped"), "{}", shown.stdout);
}

#[test]
fn each_target_has_dependencies_of_its_own_and_a_summary_of_its_own() {
    let cli = fixture(&format!(
        "name: s\nexecution: {{targets: [good, bad]}}\ntests:\n{}{}",
        case("first", ""),
        case("second", ", depends_on: [first]"),
    ));
    let output = run(&cli, &[]);
    assert_eq!(output.code, Some(1), "{}{}", output.stdout, output.stderr);
    let printed = printed(&output);
    let targets = printed["metrics"]["targets"].as_array().unwrap().clone();
    let seen: Vec<(&Value, &Value, &Value, &Value)> = targets
        .iter()
        .map(|of| (&of["target"], &of["counts"]["pass"], &of["counts"]["fail"], &of["counts"]["skipped"]))
        .collect();
    assert_eq!(
        seen,
        [
            (&json!("bad"), &json!(0), &json!(1), &json!(1)),
            (&json!("good"), &json!(2), &json!(0), &Value::Null)
        ]
    );
    assert_eq!(targets[1]["pass_rate"]["value"], 1.0);
    let shown = cli.run(&["eval", "suite.yaml", "-q", "--show", "none"]);
    assert!(shown.stdout.lines().any(|line| line.trim_start().starts_with("good")), "{}", shown.stdout);
}

#[test]
fn a_selected_case_brings_what_it_depends_on() {
    let cli = fixture(&format!(
        "name: s\nexecution: {{target: good}}\ntests:\n{}{}{}",
        case("a", ""),
        case("b", ", depends_on: [a]"),
        case("c", ""),
    ));
    let output = cli.run(&["eval", "suite.yaml", "--filter", "b", "--json", "--run-dir", "run"]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert!(output.stderr.contains("`a` is also run, because `b` depends on it"), "{}", output.stderr);
    assert_eq!(finished(&cli).len(), 2);
}

#[test]
fn a_repeated_dependency_is_judged_by_what_its_repeats_come_to() {
    let cli = fixture(&format!(
        "name: s\nexecution: {{target: half}}\ntests:\n{}{}",
        case("second", ", depends_on: [first]"),
        case("first", ", execution: {trials: {count: 4, strategy: STRATEGY}}"),
    ));
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- {name: half, provider: cli, command: \"test {ATTEMPT} -gt 2 && echo no || echo yes\"}\n",
    );
    let text = cli.read("suite.yaml");
    for (strategy, verdict) in [("pass_at_k", "pass"), ("pass_all", "incomplete"), ("mean", "incomplete")] {
        cli.file("suite.yaml", text.replace("STRATEGY", strategy));
        run(&cli, &["-j", "3"]);
        assert_eq!(of(&finished(&cli), "second").0, verdict, "{strategy}");
    }
}

#[test]
fn a_skipped_case_is_looked_at_again_when_the_run_goes_on() {
    let cli = fixture(&format!(
        "name: s\nexecution: {{target: good}}\ntests:\n{}{}",
        case("a", ", output: 'no'"),
        case("b", ", depends_on: [a]"),
    ));
    assert_eq!(run(&cli, &[]).code, Some(1));
    assert_eq!(of(&finished(&cli), "b"), ("incomplete", "skipped"));
    cli.file("suite.yaml", cli.read("suite.yaml").replace("output: 'no'", "output: 'yes'"));
    let output = cli.run(&["eval", "suite.yaml", "--json", "-q", "--run-dir", "run", "--resume"]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert_eq!(of(&finished(&cli), "b"), ("pass", ""));
}

#[test]
fn a_seed_decides_the_order_and_is_told() {
    let cases: String = (0..12).map(|at| case(&format!("c{at}"), "")).collect();
    let cli = fixture(&format!("name: s\nexecution: {{target: good}}\ntests:\n{cases}"));
    let order = |more: &[&str]| {
        let mut args = vec!["-j", "1"];
        args.extend(more);
        assert_eq!(run(&cli, &args).code, Some(0));
        finished(&cli).into_iter().map(|row| row.0).collect::<Vec<_>>()
    };
    let plain = order(&[]);
    let seven = order(&["--shuffle", "--seed", "7"]);
    assert_eq!(seven, order(&["--shuffle", "--seed", "7"]));
    assert_ne!(seven, plain);
    let output = cli.run(&["eval", "suite.yaml", "--json", "--shuffle", "--run-dir", "told"]);
    let seed =
        output.stderr.split("--seed ").nth(1).and_then(|rest| rest.split('`').next()).unwrap().to_owned();
    let info: Value = serde_json::from_str(&cli.read("told/run.json")).expect("JSON");
    assert_eq!(info["settings"]["other"]["seed"], json!(seed));
    assert_eq!(cli.run(&["eval", "suite.yaml", "--seed", "7"]).code, Some(2), "a seed without --shuffle");
}

#[test]
fn bail_and_fail_on_error_begin_nothing_more_and_the_rest_is_resumed() {
    let cases = |first: &str| {
        format!(
            "name: s\nexecution: {{target: good, fail_on_error: true}}\ntests:\n{}{}{}",
            case("a", &format!(", execution: {{target: {first}}}")),
            case("b", ""),
            case("c", ""),
        )
    };
    // A failing case is not an error.
    let cli = fixture(&cases("bad"));
    let output = run(&cli, &["-j", "1"]);
    assert_eq!((output.code, finished(&cli).len()), (Some(1), 3), "{}", output.stderr);
    let output = run(&cli, &["-j", "1", "--bail"]);
    assert_eq!((output.code, finished(&cli).len()), (Some(1), 1), "{}", output.stderr);
    let printed_one = printed(&output);
    assert_eq!(printed_one["not_run"], 2);
    assert!(printed_one["exit_reason"].as_str().unwrap().contains("--bail"), "{printed_one}");
    let rest =
        cli.run(&["eval", "suite.yaml", "--json", "-q", "--run-dir", "run", "--resume", "--bail", "-j", "1"]);
    assert_eq!((rest.code, finished(&cli).len()), (Some(1), 3), "{}{}", rest.stdout, rest.stderr);
    assert_eq!(run(&cli, &["-j", "1", "--bail=2"]).code, Some(1));
    assert_eq!(finished(&cli).len(), 3);

    let cli = fixture(&cases("broken"));
    let output = run(&cli, &["-j", "1"]);
    assert_eq!((output.code, finished(&cli).len()), (Some(3), 1), "{}", output.stderr);
    assert_eq!(printed(&output)["not_run"], 2);
}
