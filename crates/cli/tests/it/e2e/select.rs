//! `--filter`, `--tag` and `--exclude-tag`.

use assize_testkit::cli::CliTest;

use crate::e2e::bench::{cli, info, rows};

fn suite() -> CliTest {
    let cli = cli();
    let case = |id: &str, tags: &str| {
        format!(
            "- id: {id}\n  criteria: x\n  input: q\n  output: yes\n  tags: [{tags}]\n  assertions: [Says yes]\n"
        )
    };
    let cases =
        [case("refund-a", "smoke"), case("refund-b", "slow"), case("'other/x y'", "smoke, slow")].concat();
    cli.file("s.yaml", format!("name: s\ntests:\n{cases}"));
    cli.file("t.yaml", format!("name: t\ntags: [nightly]\ntests:\n{}", case("refund-c", "")));
    cli
}

fn selected(args: &[&str]) -> Vec<String> {
    let cli = suite();
    let mut all = vec!["eval", "s.yaml", "t.yaml", "--run-dir", "run"];
    all.extend(args);
    cli.run(&all).expect_code(0);
    let rows = rows(&cli, "run");
    let count: u64 = info(&cli, "run")["suites"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|suite| suite["cases"].as_u64().expect("a number"))
        .sum();
    assert_eq!(count, rows.len() as u64);
    rows.iter().map(|row| row["case_id"].as_str().expect("a text").to_owned()).collect()
}

#[test]
fn filters_match_ids_as_globs_and_any_of_several_is_enough() {
    assert_eq!(selected(&["--filter", "refund-*"]), ["refund-a", "refund-b", "refund-c"]);
    assert_eq!(selected(&["--filter", "*-a", "--filter", "other*"]), ["other/x y", "refund-a"]);
    assert_eq!(selected(&["--filter", "other/x y"]), ["other/x y"]);
}

#[test]
fn tags_of_cases_and_suites_select_and_combine_with_filters() {
    assert_eq!(selected(&["--tag", "smoke"]), ["other/x y", "refund-a"]);
    assert_eq!(selected(&["--tag", "nightly"]), ["refund-c"]);
    assert_eq!(selected(&["--tag", "slow", "--filter", "refund-*"]), ["refund-b"]);
}

#[test]
fn excluded_tags_beat_whatever_selects_a_case() {
    assert_eq!(selected(&["--exclude-tag", "slow"]), ["refund-a", "refund-c"]);
    assert_eq!(selected(&["--tag", "smoke", "--exclude-tag", "slow"]), ["refund-a"]);
    assert_eq!(selected(&["--exclude-tag", "smoke", "--exclude-tag", "nightly"]), ["refund-b"]);

    // A resumed run must exclude the same cases.
    let cli = suite();
    cli.run(&["eval", "s.yaml", "--exclude-tag", "slow", "--run-dir", "run"]).expect_code(0);
    let other = cli.run(&["eval", "s.yaml", "--resume", "run"]).expect_code(2);
    assert!(other.stderr.contains("excluded tags"), "{}", other.stderr);
}

#[test]
fn nothing_selected_is_an_error_that_shows_ids() {
    let cli = suite();
    let output = cli.run(&["eval", "s.yaml", "--filter", "nothing"]).expect_code(2);
    assert!(output.stderr.contains("refund-a"), "{}", output.stderr);
    assert!(!cli.path(".assize").exists());
    let output = cli.run(&["eval", "s.yaml", "--filter", "a[", "--json"]).expect_code(2);
    assert!(output.stderr.contains("--filter"), "{}", output.stderr);
}

#[test]
fn a_target_that_no_case_needs_is_warned_of() {
    let cli = suite();
    let told = "`--target nope` has no effect: every case has its answer";
    // The message appears in the summary and nowhere else.
    let output = cli.run(&["eval", "s.yaml", "--target", "nope"]).expect_code(0);
    assert_eq!((output.stdout + &output.stderr).matches(told).count(), 1);
    let output = cli.run(&["eval", "s.yaml"]).expect_code(0);
    assert!(!(output.stdout + &output.stderr).contains("has no effect"));
}
