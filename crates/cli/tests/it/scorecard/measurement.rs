//! Comparisons of scorecard runs whose measurement changed: no gate holds if it was measured differently.

use assize_testkit::cli::CliTest;
use assize_testkit::mock::MockServer;
use serde_json::Value;

use crate::scorecard::support::{fixture_of, judge, printed, run, write_card};

/// Two hard gates: a check, and a judge.
const GATES: &str = "\
index: {code: TOP, passing_threshold: 0.5, components: [C], weight_sets: {pilot: {C: 1.0}}}
rubrics:
  - {code: C, label: component, weight: 1.0, aggregation_method: WEIGHTED_AVERAGE, passing_threshold: 0.5, sub_rubrics: [R]}
  - {code: R, label: rubric, weight: 1.0, aggregation_method: WEIGHTED_AVERAGE, passing_threshold: 0.5, benchmarks: [C1, C3]}
benchmarks:
  - code: C1
    concept: a judge decides
    weight: 0.5
    threshold: 1.0
    criticality: hard_gate
    evaluator_type: llm_judge
    llm_prompt_file: C1_prompt.md
    inclusion_criteria: Apply when asked. Flag if wrong.
    exclusion_criteria: Do not apply when silent.
    tags: [judged]
  - code: C3
    concept: a check decides
    weight: 0.5
    threshold: 1.0
    criticality: hard_gate
    evaluator_type: code
    evaluator_config: {deterministic: [{type: contains, value: hello}]}
    inclusion_criteria: Apply when asked. Flag if wrong.
    exclusion_criteria: Do not apply when silent.
    tags: [coded]
";

const CASES: [(&str, &str, &str); 4] = [
    ("j", "judged", "fine"),
    ("k", "judged", "fine"),
    ("m", "coded", "hello you"),
    ("n", "coded judged", "hello me"),
];

/// A fixture with a run of these gates in the folder `before`, which passes.
fn passing(server: &MockServer) -> CliTest {
    let cli = fixture_of(server, GATES, &CASES);
    run(&cli, &["--run-dir", "before"]).expect_code(0);
    cli
}

/// Checks that no gate holds, that the comparison names the part and the aspect, and that `--allow` accepts it.
fn expect_open(cli: &CliTest, part: &str, aspect: &str, allowed: i32) {
    for gates in ["blocked", "regression", "blocked,regression"] {
        let output = cli.run(&["scorecard", "compare", "before", "after", "--fail-on", gates]).expect_code(3);
        let told = format!("{part} ({aspect})");
        let text = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("measured differently: ") && text.contains(&told), "{text}");
        assert!(text.contains(&format!("`--allow {aspect}`")), "{text}");
    }

    let found = printed(&cli.run(&["scorecard", "compare", "before", "after", "--json"]).expect_code(0));
    let changes = found["measured_differently"].as_array().expect("a list");
    assert!(
        changes.iter().any(|change| change["code"] == part && change["respect"] == aspect),
        "{changes:?}"
    );

    cli.run(&[
        "scorecard", "compare", "before", "after", "--fail-on", "blocked,regression", "--allow", aspect,
    ])
    .expect_code(allowed);

    assert_marked(cli, part);
}

/// Checks that the trend marks the later run, and names the part.
fn assert_marked(cli: &CliTest, part: &str) {
    let found = printed(&cli.run(&["scorecard", "trend", "before", "after", "--json"]).expect_code(0));
    let changed = &found["runs"][1]["changed"];
    assert!(changed.to_string().contains(part), "{changed}");
    let text = cli.run(&["scorecard", "trend", "before", "after"]).expect_code(0).stdout;
    assert!(text.contains("⚠"), "{text}");
}

fn rewrite(cli: &CliTest, file: &str, from: &str, to: &str) {
    let text = cli.read(file);
    assert!(text.contains(from), "{text}");
    cli.file(file, text.replace(from, to));
}

#[test]
fn the_same_measurement_leaves_the_gates_alone() {
    let server = MockServer::start(judge);
    let cli = passing(&server);
    run(&cli, &["--run-dir", "after"]).expect_code(0);
    cli.run(&["scorecard", "compare", "before", "after", "--fail-on", "blocked,regression"]).expect_code(0);
    let found = printed(&cli.run(&["scorecard", "compare", "before", "after", "--json"]).expect_code(0));
    assert_eq!(found["measured_differently"], Value::Array(Vec::new()));
}

