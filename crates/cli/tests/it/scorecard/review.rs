//! `assize review`: people decide; their decisions are stored, and reach the scorecard and the calibration.

use assize_testkit::cli::{CliOutput, CliTest};
use assize_testkit::mock::MockServer;
use serde_json::Value;

use crate::scorecard::support::{fixture, judge, node, printed, rows, run};

/// Two cases for the judge, one it is not sure about, and two that wait for a person.
const CASES: [(&str, &str, &str); 5] = [
    ("j1", "judged", "fine"),
    ("j2", "judged", "bad"),
    ("j3", "judged", "unsure"),
    ("p1", "read", "fine"),
    ("p2", "read", "fine too"),
];

fn after_a_run() -> (MockServer, CliTest) {
    let server = MockServer::start(judge);
    let cli = fixture(&server, &CASES);
    run(&cli, &["--run-dir", "r"]);
    (server, cli)
}

fn review(cli: &CliTest, who: &str, more: &[&str], lines: &str) -> CliOutput {
    let mut args = vec!["review", "r", "--labels", "labels", "--who", who];
    args.extend(more);
    cli.run_with_input(&args, lines)
}

fn labels(cli: &CliTest, who: &str) -> Vec<Value> {
    rows(cli, &format!("labels/review-{who}.jsonl"))
}

#[test]
fn what_blocks_comes_first_and_the_judge_is_hidden_until_a_person_has_decided() {
    let (_server, cli) = after_a_run();
    let output = review(&cli, "ann", &[], "fail\npass\nfail high -- no reason given\n").expect_code(0);
    let shown = output.stdout;
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text} in {shown}"));
    // `C1` is a gate.
    assert!(at("1 of 3: j3 C1 (unlabelled)") < at("2 of 3: p1 C4 (waiting for a person)"));
    assert!(
        at("the judge: unsure") < at("(the judge was not certain)") && at("2 of 3") < at("3 of 3: p2 C4")
    );
    assert!(at("the judge: unsure") > at("unlabelled") && at("(the judge was not certain)") < at("2 of 3"));
    assert_eq!(shown.matches("by rule").count(), 1, "{shown}");
    for text in [
        "Criterion C1:", "Guideline of the component.", "Guideline of the rubric.", "the narrative",
        "the truth",
    ] {
        at(text);
    }
    let given = labels(&cli, "ann");
    assert_eq!(given.len(), 3);
    assert_eq!((&given[2]["label"], &given[2]["severity"]), (&"unmet".into(), &"high".into()));
    assert_eq!((&given[2]["note"], &given[2]["who"]), (&"no reason given".into(), &"ann".into()));
    assert!(given.iter().all(|label| label["at"].is_string() && label["seen"].is_string()));
    let again = review(&cli, "ann", &[], "").expect_code(0);
    assert!(again.stderr.contains("Use `assize review r --order random`"), "{}", again.stderr);
    let again = review(&cli, "ann", &["--raters", "2"], "").expect_code(0);
    assert!(again.stderr.contains("all 3 items are decided"), "{}", again.stderr);
}

#[test]
fn a_review_goes_on_where_it_stopped_and_only_ever_adds_lines() {
    let (_server, cli) = after_a_run();
    review(&cli, "ann", &["--criterion", "C4"], "pass\nquit\n").expect_code(0);
    let before = cli.read("labels/review-ann.jsonl");
    let output = review(&cli, "ann", &[], "skip\nskip\npass\nundo\nfail\n").expect_code(0);
    assert!(output.stdout.contains("1 of 2: j3 C1"), "{}", output.stdout);
    assert!(output.stderr.contains("1 decided, 1 remaining; labels"), "{}", output.stderr);
    let after = cli.read("labels/review-ann.jsonl");
    assert!(after.starts_with(&before), "what stood there stays");
    let given = labels(&cli, "ann");
    let decided: Vec<(&str, &str)> =
        given.iter().filter_map(|label| Some((label["case"].as_str()?, label["label"].as_str()?))).collect();
    assert_eq!(decided, [("p1", "met"), ("j3", "met"), ("j3", "unmet")]);
    assert_eq!(given[2]["x-after-judge"], true, "the judge had been seen");
    // Another person starts afresh, in their own file.
    let other = review(&cli, "ben", &["--raters", "2"], "").expect_code(0);
    assert!(other.stdout.contains("1 of 3: j3 C1"), "{}", other.stdout);
    assert_eq!(cli.read("labels/review-ann.jsonl"), after);
}

