//! Labels count as soon as they exist, and only for the answer that was labelled. The decision that a label
//! replaces stays visible.

use assize_testkit::cli::CliTest;
use assize_testkit::mock::MockServer;
use serde_json::{Value, json};

use crate::scorecard::support::{READ, as_folder, fixture, folder, judge, node, printed, rows, run_into};

fn decide(cli: &CliTest, run: &str, who: &str, lines: &str) -> String {
    cli.run_with_input(&["review", run, "--who", who], lines).expect_code(0).stderr
}

/// Scores a stored run again. Returns the exit code and the printed JSON.
fn score(cli: &CliTest, run: &str) -> (i32, Value) {
    let output = cli.run(&["scorecard", "score", run, "--json"]);
    (output.code.expect("an exit code"), printed(&output))
}

#[test]
fn a_label_of_another_answer_case_or_question_is_stale() {
    type Change = (&'static str, fn(&CliTest));

    let server = MockServer::start(judge);
    let changes: [Change; 4] = [
        ("the answer", |cli| drop(as_folder(cli, &[("p", "read", "Gave penicillin."), READ[1]]))),
        ("the inputs", |cli| {
            let text = cli.read("card/cases/all.jsonl").replace("the narrative", "allergic to azithromycin");
            cli.file("card/cases/all.jsonl", text);
        }),
        ("the question", |cli| {
            let text = cli.read("card/benchmarks/C4.yaml").replace("a person decides", "something else");
            cli.file("card/benchmarks/C4.yaml", text);
        }),
        ("the guidelines above", |cli| {
            let text = cli.read("card/rubrics/R.yaml").replace("Guideline of", "Another guideline of");
            cli.file("card/rubrics/R.yaml", text);
        }),
    ];
    for (what, change) in changes {
        let cli = folder(&server, &READ);
        run_into(&cli, "before");
        decide(&cli, "before", "doc", "pass\n");
        assert_eq!(score(&cli, "before").0, 0, "{what}");
        change(&cli);
        let found = run_into(&cli, "after");
        assert_eq!(found["exit_code"], 3, "{what}: {found}");
        assert_eq!(node(&found, "C4")["missing"], 1, "{what}");
        assert_eq!(
            found["scorecard"]["labels"],
            json!({ "counted": 0, "stale": 1, "unbound": 0, "anonymous": 0, "unordered": 0 }),
            "{what}"
        );
        assert_eq!(score(&cli, "after").0, 3, "{what}");
        let files = cli.run(&["scorecard", "score", "card", "--json"]).expect_code(3);
        assert_eq!(printed(&files)["labels"]["stale"], 1, "{what}");
        let told = cli.run(&["explain", "after", "C4", "--json"]).expect_code(0);
        assert_eq!(printed(&told)["cases"][0]["labels"]["stale"][0]["who"], "doc", "{what}");
        assert!(
            cli.run(&["scorecard", "score", "after"]).stdout.contains("labels: 1 stale, not counted"),
            "{what}"
        );

        // The review asks about it again, and the labelled run keeps its label.
        let again = cli.run_with_input(&["review", "after", "--who", "doc"], "fail\n").expect_code(0);
        assert!(again.stdout.contains("1 of 1: p C4 (asked again"), "{what}: {}", again.stdout);
        assert_eq!(node(&score(&cli, "after").1, "C4")["score"], 0.0, "{what}");
        assert_eq!(node(&score(&cli, "before").1, "C4")["score"], 1.0, "{what}");
    }
}

#[test]
#[cfg(unix)]
fn a_label_of_one_target_says_nothing_about_another() {
    let server = MockServer::start(judge);
    let cli = folder(&server, &READ);
    let case = cli.read("card/cases/all.jsonl").replace(",\"candidate_output\":\"Gave azithromycin.\"", "");
    assert_eq!(case.matches("candidate_output").count(), 1, "{case}");
    cli.file("card/cases/all.jsonl", case);
    let target = |name: &str, says: &str| {
        format!(
            "  - {{name: {name}, provider: cli, command: \"echo '{says} 5 mg dose' > {{OUTPUT_FILE}}\"}}\n"
        )
    };
    cli.file("targets.yaml", format!("targets:\n{}{}", target("v3", "Gave a"), target("v4", "Gave a")));
    let run = |target: &str, out: &str| {
        let card = ["scorecard", "run", "card", "--judge", "openai:judge-1", "--run-dir", out];
        cli.run(&[&card[..], &["--targets", "targets.yaml", "--target", target]].concat()).code
    };
    assert_eq!(run("v3", "one"), Some(3));
    decide(&cli, "one", "doc", "pass\n");
    assert_eq!(score(&cli, "one").0, 0);
    assert_eq!(run("v3", "same"), Some(0), "the same target gave the same answer");
    assert_eq!(run("v4", "two"), Some(3), "another target gave it");
    // Another answer of the same target.
    cli.file("targets.yaml", format!("targets:\n{}", target("v3", "LETHAL")));
    assert_eq!(run("v3", "three"), Some(3));
    // A label written by hand may name its target. It then applies only to that target.
    cli.file(
        "card/labels/review-doc.jsonl",
        "{\"case\":\"p\",\"criterion\":\"C4\",\"label\":\"met\",\"who\":\"ann\",\"system\":\"v4\"}\n",
    );
    let accept = |run: &str| cli.run(&["scorecard", "score", run, "--accept-unbound-labels"]).code;
    assert_eq!((accept("three"), accept("two")), (Some(3), Some(0)));
}

/// Cases on which a judge is certain, is uncertain, and can't be made to answer.
const OPEN: [(&str, &str, &str); 3] =
    [("sure", "judged", "fine"), ("open", "judged", "unsure"), ("mute", "judged", "broken")];

#[test]
fn people_decide_what_judges_left_open_without_another_run() {
    let server = MockServer::start(judge);
    let cli = folder(&server, &OPEN);
    let found = run_into(&cli, "r");
    assert_eq!(node(&found, "C1")["missing"], 1);
    let queue: Vec<Value> = rows(&cli, "r/review.jsonl").iter().map(|row| row["why"].clone()).collect();
    assert_eq!(queue, ["missing", "uncertain"]);
    let calls = server.count();

    let told = decide(&cli, "r", "ann", "pass -- the risk is named\nfail -- it is not\n");
    assert!(told.contains("2 decided, 0 remaining") && told.contains("`assize scorecard score r`"), "{told}");
    let (code, found) = score(&cli, "r");
    assert_eq!((code, node(&found, "C1")["missing"].clone()), (1, 0.into()));
    assert!((node(&found, "C1")["score"].as_f64().expect("a score") - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(cli.read("r/review.jsonl"), "", "the review itself wrote it");
    assert_eq!(server.count(), calls, "nobody was asked again");

    // Who, when, and the judge's earlier decision.
    let told = printed(&cli.run(&["explain", "r", "C1", "--json"]).expect_code(0));
    let of = |id: &str| {
        let cases = told["cases"].as_array().expect("a list");
        cases.iter().find(|case| case["case"] == id).expect("there").clone()
    };
    let (open, mute) = (of("open"), of("mute"));
    assert_eq!((&open["decided_by"], &open["score"]), (&"person".into(), &1.0.into()));
    assert_eq!(open["labels"]["before"]["state"], "uncertain");
    assert_eq!((&mute["score"], &mute["labels"]["before"]["state"]), (&0.0.into(), &"missing".into()));
    let label = &open["labels"]["current"][0];
    assert_eq!((&label["who"], label["at"].is_string()), (&"ann".into(), true));
    assert!(of("sure")["labels"].is_null() && of("sure")["decided_by"] == "judge");
    let told = cli.run(&["explain", "r", "open"]).expect_code(0).stdout;
    assert!(
        told.contains("ann: pass, 20") && told.contains("(the risk is named); before: uncertain"),
        "{told}"
    );

    // The gate opens with the last label.
    decide(&cli, "r", "ann", "");
    let again = cli.run_with_input(&["review", "r", "--who", "ann", "--again", "--order", "random"], "");
    assert!(again.expect_code(0).stdout.contains("of 3"));
    cli.file("d.jsonl", "{\"case\": \"mute\", \"criterion\": \"C1\", \"label\": \"pass\"}\n");
    cli.run(&["review", "r", "--who", "ann", "--decisions", "d.jsonl"]).expect_code(0);
    assert_eq!(score(&cli, "r").0, 0);
    assert_eq!(cli.run(&["scorecard", "compare", "r", "r"]).code, Some(0));
}

#[test]
fn what_a_judge_decided_is_not_overridden_in_silence() {
    let server = MockServer::start(judge);
    let cli = folder(&server, &[("sure", "judged", "bad")]);
    run_into(&cli, "r");
    cli.run_with_input(&["review", "r", "--who", "ann", "--order", "random:1"], "pass\n").expect_code(0);
    assert_eq!(score(&cli, "r").0, 3, "a disputed gate is incomplete, neither failed nor passed");
}

#[test]
fn an_item_is_asked_about_until_enough_people_decided_it() {
    let server = MockServer::start(judge);
    let cli = folder(&server, &READ);
    run_into(&cli, "r");
    decide(&cli, "r", "ann", "pass\n");
    let asked = |who: &str, raters: &str| {
        let output = cli.run_with_input(&["review", "r", "--who", who, "--raters", raters], "pass\n");
        output.expect_code(0).stdout.contains("p C4")
    };
    assert!(!asked("ben", "1") && !asked("ann", "2"));
    assert!(asked("ben", "2"));
    assert!(!asked("cleo", "2") && asked("cleo", "3"));
    assert_eq!(score(&cli, "r").1["labels"]["counted"], 3);
}

#[test]
fn decisions_of_a_file_are_recorded_all_or_none() {
    let server = MockServer::start(judge);
    let cli = folder(&server, &OPEN);
    run_into(&cli, "r");
    let record = |who: &str, text: &str| {
        cli.file("d.jsonl", text);
        cli.run(&["review", "r", "--who", who, "--decisions", "d.jsonl"])
    };
    let line = |case: &str| format!("{{\"case\": \"{case}\", \"criterion\": \"C1\", \"label\": \"pass\"}}\n");
    let refused = record("ann", &format!("{}{}", line("open"), line("nowhere"))).expect_code(2);
    assert!(
        refused.stderr.contains("nothing was recorded") && refused.stderr.contains("d.jsonl:2"),
        "{}",
        refused.stderr
    );
    assert!(!cli.path("card/labels").exists());

    // A judge's decision can be labelled by name even if the queue is empty.
    record("ann", &format!("{}{}{}", line("open"), line("mute"), line("sure"))).expect_code(0);
    record("ann", &line("nowhere")).expect_code(2);
    record("ann", &line("sure")).expect_code(0);
    assert_eq!(rows(&cli, "card/labels/review-ann.jsonl").len(), 4);

    // Label files and tables are decisions too, each reviewer's for themselves.
    let text = "{\"trace_id\": \"open\", \"benchmark_code\": \"C1\", \"outcome\": \"fail\", \"reviewer\": \"ben\"}\n";
    let refused = record("cleo", text).expect_code(2);
    assert!(refused.stderr.contains("another reviewer than `cleo`"), "{}", refused.stderr);
    record("ben", text).expect_code(0);
    cli.file("d.csv", "case,criterion,label,note,who\nmute,C1,pass,\"yes, it is\",ben\nopen,C1,pass,,ann\n");
    let told = cli.run(&["review", "r", "--who", "ben", "--decisions", "d.csv"]).expect_code(0).stderr;
    assert!(told.contains("1 decisions by other reviewers were skipped"), "{told}");
    let given = rows(&cli, "card/labels/review-ben.jsonl");
    assert_eq!((given.len(), &given[1]["note"]), (2, &"yes, it is".into()));
    assert!(given.iter().all(|label| label["seen"].is_string()));
}

#[test]
fn a_sample_gives_no_hint_at_the_judge() {
    let server = MockServer::start(judge);
    let cli = folder(&server, &OPEN);
    run_into(&cli, "r");
    for order in ["random:3", "queue", "uncertain-first"] {
        let shown = cli.run_with_input(&["review", "r", "--who", "ann", "--order", order], "skip\nskip\n");
        let shown = shown.expect_code(0).stdout;
        assert!(shown.contains("(unlabelled)"), "{shown}");
        for hint in ["not certain", "left it ungraded", "the judge:"] {
            assert!(!shown.contains(hint), "{order}: {hint}: {shown}");
        }
    }
}

#[test]
fn a_scorecard_in_one_file_has_its_labels_in_a_folder_that_is_named() {
    let server = MockServer::start(judge);
    let cli = fixture(&server, &READ);
    let run = |more: &[&str]| {
        cli.run(&[&["scorecard", "run", "card.yaml", "--judge", "openai:judge-1"], more].concat())
    };
    run(&["--labels", "people", "--run-dir", "r"]).expect_code(3);
    decide(&cli, "r", "ann", "pass\n");
    assert_eq!(rows(&cli, "people/review-ann.jsonl").len(), 1);
    assert_eq!(score(&cli, "r").0, 0, "the run remembers the folder");
    run(&["--labels", "people"]).expect_code(0);
    run(&[]).expect_code(3);
    let results = "{\"case\": \"g\", \"benchmark\": \"C1\", \"pass\": true}\n";
    cli.file("results.jsonl", results);
    cli.run(&["scorecard", "score", "card.yaml", "--labels", "people", "--results", "results.jsonl"])
        .expect_code(0);
    cli.file("people/more.csv", "case,criterion,label\np,C4,pass\n");
    let refused = cli.run(&["scorecard", "score", "card.yaml", "--labels", "people"]).expect_code(2);
    assert!(refused.stderr.contains("E0731"), "{}", refused.stderr);
}

#[test]
fn what_changed_since_the_run_is_not_asked_about() {
    let server = MockServer::start(judge);
    let cli = folder(&server, &READ);
    run_into(&cli, "r");
    as_folder(&cli, &READ);
    let text = cli.read("card/benchmarks/C4.yaml").replace("a person decides", "something else");
    cli.file("card/benchmarks/C4.yaml", text);
    let told = decide(&cli, "r", "ann", "pass\n");
    assert!(told.contains("1 items are excluded"), "{told}");
    assert!(!cli.path("card/labels").exists());
}
