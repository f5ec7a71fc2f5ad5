//! `compare`, `trend` and `power` over runs made by the real program.

use std::fs;

use assize_testkit::cli::CliTest;
use assize_testkit::golden;
use serde_json::Value;

use crate::runs::support::{printed, rows};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/compare");

fn cli() -> CliTest {
    CliTest::new(env!("CARGO_BIN_EXE_assize"))
}

/// Every folder has answers in `NAME.jsonl`, graded by `NAME.yaml` if it exists and otherwise by `rubric.yaml`,
/// into a run folder `NAME`; then the command in `args` is run.
#[test]
fn comparisons_look_as_expected() {
    golden::run(FIXTURES, "txt", |case| {
        let mut cli = cli();
        cli.env("COLUMNS", "100");
        let mut runs = Vec::new();
        for entry in fs::read_dir(&case.input).expect("readable") {
            let path = entry.expect("readable").path();
            let name = path.file_name().expect("an entry").to_string_lossy().into_owned();
            cli.file(&name, fs::read(&path).expect("readable"));
            runs.extend(name.strip_suffix(".jsonl").map(str::to_owned));
        }
        for run in runs {
            let own = format!("{run}.yaml");
            let rubric = if cli.path(&own).exists() { &own } else { "rubric.yaml" };
            let output =
                cli.run(&["grade", rubric, "--answers", &format!("{run}.jsonl"), "--run-dir", &run, "-q"]);
            assert!(matches!(output.code, Some(0 | 1)), "{}", output.stderr);
        }
        let args = fs::read_to_string(case.input.join("args")).expect("arguments");
        cli.snapshot(&args.lines().collect::<Vec<_>>())
    });
}

/// Answers of this many cases; `apples` says which of them mention apples.
fn suite(name: &str, apples: &[bool], extra: &str) -> String {
    use std::fmt::Write as _;
    let mut text = format!("name: {name}\ntests:\n");
    for (at, good) in apples.iter().enumerate() {
        let answer = if *good { "apples" } else { "stones" };
        let _ = write!(
            text,
            "- id: c{at}\n  criteria: x\n  input: q{at}\n  output: {answer}\n{extra}  assertions:\n  - name: fruit\n    \
             type: rubrics\n    criteria:\n    - {{id: a, outcome: Names `apples`}}\n"
        );
    }
    text
}

fn eval(cli: &CliTest, file: &str, text: &str, out: &str) -> Value {
    cli.file(file, text);
    let output = cli.run(&["eval", file, "--run-dir", out, "--json", "-q"]);
    assert!(matches!(output.code, Some(0 | 1)), "{}", output.stderr);
    printed(&output)
}

#[test]
fn gates_end_with_their_codes() {
    let cli = cli();
    eval(&cli, "a.yaml", &suite("s", &[true; 10], ""), "a");
    eval(
        &cli,
        "b.yaml",
        &suite("s", &[true, true, true, true, false, false, false, false, false, false], ""),
        "b",
    );
    eval(
        &cli,
        "c.yaml",
        &suite("s", &[true, true, true, true, true, true, true, true, true, false], ""),
        "c",
    );
    for (args, code) in [
        (vec!["a", "b"], 0),
        (vec!["a", "b", "--fail-on", "worse"], 1),
        (vec!["b", "a", "--fail-on", "worse"], 0),
        (vec!["a", "c", "--fail-on", "worse"], 0),
        (vec!["a", "c", "--max-drop", "0.2"], 0),
        (vec!["a", "c", "--max-drop", "0.05"], 1),
        (vec!["a", "c", "--max-drop", "0.2", "--strict"], 5),
        (vec!["a", "c", "--fail-on-regression"], 1),
        (vec!["c", "a", "--fail-on-regression"], 0),
        (vec!["a", "c", "--strict"], 5),
        (vec!["a", "c", "--strict", "--fail-on-regression"], 1),
        (vec!["a", "a", "--strict"], 0),
        (vec!["a", "a", "--strict", "--margin", "0.05"], 5),
        // Two candidates: a difference that is significant with one is not with two, unless `--adjust none` is set.
        (vec!["a", "b", "c", "--fail-on", "worse"], 0),
        (vec!["a", "b", "c", "--fail-on", "worse", "--adjust", "none"], 1),
        (vec!["a", "--json"], 2),
        (vec!["a", "b", "--margin", "5"], 2),
        (vec!["a", "missing"], 2),
    ] {
        let words: Vec<&str> = ["compare"].into_iter().chain(args).collect();
        cli.run(&words).expect_code(code);
    }
    let value = printed(&cli.run(&["compare", "a", "b", "--json", "--fail-on", "worse"]));
    let found = &value["comparisons"][0];
    assert_eq!((value["exit_code"].as_u64(), found["verdict"].as_str()), (Some(1), Some("worse")));
    // Six of ten lost, none gained: 2/2^6.
    assert!((found["pass_rate"]["p"].as_f64().expect("a p value") - 2.0 / 64.0).abs() < 1e-9, "{found}");
    assert_eq!(found["regressions"].as_array().map(Vec::len), Some(6));
    let flip = &found["regressions"][0]["criteria"][0];
    assert!(flip["base_reason"].as_str().is_some_and(|reason| reason.contains("apples")), "{flip}");
    assert!(flip["candidate_reason"].as_str().is_some_and(|reason| reason.contains("None")), "{flip}");
    assert_eq!(value["gates"][0]["hold"], "failed");
}

