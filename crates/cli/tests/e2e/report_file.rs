//! `--out`: the report file of a command.

use crate::bench::{cli, object};

const SUITE: &str = "name: s\ntests:\n- id: a\n  criteria: x\n  input: q\n  output: apples\n  assertions: [{type: contains, value: pears}]\n";

#[test]
fn the_file_holds_what_json_prints() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    let args = ["eval", "s.yaml", "--run-dir", "run", "--out", "reports/today.json"];
    let output = cli.run(&[&args[..], &["--json"]].concat()).expect_code(1);
    let written = || -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(cli.path("reports/today.json")).expect("a file"))
            .expect("JSON")
    };
    assert_eq!(written(), object(&output));

    // Tables stay on stdout without `--json`, and an old report is replaced.
    cli.file("reports/today.json", "old");
    let output = cli.run(&["score", "run", "--threshold", "0", "-o", "reports/today.json"]);
    assert!(output.stdout.contains("Summary"), "{}", output.stdout);
    assert_eq!(written()["run_dir"], "run");
    assert_eq!(
        std::fs::read_dir(cli.path("reports")).expect("a folder").count(),
        1,
        "no file is left beside it"
    );

    cli.run(&["eval", "s.yaml", "--dry-run", "--out", "plan.json"]).expect_code(0);
    assert!(cli.path("plan.json").is_file());
}

#[test]
fn other_endings_are_refused_before_anything_is_run() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    for name in ["report.html", "runs/today", "table.csv"] {
        let output = cli.run(&["eval", "s.yaml", "--out", name]).expect_code(2);
        assert!(
            output.stderr.contains("FILE.json") && output.stderr.contains("--run-dir"),
            "{}",
            output.stderr
        );
        assert!(!cli.path(name).exists() && !cli.path(".assize/runs").exists(), "{name}");
    }
}
