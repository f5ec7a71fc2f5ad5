//! Cases with several trials: their rows, their aggregation, and calls that are paid for again.

use assize_testkit::cli::{CliOutput, CliTest};
use assize_testkit::mock::MockServer;
use serde_json::{Value, json};

use crate::runs::support::{eval, fixture, is_judging, model, printed, rows, suite};

/// A target that passes only at its first and third attempt.
const FLAKY: &str =
    "targets:\n- {name: flaky, provider: cli, command: \"test {ATTEMPT} = 2 && echo no || echo yes\"}\n";

fn flaky(execution: &str) -> CliTest {
    let cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    cli.file(".assize/targets.yaml", FLAKY);
    cli.file(
        "suite.yaml",
        format!(
            "name: s\nexecution: {{target: flaky{execution}}}\ntests:\n- {{id: a, criteria: c, input: i, \
             assertions: [{{type: contains, value: 'yes'}}]}}\n"
        ),
    );
    cli
}

fn run(cli: &CliTest, more: &[&str]) -> CliOutput {
    let mut args = vec!["eval", "suite.yaml", "--json", "-q", "--run-dir", "run"];
    args.extend(more);
    let _ = std::fs::remove_dir_all(cli.path("run"));
    cli.run(&args)
}

/// The only repeated case of a run.
fn case(output: &CliOutput) -> Value {
    printed(output)["metrics"]["repeats"]["cases"][0].clone()
}

#[test]
fn the_strategy_decides_what_trials_come_to() {
    for (execution, flags, code, verdict, score) in [
        (", trials: {count: 3}", &[][..], 0, "pass", 1.0),
        (", repeat: 3", &[], 0, "pass", 1.0),
        (", trials: {count: 3, strategy: pass_all}", &[], 1, "fail", 0.0),
        (", trials: {count: 3, strategy: mean}", &[], 1, "fail", 2.0 / 3.0),
        (", trials: {count: 3, strategy: mean}, threshold: 0.6", &[], 0, "pass", 2.0 / 3.0),
        // Lower end of Blaker's interval around 2 of 3: p^2 (3 - 2p) = 0.05.
        (", trials: {count: 3, strategy: confidence_interval}, threshold: 0.3", &[], 1, "fail", 0.135_350),
        // A flag that only sets the number of trials does not make it easier to pass.
        ("", &["--trials", "3"], 1, "fail", 2.0 / 3.0),
        ("", &["--trials", "3", "--trial-strategy", "pass_at_k"], 0, "pass", 1.0),
        (", trials: 5", &["--trials", "3"], 0, "pass", 1.0),
    ] {
        let output = run(&flaky(execution), flags);
        assert_eq!(output.code, Some(code), "{execution}: {}{}", output.stdout, output.stderr);
        let case = case(&output);
        assert_eq!(case["verdict"], verdict, "{execution}: {case}");
        let (found, wanted) = (case["score"].as_f64().expect("a score"), score);
        assert!((found - wanted).abs() < 1e-6, "{execution}: {found}, not {wanted}");
        assert_eq!((&case["run"], &case["passed"]), (&json!(3), &json!(2)), "{execution}");
    }
}

#[test]
fn trials_that_could_not_pass_are_refused_with_the_number_that_could() {
    let refused = "16 trials can't pass: even if all have the score 1, the lower end of the 95% CI of their mean is below the \
                   threshold of 0.8; 17 trials are needed for that";
    for (count, threshold, code, says) in [
        (16, "0.8", 2, Some(refused)),
        (17, "0.8", 1, None),
        (2, "0.2", 1, None),
        (1000, "1", 2, Some("no number of trials is enough for that")),
    ] {
        let execution =
            format!(", trials: {{count: {count}, strategy: confidence_interval}}, threshold: {threshold}");
        let cli = flaky(&execution);
        let validated = cli.run(&["validate", "suite.yaml"]);
        assert_eq!(
            validated.code,
            Some(if says.is_some() { 2 } else { 0 }),
            "{execution}: {}",
            validated.stdout
        );
        let output = run(&cli, &[]);
        assert_eq!(output.code, Some(code), "{execution}: {}", output.stderr);
        for text in [&validated.stdout, &output.stderr] {
            assert_eq!(text.contains("trials can't pass"), says.is_some(), "{text}");
            assert!(says.is_none_or(|says| text.contains(says)), "{text}");
        }
    }

    let by_option = run(&flaky(""), &["--trials", "3", "--trial-strategy", "confidence_interval"]);
    assert_eq!(by_option.code, Some(2), "{}", by_option.stderr);
    assert!(by_option.stderr.contains("3 trials can't pass"), "{}", by_option.stderr);
}

