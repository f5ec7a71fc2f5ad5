//! First contact: bare commands, hints, and which files were written.

use crate::e2e::bench::{cli, object};

const SUITE: &str = "tests:\n- id: good\n  input: q\n  output: apples\n  assertions: &fruit\n  - type: rubrics\n    criteria: [{id: fruit, \
                     outcome: Names `apples`}]\n- id: bad\n  input: q\n  output: pears\n  assertions: *fruit\n";

#[test]
fn a_bare_command_prints_help_and_fails_nothing() {
    let cli = cli();
    for bare in [&[][..], &["scorecard"], &["audit"], &["cache"], &["generate"]] {
        let output = cli.run(bare).expect_code(0);
        assert!(output.stdout.contains("Usage: assize"), "{bare:?}: {}", output.stdout);
        assert_eq!(output.stderr, "", "{bare:?}");
    }

    // A command that lacks an argument is an error.
    let output = cli.run(&["grade"]).expect_code(2);
    assert!(output.stdout.is_empty() && output.stderr.contains("--answers"), "{}", output.stderr);
}

#[test]
fn equal_names_of_two_suites_are_told_apart() {
    let cli = cli();
    for name in ["north", "south"] {
        cli.file(format!("{name}.eval.yaml"), format!("name: {name}\n{SUITE}"));
    }
    let eval = ["eval", "north.eval.yaml", "south.eval.yaml", "--judge", "offline", "--show", "none"];
    let text = cli.run(&eval).expect_code(1).stdout;
    for suite in ["north", "south"] {
        assert!(text.contains(&format!("Names `apples` ({suite})")), "{text}");
    }
    assert!(text.contains("assize explain last bad --suite north"), "{text}");
    cli.run(&["explain", "last", "bad", "--suite", "north"]).expect_code(0);

    for format in ["markdown", "html"] {
        let page = cli.run(&["report", "last", "--format", format]).expect_code(0).stdout;
        assert!(page.contains("apples") && page.contains("(south)"), "{page}");
    }
}

#[test]
fn a_summary_has_intervals_and_details_are_a_command_away() {
    let cli = cli();
    cli.file("a.eval.yaml", SUITE);
    let text = cli.run(&["eval", "a.eval.yaml", "--judge", "offline"]).expect_code(1).stdout;
    assert!(text.contains("Pass rate   1/2 (50.0%), 95% CI "), "{text}");
    assert!(!text.contains("Margin of error"), "{text}");

    let listed = cli.run(&["explain", "last"]).expect_code(0).stdout;
    assert!(listed.contains("Margin of error of the pass rate: ±"), "{listed}");
    let value = object(&cli.run(&["eval", "a.eval.yaml", "--judge", "offline", "--json"]).expect_code(1));
    let notes = value["metrics"]["precision_notes"].to_string();
    assert!(notes.contains("Margin of error of the pass rate"), "{notes}");
    let page = cli.run(&["report", "last", "--format", "html"]).expect_code(0).stdout;
    assert!(page.contains("Margin of error of the pass rate"), "{page}");
}

#[test]
fn answers_are_read_from_standard_input() {
    let cli = cli();
    cli.file("rubric.yaml", "- Names `apples`\n");
    let grade = ["grade", "rubric.yaml", "--answers", "-", "--judge", "offline", "--json"];
    for piped in ["answer\napples\npears\n", "{\"answer\": \"apples\"}\n{\"answer\": \"pears\"}\n"] {
        let value = object(&cli.run_with_input(&grade, piped).expect_code(1));
        assert_eq!((&value["counts"]["pass"], &value["counts"]["fail"]), (&1.into(), &1.into()), "{piped}");
    }
}

#[test]
fn comparisons_say_what_they_write_and_call_their_sides_base_and_candidate() {
    let cli = cli();
    cli.file("a.eval.yaml", SUITE);
    for run in ["before", "after"] {
        cli.file(
            "a.eval.yaml",
            if run == "after" { SUITE.replace("pears", "apples") } else { SUITE.to_owned() },
        );
        cli.run(&["eval", "a.eval.yaml", "--judge", "offline", "--run-dir", run]);
    }
    let output = cli.run(&["compare", "before", "after", "-o", "c.html", "-o", "c.md"]).expect_code(0);
    assert_eq!(output.stderr, "wrote c.html\nwrote c.md\n");
    assert!(
        output.stdout.contains("      base: ") && output.stdout.contains("      candidate: "),
        "{}",
        output.stdout
    );

    let page = cli.read("c.html");
    assert!(page.contains("<th class=\"num\">candidate</th>") && !page.contains(">now<"), "{page}");
    assert!(page.contains("<b>Pass rate.</b> ") && page.contains("<b>Mean score.</b> "), "{page}");
    assert!(page.contains("pp</text>"), "the axis of a rate is in points: {page}");
}
