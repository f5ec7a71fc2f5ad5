//! `assize scorecard compare`: two runs, part by part.

use assize_testkit::mock::MockServer;
use serde_json::Value;

use crate::scorecard::support::{fixture, judge, node, printed, relabel, run};

#[test]
fn two_runs_are_compared_over_the_cases_both_have() {
    let server = MockServer::start(judge);
    let ids: Vec<String> = (0..9).map(|number| format!("j{number}")).collect();
    let cases = |count: usize, bad: usize| -> Vec<(&str, &str, &str)> {
        let text = |at| if at < bad { "bad" } else { "fine" };
        ids.iter().take(count).enumerate().map(|(at, id)| (id.as_str(), "judged", text(at))).collect()
    };
    let cli = fixture(&server, &cases(9, 6));
    run(&cli, &["--run-dir", "before"]).expect_code(1);
    relabel(&cli, &cases(8, 1), &[]);
    run(&cli, &["--run-dir", "after"]).expect_code(1);
    let compare = |more: &[&str]| cli.run(&[&["scorecard", "compare"], more].concat());

    let found = printed(&compare(&["before", "after", "--json"]).expect_code(0));
    assert_eq!((&found["cases"], &found["cases_only_in_base"]), (&8.into(), &1.into()));
    let gate = node(&found, "C1");
    assert_eq!((&gate["base"]["score"], &gate["candidate"]["score"]), (&0.25.into(), &0.875.into()));
    assert_eq!((&gate["difference"], &gate["method"]), (&0.625.into(), &"Bonett-Price".into()));
    let top = node(&found, "TOP");
    assert_eq!(top["difference"], 0.625);
    let (low, high) = (top["low"].as_f64().expect("a number"), top["high"].as_f64().expect("a number"));
    // Five of eight cases improved, which McNemar's exact test does not tell from chance: p = 0.0625.
    assert!(low == 0.0 && high > 0.625 && high <= 1.0, "{low} {high}");
    assert_eq!((&top["method"], &top["conclusion"]), (&"Bonett-Price".into(), &"inconclusive".into()));
    assert_eq!(node(&found, "C4")["difference"], Value::Null);

    let text = compare(&["before", "after"]).expect_code(0).stdout;
    assert!(text.contains("+0.625") && text.contains("excluded: 1 case only in the base"), "{text}");
    let files = ["before", "after", "--out", "reports/c.md", "--out", "reports/c.json"];
    assert_eq!(compare(&files).expect_code(0).stdout, text, "files change nothing of what is printed");
    let read = |name: &str| std::fs::read_to_string(cli.dir().join("reports").join(name)).expect("written");
    let mut file: Value = serde_json::from_str(&read("c.json")).expect("JSON");
    assert_eq!(file.as_object_mut().and_then(|file| file.remove("generator")), Some("assize".into()));
    assert_eq!(file, found);
    let page = read("c.md");
    assert!(
        page.starts_with("<!-- assize -->\n\n# before → after\n") && page.contains("| **TOP** |"),
        "{page}"
    );
    assert!(page.contains("| +0.625 |") && page.contains("- excluded: 1 case only in the base"), "{page}");
    let refused = compare(&["before", "after", "--out", "c.html"]).expect_code(2);
    assert!(refused.stderr.contains("FILE.md or FILE.json"), "{}", refused.stderr);

    let same = compare(&["before", "before"]).expect_code(0).stdout;
    assert!(same.contains("over the 9 cases in both runs"), "{same}");
    let same = printed(&compare(&["before", "before", "--json"]).expect_code(0));
    assert_eq!(node(&same, "TOP")["conclusion"], "no_difference");
    let output = compare(&["before", "nothing"]).expect_code(2);
    assert!(output.stderr.contains("no run `nothing`"), "{}", output.stderr);
}

#[test]
fn few_cases_claim_nothing_however_equal_their_differences_are() {
    let server = MockServer::start(judge);
    let ids: Vec<String> = (0..7).map(|number| format!("j{number}")).collect();
    let cases = |count: usize, text: &'static str| -> Vec<(&str, &str, &str)> {
        ids.iter().take(count).map(|id| (id.as_str(), "judged", text)).collect()
    };
    for count in 1..=7 {
        let cli = fixture(&server, &cases(count, "fine"));
        run(&cli, &["--run-dir", "good"]).expect_code(0);
        relabel(&cli, &cases(count, "bad"), &[]);
        run(&cli, &["--run-dir", "bad"]).expect_code(1);
        for (sides, enough) in
            [(["good", "bad"], "worse"), (["bad", "good"], "better"), (["good", "good"], "no_difference")]
        {
            let found =
                printed(&cli.run(&["scorecard", "compare", sides[0], sides[1], "--json"]).expect_code(0));
            let expected = if count < 6 { "inconclusive" } else { enough };
            for code in ["TOP", "C1"] {
                let compared = node(&found, code);
                assert_eq!(compared["conclusion"], expected, "{code} over {count}: {compared}");
                let is_certain = compared["low"].is_number() && compared["low"] == compared["high"];
                assert!(!is_certain, "{code} over {count}: {compared}");
            }
        }
    }
}

