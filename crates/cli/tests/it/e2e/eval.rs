//! `eval` with given answers and the offline judge: verdicts, exit codes, output.

use std::path::Path;

use assize_testkit::mock::{MockReply, always};

use crate::e2e::bench::{cli, info, object, one_case, rows, with_server};

const PASSING: &str = "name: passing\ntests:\n- id: ok\n  criteria: x\n  input: q\n  output: The capital is Paris.\n  \
                       assertions: [Names Paris as the capital]\n";
const FAILING: &str = "name: failing\ntests:\n- id: bad\n  criteria: x\n  input: q\n  output: No idea.\n  \
                       assertions: [Names Paris as the capital]\n";

#[test]
fn both_formats_pass_in_one_run_and_exit_with_0() {
    let cli = cli();
    cli.file("b.eval.yaml", PASSING);
    cli.file(
        "a.yaml",
        "evalcases:\n- id: one\n  expected_outcome: x\n  input_messages: [{role: user, content: q}]\n  \
         output: Quicksort picks a pivot.\n  rubrics:\n  - Mentions the pivot\n  - id: r\n    weight: 2\n    \
         required_min_score: 5\n    score_ranges:\n    - {score_range: [0, 4], expected_outcome: Says nothing about sorting}\n    \
         - {score_range: [5, 10], expected_outcome: Names quicksort and its pivot}\n",
    );
    let output =
        cli.run(&["eval", "a.yaml", "b.eval.yaml", "--show", "all", "--run-dir", "run"]).expect_code(0);
    for words in ["Names Paris as the capital", "“The capital is Paris.”", "Result", "exit code 0", "offline"]
    {
        assert!(output.stdout.contains(words), "{words} not in\n{}", output.stdout);
    }
    let rows = rows(&cli, "run");
    assert_eq!((rows[0]["case_id"].as_str(), rows[0]["format"].as_u64()), (Some("ok"), Some(2)));
    assert_eq!((rows[1]["case_id"].as_str(), rows[1]["format"].as_u64()), (Some("one"), Some(1)));
    assert!(rows.iter().all(|row| row["verdict"] == "pass"), "{rows:?}");
    assert_eq!(info(&cli, "run")["judges"][0]["chosen_by"], "default");
}

#[test]
fn a_failing_case_exits_with_1_and_a_borderline_one_too() {
    let cli = cli();
    cli.file("f.yaml", FAILING);
    cli.run(&["eval", "f.yaml"]).expect_code(1);
    // Two of three criteria are met: 0.667 lies between the thresholds 0.6 and 0.8 of the `evalcases` format.
    cli.file(
        "b.yaml",
        "evalcases:\n- id: b\n  expected_outcome: x\n  input_messages: [{role: user, content: q}]\n  \
         output: apples and pears\n  rubrics:\n  - {id: a, expected_outcome: apples, required: false}\n  \
         - {id: b, expected_outcome: pears, required: false}\n  - {id: c, expected_outcome: zebras, required: false}\n",
    );
    let value = object(&cli.run(&["eval", "b.yaml", "--json"]).expect_code(1));
    assert_eq!(value["counts"]["borderline"], 1);
    assert_eq!(value["exit_reason"], "1 borderline");
}

#[test]
fn a_failed_gate_fails_whatever_the_score() {
    let cli = cli();
    cli.file(
        "g.yaml",
        "name: g\ntests:\n- id: g\n  criteria: x\n  input: q\n  output: apples\n  assertions:\n  - name: fruit\n    \
         type: rubrics\n    criteria:\n    - {id: a, outcome: apples, weight: 99}\n    \
         - {id: b, outcome: zebras, weight: 1, required: true}\n",
    );
    cli.run(&["eval", "g.yaml", "--threshold", "0.5", "--run-dir", "run"]).expect_code(1);
    let row = &rows(&cli, "run")[0];
    assert_eq!(row["score"], 0.99);
    assert_eq!(row["verdict"], "fail");
    assert_eq!(row["gates_failed"][0]["grader"], "fruit");
    assert_eq!(row["gates_failed"][0]["criterion"], "b");
}