#[test]
fn a_weaker_check_of_a_hard_gate_is_noticed() {
    let server = MockServer::start(judge);
    let cli = passing(&server);
    rewrite(&cli, "card.yaml", "value: hello", "value: e");
    run(&cli, &["--run-dir", "after"]).expect_code(0);
    expect_open(&cli, "C3", "rubric", 0);
}

#[test]
fn another_prompt_is_noticed() {
    let server = MockServer::start(judge);
    let cli = passing(&server);
    rewrite(&cli, "C1_prompt.md", "1. It is there.", "1. It is there, or not.");
    run(&cli, &["--run-dir", "after"]).expect_code(0);
    let gates = |allow: &str| {
        cli.run(&["scorecard", "compare", "before", "after", "--fail-on", "regression", "--allow", allow])
    };
    let open = gates("question").expect_code(3).stdout;
    assert!(open.contains("C1 (rubric)"), "{open}");
    gates("rubric,prompt").expect_code(0);
    assert_marked(&cli, "C1");
}

#[test]
fn another_judge_is_noticed() {
    let server = MockServer::start(judge);
    let cli = passing(&server);
    cli.run(&["scorecard", "run", "card.yaml", "--judge", "openai:judge-2", "-q", "--run-dir", "after"])
        .expect_code(0);
    expect_open(&cli, "C1", "judge", 0);
    let text = cli.run(&["scorecard", "compare", "before", "after"]).expect_code(0).stdout;
    assert!(text.contains("judge-2") && text.contains("instead of"), "{text}");
}

#[test]
fn other_inputs_of_a_case_are_noticed() {
    let server = MockServer::start(judge);
    for (from, to) in [("the truth", "another truth"), ("the narrative", "another narrative")] {
        let cli = passing(&server);
        rewrite(&cli, "card.yaml", from, to);
        run(&cli, &["--run-dir", "after"]).expect_code(0);
        expect_open(&cli, "C1", "question", 0);
    }
}

#[test]
fn a_lower_threshold_does_not_hide_a_new_failure() {
    let server = MockServer::start(judge);
    let cli = passing(&server);
    let mut cases = CASES;
    cases[2].2 = "bye";
    write_card(&cli, &GATES.replace("threshold: 1.0", "threshold: 0.5"), &cases, &[]);
    run(&cli, &["--run-dir", "after"]).expect_code(0);
    expect_open(&cli, "C3", "thresholds", 0);
}

#[test]
fn a_case_that_a_hard_gate_no_longer_counts_leaves_it_open() {
    let server = MockServer::start(judge);
    let cli = passing(&server);

    // The case still exists, but its tags no longer name the gate that it would fail.
    let mut cases = CASES;
    cases[3] = ("n", "judged", "bye");
    write_card(&cli, GATES, &cases, &[]);
    run(&cli, &["--run-dir", "after"]).expect_code(0);
    for gates in ["blocked", "regression"] {
        // `--allow` does not make up for a missing case.
        let args =
            ["scorecard", "compare", "before", "after", "--fail-on", gates, "--allow", "all", "--json"];
        let found = printed(&cli.run(&args).expect_code(3));
        assert!(found["gates"][0]["says"].as_str().expect("text").contains("no longer do: C3"), "{found}");
        let change = found["measured_differently"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|change| change["respect"].is_null())
            .expect("a change");
        assert_eq!((&change["code"], &change["gates"]), (&"C3".into(), &true.into()), "{found}");
    }
    assert_marked(&cli, "C3");
}

#[test]
fn a_case_that_the_judge_waves_aside_leaves_its_gate_open() {
    let server = MockServer::start(judge);
    let card = GATES.replace("benchmarks: [C1, C3]", "benchmarks: [C1]");
    let card = card.split("  - code: C3").next().expect("text").replace("weight: 0.5", "weight: 1.0");
    // Without tags, only the judge can say which cases the benchmark applies to.
    let card = card.replace("    tags: [judged]\n", "");
    let cli = fixture_of(&server, &card, &[("a", "", "fine"), ("b", "", "fine")]);
    run(&cli, &["--run-dir", "before"]).expect_code(0);
    write_card(&cli, &card, &[("a", "", "not-for-me"), ("b", "", "fine")], &[]);
    run(&cli, &["--run-dir", "after"]).expect_code(0);
    let output = cli
        .run(&["scorecard", "compare", "before", "after", "--fail-on", "blocked,regression"])
        .expect_code(3);
    assert!(output.stdout.contains("such as `a`"), "{}", output.stdout);
    assert_marked(&cli, "C1");
}
