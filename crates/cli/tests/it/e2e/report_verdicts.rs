//! Reports of every format agree with the exit code of their run: red exactly if it is not 0.

use assize_testkit::cli::CliTest;
use serde_json::{Value, json};

use crate::e2e::bench::cli;

/// A target that passes only at its first and third attempt, and one that answers the first case and then
/// hangs.
const TARGETS: &str = "targets:\n\
    - {name: flaky, provider: cli, command: \"test {ATTEMPT} = 2 && echo no || echo yes\"}\n\
    - {name: hangs, provider: cli, command: \"test -e begun && sleep 60; touch begun; echo yes\"}\n\
    - {name: stuck, provider: cli, command: sleep 60}\n\
    - {name: broken, provider: cli, command: exit 3}\n";

/// Formats whose report is red or green.
const FORMATS: [&str; 10] =
    ["junit", "sarif", "gitlab", "github", "markdown", "html", "csv", "csv-cases", "otlp", "json"];

/// Returns true if a reader of the report sees a failure or an error.
fn is_red(format: &str, text: &str) -> bool {
    let value = || -> Value { serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}")) };
    match format {
        "junit" => {
            let document = roxmltree::Document::parse(text).expect("XML");
            let count = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count();
            let said = |name: &str| document.root_element().attribute(name).map(str::to_owned);
            assert_eq!(said("failures"), Some(count("failure").to_string()), "{text}");
            assert_eq!(said("errors"), Some(count("error").to_string()), "{text}");
            assert_eq!(said("tests"), Some(count("testcase").to_string()), "{text}");
            count("failure") + count("error") > 0
        }
        "sarif" => {
            let value = value();
            let results = value["runs"][0]["results"].as_array().expect("a list");
            results.iter().any(|result| result["level"] != "note")
        }
        "gitlab" => value().as_array().expect("a list").iter().any(|entry| entry["severity"] != "info"),
        "github" => text.lines().any(|line| line.starts_with("::error") || line.starts_with("::warning")),
        "markdown" => {
            let heading = text.lines().find(|line| line.starts_with("### ")).expect("a heading");
            let is_green = heading.starts_with("### ✅");
            let says_so = heading.contains("did not pass") || heading.contains("not run");
            assert!(!is_green || !says_so, "{heading}");
            assert!(is_green || !heading.contains("all of"), "{heading}");
            !is_green
        }
        "html" => !text.contains("<p class=\"verdict good\">"),
        "csv" | "csv-cases" => {
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let mut is_red = false;
            for row in reader.records() {
                let result = row.expect("a row").iter().next_back().expect("a cell").to_owned();
                is_red |= !["pass", "measured", "allowed", "run_note"].contains(&result.as_str());
            }
            is_red
        }
        "otlp" => {
            let last: Value = serde_json::from_str(text.lines().last().expect("a line")).expect("JSON");
            let record = &last["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
            record["severityText"] == "ERROR"
        }
        "json" => value()["exit_code"] != 0,
        other => unreachable!("{other}"),
    }
}

/// Asserts that all reports of the run agree with its exit code.
#[track_caller]
fn assert_reports(cli: &CliTest, what: &str, code: Option<i32>) {
    for format in FORMATS {
        let output = cli.run(&["report", "run", "--format", format]).expect_code(0);
        let red = is_red(format, &output.stdout);
        assert_eq!(red, code != Some(0), "{what}, {format}, exit code {code:?}:\n{}", output.stdout);
    }
}

/// A suite with these settings and these cases: id, target or answer, and the required word.
fn suite(execution: &str, cases: &[&str]) -> String {
    format!("name: s\nexecution: {{{execution}}}\ntests:\n- {}\n", cases.join("\n- "))
}

fn given(id: &str, answer: &str) -> String {
    format!(
        "{{id: {id}, criteria: c, input: i, output: '{answer}', assertions: [{{type: contains, value: 'yes'}}]}}"
    )
}

fn asked(id: &str) -> String {
    format!("{{id: {id}, criteria: c, input: i, assertions: [{{type: contains, value: 'yes'}}]}}")
}

/// Runs the suite and returns its exit code.
fn eval(cli: &CliTest, suite: String, more: &[&str]) -> Option<i32> {
    cli.file(".assize/targets.yaml", TARGETS).file("s.yaml", suite);
    let _ = std::fs::remove_dir_all(cli.path("run"));
    let _ = std::fs::remove_file(cli.path("begun"));
    cli.run(&[&["eval", "s.yaml", "-q", "--run-dir", "run"], more].concat()).code
}

/// Changes the stored run into one that was killed after its rows.
fn kill(cli: &CliTest) {
    cli.drop_checksums("run");
    let mut info: Value = serde_json::from_str(&cli.read("run/run.json")).expect("JSON");
    info["finished_at"] = Value::Null;
    info["summary"] = Value::Null;
    info.as_object_mut().expect("an object").remove("rows");
    cli.file("run/run.json", info.to_string());
}

#[test]
fn cases_that_fail_or_have_no_verdict_are_red_everywhere() {
    let cli = cli();
    let rubric = "{id: a, criteria: c, input: i, output: x, assertions: [{type: rubrics, criteria: [{id: x, outcome: \
                  Names `x`}, {id: y, outcome: Names `y`}]}]}";
    for (what, execution, cases, code) in [
        ("passed", "", vec![given("a", "yes"), given("b", "yes")], 0),
        ("failed", "", vec![given("a", "yes"), given("b", "no")], 1),
        ("borderline", "threshold: 0.9, borderline: 0.4", vec![rubric.to_owned()], 1),
        ("passed with an unmet criterion", "threshold: 0.5", vec![rubric.to_owned()], 0),
        ("without an answer", "target: broken", vec![asked("a")], 3),
        ("skipped", "", vec![given("b", "no"), format!("{{depends_on: [b], {}", &given("a", "yes")[1..])], 1),
    ] {
        let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
        let found = eval(&cli, suite(execution, &cases), &[]);
        assert_eq!(found, Some(code), "{what}");
        assert_reports(&cli, what, found);
    }
}

#[test]
fn gates_on_the_run_decide_in_the_place_of_its_cases() {
    let cli = cli();
    let (good, bad) = (given("a", "yes"), given("b", "no"));
    let broken =
        "{id: c, target: broken, criteria: c, input: i, assertions: [{type: contains, value: 'yes'}]}";
    let decided = ["--stop-when", "decided", "--against", "0.2"];
    let rate = |rate: &'static str| ["--min-pass-rate", rate];
    let many: Vec<String> =
        (0..40).map(|n| given(&format!("n{n}"), if n % 10 == 0 { "no" } else { "yes" })).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let failing: Vec<String> = (0..40).map(|n| given(&format!("n{n}"), "no")).collect();
    let failing: Vec<&str> = failing.iter().map(String::as_str).collect();

    for (what, cases, args, code) in [
        ("rate met", vec![&*good, &bad], &rate("50%")[..], 0),
        ("rate missed", vec![&*good, &bad], &rate("70%"), 1),
        ("rate met without all verdicts", vec![&*good, &bad, broken], &rate("0.3"), 0),
        ("rate that is not known", vec![&*good, broken], &rate("0.9"), 3),
        ("nothing has a verdict", vec![broken], &rate("0"), 3),
        ("decided above", many, &decided, 0),
        ("decided below", failing, &["--stop-when", "decided", "--against", "0.8"], 1),
        ("not decided", vec![&*good, &bad], &["--stop-when", "decided", "--against", "0.5"], 5),
    ] {
        let found = eval(&cli, suite("", &cases), args);
        assert_eq!(found, Some(code), "{what}");
        assert_reports(&cli, what, found);
    }

    // A met gate marks the failures that it allows; a missed gate is a separate entry.
    assert_eq!(eval(&cli, suite("", &[&good, &bad]), &rate("50%")), Some(0));
    let report = |format: &str| cli.run(&["report", "run", "--format", format]).expect_code(0).stdout;
    let junit = report("junit");
    assert!(
        junit.contains("<skipped message=\"fail, but allowed (pass rate 1/2 cases (50.0%) reaches the minimum of 50.0%): "),
        "{junit}"
    );
    assert!(junit.contains("skipped=\"1\""), "{junit}");
    let markdown = report("markdown");
    let heading =
        "### ✅ s: 1 of 2 cases passed (50.0%); pass rate 1/2 cases (50.0%) reaches the minimum of 50.0%\n";
    assert!(markdown.contains(heading) && markdown.contains("| b |"), "{markdown}");

    assert_eq!(eval(&cli, suite("", &[&good, &bad]), &rate("70%")), Some(1));
    for (format, entry) in
        [("junit", "name=\"pass-rate\""), ("sarif", "run/pass-rate"), ("github", "::error")]
    {
        let text = report(format);
        assert!(text.contains(entry) && text.contains("is below the minimum of 70.0%"), "{text}");
    }
}

#[test]
fn cases_count_by_the_verdict_that_their_strategy_makes_of_the_trials() {
    let cli = cli();
    for (trials, code) in [
        ("{count: 3}", 0),
        ("{count: 3, strategy: pass_at_k}", 0),
        ("{count: 3, strategy: pass_all}", 1),
        ("{count: 3, strategy: mean}", 1),
        ("{count: 3, strategy: mean}, threshold: 0.6", 0),
        ("{count: 3, strategy: confidence_interval}, threshold: 0.3", 1),
    ] {
        let code = Some(code);
        let found = eval(&cli, suite(&format!("target: flaky, trials: {trials}"), &[&asked("a")]), &[]);
        assert_eq!(found, code, "{trials}");
        assert_reports(&cli, trials, found);

        let junit = cli.run(&["report", "run", "--format", "junit"]).stdout;
        assert!(junit.contains("tests=\"1\""), "{junit}");
        assert_eq!(code == Some(1), junit.contains("2 of 3 trials passed"), "{junit}");
    }
}

#[test]
fn cases_that_were_not_run_are_named_everywhere() {
    let cli = cli();
    let some = [asked("a"), asked("b"), asked("c")];
    let some: Vec<&str> = some.iter().map(String::as_str).collect();
    for (what, execution, missing) in [
        ("stopped", "target: hangs", "2 cases not run"),
        ("stopped before any case", "target: stuck", "3 cases not run"),
        ("stopped between trials", "target: hangs, trials: {count: 3, strategy: mean}", "8 trials not run"),
    ] {
        let code = eval(&cli, suite(execution, &some), &["-j", "1", "--deadline", "2s"]);
        assert_eq!(code, Some(3), "{what}");
        assert_reports(&cli, what, code);
        for format in ["junit", "sarif", "gitlab", "github", "markdown", "html", "csv", "csv-cases", "otlp"] {
            let text = cli.run(&["report", "run", "--format", format]).stdout;
            assert!(text.contains(missing), "{what}, {format}: {text}");
        }
    }
    let output = cli.run(&["report", "run", "-o", "r.md"]).expect_code(0);
    assert!(output.stderr.contains("`run`: Scope: 8 not run"), "{}", output.stderr);
    let log: Value =
        serde_json::from_str(&cli.run(&["report", "run", "--format", "inspect"]).stdout).expect("JSON");
    assert_eq!((&log["status"], &log["results"]["total_samples"]), (&json!("cancelled"), &json!(9)));

    let code = eval(&cli, suite("", &[&given("a", "yes")]), &[]);
    assert_eq!(code, Some(0));
    kill(&cli);
    assert_reports(&cli, "killed", Some(3));
    let found: Value =
        serde_json::from_str(&cli.run(&["report", "run", "--format", "json"]).stdout).expect("JSON");
    assert_eq!((&found["not_run"], &found["exit_code"]), (&Value::Null, &json!(3)));
    assert_eq!(found["exit_reason"], "the run did not end");
}

/// A scorecard of one benchmark that a check decides.
fn card(threshold: f64, gate: &str) -> String {
    format!(
        "index: {{code: TOP, passing_threshold: {threshold}, components: [C], weights: {{C: 1.0}}}}\nrubrics:\n- {{code: C, label: c, weight: 1, \
         aggregation_method: WEIGHTED_AVERAGE, passing_threshold: 0.1, benchmarks: [B]}}\nbenchmarks:\n- code: B\n  \
         concept: says yes\n  weight: 1\n  threshold: 0.1\n  criticality: {gate}\n  evaluator_type: code\n  \
         evaluator_config: {{deterministic: [{{type: contains, value: 'yes'}}]}}\n  inclusion_criteria: Apply when asked. Flag if wrong.\n  \
         exclusion_criteria: Do not apply when silent.\n  tags: [t]\ncases:\n- {{id: a, tags: [t], candidate_output: 'yes', \
         source_narrative: n, ground_truth: g}}\n- {{id: b, tags: [t], candidate_output: 'no', source_narrative: n, \
         ground_truth: g}}\n"
    )
}

#[test]
fn of_a_scorecard_the_tree_decides() {
    let cli = cli();
    for (threshold, code) in [(0.4, 0), (0.9, 1)] {
        let _ = std::fs::remove_dir_all(cli.path("run"));
        cli.file("card.yaml", card(threshold, "threshold_gate"));
        let output = cli.run(&["scorecard", "run", "card.yaml", "-q", "--run-dir", "run"]);
        assert_eq!(output.code, Some(code), "{}{}", output.stdout, output.stderr);
        assert_reports(&cli, "scorecard", output.code);
    }

    // Every case passes with 5 of 6 checks, but the index does not.
    let _ = std::fs::remove_dir_all(cli.path("run"));
    let words = ["y", "e", "s", "ye", "es", "zz"].map(|word| format!("{{type: contains, value: {word}}}"));
    let text =
        card(0.9, "threshold_gate").replace("candidate_output: 'no'", "candidate_output: 'yes'").replace(
            "[{type: contains, value: 'yes'}]",
            &format!("[{}]", words.join(", ")).replace("value: y}", "value: 'y'}"),
        );
    cli.file("card.yaml", text);
    let output = cli.run(&["scorecard", "run", "card.yaml", "-q", "--run-dir", "run"]).expect_code(1);
    assert_reports(&cli, "scorecard whose index fails", output.code);
    let text = cli.run(&["report", "run"]).stdout;
    assert!(text.contains("### ❌ TOP: 2 of 2 cases passed; TOP: fail at 0.833"), "{text}");
}

#[test]
fn what_an_audit_measures_with_is_no_failure() {
    let cli = cli();
    let case = "{id: a, criteria: c, input: i, output: x, assertions: [{type: rubrics, criteria: [Names `y`, Names `z`]}]}";
    cli.file("s.yaml", suite("", &[case]));
    let output = cli
        .run(&["audit", "order", "s.yaml", "--judging", "batched:2", "-q", "--run-dir", "run"])
        .expect_code(0);
    assert_reports(&cli, "audit order", output.code);
    let text = cli.run(&["report", "run"]).stdout;
    assert!(text.contains("cases measured") && !text.contains("did not pass"), "{text}");

    kill(&cli);
    assert_reports(&cli, "killed audit", Some(3));
}
