//! Spreadsheets and Parquet files as tables: answers, labels, tests, criteria.

use crate::e2e::bench::{cli, object, rows, with_server};
use crate::e2e::judge::honest;

const RUBRIC: &str = "name: fruit\ncriteria:\n- {id: a, outcome: Names `apples`, required: true}\n- {id: p, outcome: Names `pears`, required: false}\n";

const ANSWERS: &[&[&str]] = &[
    &["id", "Model Output", "question", "latency ms"],
    &["007", "apples\nand \"pears\"", "Which?", "12"],
    &[],
    &["b", "pears, only", "", "7"],
];

#[test]
fn answers_of_a_sheet_are_graded_like_those_of_a_table() {
    let (cli, _server) = with_server(honest);
    cli.file("rubric.yaml", RUBRIC);
    cli.spreadsheet("answers.xlsx", &[("Notes", &[&["Nothing to grade"]]), ("Round 2", ANSWERS)]);
    cli.file(
        "answers.csv",
        "id,Model Output,question,latency ms\n007,\"apples\nand \"\"pears\"\"\",Which?,12\n,,,\nb,\"pears, only\",,7\n",
    );
    let grade = |answers: &str, run: &str| {
        let args = ["grade", "rubric.yaml", "--answers", answers, "--columns", "metadata=latency ms"];
        let output = cli.run(&[&args[..], &["--judge", "openai:m", "--run-dir", run, "--json"]].concat());
        let value = object(&output.expect_code(1));
        assert_eq!((&value["counts"]["pass"], &value["counts"]["fail"]), (&1.into(), &1.into()), "{value}");
        rows(&cli, run)
    };
    let (sheet, table) = (grade("answers.xlsx#Round 2", "sheet"), grade("answers.csv", "table"));
    for (one, other) in sheet.iter().zip(&table) {
        for key in ["case_id", "score", "verdict", "criteria", "metadata", "output", "input"] {
            assert_eq!(one[key], other[key], "{key}");
        }
    }
    assert_eq!(sheet[0]["case_id"], "007");
    assert_eq!(sheet.len(), 2);

    // Compared again with the path that the run recorded.
    let output = cli.run(&[
        "compare", "pairwise", "one=answers.xlsx#Round 2", "two=answers.csv", "--columns",
        "metadata=latency ms", "--criteria", "Is longer", "--judge", "openai:m", "--dry-run",
    ]);
    assert!(!output.stderr.contains("not found"), "{}", output.stderr);
}

#[test]
fn the_first_sheet_is_read_and_the_others_are_named() {
    let cli = cli();
    cli.file("rubric.yaml", RUBRIC);
    cli.spreadsheet(
        "a.xlsx",
        &[("Answers", &[&["answer"], &["apples, pears"]]), ("Old", &[&["answer"], &["x"]])],
    );
    let args = ["grade", "rubric.yaml", "--judge", "offline", "--answers"];
    let output = cli.run(&[&args[..], &["a.xlsx"]].concat()).expect_code(0);
    assert!(output.stderr.contains("only the first sheet, `Answers`, is read"), "{}", output.stderr);
    assert!(output.stderr.contains("a.xlsx#Answers"), "{}", output.stderr);
    let output = cli.run(&[&args[..], &["a.xlsx#2"]].concat()).expect_code(1);
    assert!(!output.stderr.contains("only the first sheet"), "{}", output.stderr);
}

#[test]
fn problems_name_the_cell() {
    let cli = cli();
    cli.file("rubric.yaml", RUBRIC);
    let grade =
        || cli.run(&["grade", "rubric.yaml", "--judge", "offline", "--answers", "a.xlsx"]).expect_code(2);

    cli.spreadsheet(
        "a.xlsx",
        &[("Answers", &[&["id", "answer", "extra"], &["a", "one\ntwo", "x"], &["a", "three", "y"]])],
    );
    let output = grade();
    assert!(output.stderr.contains("a.xlsx: Answers!C1"), "the unknown column: {}", output.stderr);

    cli.spreadsheet("a.xlsx", &[("Round 2", &[&["id", "answer"], &["a", "one\ntwo"], &["a", "three"]])]);
    let output = grade();
    assert!(output.stderr.contains("a.xlsx: 'Round 2'!A3"), "the id that is taken: {}", output.stderr);

    cli.file("a.xlsx", "id,answer\na,b\n");
    assert!(grade().stderr.contains("it is text, not an .xlsx file"));
    cli.spreadsheet("a.xlsx", &[("Answers", &[&["id", "answer"]])]);
    assert!(grade().stderr.contains("the sheet has no cases"));
    let args = ["grade", "rubric.yaml", "--judge", "offline", "--answers"];
    let output = cli.run(&[&args[..], &["a.xlsx#Other"]].concat()).expect_code(2);
    assert!(output.stderr.contains("there is no sheet `Other`; there are `Answers`"), "{}", output.stderr);
    let output = cli.run(&[&args[..], &["b.xlsx"]].concat()).expect_code(2);
    assert!(output.stderr.contains("file not found"), "{}", output.stderr);

    // A file with another extension gets advice.
    let content = std::fs::read(cli.path("a.xlsx")).expect("a file");
    cli.file("answers", content);
    let output = cli.run(&[&args[..], &["answers"]].concat()).expect_code(2);
    assert!(output.stderr.contains("give the file the ending .xlsx"), "{}", output.stderr);
}

