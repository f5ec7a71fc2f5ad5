//! `review --export` and `--decisions`: a table is written, filled in, and read back.

use assize_testkit::cli::CliTest;
use assize_testkit::mock::MockServer;

use crate::scorecard::support::{as_folder, fixture, judge, rows, run};

/// A case with an uncertain judge, and two cases that wait for a person. One id looks like a formula.
const CASES: [(&str, &str, &str); 3] =
    [("j3", "judged", "unsure"), ("=p1", "read", "fine"), ("p2", "read", "fine too")];

fn exported() -> (MockServer, CliTest, String) {
    let server = MockServer::start(judge);
    let cli = fixture(&server, &CASES);
    run(&cli, &["--run-dir", "r"]);
    let arguments = ["review", "r", "--labels", "labels", "--who", "ann", "--export", "items.csv"];
    let output = cli.run(&arguments).expect_code(0);
    assert!(output.stderr.contains("3 items in items.csv"), "{}", output.stderr);
    let table = cli.read("items.csv");
    (server, cli, table)
}

/// Fills in the cells of the decision in the row of a case.
fn filled(table: &str, case: &str, cells: &str) -> String {
    let (header, body) = table.split_once('\n').expect("a header");
    let rows = body.split_inclusive("ann\n").map(|row| {
        let is_wanted = row.starts_with("item-") && row.split(',').nth(1) == Some(case);
        if is_wanted { row.replace(",,,,ann\n", &format!(",{cells},ann\n")) } else { row.to_owned() }
    });
    format!("{header}\n{}", rows.collect::<String>())
}

fn read(cli: &CliTest) -> assize_testkit::cli::CliOutput {
    cli.run(&["review", "r", "--labels", "labels", "--who", "ann", "--decisions", "items.csv"])
}

#[test]
fn a_table_comes_back_as_labels_of_what_was_shown() {
    let (_server, cli, table) = exported();
    for text in ["the narrative", "Guideline of the rubric.", "\"pass, fail, na, unsure\"", ",'=p1,"] {
        assert!(table.contains(text), "{text}: {table}");
    }
    assert!(!table.contains("by rule"), "nothing of the judge: {table}");

    let table = filled(&table, "j3", "fail,high,\"no, really\"");
    cli.file("items.csv", filled(&table, "'=p1", "pass,,"));
    let output = read(&cli).expect_code(0);
    assert!(output.stderr.contains("rows without a label, skipped: 1"), "{}", output.stderr);

    let labels = rows(&cli, "labels/review-ann.jsonl");
    let kept: Vec<_> = labels.iter().map(|label| (&label["case"], &label["label"], &label["note"])).collect();
    let null = serde_json::Value::Null;
    assert_eq!(
        kept,
        [(&"j3".into(), &"unmet".into(), &"no, really".into()), (&"=p1".into(), &"met".into(), &null)]
    );
    assert!(labels.iter().all(|label| label["seen"].is_string()), "{labels:?}");

    // Decided items are not exported again.
    let again = ["review", "r", "--labels", "labels", "--who", "ann", "--export", "rest.csv"];
    assert!(cli.run(&again).expect_code(0).stderr.contains("1 items in rest.csv"));
}

#[test]
fn rows_about_what_has_changed_since_are_refused_by_name() {
    let server = MockServer::start(judge);
    let cli = fixture(&server, &CASES);
    let card = as_folder(&cli, &CASES);
    let judged = |run: &str| {
        cli.run(&["scorecard", "run", &card, "--judge", "openai:judge-1", "-q", "--run-dir", run]);
    };
    judged("old");
    cli.run(&["review", "old", "--who", "ann", "--export", "items.csv"]).expect_code(0);
    let table = cli.read("items.csv");
    cli.file("items.csv", filled(&filled(&table, "p2", "pass,,"), "j3", "pass,,"));

    let changed = [CASES[0], CASES[1], ("p2", "read", "another answer")];
    let card = as_folder(&cli, &changed);
    cli.run(&["scorecard", "run", &card, "--judge", "openai:judge-1", "-q", "--run-dir", "new"]);
    let arguments = ["review", "new", "--who", "ann", "--decisions", "items.csv"];
    let output = cli.run(&arguments).expect_code(2);
    assert!(output.stderr.contains("the label is stale: case `p2`, criterion `C4`"), "{}", output.stderr);
    assert!(output.stderr.contains("nothing was recorded"), "{}", output.stderr);
    assert!(!cli.path("card/labels/review-ann.jsonl").exists(), "not even the rows that fit");
}