#[test]
fn outcomes_make_no_run_of_a_scorecard_incomparable() {
    let server = MockServer::start(judge);
    let cases = |hybrid: &'static str, coded: &'static str, judged: &'static str| {
        [("h", "hybrid", hybrid), ("c", "coded", coded), ("j", "judged", judged), ("k", "judged", "fine")]
    };
    let cli = fixture(&server, &cases("dose 4 mg", "dose mg", "fine"));
    run(&cli, &["--run-dir", "before"]);
    // A check decides the hybrid without its judge, a check fails, and a judge is uncertain.
    relabel(&cli, &cases("none", "none", "unsure"), &[]);
    run(&cli, &["--run-dir", "after"]);
    for sides in [["before", "after"], ["after", "before"]] {
        let output = cli.run(&["compare", sides[0], sides[1]]).expect_code(0);
        assert!(!output.stdout.contains("NOT COMPARABLE"), "{}", output.stdout);
        let trend = printed(&cli.run(&["compare", "--trend", sides[0], sides[1], "--json"]).expect_code(0));
        assert_eq!(trend["runs"][1]["changed"], Value::Array(Vec::new()));
    }
}

#[test]
fn a_release_is_held_by_gates_of_the_comparison() {
    let server = MockServer::start(judge);
    let cases = |text: &'static str| [("j", "judged", text), ("k", "judged", "fine")];
    let cli = fixture(&server, &cases("fine"));
    run(&cli, &["--run-dir", "good"]).expect_code(0);
    relabel(&cli, &cases("bad"), &[]);
    run(&cli, &["--run-dir", "bad"]).expect_code(1);
    relabel(&cli, &cases("broken"), &[]);
    run(&cli, &["--run-dir", "open"]).expect_code(3);
    let compare = |base: &str, candidate: &str, gates: &str| {
        cli.run(&["scorecard", "compare", base, candidate, "--fail-on", gates])
    };

    let both = compare("good", "bad", "blocked,regression").expect_code(1).stdout;
    assert!(both.contains("--fail-on blocked failed: blocked by a hard gate: TOP"), "{both}");
    assert!(
        both.contains("--fail-on regression failed: passed before and fails now: TOP, C, R, C1"),
        "{both}"
    );
    compare("bad", "bad", "blocked").expect_code(1);
    compare("bad", "bad", "regression").expect_code(0);
    compare("bad", "good", "blocked,regression").expect_code(0);
    let open = compare("good", "open", "blocked,regression").expect_code(3).stdout;
    assert!(
        open.contains("--fail-on regression incomplete: passed before and incomplete now: TOP, C, R, C1"),
        "{open}"
    );
    cli.run(&["scorecard", "compare", "good", "bad"]).expect_code(0);

    // A gate that no longer is one, and cases that are gone.
    let card = cli.read("card.yaml").replace("criticality: hard_gate", "criticality: threshold_gate");
    cli.file("card.yaml", &card);
    run(&cli, &["--run-dir", "lax"]);
    let lax = compare("good", "lax", "regression").expect_code(1).stdout;
    assert!(lax.contains("no longer a hard gate: C1"), "{lax}");
}

#[test]
fn a_trend_shows_the_index_its_parts_and_its_gates() {
    let server = MockServer::start(judge);
    let cases = |text: &'static str| [("j", "judged", text), ("k", "judged", "fine")];
    let cli = fixture(&server, &cases("fine"));
    run(&cli, &["--run-dir", "first"]).expect_code(0);
    relabel(&cli, &cases("bad"), &[]);
    run(&cli, &["--run-dir", "second"]).expect_code(1);
    let found = printed(&cli.run(&["scorecard", "trend", "first", "second", "--json"]).expect_code(0));
    let runs = found["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 2);
    assert_eq!(
        (&node(&runs[0], "TOP")["score"], &node(&runs[1], "TOP")["score"]),
        (&1.0.into(), &0.5.into())
    );
    assert_eq!(
        (&node(&runs[1], "C1")["gate_failed"], &node(&runs[1], "TOP")["verdict"]),
        (&true.into(), &"blocked".into())
    );
    assert_eq!(runs[1]["changed"], Value::Array(Vec::new()));
    let text = cli.run(&["scorecard", "trend", "first", "second"]).expect_code(0).stdout;
    assert!(text.contains("hard gate; failed in 1 of 2 runs"), "{text}");

    let card = cli.read("card.yaml").replace("threshold: 1.0", "threshold: 0.9");
    cli.file("card.yaml", &card);
    run(&cli, &["--run-dir", "third"]);
    let text = cli.run(&["scorecard", "trend", "second", "third"]).expect_code(0).stdout;
    assert!(text.contains("third: nodes with a different weight, threshold or rule: C1"), "{text}");
    let output = cli.run(&["scorecard", "trend"]).expect_code(2);
    assert!(output.stderr.contains("no run of a scorecard"), "{}", output.stderr);
}