#[test]
fn lines_that_make_no_sense_are_told_and_change_nothing() {
    let (_server, cli) = after_a_run();
    let output = review(&cli, "ann", &[], "maybe\n4\npass terrible\n").expect_code(0);
    for text in [
        "`maybe` is not a decision", "has no scale", "`terrible` is not a severity", "0 decided, 3 remaining",
    ] {
        assert!(output.stderr.contains(text), "{text}: {}", output.stderr);
    }
    cli.file("d.txt", "pass\nfail awful\n{\"case\": \"p1\"}\n");
    let output = review(&cli, "ann", &["--decisions", "d.txt"], "").expect_code(2);
    for text in ["nothing was recorded", "d.txt:2: `awful`", "d.txt:3: `label` is missing"] {
        assert!(output.stderr.contains(text), "{text}: {}", output.stderr);
    }
    assert!(!cli.path("labels").exists());
    cli.file(
        "d.txt",
        "{\"case\": \"j3\", \"criterion\": \"C1\", \"label\": \"pass\", \"note\": \"n\"}\n# later\nna\n",
    );
    review(&cli, "ann", &["--decisions", "d.txt"], "").expect_code(0);
    let cases: Vec<Value> = labels(&cli, "ann").iter().map(|label| label["case"].clone()).collect();
    assert_eq!(cases, ["j3", "p1"]);
}

#[test]
fn decisions_of_a_file_keep_their_time_and_use() {
    let (_server, cli) = after_a_run();
    cli.file(
        "d.jsonl",
        "{\"case\": \"j3\", \"criterion\": \"C1\", \"label\": \"pass\", \"at\": \"2026-01-31T12:00:00Z\", \"split\": \"train\"}\n",
    );
    review(&cli, "ann", &["--decisions", "d.jsonl"], "").expect_code(0);
    let given = labels(&cli, "ann");
    assert_eq!((&given[0]["at"], &given[0]["split"]), (&"2026-01-31T12:00:00Z".into(), &"train".into()));

    cli.file(
        "d.jsonl",
        "{\"case\": \"j3\", \"criterion\": \"C1\", \"label\": \"pass\", \"split\": \"dev\"}\n",
    );
    let output = review(&cli, "ben", &["--decisions", "d.jsonl"], "").expect_code(2);
    assert!(output.stderr.contains("d.jsonl:1: `split` is `dev`"), "{}", output.stderr);
}

#[test]
fn labels_of_a_review_fill_the_next_run_and_measure_the_judge() {
    let server = MockServer::start(judge);
    let cli = fixture(&server, &CASES);
    // A folder, because a scorecard in one file reads no labels next to it.
    cli.run(&["scorecard", "list", "card.yaml"]).expect_code(0);
    let card = crate::scorecard::support::as_folder(&cli, &CASES);
    let judged = ["scorecard", "run", &card, "--judge", "openai:judge-1", "-q", "--json"];
    let with = |more: &[&str]| {
        let mut args = judged.to_vec();
        args.extend(more);
        cli.run(&args)
    };
    let found = printed(&with(&["--run-dir", "r1"]));
    assert_eq!(node(&found, "C4")["missing"], 2);
    let calls = server.count();
    cli.run_with_input(&["review", "r1", "--who", "ann"], "fail\npass\nfail\n").expect_code(0);
    assert_eq!(rows(&cli, "card/labels/review-ann.jsonl").len(), 3);
    let found = printed(&with(&["--run-dir", "r2"]));
    assert_eq!(server.count(), calls, "judges are not asked again");
    assert_eq!((&node(&found, "C4")["score"], &node(&found, "C4")["missing"]), (&0.5.into(), &0.into()));
    // If two people disagree, the case is open again and moves to the front of the queue.
    cli.run_with_input(
        &["review", "r2", "--who", "ben", "--order", "uncertain-first", "--criterion", "C4"],
        "fail\nfail\n",
    )
    .expect_code(0);
    let found = printed(&with(&["--run-dir", "r3"]));
    assert_eq!(node(&found, "C4")["missing"], 1);
    let shown = cli.run_with_input(&["review", "r3", "--who", "cleo"], "").stdout;
    assert!(shown.contains("1 of 1: p1 C4 (reviewers disagree)"), "{shown}");
    assert!(cli.run(&["scorecard", "score", &card]).stdout.contains("C4"));

    // The judge, measured by a random sample that people decided.
    for who in ["ann", "ben"] {
        let lines = if who == "ann" { "pass\nfail\nfail\n" } else { "pass\nfail\npass\n" };
        let args = ["review", "r3", "--who", who, "--order", "random:1", "--criterion", "C1", "--again"];
        cli.run_with_input(&args, lines).expect_code(0);
    }
    let measured = cli.run(&["calibrate", "r3", "--labels", "card/labels", "--json"]);
    let measured = printed(&measured);
    assert!(measured.to_string().contains("C1"), "{measured}");
    assert!(!measured.to_string().contains("\"C4\""), "no judge decided about C4: {measured}");
}