#[test]
fn invalid_input_exits_with_2_and_writes_nothing() {
    let cli = cli();
    cli.file(
        "bad.yaml",
        "name: bad\ntests:\n- id: a\n  criteria: x\n  input: q\n  ouptut: y\n- id: a\n  input: q\n",
    );
    for args in [
        &["eval", "bad.yaml"][..],
        &["eval", "bad.yaml", "--run-dir", "run"],
        &["eval", "bad.yaml", "--json"],
        &["eval", "absent.yaml"],
        &["eval", "."],
        &["eval"],
        &["eval", "bad.yaml", "--threshold", "7"],
        &["eval", "bad.yaml", "--nonsense"],
        &["nonsense"],
    ] {
        let output = cli.run(args).expect_code(2);
        // With `--json` stdout gets a document; otherwise only messages are printed.
        assert_eq!(output.stdout.is_empty(), !args.contains(&"--json"), "{args:?}: {}", output.stdout);
        assert!(output.stderr.contains("error"), "{args:?}: {}", output.stderr);
        assert!(!cli.path(".assize").exists() && !cli.path("run").exists(), "{args:?}");
    }
    let output = cli.run(&["eval", "bad.yaml"]);
    assert!(
        output.stderr.contains("did you mean `output`") || output.stderr.contains("`output`"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("bad.yaml:6:"), "all problems with their place: {}", output.stderr);
    assert!(output.stderr.contains("bad.yaml:7:"), "all problems with their place: {}", output.stderr);
}

#[test]
fn keep_going_runs_the_sound_cases_and_exits_with_3_or_more() {
    let cli = cli();
    cli.file("mixed.yaml", format!("{PASSING}- id: broken\n  criteria: x\n  input: q\n  ouptut: y\n"));
    let value = object(
        &cli.run(&["eval", "mixed.yaml", "--keep-going", "--json", "--run-dir", "run"]).expect_code(3),
    );
    assert_eq!((value["counts"]["pass"].as_u64(), value["excluded"].as_u64()), (Some(1), Some(1)));
    assert_eq!(value["exit_code"], 3);
    assert_eq!(rows(&cli, "run").len(), 1);
    cli.file("mixed.yaml", format!("{FAILING}- id: broken\n  criteria: x\n  input: q\n  ouptut: y\n"));
    cli.run(&["eval", "mixed.yaml", "--keep-going"]).expect_code(1);
}

#[test]
fn keep_going_runs_nothing_of_a_file_whose_settings_are_wrong() {
    let cli = cli();
    let wrong = [
        (
            "a key that is not read",
            format!("judge: gpt-4o\n{PASSING}"),
            "with `judge:` in the configuration file",
        ),
        (
            "an invalid grader of all cases",
            format!("assertions: [{{type: contians, value: x}}]\n{PASSING}"),
            "contians",
        ),
        ("cases that are not there", format!("{PASSING}- file://none.yaml\n"), "none.yaml"),
    ];
    for (name, text, says) in wrong {
        cli.file("wrong/w.eval.yaml", text);
        let output = cli.run(&["eval", "wrong", "--keep-going"]).expect_code(2);
        assert!(output.stderr.contains(says), "{name}: {}", output.stderr);
        assert!(output.stderr.contains("nothing was run"), "{name}: {}", output.stderr);
        let plain = cli.run(&["eval", "wrong"]).expect_code(2);
        assert!(!plain.stderr.contains("--keep-going"), "{name}: {}", plain.stderr);

        // Other files are run, and the run is incomplete.
        cli.file("good.eval.yaml", PASSING);
        let output = cli.run(&["eval", "wrong", "good.eval.yaml", "--keep-going", "--json"]).expect_code(3);
        let value = object(&output);
        assert_eq!(
            (value["counts"]["pass"].as_u64(), value["excluded"].as_u64()),
            (Some(1), Some(1)),
            "{name}"
        );
        assert!(
            value["warnings"].to_string().contains("w.eval.yaml` was run"),
            "{name}: {}",
            value["warnings"]
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_stdout_does_not_take_are_an_error() {
    let cli = cli();
    cli.file("p.eval.yaml", PASSING);
    cli.run(&["eval", "p.eval.yaml", "--run-dir", "run"]).expect_code(0);
    for args in
        [&["eval", "p.eval.yaml"][..], &["eval", "p.eval.yaml", "--json"], &["explain", "run", "--json"]]
    {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let output = cli.command(args).stdout(full).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains("could not be written to stdout: No space left"), "{args:?}: {stderr}");
    }

    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = cli.command(&["explain", "run", "--json"]).stdout(writer).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "who has read enough closes the pipe");
}

#[test]
fn json_prints_one_object_of_this_shape_and_nothing_else() {
    let cli = cli();
    cli.file("p.eval.yaml", PASSING).file("f.eval.yaml", FAILING);
    let output =
        cli.run(&["eval", "p.eval.yaml", "f.eval.yaml", "--json", "--run-dir", "run"]).expect_code(1);
    let value = object(&output);
    let keys: Vec<&str> = value.as_object().expect("sound").keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "run_id", "run_dir", "results", "counts", "not_run", "excluded", "mean_score", "metrics",
            "judges", "tokens", "cost_usd", "cost_partial", "judge_calls", "judge_calls_cached", "sent",
            "pass_rate_gate", "early_stop", "criteria", "criteria_ungraded", "criterion_rates",
            "check_rates", "quotes", "quotes_found", "panel", "criteria_truncated", "warnings", "exit_code",
            "exit_reason", "conclusion"
        ]
    );
    assert_eq!(value["counts"], serde_json::json!({"pass": 1, "borderline": 0, "fail": 1, "incomplete": 0}));
    assert_eq!(value["mean_score"]["mean"], 0.5);
    assert_eq!(value["mean_score"]["n"], 2);
    assert_eq!((value["exit_code"].as_u64(), value["run_dir"].as_str()), (Some(1), Some("run")));
    let stored = info(&cli, "run");
    assert_eq!(stored["run_id"], value["run_id"]);
    assert_eq!(stored["summary"]["counts"], value["counts"]);
    assert_eq!(stored["summary"]["exit_reason"], value["exit_reason"]);
}