/// Saves a table like a spreadsheet program that has opened it.
fn save_as_spreadsheet(cli: &CliTest, table: &str, name: &str) {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(table.trim_start_matches('\u{feff}').as_bytes());
    let records: Vec<csv::StringRecord> = reader.records().map(|record| record.expect("a row")).collect();
    let rows: Vec<Vec<&str>> = records.iter().map(|record| record.iter().collect()).collect();
    let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
    cli.spreadsheet(name, &[("items", &rows)]);
}

#[test]
fn a_table_that_was_saved_as_a_spreadsheet_comes_back_too() {
    let (_server, cli, table) = exported();
    let table = filled(&table, "j3", "fail,high,\"no, really\"");
    let table = filled(&table, "'=p1", "pass,,");
    save_as_spreadsheet(&cli, &table.replace("item-", "item-0"), "items.xlsx");
    let read =
        || cli.run(&["review", "r", "--labels", "labels", "--who", "ann", "--decisions", "items.xlsx"]);
    let output = read().expect_code(2);
    assert!(
        output.stderr.contains("stale") && output.stderr.contains("nothing was recorded"),
        "{}",
        output.stderr
    );
    assert!(!cli.path("labels/review-ann.jsonl").exists());

    save_as_spreadsheet(&cli, &table, "items.xlsx");
    let output = read().expect_code(0);
    assert!(output.stderr.contains("rows without a label, skipped: 1"), "{}", output.stderr);
    let labels = rows(&cli, "labels/review-ann.jsonl");
    let decided: Vec<_> = labels.iter().map(|label| (&label["case"], &label["label"])).collect();
    assert_eq!(decided, [(&"j3".into(), &"unmet".into()), (&"=p1".into(), &"met".into())]);
}

#[test]
fn tables_that_make_no_sense_are_told() {
    let (_server, cli, table) = exported();
    for (text, wanted) in [
        (table.clone(), "no row of `items.csv` has a label"),
        (filled(&table, "p2", ",high,"), "`severity` is filled in and `label` is not"),
        (filled(&table, "p2", "perhaps,,"), "`perhaps` is not a decision"),
        (filled(&table, "p2", "pass,,").replace("item-", "item-0"), "stale"),
    ] {
        cli.file("items.csv", &text);
        let output = read(&cli).expect_code(2);
        assert!(output.stderr.contains(wanted), "{wanted}: {}", output.stderr);
    }

    // Spreadsheets in countries with a decimal comma write semicolons.
    let lines = "case;criterion;label\np2;C4;pass\n";
    cli.file("items.csv", lines);
    read(&cli).expect_code(0);
    assert_eq!(rows(&cli, "labels/review-ann.jsonl").len(), 1);

    let output = cli
        .run(&["review", "r", "--labels", "labels", "--who", "ann", "--export", "items.xlsx"])
        .expect_code(2);
    assert!(output.stderr.contains(".csv"), "{}", output.stderr);
    let output =
        cli.run(&["review", "r", "--labels", "labels", "--who", "ann", "--who", "ben"]).expect_code(2);
    assert!(output.stderr.contains("--browser"), "{}", output.stderr);
    let output = cli.run(&["review", "r", "--who", "ann", "--port", "1"]).expect_code(2);
    assert!(output.stderr.contains("`--port` needs `--browser`"), "{}", output.stderr);
}