#[test]
fn two_reviewers_are_both_kept_and_their_agreement_has_an_interval_and_a_count() {
    let server = MockServer::start(judge);
    let cases: Vec<(String, String)> = (0..12).map(|n| (format!("c{n:02}"), format!("fine {n}"))).collect();
    let cases: Vec<(&str, &str, &str)> =
        cases.iter().map(|(id, text)| (id.as_str(), "judged", text.as_str())).collect();
    let cli = fixture(&server, &cases);
    run(&cli, &["--run-dir", "r"]).expect_code(0);
    let all = ["--order", "random:7"];
    review(&cli, "ann", &all, &"pass\nfail\npass\n".repeat(4)).expect_code(0);
    review(&cli, "ben", &all, &"pass\nfail\nfail\n".repeat(4)).expect_code(0);
    let told =
        printed(&cli.run(&["review", "r", "--labels", "labels", "--agreement", "--json"]).expect_code(0));
    let section = &told["sections"][0];
    assert_eq!(
        (&section["title"], &section["rated_twice"], &section["ratings"]),
        (&"C1".into(), &12.into(), &24.into())
    );
    assert_eq!((&section["all_same"]["count"], &section["all_same"]["n"]), (&8.into(), &12.into()));
    let figures = section["metrics"].as_object().expect("metrics");
    let ac1 = &figures["ac1"];
    // By hand: 8 of 12 agree, and half of all ratings are met, so chance agreement is one half.
    assert!((ac1["value"].as_f64().expect("a value") - (8.0 / 12.0 - 0.5) / 0.5).abs() < 1e-12, "{ac1}");
    assert!(ac1["low"].as_f64() < ac1["value"].as_f64() && ac1["n"] == 12, "{ac1}");
    let text = cli.run(&["review", "r", "--labels", "labels", "--agreement"]).expect_code(0).stdout;
    assert!(text.contains("8 of 12, 66.7%") && text.contains("Gwet's AC1"), "{text}");
}

#[test]
fn the_first_failure_of_a_trace_is_named_or_none_of_them() {
    let (_server, cli) = after_a_run();
    let by = |who: &str, lines: &str| review(&cli, who, &["--traces"], lines);
    let output = by("ann", "C1 high -- says nothing\nnone\nC9\nC1\n").expect_code(0);
    assert!(output.stderr.contains("unknown code `C9`"), "{}", output.stderr);
    for text in [
        "Possible failures:\n  C1: a judge decides\n    Apply when asked. Flag if wrong.",
        "  NONE_OF_THE_ABOVE: a failure without a code\n  NO_FAILURE: the case has no failure",
    ] {
        assert!(output.stdout.contains(text), "{text}: {}", output.stdout);
    }
    let given = labels(&cli, "ann");
    assert_eq!(given.len(), 3);
    assert_eq!(
        (&given[0]["criterion"], &given[0]["severity"], &given[0]["note"]),
        (&"C1".into(), &"high".into(), &"says nothing".into())
    );
    assert_eq!(
        (&given[1]["criterion"], &given[1]["label"]),
        (&"NONE_OF_THE_ABOVE".into(), &"unmet".into()),
        "a failure without a code"
    );
    by("ben", "C1\nC1\nC1\n").expect_code(0);
    let told =
        printed(&cli.run(&["review", "r", "--labels", "labels", "--agreement", "--json"]).expect_code(0));
    let sections = told["sections"].as_array().expect("a list");
    assert_eq!(sections.len(), 1, "{told}");
    assert_eq!((&sections[0]["kind"], &sections[0]["rated_twice"]), (&"names".into(), &3.into()));
    assert_eq!(sections[0]["all_same"]["count"], 2);
    assert_eq!(sections[0]["names"], serde_json::json!({ "C1": 5, "NONE_OF_THE_ABOVE": 1 }));
}