#[test]
fn an_occupied_or_unwritable_folder_is_refused_before_anything_is_spent() {
    let (cli, server) = with_server(always(MockReply::text("{}")));
    cli.file("p.yaml", PASSING).file("file", "not a folder");
    cli.run(&["eval", "p.yaml", "--run-dir", "run"]).expect_code(0);
    let before = cli.read("run/results.jsonl");
    for folder in ["run", "file", "file/below", "/proc/none"] {
        let output = cli.run(&["eval", "p.yaml", "--judge", "openai:m", "--run-dir", folder]).expect_code(2);
        assert!(output.stderr.contains("--run-dir"), "{folder}: {}", output.stderr);
        assert_eq!(output.stdout, "");
    }
    assert_eq!(cli.read("run/results.jsonl"), before);
    // A folder with only one of the files may also be someone's run.
    for leftover in ["results.jsonl", "judgements.jsonl", "run.json"] {
        let name = format!("only-{leftover}");
        cli.file(Path::new(&name).join(leftover), "");
        cli.run(&["eval", "p.yaml", "--judge", "openai:m", "--run-dir", &name]).expect_code(2);
    }
    assert_eq!(server.count(), 0);
    cli.file("mine/notes.txt", "kept");
    cli.run(&["eval", "p.yaml", "--run-dir", "mine"]).expect_code(0);
    assert_eq!(cli.read("mine/notes.txt"), "kept");
}

#[test]
fn show_chooses_the_cases_that_are_printed_and_how_far() {
    let cli = cli();
    cli.file("p.eval.yaml", PASSING).file("f.eval.yaml", FAILING);
    let shown = |show: &str| {
        let output = cli.run(&["eval", "p.eval.yaml", "f.eval.yaml", "--show", show]).expect_code(1);
        assert!(output.stdout.contains("Result"), "{}", output.stdout);
        (output.stdout.contains("“The capital is Paris.”"), output.stdout.contains("✗ fail  bad"))
    };
    assert_eq!(shown("all"), (true, true));
    assert_eq!(shown("auto"), (false, true), "a case that passed is a line");
    assert_eq!(shown("failed"), (false, true));
    assert_eq!(shown("none"), (false, false));
}

