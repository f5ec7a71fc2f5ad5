//! `assize scorecard compare`: two runs, part by part.

use assize_testkit::mock::MockServer;
use serde_json::Value;

use crate::support::{fixture, judge, node, printed, relabel, run};

#[test]
fn two_runs_are_compared_over_the_cases_both_have() {
    let server = MockServer::start(judge);
    let ids: Vec<String> = (0..9).map(|number| format!("j{number}")).collect();
    let cases = |count: usize, bad: usize| -> Vec<(&str, &str, &str)> {
        let text = |at| if at < bad { "bad" } else { "fine" };
        ids.iter().take(count).enumerate().map(|(at, id)| (id.as_str(), "judged", text(at))).collect()
    };
    let cli = fixture(&server, &cases(9, 6));
    run(&cli, &["--out", "before"]).expect_code(1);
    relabel(&cli, &cases(8, 1), &[]);
    run(&cli, &["--out", "after"]).expect_code(1);
    let compare = |more: &[&str]| cli.run(&[&["scorecard", "compare"], more].concat());

    let found = printed(&compare(&["before", "after", "--json"]).expect_code(0));
    assert_eq!((&found["cases"], &found["cases_only_in_base"]), (&8.into(), &1.into()));
    let gate = node(&found, "C1");
    assert_eq!((&gate["base"]["score"], &gate["candidate"]["score"]), (&0.25.into(), &0.875.into()));
    assert_eq!((&gate["difference"], &gate["method"]), (&0.625.into(), &"Student-t".into()));
    let top = node(&found, "TOP");
    assert_eq!(top["difference"], 0.625);
    let (low, high) = (top["low"].as_f64().expect("a number"), top["high"].as_f64().expect("a number"));
    assert!(low > 0.0 && low < 0.625 && high > 0.625 && high <= 1.0, "{low} {high}");
    assert!(top["method"].as_str().expect("text").contains("bootstrap"), "{top}");
    assert_eq!(node(&found, "C4")["difference"], Value::Null);

    let text = compare(&["before", "after"]).expect_code(0).stdout;
    assert!(text.contains("+0.625") && text.contains("left out: 1 case only in the base"), "{text}");
    let same = compare(&["before", "before"]).expect_code(0).stdout;
    assert!(same.contains("over the 9 cases that both runs have"), "{same}");
    assert!(same.contains("where there is no interval: all values are the same"), "{same}");
    let output = compare(&["before", "nothing"]).expect_code(2);
    assert!(output.stderr.contains("there is no run `nothing`"), "{}", output.stderr);
}