#[test]
fn every_trial_has_its_row_and_the_chances_of_k_are_unbiased() {
    let cli = flaky(", trials: 3");
    let output = run(&cli, &[]);
    let mut seen: Vec<(u64, String)> = rows(&cli, "run/results.jsonl")
        .iter()
        .map(|row| (row["repeat"].as_u64().unwrap(), row["verdict"].as_str().unwrap().to_owned()))
        .collect();
    seen.sort();
    assert_eq!(seen, [(1, "pass".to_owned()), (2, "fail".to_owned()), (3, "pass".to_owned())]);
    let printed = printed(&output);
    let pass_k = printed["metrics"]["repeats"]["pass_k"].as_array().unwrap().clone();
    // 2 of 3 passed: 1 - C(1, k) / C(3, k), and C(2, k) / C(3, k).
    let expected = [(1, 2.0 / 3.0, 2.0 / 3.0), (2, 1.0, 1.0 / 3.0), (3, 1.0, 0.0)];
    assert_eq!(pass_k.len(), expected.len());
    for (row, (k, any, all)) in pass_k.iter().zip(expected) {
        assert_eq!(row["k"], k);
        assert!((row["any"]["value"].as_f64().unwrap() - any).abs() < 1e-12, "{row}");
        assert!((row["all"]["value"].as_f64().unwrap() - all).abs() < 1e-12, "{row}");
    }
    assert_eq!(printed["counts"], json!({"pass": 2, "borderline": 0, "fail": 1, "incomplete": 0}));
    assert_eq!(printed["metrics"]["repeats"]["counts"]["pass"], 1);
    // The three scores of one case are one cluster, not three cases.
    assert_eq!(printed["metrics"]["mean_score"]["clusters"], 1);

    let shown = cli.run(&["eval", "suite.yaml", "-q", "--show", "none"]);
    for part in ["pass@k", "pass^k", "0.667", "1 case: 1 passed", "Trials      3: 2 passed, 1 failed"] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
}

#[test]
fn a_trial_that_could_not_be_judged_is_no_attempt_and_no_zero() {
    let cli = flaky(", trials: {count: 3, strategy: mean}");
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- {name: flaky, provider: cli, command: \"test {ATTEMPT} = 2 && exit 1 || echo yes\"}\n",
    );
    let output = run(&cli, &[]);
    assert_eq!(output.code, Some(3), "{}", output.stderr);
    let settled = case(&output);
    assert_eq!((&settled["verdict"], &settled["score"]), (&json!("incomplete"), &Value::Null));
    assert_eq!((&settled["decided"], &settled["passed"]), (&json!(2), &json!(2)));
    let pass_k = &printed(&output)["metrics"]["repeats"]["pass_k"];
    assert_eq!(pass_k[1]["any"]["value"], 1.0);
    assert_eq!(pass_k[2]["any"]["value"], Value::Null);
    assert!(pass_k[2]["any"]["undefined"].as_str().unwrap().contains("fewer than 3"), "{pass_k}");
    // One passing trial is enough, whatever happened to the others.
    let any = run(&cli, &["--trials", "3", "--trial-strategy", "pass_at_k"]);
    assert_eq!((any.code, &case(&any)["verdict"]), (Some(0), &json!("pass")), "{}", any.stdout);
}

