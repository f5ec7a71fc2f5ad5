//! The conclusion of a run is the same on every output: exit code, scope, blocking gates, disputes, weakening options.

use assize_testkit::cli::CliTest;
use assize_testkit::mock::MockServer;
use serde_json::Value;

use crate::scorecard::support::{fixture, folder, judge, printed, run};

/// Formats of `assize report`.
const FORMATS: [&str; 7] = ["markdown", "junit", "csv", "github", "gitlab", "sarif", "html"];

/// A run with these options, and what all outputs must say about it.
struct Situation {
    options: &'static [&'static str],
    /// Decisions that are recorded after the run, by case.
    labels: &'static [(&'static str, &'static str)],
    exit_code: i32,
    /// A part of the sentence that every output shows.
    says: &'static str,
}

const SITUATIONS: [Situation; 6] = [
    Situation { options: &["--filter", "good"], labels: &[], exit_code: 3, says: "1 of 2 cases" },
    Situation { options: &["--filter", "b*"], labels: &[], exit_code: 1, says: "Blocked by C1" },
    Situation { options: &[], labels: &[], exit_code: 1, says: "Blocked by C1" },
    Situation {
        options: &["--filter", "good"],
        labels: &[("good", "fail")],
        exit_code: 3,
        says: "C1 on good",
    },
    Situation {
        options: &["--filter", "good", "--treat-missing", "skip"],
        labels: &[],
        exit_code: 3,
        says: "treat-missing skip",
    },
    Situation {
        options: &["--filter", "good", "--accept-unbound-labels"],
        labels: &[],
        exit_code: 3,
        says: "accept-unbound-labels",
    },
];

fn label(cli: &CliTest, case: &str, outcome: &str) {
    let line = format!(r#"{{"case":"{case}","criterion":"C1","label":"{outcome}","severity":"high"}}"#);
    cli.file("decisions.jsonl", line + "\n");
    cli.run(&["review", "last", "--who", "ann", "--decisions", "decisions.jsonl"]).expect_code(0);
}

#[test]
fn all_outputs_show_one_conclusion() {
    let server = MockServer::start(judge);
    let cases = [("good", "judged", "fine"), ("bad", "judged", "bad")];
    for Situation { options, labels, exit_code, says } in SITUATIONS {
        let cli = folder(&server, &cases);
        let first = cli.run(&[&["scorecard", "run", "card", "--judge", "openai:judge-1"], options].concat());
        if labels.is_empty() {
            assert!(first.stdout.contains(says), "{options:?}: {}", first.stdout);
            first.expect_code(exit_code);
        }
        for (case, outcome) in labels {
            label(&cli, case, outcome);
        }

        let shows = |surface: &str, args: &[&str]| {
            let output = cli.run(args).expect_code(0);
            let text = format!("{}{}", output.stdout, output.stderr);
            assert!(text.contains(says), "{surface} {options:?}: {text}");
        };
        for format in FORMATS {
            shows(format, &["report", "last", "--format", format]);
        }
        let listed: Value =
            serde_json::from_str(&cli.run(&["list", "--json"]).expect_code(0).stdout).expect("JSON");
        assert_eq!(listed[0]["exit_code"], exit_code, "{options:?}");
        let reported = printed(&cli.run(&["report", "last", "--format", "json"]).expect_code(0));
        assert_eq!(reported["exit_code"], exit_code, "{options:?}");
        assert_eq!(listed[0]["conclusion"], reported["conclusion"], "{options:?}");
        shows("explain RUN", &["explain", "last"]);
        let case = if options.contains(&"b*") { "bad" } else { "good" };
        shows("explain RUN CASE", &["explain", "last", case]);
        shows("compare", &["scorecard", "compare", "last", "last"]);
        if options.first() == Some(&"--filter") {
            let text = cli.run(&["list"]).expect_code(0).stdout;
            assert!(text.contains("1 of 2 cases"), "{text}");
        }
    }
}

#[test]
fn a_whole_run_has_nothing_to_add() {
    let server = MockServer::start(judge);
    let cli = fixture(&server, &[("good", "judged", "fine")]);
    run(&cli, &[]).expect_code(0);
    let found = printed(&cli.run(&["report", "last", "--format", "json"]).expect_code(0));
    assert_eq!((&found["exit_code"], &found["conclusion"]), (&0.into(), &serde_json::json!({})));
}