#[test]
fn tests_of_a_matrix_come_from_a_sheet() {
    let cli = cli();
    cli.file(
        "promptfooconfig.yaml",
        "prompts: ['{{answer}}']\nproviders: [echo]\ntests: file://tests.xlsx#Data\n",
    );
    let tests: &[&[&str]] = &[
        &["answer", "__expected", "__expected2", "__description"],
        &["say apples", "contains: apples", "", "fruit"],
        &["say pears", "contains: apples", "javascript: output.length > 3", ""],
    ];
    cli.spreadsheet("tests.xlsx", &[("Readme", &[&["not this one"]]), ("Data", tests)]);
    let value = object(&cli.run(&["eval", ".", "--json", "--run-dir", "run"]).expect_code(1));
    assert_eq!((value["counts"]["pass"].as_u64(), value["counts"]["fail"].as_u64()), (Some(1), Some(1)));
    cli.run(&["eval", ".", "--json", "--resume", "run"]).expect_code(1);

    // A list may name several files.
    cli.file(
        "promptfooconfig.yaml",
        "prompts: ['{{answer}}']\nproviders: [echo]\ntests: [file://tests.xlsx#2, file://gone.xlsx]\n",
    );
    let output = cli.run(&["validate", "."]).expect_code(2);
    assert!(output.stdout.contains("gone.xlsx"), "{}{}", output.stdout, output.stderr);

    let tests: &[&[&str]] = &[&["answer", "__threshold"], &["a", "0.5"], &["b", "high"]];
    cli.spreadsheet("tests.xlsx", &[("Data", tests)]);
    cli.file(
        "promptfooconfig.yaml",
        "prompts: ['{{answer}}']\nproviders: [echo]\ntests: file://tests.xlsx\n",
    );
    let output = cli.run(&["validate", "."]).expect_code(2);
    assert!(output.stdout.contains("tests.xlsx: Data!B3"), "{}{}", output.stdout, output.stderr);
}

#[test]
fn labels_of_a_sheet_calibrate_like_those_of_a_table() {
    let cli = cli();
    let header = "case,criterion,label,judge";
    let lines: Vec<String> = (0..24)
        .map(|n| {
            format!(
                "c{n},r,{},{}",
                ["met", "unmet"][n % 2],
                if n % 6 == 0 { "unmet" } else { ["met", "unmet"][n % 2] }
            )
        })
        .collect();
    cli.file("l.csv", format!("{header}\n{}\n", lines.join("\n")));
    let cells: Vec<Vec<&str>> = std::iter::once(header)
        .chain(lines.iter().map(String::as_str))
        .map(|line| line.split(',').collect())
        .collect();
    let sheet: Vec<&[&str]> = cells.iter().map(Vec::as_slice).collect();
    cli.spreadsheet("l.xlsx", &[("Labels", &sheet)]);
    let found = |file: &str| object(&cli.run(&["calibrate", "--labels", file, "--json"]).expect_code(0));
    let (of_sheet, of_table) = (found("l.xlsx#Labels"), found("l.csv"));
    assert_eq!(of_sheet["sections"], of_table["sections"]);
    assert!(of_sheet["sections"][0]["counts"]["compared"] == 24, "{of_sheet}");

    cli.spreadsheet(
        "l.xlsx",
        &[("Labels", &[&["case", "label", "judge"], &["a", "good", "met"], &["b", "met", "met"]])],
    );
    let output = cli.run(&["calibrate", "--labels", "l.xlsx"]).expect_code(2);
    assert!(output.stderr.contains("l.xlsx#Labels:2: label: "), "{}", output.stderr);
}