#[test]
fn a_trace_without_a_failure_is_not_one_whose_failure_has_no_code() {
    let (_server, cli) = after_a_run();
    let by = |who: &str, lines: &str| review(&cli, who, &["--traces"], lines).expect_code(0);
    by("ann", "clean\nnone high\nC1\n");
    let given = labels(&cli, "ann");
    let said = |at: usize| (given[at]["criterion"].clone(), given[at]["label"].clone());
    assert_eq!(said(0), ("NO_FAILURE".into(), "met".into()));
    assert_eq!(said(1), ("NONE_OF_THE_ABOVE".into(), "unmet".into()));

    // As a decision of a file, and in label files of a scorecard.
    cli.file(
        "d.jsonl",
        "{\"case\": \"j1\", \"label\": \"NO_FAILURE\"}\n{\"case\": \"j2\", \"label\": \"NO_FAILURE\"}\n",
    );
    let args = ["review", "r", "--labels", "labels", "--who", "ben", "--traces", "--decisions", "d.jsonl"];
    cli.run(&args).expect_code(0);
    let told = cli.run(&["review", "r", "--labels", "labels", "--agreement"]).expect_code(0).stdout;
    assert!(told.contains("named: NO_FAILURE 3, C1 1, NONE_OF_THE_ABOVE 1"), "{told}");
    let told =
        printed(&cli.run(&["review", "r", "--labels", "labels", "--agreement", "--json"]).expect_code(0));
    let section = &told["sections"][0];
    assert_eq!((&section["items"], &section["rated_twice"]), (&3.into(), &2.into()));
    assert_eq!(section["all_same"]["count"], 1, "clean and a failure without a code are different answers");
    let checked = cli.run(&["scorecard", "score", "card.yaml", "--labels", "labels"]);
    assert!(!checked.stderr.contains("E07"), "{}", checked.stderr);
}

#[cfg(unix)]
mod on_a_terminal {
    use assize_testkit::pty::PtyProgram;

    use super::*;

    fn begin(cli: &CliTest, more: &[&str]) -> PtyProgram {
        let mut args = vec!["review", "r", "--labels", "labels", "--who", "ann"];
        args.extend(more);
        PtyProgram::start(cli.command(&args), 110, 40)
    }

    #[test]
    fn keys_decide_and_the_screen_shows_the_judge_only_then() {
        let (_server, cli) = after_a_run();
        let mut terminal = begin(&cli, &["--criterion", "C1", "--order", "uncertain-first"]);
        let drawn = terminal.wait_for("? help");
        for text in [
            "j3 · C1 · 1 of 3, 0 decided", "the narrative", "the truth", "Criterion C1",
            "Guideline of the rubric.",
        ] {
            assert!(drawn.contains(text), "{text}: {drawn}");
        }
        assert!(!drawn.contains("by rule"), "{drawn}");
        terminal.press("ss");
        terminal.wait_for("severity: medium");
        terminal.press("e");
        terminal.wait_for("Enter keep");
        terminal.press("zu vage\r");
        terminal.wait_for("note: zu vage");
        terminal.press("f");
        let drawn = terminal.wait_for("by rule");
        assert!(drawn.contains("fail, severity medium: zu vage"), "{drawn}");
        terminal.press("\r");
        terminal.wait_for("j1 · C1");
        terminal.press("x");
        terminal.wait_for("j2 · C1");
        terminal.press("p");
        terminal.wait_for("z undo  q quit");
        terminal.press("z");
        terminal.wait_for("decide again");
        terminal.press("f");
        terminal.wait_for("z undo  q quit");
        terminal.press("q");
        let (drawn, code) = terminal.end();
        assert_eq!(code, Some(0), "{drawn}");
        assert!(
            drawn.contains("\u{1b}[?1049h") && drawn.contains("\u{1b}[?1049l"),
            "the screen is given back"
        );
        assert!(drawn.contains("2 decided, 1 remaining"), "{drawn}");
        let decided: Vec<(Value, Value)> =
            labels(&cli, "ann").iter().map(|label| (label["case"].clone(), label["label"].clone())).collect();
        let expected = [("j3", "unmet"), ("j2", "met"), ("j2", "unmet")];
        assert_eq!(decided, expected.map(|(case, label)| (Value::from(case), Value::from(label))));
    }

    #[test]
    fn an_interrupt_gives_the_terminal_back_and_keeps_what_was_decided() {
        let (_server, cli) = after_a_run();
        let mut terminal = begin(&cli, &["--traces"]);
        terminal.wait_for("0 another failure");
        terminal.press("c");
        terminal.wait_for("> C1");
        terminal.press("\r");
        terminal.wait_for("q quit");
        terminal.press("\u{3}");
        let (drawn, code) = terminal.end();
        assert_eq!(code, Some(0), "{drawn}");
        assert!(drawn.contains("\u{1b}[?1049l") && drawn.contains("\u{1b}[?25h"), "{drawn}");
        assert_eq!(labels(&cli, "ann")[0]["criterion"], "C1");
    }
}
