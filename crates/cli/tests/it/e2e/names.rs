//! `é` can be one character, or an `e` and an accent. A name is the same in both ways, in every form of file that has names.

use assize_testkit::cli::CliTest;
use serde_json::Value;

use crate::e2e::bench::{cli, lines, object, rows};

/// A name with accents, each a character.
const COMPOSED: &str = "r\u{e9}sum\u{e9}";
/// The same name with accents of their own.
const DECOMPOSED: &str = "re\u{301}sume\u{301}";

/// Writes a file with decomposed names in place of `NAME`.
fn write(cli: &CliTest, file: &str, text: &str) {
    let text = text.replace("NAME", DECOMPOSED);
    match file.strip_suffix(".xlsx") {
        Some(_) => {
            let cells: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
            let cells: Vec<&[&str]> = cells.iter().map(Vec::as_slice).collect();
            cli.spreadsheet(file, &[("Sheet", &cells)]);
        }
        None => {
            cli.file(file, text);
        }
    }
}

const RUBRIC: &str = "name: NAME\ncriteria:\n- {id: NAME, outcome: 'Names \"apples\"', required: false}\n";

/// Eval files and answers: arguments of the command, and files.
type Form = (&'static [&'static str], &'static [(&'static str, &'static str)]);

const FORMS: [Form; 9] = [
    (
        &["eval", "s.yaml"],
        &[(
            "s.yaml",
            "name: NAME\ntests:\n- {id: NAME, criteria: x, input: q, output: apples, tags: [NAME], assertions: \
             [{type: contains, value: apples, name: NAME}]}\n",
        )],
    ),
    (
        &["eval", "s.yaml"],
        &[(
            "s.yaml",
            "dataset: NAME\nevalcases:\n- id: NAME\n  input_messages: [{role: user, content: q}]\n  output: apples\n  tags: \
             [NAME]\n  rubrics:\n  - {id: NAME, expected_outcome: 'Names \"apples\"'}\n",
        )],
    ),
    (
        &["eval", "s.json"],
        &[(
            "s.json",
            r#"{"name": "NAME", "tests": [{"id": "NAME", "criteria": "x", "input": "q", "output": "apples", "tags": ["NAME"],
             "assertions": [{"type": "contains", "value": "apples", "name": "NAME"}]}]}"#,
        )],
    ),
    (
        &["eval", "s.jsonl"],
        &[
            ("s.yaml", "name: NAME\nassertions: [{type: contains, value: apples, name: NAME}]\n"),
            (
                "s.jsonl",
                r#"{"id": "NAME", "criteria": "x", "input": "q", "output": "apples", "tags": ["NAME"]}"#,
            ),
        ],
    ),
    (
        &["grade", "r.yaml", "--answers", "a.csv", "--columns", "answer=NAME"],
        &[("r.yaml", RUBRIC), ("a.csv", "id,NAME,tags\nNAME,apples,NAME\n")],
    ),
    (
        &["grade", "r.yaml", "--answers", "a.tsv"],
        &[("r.yaml", RUBRIC), ("a.tsv", "id\tanswer\ttags\nNAME\tapples\tNAME\n")],
    ),
    (
        &["grade", "r.yaml", "--answers", "a.xlsx"],
        &[("r.yaml", RUBRIC), ("a.xlsx", "id,answer,tags\nNAME,apples,NAME")],
    ),
    (
        &["grade", "r.yaml", "--answers", "a.jsonl", "--columns", "answer=NAME"],
        &[("r.yaml", RUBRIC), ("a.jsonl", r#"{"id": "NAME", "NAME": "apples", "tags": ["NAME"]}"#)],
    ),
    (
        &["eval", "s.yaml"],
        &[
            (
                "s.yaml",
                "name: NAME\nexecution: {target: NAME}\ntests:\n- {id: NAME, criteria: x, input: q, tags: [NAME], assertions: \
                 [{type: contains, value: apples, name: NAME}]}\n",
            ),
            (
                ".assize/targets.yaml",
                "targets:\n- {name: NAME, use_target: NAME2}\n- {name: NAME2, provider: replay, path: ../log.jsonl}\n",
            ),
            ("log.jsonl", r#"{"id": "NAME", "output": "apples"}"#),
        ],
    ),
];

#[test]
fn names_are_the_same_however_their_accents_are_written() {
    for (args, files) in FORMS {
        let cli = cli();
        for (file, text) in files {
            write(&cli, file, text);
        }
        for (name, run) in [(COMPOSED, "composed"), (DECOMPOSED, "decomposed")] {
            let args: Vec<String> = args.iter().map(|word| word.replace("NAME", name)).collect();
            let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
            args.extend(["--judge", "offline", "--run-dir", run, "--filter", name, "--tag", name]);
            cli.run(&args).expect_code(0);
            let found = rows(&cli, run);
            let row = &found[0];
            assert_eq!([&row["case_id"], &row["suite"], &row["tags"][0]], [COMPOSED; 3], "{args:?}: {row:#}");
            let grader = &row["graders"][0];
            // The graders of `rubrics` have no names of their own.
            let name_of_grader = if row["format"] == 1 { "rubrics" } else { COMPOSED };
            assert_eq!(grader["name"], name_of_grader, "{args:?}: {row:#}");
            let is_rubric = grader["type"] == "rubrics";
            let id = if is_rubric { COMPOSED } else { "check-1" };
            assert_eq!(grader["criteria"][0]["id"], id, "{args:?}: {row:#}");
            let shown = cli.run(&["explain", run, name]).expect_code(0).stdout;
            assert!(shown.contains(COMPOSED), "{shown}");
            if !row["target"].is_null() {
                cli.run(&["compare", &format!("{run}@{name}"), run]).expect_code(0);
            }
        }
        let compared = object(&cli.run(&["compare", "composed", "decomposed", "--json"]).expect_code(0));
        assert_eq!(compared["comparisons"][0]["common"], 1, "{compared:#}");
    }
}

#[test]
fn two_spellings_of_an_id_are_one_id() {
    let cli = cli();
    let case = |id: &str| format!("- {{id: {id}, criteria: x, input: q, output: a}}\n");
    cli.file("s.yaml", format!("tests:\n{}{}", case(COMPOSED), case(DECOMPOSED)));
    let refused = cli.run(&["validate", "s.yaml"]).expect_code(2);
    assert!(refused.stdout.contains(&format!("two cases have the id `{COMPOSED}`")), "{}", refused.stdout);
}

#[test]
fn labels_and_decisions_find_their_cases_in_both_spellings() {
    let cli = cli();
    cli.file("r.yaml", RUBRIC.replace("NAME", COMPOSED));
    cli.file("a.csv", format!("id,answer\n{COMPOSED},apples\n"));
    cli.run(&["grade", "r.yaml", "--answers", "a.csv", "--judge", "offline", "--run-dir", "run"])
        .expect_code(0);

    let table = "case,criterion,label,who\nNAME,NAME,met,NAME\n";
    let line = r#"{"case": "NAME", "criterion": "NAME", "label": "met", "who": "NAME"}"#;
    for (file, text) in [
        ("t.csv", table.to_owned()),
        ("t.tsv", table.replace(',', "\t")),
        ("t.xlsx", table.trim_end().to_owned()),
        ("t.jsonl", line.to_owned()),
        ("columns.csv", table.replace("case,", "NAME,")),
    ] {
        write(&cli, file, &text);
        let columns = format!("case={COMPOSED}");
        let columns: &[&str] = if file == "columns.csv" { &["--columns", &columns] } else { &[] };
        let args = [&["calibrate", "run", "--labels", file, "--json"], columns].concat();
        let output = cli.run(&args);
        assert!(!output.stderr.contains("no case"), "{file}: {}", output.stderr);
        let found = object(&output.expect_code(0));
        assert_eq!(
            found["judge"]["items"].as_u64().or_else(|| found["items"].as_u64()),
            Some(1),
            "{found:#}"
        );

        if columns.is_empty() {
            let folder = format!("labels of {file}");
            let args = ["review", "run", "--who", COMPOSED, "--labels", &folder, "--decisions", file];
            cli.run(&args).expect_code(0);
            let mut written = std::fs::read_dir(cli.path(&folder)).expect("a folder");
            let stored = written.next().expect("a file of labels").expect("readable").path();
            let stored = lines(&std::fs::read_to_string(stored).expect("text"));
            assert_eq!(
                [&stored[0]["case"], &stored[0]["criterion"], &stored[0]["who"]],
                [COMPOSED; 3],
                "{file}: {stored:#?}"
            );
        }
    }
}

#[test]
fn scorecards_and_their_labels_agree_on_names() {
    let cli = cli();
    cli.run(&["init", "--format", "scorecard"]).expect_code(0);
    let cases: Vec<Value> = lines(&cli.read("scorecard/cases/first.jsonl"));
    let id = cases[0]["id"].as_str().expect("an id").to_owned();
    for (file, name) in
        [("scorecard/cases/first.jsonl", COMPOSED), ("scorecard/labels/first.jsonl", DECOMPOSED)]
    {
        cli.file(file, cli.read(file).replace(&format!("\"{id}\""), &format!("\"{name}\"")));
    }
    let checked = cli.run(&["validate", "scorecard"]);
    assert!(!checked.stdout.contains("no case"), "{}", checked.stdout);
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
}