#[test]
fn runs_that_share_nothing_or_were_measured_otherwise_are_refused() {
    let cli = cli();
    eval(&cli, "a.yaml", &suite("one", &[true; 3], ""), "a");
    eval(&cli, "b.yaml", &suite("two", &[true; 3], ""), "b");
    let output = cli.run(&["compare", "a", "b"]).expect_code(2);
    assert!(output.stderr.contains("share no case") && output.stderr.contains("`two`"), "{}", output.stderr);
    cli.run(&["compare", "a", "b", "--allow", "all"]).expect_code(2);

    let other = suite("one", &[true; 3], "").replace("input: q1", "input: another question");
    eval(&cli, "c.yaml", &other, "c");
    let output = cli.run(&["compare", "a", "c"]).expect_code(2);
    assert!(
        output.stderr.contains("question: in 1 of 3") && output.stderr.contains("`c1`"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("--allow question"), "{}", output.stderr);
    let output = cli.run(&["compare", "a", "c", "--allow", "question"]).expect_code(0);
    assert!(output.stdout.contains("NOT COMPARABLE (question)"), "{}", output.stdout);

    cli.run(&["eval", "a.yaml", "--threshold", "0.5", "--run-dir", "d", "-q"]).expect_code(0);
    let output = cli.run(&["compare", "a", "d", "--metric", "pass-rate"]).expect_code(2);
    assert!(output.stderr.contains("thresholds") && output.stderr.contains("pass 0.5"), "{}", output.stderr);
    assert!(
        output.stderr.contains("`--rescore`") && output.stderr.contains("--metric score"),
        "{}",
        output.stderr
    );
    // Thresholds affect no score. The pass rate, which they affect, is not compared.
    let output = cli.run(&["compare", "a", "d"]).expect_code(0);
    assert!(output.stdout.contains("Pass rate: not compared."), "{}", output.stdout);
    cli.run(&["compare", "a", "d", "--fail-on", "worse"]).expect_code(3);
    cli.run(&["compare", "a", "d", "--fail-on-regression"]).expect_code(3);
    cli.run(&["compare", "a", "d", "--metric", "pass-rate", "--rescore"]).expect_code(0);
}

/// Answers with two criteria, one of them met.
fn weighed(weight: f64, required: bool, words: &str) -> String {
    use std::fmt::Write as _;
    let mut text = "name: s\ntests:\n".to_owned();
    for at in 0..8 {
        let answer = if at < 6 { "apples" } else { "apples and pears" };
        let _ = write!(
            text,
            "- id: c{at}\n  criteria: x\n  input: q{at}\n  output: {answer}\n  assertions:\n  - name: fruit\n    \
             type: rubrics\n    required: {required}\n    criteria:\n    - {{id: a, outcome: Names `apples`}}\n    \
             - {{id: b, outcome: {words}, weight: {weight}}}\n"
        );
    }
    text
}

#[test]
fn runs_are_scored_again_under_one_set_of_weights() {
    let cli = cli();
    eval(&cli, "a.yaml", &weighed(1.0, false, "Names `pears`"), "a");
    eval(&cli, "b.yaml", &weighed(0.1, true, "Names `pears`"), "b");
    eval(&cli, "c.yaml", &weighed(1.0, false, "Names two `pears`"), "c");
    let scores = |args: &[&str]| -> Vec<f64> {
        let found = printed(&cli.run(&[&["compare", "--json"], args].concat()).expect_code(0));
        assert!(found["rescored_with"].is_string(), "{found}");
        let score = &found["comparisons"][0]["score"];
        assert_eq!(found["comparisons"][0]["verdict"], "no_difference", "{found}");
        vec![score["base"].as_f64().expect("known"), score["candidate"].as_f64().expect("known")]
    };

    // The same answers with other weights are not other answers.
    let output = cli.run(&["compare", "a", "b"]).expect_code(2);
    assert!(
        output.stderr.contains("another weight") || output.stderr.contains("another gate"),
        "{}",
        output.stderr
    );
    let heavy = (6.0 * 0.5 + 2.0) / 8.0;
    let light = (6.0 / 1.1 + 2.0) / 8.0;
    for (args, expected) in [
        (vec!["a", "b", "--rescore"], light),
        (vec!["b", "a", "--rescore"], heavy),
        (vec!["a", "b", "--rescore=a.yaml"], heavy),
    ] {
        for score in scores(&args) {
            assert!((score - expected).abs() < 1e-9, "{args:?}: {score} instead of {expected}");
        }
    }

    // Decisions on other texts stay, and the message names the affected criteria.
    let output = cli.run(&["compare", "a", "c", "--rescore"]).expect_code(2);
    assert!(output.stderr.contains("`b` / the same id with other words"), "{}", output.stderr);
    assert!(!output.stderr.contains("`--rescore`"), "{}", output.stderr);
    cli.run(&["compare", "a", "b", "--rescore=missing.yaml"]).expect_code(2);
}

#[test]
fn undecided_cases_are_listed_and_no_answer_to_a_gate() {
    let cli = cli();
    eval(&cli, "a.yaml", &suite("s", &[true; 4], ""), "a");
    // The same run with one decision removed: the score is then between 0 and 1.
    for file in ["run.json", "results.jsonl", "judgements.jsonl", "inputs.jsonl"] {
        cli.file(format!("b/{file}"), cli.read(format!("a/{file}")));
    }
    let lines: Vec<String> = rows(&cli, "a/results.jsonl")
        .into_iter()
        .map(|mut row| {
            if row["case_id"] == "c2" {
                row["verdict"] = "incomplete".into();
                row["score"] = Value::Null;
                (row["score_low"], row["score_high"]) = (0.0.into(), 1.0.into());
            }
            row.to_string()
        })
        .collect();
    cli.file("b/results.jsonl", format!("{}\n", lines.join("\n")));
    cli.drop_checksums("b");
    let output = cli.run(&["compare", "a", "b", "--fail-on-regression"]).expect_code(3);
    assert!(output.stdout.contains("c2 (passed → incomplete)"), "{}", output.stdout);
    let value = printed(&cli.run(&["compare", "a", "b", "--json"]));
    let found = &value["comparisons"][0];
    assert_eq!((found["score"]["n"].as_u64(), found["pass_rate"]["n"].as_u64()), (Some(3), Some(3)));
    assert_eq!(found["score_bounds"], serde_json::json!([-0.25, 0.0]));
    assert_eq!(found["incomplete"][0]["case_id"], "c2", "{found}");
    assert!(found.get("undecided").is_none(), "{found}");
    // A run without decisions has undefined metrics and says so.
    let all: Vec<String> = rows(&cli, "b/results.jsonl")
        .into_iter()
        .map(|mut row| {
            row["verdict"] = "incomplete".into();
            row["score"] = Value::Null;
            row.to_string()
        })
        .collect();
    cli.file("b/results.jsonl", format!("{}\n", all.join("\n")));
    let output = cli.run(&["compare", "a", "b", "--max-drop", "0.1"]).expect_code(3);
    assert!(output.stdout.contains("No conclusion: there are no values"), "{}", output.stdout);
}

#[test]
fn answers_of_one_target_can_be_taken_out_of_a_run() {
    let cli = cli();
    let mut text = suite("s", &[true; 3], "");
    text = text.replace("  output: apples\n", "");
    cli.file("s.yaml", text);
    cli.file(
        "targets.yaml",
        "targets:\n- name: good\n  provider: cli\n  command: echo apples\n- name: bad\n  provider: cli\n  command: echo stones\n",
    );
    cli.run(&[
        "eval", "s.yaml", "--target", "good", "--target", "bad", "--targets", "targets.yaml", "--run-dir",
        "run", "-q",
    ])
    .expect_code(1);
    let output = cli.run(&["compare", "run", "run"]).expect_code(2);
    assert!(output.stderr.contains("`run@bad`, `run@good`"), "{}", output.stderr);
    let value = printed(&cli.run(&["compare", "run@good", "run@bad", "--json"]));
    assert_eq!(value["comparisons"][0]["pass_rate"]["difference"], -1.0);
    let output = cli.run(&["compare", "run@good", "run@ugly"]).expect_code(2);
    assert!(output.stderr.contains("`ugly`"), "{}", output.stderr);
}

#[test]
fn cases_of_one_origin_are_clusters() {
    let cli = cli();
    let value = eval(
        &cli,
        "a.yaml",
        &suite("s", &[true, false, true, false], "  metadata: {cluster: book-1}\n"),
        "a",
    );
    assert_eq!(value["metrics"]["mean_score"]["clusters"], 1);
    let undefined = value["metrics"]["mean_score"]["undefined"].as_str().unwrap_or_default();
    assert!(undefined.contains("single cluster"), "{value}");
    let text = suite("s", &[true, false, true, false], "  conversation_id: talk\n")
        .replacen("conversation_id: talk", "conversation_id: other", 1);
    let value = eval(&cli, "b.yaml", &text, "b");
    assert_eq!(value["metrics"]["mean_score"]["clusters"], 2);
    assert_eq!(value["metrics"]["mean_score"]["method"], "Wilson, effective n");
    assert_eq!(value["mean_score"]["method"], "Wilson, effective n over 2 clusters");
    let row = &rows(&cli, "b/results.jsonl")[0];
    assert!(
        row["cluster"].is_string() && row["case_hash"].as_str().is_some_and(|hash| hash.len() == 32),
        "{row}"
    );
}

#[test]
fn a_trend_takes_the_runs_of_the_newest_suites_in_their_order() {
    let cli = cli();
    let output = cli.run(&["compare", "--trend"]).expect_code(2);
    assert!(output.stderr.contains("no runs in"), "{}", output.stderr);
    let run = |text: &str| {
        cli.file("s.yaml", text);
        let output = cli.run(&["eval", "s.yaml", "-q", "--json"]);
        assert!(matches!(output.code, Some(0 | 1)), "{}", output.stderr);
    };
    run(&suite("other", &[true], ""));
    run(&suite("s", &[true, false], ""));
    run(&suite("s", &[true, true], ""));
    run(&suite("s", &[true, true], "").replace("Names `apples`", "Names red `apples`"));
    let output = cli.run(&["compare", "--trend", "--json"]).expect_code(0);
    assert!(output.stderr.contains("1 run of other suites"), "{}", output.stderr);
    let value = printed(&output);
    let rates: Vec<f64> = value["runs"]
        .as_array()
        .expect("runs")
        .iter()
        .map(|run| run["pass_rate"]["value"].as_f64().expect("a rate"))
        .collect();
    assert_eq!(rates[..2], [0.5, 1.0]);
    let changed = |at: usize| value["runs"][at]["changed"].as_array().expect("a list").len();
    assert_eq!((changed(0), changed(1), changed(2)), (0, 0, 1));
    assert_eq!(value["runs"][2]["changed"][0]["respect"], "rubric");
    let last = printed(&cli.run(&["compare", "--trend", "--last", "1", "--json"]));
    assert_eq!(last["runs"].as_array().map(Vec::len), Some(1));
    // `last` and `last~1` name the same runs.
    let named = printed(&cli.run(&["compare", "--trend", "last~2", "last~1", "--json"]));
    assert_eq!(named["runs"][0]["pass_rate"]["value"], 0.5);
    cli.run(&["compare", "last~1", "last~2", "--fail-on-regression"]).expect_code(1);
    let output = cli.run(&["compare", "last~9", "last"]).expect_code(2);
    assert!(output.stderr.contains("the oldest of which is `last~3`"), "{}", output.stderr);
    cli.run(&["compare", "--trend", "--suite", "nobody"]).expect_code(2);
}

#[test]
fn power_answers_from_numbers_and_from_runs() {
    let cli = cli();
    let answer = |args: &[&str], at: usize| {
        let words: Vec<&str> =
            ["calibrate", "power", "--json"].into_iter().chain(args.iter().copied()).collect();
        let output = cli.run(&words).expect_code(0);
        printed(&output)["needs"][at]["answer"].as_f64()
    };
    assert_eq!(answer(&["--pass-rate", "0.8", "--width", "0.1"], 0), Some(253.0));
    assert_eq!(answer(&["--difference", "0.1", "--discordance", "0.2"], 0), Some(168.0));
    eval(&cli, "a.yaml", &suite("s", &[true, true, false, true], ""), "a");
    eval(&cli, "b.yaml", &suite("s", &[true, false, false, true], ""), "b");
    let value = printed(&cli.run(&["calibrate", "power", "--from", "a", "--from", "b", "--json"]));
    assert_eq!(
        (value["known"]["pass_rate"].as_f64(), value["known"]["discordance"].as_f64()),
        (Some(0.75), Some(0.25))
    );
    for wrong in [
        vec!["calibrate", "power"],
        vec!["calibrate", "power", "--difference", "0.1"],
        vec!["calibrate", "power", "--pass-rate", "0.8", "--width", "0"],
        vec!["calibrate", "power", "--from", "a", "--from", "b", "--from", "a"],
        vec!["calibrate", "power", "--cluster-size", "3", "--pass-rate", "0.8", "--width", "0.1"],
    ] {
        cli.run(&wrong).expect_code(2);
    }
}

/// Runs a suite with one case and one grader into a folder.
fn eval_with_grader(cli: &CliTest, grader: &str, out: &str) {
    let text = format!(
        "name: s\ntests:\n- id: c\n  criteria: x\n  input: q\n  expected_output: '{{\"n\": 10, \"d\": 1}}'\n  \
         output: '{{\"n\": 11, \"d\": 1}}'\n  assertions:\n  - {grader}\n"
    );
    cli.file("s.yaml", text);
    let output = cli.run(&["eval", "s.yaml", "--run-dir", out, "-q"]);
    assert!(matches!(output.code, Some(0 | 1 | 3)), "{grader}\n{}", output.stderr);
}

#[test]
fn runs_whose_graders_have_other_settings_are_refused() {
    let pairs = [
        ("{type: is-json, name: g}", "{type: is-json, name: g, schema: {type: array}}"),
        (
            "{type: is-json, name: g, schema: {required: [n]}}",
            "{type: is-json, name: g, schema: {required: [m]}}",
        ),
        (
            "{type: field-accuracy, name: g, fields: [{path: n, match: numeric_tolerance, tolerance: 0.5}]}",
            "{type: field-accuracy, name: g, fields: [{path: n, match: numeric_tolerance, tolerance: 5}]}",
        ),
        (
            "{type: field-accuracy, name: g, fields: [{path: n}, {path: d}]}",
            "{type: field-accuracy, name: g, fields: [{path: d}]}",
        ),
        ("{type: token-usage, name: g, max_total: 10}", "{type: token-usage, name: g, max_total: 100}"),
        ("{type: latency, name: g, threshold: 10}", "{type: latency, name: g, threshold: 10000}"),
        ("{type: cost, name: g, budget: 0.1}", "{type: cost, name: g, budget: 1}"),
        (
            "{type: execution-metrics, name: g, max_tokens: 10}",
            "{type: execution-metrics, name: g, max_tool_calls: 10}",
        ),
        (
            "{type: tool-trajectory, name: g, mode: exact, expected: [{tool: a, args: {b: 1}}]}",
            "{type: tool-trajectory, name: g, mode: exact, expected: [{tool: a, args: {b: 1}}], args_match: ignore}",
        ),
        (
            "{type: tool-trajectory, name: g, mode: exact, expected: [{tool: a}]}",
            "{type: tool-trajectory, name: g, mode: subset, expected: [{tool: a}]}",
        ),
        (
            "{type: skill-trigger, name: g, skill: a}",
            "{type: skill-trigger, name: g, skill: a, should_trigger: false}",
        ),
        (
            "{type: code-grader, name: g, command: 'exit 1'}",
            "{type: code-grader, name: g, command: 'exit 0'}",
        ),
        (
            "{type: code-grader, name: g, command: 'exit 0', config: {strict: true}}",
            "{type: code-grader, name: g, command: 'exit 0', config: {strict: false}}",
        ),
        (
            "{type: composite, name: g, assertions: [{type: contains, name: a, value: '11'}], aggregator: {type: weighted_average}}",
            "{type: composite, name: g, assertions: [{type: contains, name: a, value: '1'}], aggregator: {type: weighted_average}}",
        ),
    ];
    for (at, (base, candidate)) in pairs.into_iter().enumerate() {
        let cli = cli();
        eval_with_grader(&cli, base, "a");
        eval_with_grader(&cli, base, "same");
        eval_with_grader(&cli, candidate, "b");

        let output = cli.run(&["compare", "a", "b"]).expect_code(2);
        assert!(output.stderr.contains("rubric: in 1 of 1 cases"), "{at}: {}", output.stderr);
        assert!(output.stderr.contains("grader `g`"), "{at}: {}", output.stderr);
        assert!(output.stderr.contains("--allow rubric"), "{at}: {}", output.stderr);
        cli.run(&["compare", "a", "b", "--allow", "rubric"]).expect_code(0);
        cli.run(&["compare", "a", "same"]).expect_code(0);

        let changed = |candidate: &str| -> Value {
            let found = printed(&cli.run(&["compare", "--trend", "a", candidate, "--json"]).expect_code(0));
            found["runs"][1]["changed"].clone()
        };
        assert_eq!(changed("b")[0]["respect"], "rubric", "{at}");
        assert_eq!(changed("same"), Value::Array(Vec::new()), "{at}");
    }
}

#[test]
fn runs_that_kept_no_settings_are_compared_by_what_they_kept() {
    let cli = cli();
    eval_with_grader(&cli, "{type: latency, name: g, threshold: 10}", "a");
    eval_with_grader(&cli, "{type: latency, name: g, threshold: 20}", "b");
    let mut row = rows(&cli, "a/results.jsonl").remove(0);
    let removed = row["graders"][0].as_object_mut().expect("a row").remove("settings");
    // Later versions compare their hashes with stored ones, so the hash of unchanged settings must not change.
    assert_eq!(removed, Some("24294eb2daf0041e2bc392236c780db3".into()));
    cli.file("a/results.jsonl", format!("{row}\n"));
    cli.drop_checksums("a");
    cli.run(&["compare", "a", "b"]).expect_code(0);
}

#[test]
fn the_folder_of_an_eval_file_is_no_setting_of_its_programs() {
    let cli = cli();
    for folder in ["one", "two"] {
        let text = "name: s\ntests:\n- {id: c, criteria: x, input: q, output: r, assertions: [\
                    {type: code-grader, name: g, command: 'exit 0', cwd: checks}]}\n";
        cli.file(format!("{folder}/s.yaml"), text).file(format!("{folder}/checks/readme"), "");
        cli.run(&["eval", &format!("{folder}/s.yaml"), "--run-dir", &format!("run-{folder}"), "-q"])
            .expect_code(0);
    }
    cli.run(&["compare", "run-one", "run-two"]).expect_code(0);
}

#[test]
fn options_of_trends_are_refused_without_a_trend() {
    let cli = cli();
    eval(&cli, "a.yaml", &suite("s", &[true; 3], ""), "a");
    for option in [["--target", "nope"], ["--suite", "nope"], ["--last", "1"]] {
        let output = cli.run(&["compare", "a", "a", option[0], option[1]]).expect_code(2);
        let said = format!("`{}` belongs to `compare --trend`", option[0]);
        assert!(output.stderr.contains(&said), "{}", output.stderr);
    }
    cli.run(&["compare", "--trend", "a", "a", "--last", "1"]).expect_code(0);
}

#[test]
fn a_comparison_may_be_looked_at_at_any_time_and_small_groups_are_pooled() {
    let cli = cli();
    // Tags of two to twenty cases; the candidate gets more and more of them right.
    let tagged = |text: String| {
        (0..80).fold(text, |text, at| {
            let tag = ["a", "b", "c", "d", "e"]
                [usize::from(at > 2) + usize::from(at > 6) + usize::from(at > 20) + usize::from(at > 50)];
            text.replace(&format!("- id: c{at}\n"), &format!("- id: c{at}\n  tags: [{tag}]\n"))
        })
    };
    let before: Vec<bool> = (0..80).map(|at| at % 2 == 0).collect();
    let after: Vec<bool> = (0..80).map(|at| at % 2 == 0 || at % 3 > 0).collect();
    eval(&cli, "s.yaml", &tagged(suite("s", &before, "")), "old");
    eval(&cli, "s.yaml", &tagged(suite("s", &after, "")), "new");

    let text = cli.run(&["compare", "old", "new", "--anytime"]).expect_code(0).stdout;
    assert!(text.contains("Valid at any time (new): +0.3") && text.contains("were not needed"), "{text}");
    let same = cli.run(&["compare", "old", "old", "--anytime"]).expect_code(0).stdout;
    assert!(same.contains("Inconclusive so far"), "{same}");

    let found: Value =
        serde_json::from_str(&cli.run(&["compare", "old", "new", "--json"]).expect_code(0).stdout)
            .expect("an object");
    let tables = found["comparisons"][0]["tables"].as_array().expect("tables");
    let tags = tables.iter().find(|table| table["by"] == "tag").expect("tags");
    assert_eq!(tags["too_small"], 2);
    let groups = tags["pooled"]["groups"].as_array().expect("groups");
    assert_eq!(groups.len(), 5);
    for group in groups {
        let of = |key: &str| group[key].as_f64().unwrap_or_else(|| panic!("{key} of {group}"));
        if of("pairs") < 6.0 {
            assert!(group["low"].is_null() && group["high"].is_null(), "{group}");
        } else {
            assert!(of("low") < of("estimate") && of("estimate") < of("high"), "{group}");
        }
        // Each lies between its own difference and the mean of all.
        let mean = tags["pooled"]["mean"].as_f64().expect("a number");
        let between = (of("estimate") - mean) * (of("difference") - of("estimate"));
        assert!(between >= -1e-9, "{group}");
    }
    assert!(text.contains("2 groups with fewer than 6 pairs are not tested"), "{text}");
}

#[test]
fn cases_that_all_change_alike_leave_no_interval_without_a_width() {
    let cli = cli();
    for (name, good) in [("old", false), ("new", true)] {
        eval(&cli, "s.yaml", &suite("s", &[good; 6], ""), name);
    }
    for more in [&[][..], &["--bootstrap"], &["--metric", "pass-rate"]] {
        let output = cli.run(&[&["compare", "old", "new", "--json"], more].concat()).expect_code(0);
        let found: Value = serde_json::from_str(&output.stdout).expect("an object");
        for metric in ["score", "pass_rate"] {
            let of = |key: &str| found["comparisons"][0][metric][key].as_f64().expect("a number");
            assert!(of("high") - of("low") > 0.05 && of("high") <= 1.0, "{more:?} {metric}: {found}");
        }
    }
}
