//! Every number of a run can be computed again from its rows.

use assize_testkit::mock::MockServer;
use serde_json::Value;

use crate::scorecard::support::{fixture, judge, node, printed, run};

const CASES: [(&str, &str, &str); 6] = [
    ("j", "judged", "fine"),
    ("k", "judged", "bad"),
    ("h", "hybrid", "dose 4 mg"),
    ("i", "hybrid", "none"),
    ("c", "coded", "dose"),
    ("u", "judged", "unsure"),
];

#[test]
fn a_run_scores_the_same_again_without_asking_anybody() {
    let server = MockServer::start(judge);
    let cli = fixture(&server, &CASES);
    let first = printed(&run(&cli, &["--run-dir", "r", "--json"]).expect_code(1));
    let calls = server.count();
    let output = cli.run(&["scorecard", "score", "r", "--json", "--out", "report.md"]).expect_code(1);
    let again = printed(&output);
    assert_eq!(again["nodes"], first["scorecard"]["nodes"]);
    assert_eq!(server.count(), calls);
    let report = cli.read("report.md");
    assert!(
        report.starts_with("<!-- assize -->\n\n# TOP\n") && report.contains("| u | uncertain | by rule |"),
        "{report}"
    );
    assert!(
        report.contains("judge openai:judge-1 (behaviour") || report.contains("judge openai:judge-1 (rubric")
    );
    let output = cli.run(&["scorecard", "score", "r", "--weights", "never"]).expect_code(2);
    assert!(output.stderr.contains("there are: pilot, late"), "{}", output.stderr);
    cli.run(&["scorecard", "score", "r", "--weights", "late"]).expect_code(1);
    let output = cli.run(&["score", "r"]).expect_code(2);
    assert!(output.stderr.contains("use `assize scorecard score r`"), "{}", output.stderr);
}

#[test]
fn any_part_is_explained_line_by_line() {
    let server = MockServer::start(judge);
    let cli = fixture(&server, &CASES);
    let first = printed(&run(&cli, &["--run-dir", "r", "--json"]));
    let rubric = cli.run(&["explain", "r", "R"]).expect_code(0).stdout;
    for line in [
        "rubric, weighted average, threshold 0.5",
        "score = 0.383333 / 0.9 = 0.425926",
        "weights with a score sum to 0.9 of 1; the rest does not apply",
        "0.425926 is below 0.5",
        "hard gates that failed below it: C1",
        "blocked",
    ] {
        assert!(rubric.contains(line), "{line} in\n{rubric}");
    }
    let gate = cli.run(&["explain", "r", "C1"]).expect_code(0).stdout;
    for line in [
        "score = 1 / 3 cases = 0.333333",
        "1 uncertain, scored 0",
        "fail; as a hard gate it blocks every node above",
    ] {
        assert!(gate.contains(line), "{line} in\n{gate}");
    }
    for code in ["TOP", "C", "R", "C1", "C2", "C3", "C4"] {
        let explained: Value = printed(&cli.run(&["explain", "r", code, "--json"]).expect_code(0));
        assert_eq!(explained["score"], node(&first, code)["score"], "{code}");
        assert_eq!(explained["verdict"], node(&first, code)["verdict"], "{code}");
    }
    // Cases are still explained by their id.
    let case = cli.run(&["explain", "r", "h"]).expect_code(0).stdout;
    assert!(case.contains("C2"), "{case}");
    let output = cli.run(&["explain", "r", "C9"]).expect_code(2);
    assert!(output.stderr.contains("no case `C9`"), "{}", output.stderr);
}