#[test]
fn no_escape_codes_without_a_terminal_or_with_no_color() {
    let mut cli = cli();
    cli.file("p.eval.yaml", PASSING).file("f.eval.yaml", FAILING);
    cli.file(
        "warn.yaml",
        format!("{PASSING}  x-note: 1\n").replace(
            "[Names Paris as the capital]",
            "[{type: rubrics, criteria: [{id: a, outcome: Paris}, {id: b, outcome: Zebra, min_score: 0.5}]}]",
        ),
    );
    let plain = |cli: &assize_testkit::cli::CliTest| {
        let output = cli.run(&["eval", "p.eval.yaml", "f.eval.yaml", "warn.yaml"]);
        assert!(!output.stdout.contains('\u{1b}') && !output.stderr.contains('\u{1b}'), "{output:?}");
        assert!(output.stderr.contains("warning"), "{}", output.stderr);
    };
    plain(&cli);
    cli.env("CI", "true");
    plain(&cli);
    cli.env("FORCE_COLOR", "1").env("NO_COLOR", "1");
    plain(&cli);
    let coloured = cli.run(&["eval", "f.eval.yaml", "--color", "always"]);
    assert!(coloured.stdout.contains('\u{1b}'));
}

#[test]
fn quiet_leaves_results_and_problems_only() {
    let cli = cli();
    cli.file("p.yaml", PASSING).file("bad.yaml", "tests: []\n");
    let output = cli.run(&["eval", "p.yaml", "--quiet"]).expect_code(0);
    assert_eq!(output.stderr, "");
    assert!(output.stdout.contains("Result"));
    assert!(!cli.run(&["eval", "bad.yaml", "--quiet"]).expect_code(2).stderr.is_empty());
}

#[test]
fn the_run_folder_is_named_after_the_suite_unless_out_names_it() {
    let cli = cli();
    cli.file("p.yaml", PASSING);
    let value = object(&cli.run(&["eval", "p.yaml", "--json"]).expect_code(0));
    let folder = value["run_dir"].as_str().expect("a text");
    assert!(folder.starts_with(".assize/runs/") && folder.contains("passing"), "{folder}");
    assert_eq!(Path::new(folder).file_name().and_then(|name| name.to_str()), value["run_id"].as_str());
    let mut files: Vec<String> = std::fs::read_dir(cli.path(folder))
        .expect("sound")
        .map(|entry| entry.expect("sound").file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert_eq!(files, ["inputs.jsonl", "judgements.jsonl", "questions.jsonl", "results.jsonl", "run.json"]);
}

#[test]
fn a_grader_that_can_not_be_run_is_named_before_anything_is_spent() {
    let (cli, server) = with_server(always(MockReply::text("{}")));
    let grader = "{name: later, type: code-grader, command: [x], target: true}";
    for assertion in
        [grader.to_owned(), format!("{{name: set, type: composite, assertions: [\n      {grader}]}}")]
    {
        let suite = format!(
            "name: u\ntests:\n- id: a\n  criteria: x\n  input: q\n  output: y\n  assertions:\n  - Says y\n  - {assertion}\n"
        );
        cli.file("u.yaml", &suite);
        let output = cli.run(&["eval", "u.yaml", "--judge", "offline", "--run-dir", "run"]).expect_code(2);
        for words in ["u.yaml:", "`later`", "`target`", "the offline judge is not", "nothing was spent"] {
            assert!(output.stderr.contains(words), "{words} not in\n{}", output.stderr);
        }
        assert!(!cli.path("run").exists());
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn one_problem_among_several_files_refuses_all() {
    let cli = cli();
    cli.file("p.eval.yaml", PASSING).file("bad.eval.yaml", one_case("", &[]));
    let output = cli.run(&["eval", "p.eval.yaml", "bad.eval.yaml"]).expect_code(2);
    assert!(output.stderr.contains("bad.eval.yaml"), "{}", output.stderr);
    assert!(!cli.path(".assize").exists());
}

#[test]
fn a_file_that_is_named_twice_is_run_once() {
    let cli = cli();
    cli.file("p.eval.yaml", PASSING);
    let value = object(&cli.run(&["eval", "p.eval.yaml", "./p.eval.yaml", ".", "--json"]).expect_code(0));
    assert_eq!(value["counts"]["pass"], 1);
}

#[test]
fn settings_that_a_run_would_not_keep_are_refused_before_anything_is_spent() {
    let (cli, server) = with_server(always(MockReply::text("{}")));
    let budget = PASSING.replace("tests:", "execution: {budget_usd: 0.5}\ntests:");
    cli.file("s.yaml", &budget);
    let output = cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run"]).expect_code(2);
    assert!(output.stderr.contains("unknown price for openai:m"), "{}", output.stderr);
    cli.file("s.yaml", budget);
    cli.run(&["eval", "s.yaml"]).expect_code(0);
    assert_eq!(server.count(), 0);
}
