//! The contents of a run folder.

use serde_json::Value;

use crate::e2e::bench::{cli, info, judgements, rows};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

const CASE: &str = "- id: same\n  criteria: x\n  input: q\n  output: Apples and pears.\n  assertions:\n  \
                    - name: fruit\n    type: rubrics\n    criteria:\n    - {id: a, outcome: Apples, required: true}\n    \
                    - id: b\n      outcome: Apples\n      min_score: 0.1\n      score_ranges: {0: nothing, 5: Apples and pears}\n";

#[test]
fn rows_have_exactly_the_documented_fields() {
    let cli = cli();
    cli.file("s.yaml", format!("name: s\ntests:\n{CASE}"));
    cli.run(&["eval", "s.yaml", "--run-dir", "run"]).expect_code(0);
    let row = &rows(&cli, "run")[0];
    assert_eq!(
        keys(row),
        [
            "format", "suite", "case_id", "target", "repeat", "place", "tags", "cluster", "case_hash",
            "score", "score_low", "score_high", "coverage", "verdict", "gates_failed", "graders", "answer",
            "error", "tokens", "cost_usd", "duration_ms", "crc"
        ]
    );
    let grader = &row["graders"][0];
    assert_eq!(keys(grader), ["name", "type", "weight", "settings", "score", "verdict", "error", "criteria"]);
    for criterion in grader["criteria"].as_array().expect("a list") {
        assert_eq!(
            keys(criterion),
            ["id", "outcome", "raw_score", "value", "weight", "gate", "reason", "evidence", "judge"]
        );
    }
    assert_eq!(keys(&grader["criteria"][0]["evidence"][0]), ["quote", "verified"]);
    assert_eq!(keys(&row["tokens"]), ["input", "cached", "output"]);
    assert_eq!((&row["target"], &row["error"]), (&Value::Null, &Value::Null));
    assert_eq!(row["answer"], "Apples and pears.");
    let judgements = judgements(&cli, "run");
    assert_eq!(judgements.len(), 2, "one row a criterion");
    let hash = info(&cli, "run")["inputs"][0]["blake3"].as_str().map(str::len);
    assert_eq!(hash, Some(64));
}

#[test]
fn a_failed_gate_row_has_its_fields() {
    let cli = cli();
    cli.file(
        "s.yaml",
        format!("name: s\ntests:\n{CASE}").replace("output: Apples and pears.", "output: Zebras."),
    );
    cli.run(&["eval", "s.yaml", "--run-dir", "run"]).expect_code(1);
    let row = &rows(&cli, "run")[0];
    let gates = row["gates_failed"].as_array().expect("a list");
    assert_eq!(gates.len(), 2, "{gates:?}");
    for gate in gates {
        assert_eq!(keys(gate), ["grader", "criterion", "rule"]);
    }
}

#[test]
fn suites_with_equal_case_ids_stay_apart() {
    let cli = cli();
    cli.file("a.yaml", format!("name: first\ntests:\n{CASE}"));
    cli.file("b.yaml", format!("name: second\ntests:\n{CASE}").replace("Apples and pears.", "Zebras."));
    cli.run(&["eval", "a.yaml", "b.yaml", "--run-dir", "run"]).expect_code(1);
    let rows = rows(&cli, "run");
    let verdicts: Vec<_> = rows.iter().map(|row| (row["suite"].as_str(), row["verdict"].as_str())).collect();
    assert_eq!(verdicts, [(Some("first"), Some("pass")), (Some("second"), Some("fail"))]);
    let explained = cli.run(&["explain", "run", "same", "--json"]).expect_code(0);
    let both: Value = serde_json::from_str(&explained.stdout).expect("JSON");
    assert_eq!(both.as_array().map(Vec::len), Some(2));
    cli.run(&["explain", "run", "same", "--suite", "second", "--json"]).expect_code(0);
}

#[test]
fn two_files_whose_suites_have_one_name_stay_apart() {
    let cli = cli();
    cli.file("a/s.yaml", format!("name: s\ntests:\n{CASE}"));
    cli.file("b/s.yaml", format!("name: s\ntests:\n{CASE}").replace("Apples and pears.", "Zebras."));
    let output = cli.run(&["eval", "a/s.yaml", "b/s.yaml", "--run-dir", "run"]);
    // Rows are identified by suite and case id, so the suites must have different names, or the run is refused.
    if output.code == Some(2) {
        assert!(output.stderr.contains("name"), "{}", output.stderr);
        return;
    }
    let rows = rows(&cli, "run");
    assert_ne!(rows[0]["suite"], rows[1]["suite"], "{}", output.stdout);
}