#[test]
fn criteria_of_a_sheet_are_converted() {
    let cli = cli();
    let sheet: &[&[&str]] =
        &[&["Criterion", "Weight", "required"], &["Names apples", "2", "yes"], &["Is 'short'", "", ""]];
    cli.spreadsheet("criteria.xlsx", &[("Start", &[&["-"]]), ("Criteria", sheet)]);
    let output = cli.run(&["convert", "criteria.xlsx#Criteria", "--to", "tests"]).expect_code(0);
    assert!(
        output.stdout.contains("Names apples") && output.stdout.contains("name: criteria"),
        "{}",
        output.stdout
    );
    let heavy: &[&[&str]] = &[&["Criterion", "Weight"], &["Names apples", "x"]];
    cli.spreadsheet("heavy.xlsx", &[("Criteria", heavy)]);
    let output = cli.run(&["convert", "heavy.xlsx", "--to", "tests"]).expect_code(2);
    assert!(output.stderr.contains("line 2, column 2: the weight `x` is not a number"), "{}", output.stderr);
    let output = cli.run(&["convert", "criteria.xlsx#None", "--to", "tests"]).expect_code(2);
    assert!(output.stderr.contains("there is no sheet `None`"), "{}", output.stderr);
}

/// A file written by pyarrow, from the tests of the crate `table`.
fn parquet(name: &str) -> Vec<u8> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../table/tests/data");
    std::fs::read(folder.join(name)).expect("a file")
}

#[test]
fn parquet_stands_where_tables_stand() {
    let (cli, _server) = with_server(honest);
    cli.file("rubric.yaml", RUBRIC);
    cli.file("answers.parquet", parquet("answers.parquet"));
    let output = cli.run(&[
        "grade", "rubric.yaml", "--answers", "answers.parquet", "--columns", "metadata=tags", "--judge",
        "openai:m", "--run-dir", "run", "--json",
    ]);
    let value = object(&output.expect_code(1));
    assert_eq!((&value["counts"]["pass"], &value["counts"]["fail"]), (&1.into(), &1.into()), "{value}");
    let rows = rows(&cli, "run");
    assert_eq!((&rows[0]["case_id"], &rows[1]["case_id"]), (&"007".into(), &"b".into()));

    // Positions refer to the file.
    let grade = |name: &str| {
        cli.run(&["grade", "rubric.yaml", "--judge", "offline", "--answers", name]).expect_code(2).stderr
    };
    cli.file("labels.parquet", parquet("labels.parquet"));
    let output = grade("labels.parquet");
    assert!(output.contains("labels.parquet: column"), "there are no answers: {output}");
    cli.file("twice.parquet", parquet("twice.parquet"));
    assert!(grade("twice.parquet").contains("twice.parquet: row 2, column 1"), "{}", grade("twice.parquet"));
    // Null is no answer; an empty text is one.
    cli.file("nulls.parquet", parquet("nulls.parquet"));
    let output = grade("nulls.parquet");
    assert!(output.contains("nulls.parquet: row 2") && !output.contains("row 3"), "{output}");
    assert!(output.contains("no answer"), "{output}");
    cli.file("text.parquet", "id,answer\na,b\n");
    assert!(grade("text.parquet").contains("it is text, not a Parquet file"));
    assert!(grade("gone.parquet").contains("file not found"));

    // Labels and scores: a list stays a list.
    let output = cli.run(&["calibrate", "noise", "labels.parquet", "--json"]).expect_code(0);
    assert!(object(&output).to_string().contains("12"), "twelve questions: {}", output.stdout);

    cli.file(
        "promptfooconfig.yaml",
        "prompts: ['{{answer}}']\nproviders: [echo]\ntests: file://tests.parquet\n",
    );
    cli.file("tests.parquet", parquet("tests.parquet"));
    let value = object(&cli.run(&["eval", ".", "--json", "--run-dir", "tests"]).expect_code(1));
    assert_eq!((value["counts"]["pass"].as_u64(), value["counts"]["fail"].as_u64()), (Some(1), Some(1)));

    cli.file("criteria.parquet", parquet("criteria.parquet"));
    let output = cli.run(&["convert", "criteria.parquet", "--to", "tests"]).expect_code(0);
    assert!(output.stdout.contains("Names apples"), "{}", output.stdout);
}