#[test]
fn a_sequence_stops_at_the_first_pass_and_says_what_that_costs_the_figures() {
    let cli = flaky(", trials: {count: 5, early_stop: true}");
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- {name: flaky, provider: cli, command: \"test {ATTEMPT} = 3 && echo yes || echo no\"}\n",
    );
    let output = run(&cli, &["-j", "4"]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert_eq!(rows(&cli, "run/results.jsonl").len(), 3);
    let printed = printed(&output);
    assert_eq!(printed["not_run"], 0);
    let pass_k = &printed["metrics"]["repeats"]["pass_k"];
    let any: Vec<&Value> = pass_k.as_array().unwrap().iter().map(|row| &row["any"]["value"]).collect();
    assert_eq!(any, [&json!(0.0), &json!(0.0), &json!(1.0), &json!(1.0)], "of 1, 2, 4 and 5 attempts");
    assert_eq!(pass_k[1]["all"]["value"], Value::Null);
    // Only the first answers are a sample of equal cases.
    assert_eq!(
        (&printed["metrics"]["mean_score"]["value"], &printed["metrics"]["mean_score"]["n"]),
        (&json!(0.0), &json!(1))
    );
}

#[test]
fn a_cost_limit_ends_the_sequence_of_a_case() {
    let cli = flaky(", trials: {count: 5, strategy: mean, cost_limit_usd: 0.015}");
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- name: flaky\n  provider: cli\n  command: |\n    echo '{\"text\": \"yes\", \"cost_usd\": 0.01}'\n",
    );
    let output = run(&cli, &[]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert_eq!(rows(&cli, "run/results.jsonl").len(), 2);
    assert_eq!((&case(&output)["count"], &case(&output)["run"]), (&json!(5), &json!(2)));
}

#[test]
fn each_trial_is_bought_once_and_resumed_with_the_rest() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(2, &["yes one"], false));
    let more = ["--target", "openai:answers-1", "--trials", "3", "--run-dir", "run"];
    let output = eval(&cli, &more);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    let requests = server.requests();
    let judged = requests.iter().filter(|request| is_judging(request)).count();
    assert_eq!((requests.len(), judged), (12, 6), "two cases, three answers each, each judged by itself");
    assert_eq!(printed(&output)["metrics"]["repeats"]["cases"].as_array().map(Vec::len), Some(2));

    let again = eval(&cli, &["--target", "openai:answers-1", "--trials", "3", "--run-dir", "again"]);
    assert_eq!((again.code, server.requests().len()), (Some(0), 12), "everything is remembered");
    // More trials cost only the additional ones.
    let more_of_them = eval(&cli, &["--target", "openai:answers-1", "--trials", "4", "--run-dir", "more"]);
    assert_eq!((more_of_them.code, server.requests().len()), (Some(0), 16));

    let budget =
        ["--target", "openai:answers-1", "--trials", "3", "--no-cache", "--budget-calls", "5", "-j", "1"];
    let mut stopped = budget.to_vec();
    stopped.extend(["--run-dir", "stopped"]);
    assert_eq!(eval(&cli, &stopped).code, Some(4));
    let kept = rows(&cli, "stopped/results.jsonl").len();
    assert!((1..6).contains(&kept), "{kept}");
    let mut resumed = stopped.clone();
    resumed.extend(["--resume"]);
    resumed[6] = "100";
    let output = eval(&cli, &resumed);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert_eq!(rows(&cli, "stopped/results.jsonl").len(), 6);
    assert_eq!(printed(&output)["metrics"]["repeats"]["counts"]["pass"], 2);
}

#[test]
fn stored_trials_are_settled_again_without_asking_anybody() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, &["yes one", "no two"], true));
    let output = eval(&cli, &["--trials", "2", "--trial-strategy", "mean", "--run-dir", "run"]);
    assert_eq!(output.code, Some(1), "{}", output.stdout);
    let asked = server.requests().len();
    let again = cli.run(&["score", "run", "--threshold", "0.5", "--json"]);
    assert_eq!(again.code, Some(0), "{}{}", again.stdout, again.stderr);
    assert_eq!(printed(&again)["metrics"]["repeats"]["cases"][0]["verdict"], "pass");
    assert_eq!(server.requests().len(), asked);
    let twin = cli.run(&["compare", "run", "run", "--json"]);
    assert_eq!(twin.code, Some(0), "{}{}", twin.stdout, twin.stderr);
}
