//! `assize convert`: what is written, what is said, and the exit code that follows.

use crate::bench::{cli, object};

const ONE: &str = "evalcases:\n  - id: a\n    expected_outcome: Answers\n    input: q\n    rubrics:\n      - {id: x, expected_outcome: Does x}\n      - {id: y, expected_outcome: Does y, weight: 2, required: false}\n";

#[test]
fn a_conversion_between_formats_is_whole() {
    let cli = cli();
    cli.file("one.yaml", ONE);
    let output = cli.run(&["convert", "one.yaml", "--to", "format2", "-o", "new/two.yaml"]).expect_code(0);
    assert_eq!(output.stdout, "", "the file is the result");
    assert!(output.stderr.contains("everything was carried over"), "{}", output.stderr);
    let two = cli.read("new/two.yaml");
    assert!(two.starts_with("# Converted from `one.yaml` (format 1).\n"), "{two}");
    assert!(two.contains("borderline: 0.6\n") && two.contains("            required: true\n"), "{two}");
    cli.run(&["validate", "new/two.yaml", "--max-warnings", "0"]).expect_code(0);
    let refused = cli.run(&["convert", "one.yaml", "--to", "format2", "-o", "new/two.yaml"]).expect_code(2);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    cli.run(&["convert", "one.yaml", "--to", "1", "-o", "new/two.yaml", "--force"]).expect_code(0);
    assert!(cli.read("new/two.yaml").contains("evalcases:"));
}

#[test]
fn what_is_lost_is_listed_with_its_line() {
    let cli = cli();
    cli.file("c.yaml", "prompts: [hi]\ntests:\n  - assert:\n      - {type: equals, value: hello}\n      - {type: similar, value: y}\n");
    let output = cli.run(&["convert", "c.yaml", "--to", "format2"]).expect_code(3);
    assert!(output.stdout.contains("value: hello"), "{}", output.stdout);
    assert!(
        output.stderr.contains("lost: c.yaml:5: `similar` of `test-1`: not carried over"),
        "{}",
        output.stderr
    );
    let report = object(&cli.run(&["convert", "c.yaml", "--to", "format2", "--json"]).expect_code(3));
    assert_eq!((report["lost"].as_u64(), report["notes"][0]["line"].as_u64()), (Some(1), Some(5)));
    assert_eq!(report["kind"], "promptfoo");
    assert!(report["text"].as_str().is_some_and(|text| text.contains("tests:")));
}

#[test]
fn what_can_not_be_read_ends_with_two() {
    let cli = cli();
    cli.file("broken.yaml", "evalcases:\n  - id: a\n   x: [\n");
    cli.file("other.txt", "hello");
    cli.file("empty.csv", "");
    for name in ["broken.yaml", "other.txt", "empty.csv", "missing.yaml", "."] {
        let output = cli.run(&["convert", name, "--to", "format2"]).expect_code(2);
        assert_eq!(output.stdout, "", "{name}");
        assert!(output.stderr.contains("error"), "{name}: {}", output.stderr);
    }
}
