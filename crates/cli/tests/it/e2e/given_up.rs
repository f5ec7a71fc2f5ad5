//! Servers that get no more calls: criteria left ungraded by that are not recorded as final, and the run can
//! continue.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assize_testkit::mock::{MockReply, MockRequest};

use crate::e2e::bench::{object, rows, with_server};
use crate::e2e::judge::honest;

const REFUSED: &str = r#"{"error":{"message":"Incorrect API key provided"}}"#;

/// A suite of this many cases; its criterion is judged in one call each.
fn suite(cases: u32) -> String {
    let mut suite = String::from("name: s\ntests:\n");
    for number in 0..cases {
        let _ = writeln!(
            suite,
            "- {{id: c{number:02}, criteria: x, input: q, output: apples {number}, assertions: [Names `apples`]}}"
        );
    }

    suite
}

#[test]
fn what_a_refused_key_left_open_is_gone_on_with() {
    let is_known = Arc::new(AtomicBool::new(false));
    let known = Arc::clone(&is_known);
    let (cli, server) = with_server(move |incoming: &MockRequest| {
        if known.load(Ordering::Relaxed) { honest(incoming) } else { MockReply::status(401, REFUSED) }
    });
    cli.file("s.yaml", suite(300));

    let eval = ["eval", "s.yaml", "--judge", "openai:m"];
    let stopped = cli.run(&[&eval[..], &["--run-dir", "run"]].concat()).expect_code(3);
    assert!(
        stopped.stdout.contains("OPENAI_API_KEY") && stopped.stdout.contains("--resume"),
        "{}",
        stopped.stdout
    );
    assert!(!stopped.stderr.contains("OPENAI_API_KEY"), "told once: {}", stopped.stderr);
    assert_eq!(rows(&cli, "run").len(), 0, "no case was judged: {}", stopped.stdout);
    let refused = server.count();
    assert!(refused < 150, "few are sent before it is given up: {refused}");

    is_known.store(true, Ordering::Relaxed);
    cli.run(&[&eval[..], &["--resume", "run"]].concat()).expect_code(0);
    assert_eq!(rows(&cli, "run").len(), 300);
    assert_eq!(server.count(), refused + 300);
}

#[test]
fn a_page_in_place_of_a_model_server_is_given_up_and_told() {
    let (cli, server) =
        with_server(|_: &MockRequest| MockReply::status(200, "<!doctype html><title>Sign in</title>"));
    cli.file("s.yaml", suite(100));

    let stopped = cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run"]).expect_code(3);
    assert!(
        stopped.stdout.contains("an HTML page: Sign in") && stopped.stdout.contains("--resume"),
        "{}",
        stopped.stdout
    );
    assert!(server.count() <= 80, "{} were sent, where each question would be asked 5 times", server.count());
}

#[test]
fn refusals_without_an_end_of_the_server_are_on_record() {
    let (cli, _server) = with_server(|incoming: &MockRequest| {
        if incoming.last_user_text.contains("apples 7") {
            MockReply::status(403, "{}")
        } else {
            honest(incoming)
        }
    });
    cli.file("s.yaml", suite(30));
    cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run"]).expect_code(3);
    let rows = rows(&cli, "run");
    let open: Vec<&str> = rows
        .iter()
        .filter(|row| row["verdict"] == "incomplete")
        .filter_map(|row| row["case_id"].as_str())
        .collect();
    assert_eq!((rows.len(), open), (30, vec!["c07"]));
}

#[test]
fn drafts_and_reviews_end_as_incomplete() {
    let (cli, server) = with_server(|_: &MockRequest| MockReply::status(401, REFUSED));
    let (mut drafts, mut rubrics) = (String::from("evalcases:\n"), String::from("tests:\n"));
    for number in 0..20 {
        let _ = writeln!(drafts, "- {{id: c{number}, expected_outcome: Says number {number}, input: q}}");
        let _ = writeln!(
            rubrics,
            "- {{id: c{number}, criteria: x, input: q, assertions: [{{type: rubrics, criteria: [Says number {number}]}}]}}"
        );
    }
    cli.file("drafts.yaml", drafts).file("rubrics.eval.yaml", rubrics);

    let output = cli.run(&["generate", "rubrics", "drafts.yaml", "--judge", "openai:m"]).expect_code(3);
    assert!(output.stderr.contains("OPENAI_API_KEY"), "{}", output.stderr);
    assert!(output.stdout.contains("were not reached"), "{}", output.stdout);

    let sent = server.count();
    let report =
        object(&cli.run(&["lint", "rubrics.eval.yaml", "--judge", "openai:m", "--json"]).expect_code(3));
    assert!(report["judge"]["over_budget"].is_null(), "{report}");
    let reason = report["judge"]["server_given_up"].as_str().unwrap_or_default();
    assert!(reason.contains("OPENAI_API_KEY"), "{report}");
    assert!(server.count() < sent + 20, "a refused key is not sent with every request");
}
