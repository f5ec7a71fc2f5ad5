//! `grade`: existing answers.

use std::collections::HashSet;
use std::path::Path;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, always};

use crate::e2e::bench::{cli, info, object, outcomes, rows, with_server};
use crate::e2e::judge::honest;

const RUBRIC: &str = "name: fruit\nthreshold: 0.75\ncriteria:\n- {id: a, outcome: Names `apples`, weight: 2, required: true}\n\
                      - {id: p, outcome: Names `pears`}\n- {id: z, outcome: Names `zebras`}\n";

#[test]
fn every_line_is_graded_against_the_rubric() {
    let (cli, server) = with_server(honest);
    cli.file("rubric.yaml", RUBRIC);
    cli.file(
        "answers.jsonl",
        "{\"id\": \"good\", \"answer\": \"apples and pears\"}\n\n{\"id\": \"bad\", \"output\": \"pears\", \"question\": \"Which?\"}\n\
         {\"id\": 7, \"answer\": \"apples pears zebras\", \"metadata\": {\"extra\": [1]}}\n",
    );
    let args = ["grade", "rubric.yaml", "--answers", "answers.jsonl", "--judge", "openai:m"];
    let value = object(&cli.run(&[&args[..], &["--json", "--run-dir", "run"]].concat()).expect_code(1));
    assert_eq!((value["counts"]["pass"].as_u64(), value["counts"]["fail"].as_u64()), (Some(2), Some(1)));
    assert_eq!(server.count(), 9);
    let rows = rows(&cli, "run");
    let ids: Vec<_> = rows.iter().map(|row| row["case_id"].as_str().expect("a text")).collect();
    assert_eq!(ids, ["7", "bad", "good"]);
    assert_eq!(outcomes(&rows[2]), ["a=met", "p=met", "z=unmet"]);
    assert_eq!(rows[2]["score"], 0.75);
    assert_eq!(rows[2]["verdict"], "pass", "the rubric's own threshold counts");
    assert_eq!(rows[1]["gates_failed"][0]["criterion"], "a");
    assert!(rows.iter().all(|row| row["format"].is_null() && row["target"].is_null()));
    assert_eq!(info(&cli, "run")["command"], "grade");
    let value = object(&cli.run(&[&args[..], &["--json", "--threshold", "0.8"]].concat()).expect_code(1));
    assert_eq!(value["counts"]["pass"], 1);
    cli.run(&["explain", "run", "good"]).expect_code(0);
}

#[test]
fn bad_answers_files_are_refused_with_all_their_problems() {
    let (cli, server) = with_server(always(MockReply::text("{}")));
    cli.file("rubric.yaml", RUBRIC);
    for (text, words) in [
        ("{\"id\": \"a\", \"answr\": \"x\"}\n", &["answers.jsonl:1:", "answer"][..]),
        (
            "{\"id\": \"a\", \"answer\": \"x\"}\n{\"id\": \"a\", \"answer\": \"y\"}\n",
            &["answers.jsonl:2:", "`a`"],
        ),
        ("{\"id\": \"a\", \"answer\": \"x\"}\n{\"id\": \n", &["answers.jsonl:2:"]),
        ("[1]\n", &["answers.jsonl:1:"]),
        ("", &["answers"]),
        (
            "{\"id\": \"a\"}\nnot json\n{\"id\": \"b\"}\n",
            &["answers.jsonl:1:", "answers.jsonl:2:", "answers.jsonl:3:"],
        ),
    ] {
        cli.file("answers.jsonl", text);
        let output = cli
            .run(&[
                "grade", "rubric.yaml", "--answers", "answers.jsonl", "--judge", "openai:m", "--run-dir",
                "run",
            ])
            .expect_code(2);
        for words in words {
            assert!(output.stderr.contains(words), "{text}: {words} not in\n{}", output.stderr);
        }
        assert!(!cli.path("run").exists() && output.stdout.is_empty());
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn a_rubric_that_is_none_is_refused() {
    let cli = cli();
    cli.file("answers.jsonl", "{\"answer\": \"x\"}\n");
    for text in ["", "criteria: []\n", "name: s\ntests: []\n", "- {id: a, outcome: x, weight: .nan}\n"] {
        cli.file("rubric.yaml", text);
        let output = cli.run(&["grade", "rubric.yaml", "--answers", "answers.jsonl"]).expect_code(2);
        assert!(output.stderr.contains("rubric.yaml"), "{text}: {}", output.stderr);
    }
    cli.file("rubric.yaml", "- Says x\n");
    cli.run(&["grade", "rubric.yaml", "--answers", "absent.jsonl"]).expect_code(2);
    cli.run(&["grade", "rubric.yaml", "--answers", "answers.jsonl"]);
}

#[test]
fn the_judge_may_be_a_target_of_the_project() {
    let (cli, server) = with_server(honest);
    cli.file("rubric.yaml", "- Names `apples`\n").file("answers.jsonl", "{\"answer\": \"apples\"}\n");
    cli.file(
        ".assize/targets.yaml",
        format!(
            "targets:\n- name: mine\n  provider: openai\n  model: mm\n  base_url: {}\n",
            server.base_url()
        ),
    );
    cli.run(&["grade", "rubric.yaml", "--answers", "answers.jsonl", "--judge", "mine"]).expect_code(0);
    assert_eq!(server.requests()[0].json()["model"], "mm");
}

/// A table with this many answers, as a spreadsheet program writes it.
fn table(rows: usize) -> String {
    let rows = (1..=rows).map(|row| format!("\"Which fruit, number {row}?\",\"apples, and\npears\"\r\n"));
    format!("prompt,response\r\n{}", rows.collect::<String>())
}

#[test]
fn a_table_is_graded_with_its_questions_and_keeps_them() {
    let (cli, server) = with_server(honest);
    cli.file("rubric.yaml", "- {id: a, outcome: Names `apples`, required: false}\n- {id: z, outcome: Names `zebras`, required: false}\n");
    cli.file("answers.csv", table(200));
    let args =
        ["grade", "rubric.yaml", "--answers", "answers.csv", "--judge", "openai:m", "--run-dir", "run"];
    let value = object(&cli.run(&[&args[..], &["--json"]].concat()).expect_code(1));
    assert_eq!(value["counts"]["fail"], 200);
    assert!(
        server.requests().iter().all(|request| request.json().to_string().contains("Which fruit, number"))
    );

    let rates = value["criterion_rates"].as_array().expect("rates");
    let names: Vec<_> =
        rates.iter().map(|one| (one["criterion"].as_str(), one["rate"]["value"].as_f64())).collect();
    assert_eq!(names, [(Some("z"), Some(0.0)), (Some("a"), Some(1.0))], "the worst first");
    assert_eq!(rates[0]["text"], "Names `zebras`");

    let questions = crate::e2e::bench::lines(&cli.read("run/questions.jsonl"));
    assert_eq!(questions.len(), 200);
    let row = &rows(&cli, "run")[0];
    let question = questions.iter().find(|asked| asked["case_hash"] == row["case_hash"]).expect("kept");
    assert!(question["question"].as_str().is_some_and(|text| text.starts_with("Which fruit, number ")));
    let explained = cli.run(&["explain", "run", "row-1"]).expect_code(0);
    assert!(explained.stdout.contains("question  Which fruit, number 1?"), "{}", explained.stdout);
    assert!(explained.stdout.contains("answer    apples, and pears"), "{}", explained.stdout);
    assert!(!explained.stderr.contains("without a question"));

    // Cases are in the order of the file, not in the order in which they finished.
    let shown = cli.run(&["score", "run", "--show", "failed"]).expect_code(1).stdout;
    let (cases, summary) = shown.split_once("Summary").expect("cases, then the summary");
    assert!(!summary.contains("assize explain"), "what was scored is not stored: {summary}");
    let places: Vec<usize> = cases
        .lines()
        .filter_map(|line| line.split("row-").nth(1)?.split_whitespace().next()?.parse().ok())
        .collect();
    assert!(places.len() == 200 && places.is_sorted(), "{places:?}");
}

#[test]
fn one_mistake_on_every_line_is_one_message() {
    let cli = cli();
    cli.file("rubric.yaml", RUBRIC);
    let lines: Vec<String> = (0..200)
        .map(|row| format!("{{\"id\": \"q{row}\", \"qestion\": \"x\", \"answer\": \"y\"}}\n"))
        .collect();
    cli.file("answers.jsonl", lines.concat());
    let output = cli.run(&["grade", "rubric.yaml", "--answers", "answers.jsonl"]).expect_code(2);
    assert!(output.stderr.contains("did you mean `question`?"), "{}", output.stderr);
    assert!(output.stderr.contains("the same in 199 further lines"), "{}", output.stderr);
    assert!(output.stderr.lines().count() < 25, "{}", output.stderr);
}

#[test]
fn answers_without_questions_are_told_once() {
    let cli = cli();
    cli.file("rubric.yaml", RUBRIC).file("answers.csv", "answer\napples\npears\n");
    let args = ["grade", "rubric.yaml", "--answers", "answers.csv", "--judge", "offline", "--run-dir", "run"];
    let output = cli.run(&args);
    assert_eq!(
        (output.stdout + &output.stderr).matches("both answers come without a question").count(),
        1,
        "{}",
        output.stderr
    );
    assert!(info(&cli, "run")["warnings"].to_string().contains("without a question"));
}

#[test]
fn a_file_that_is_not_there_has_no_line_to_show() {
    let cli = cli();
    cli.file("rubric.yaml", RUBRIC);
    let output = cli.run(&["grade", "rubric.yaml", "--answers", "absent.csv"]).expect_code(2);
    assert!(
        output.stderr.contains("--> absent.csv\n") && !output.stderr.contains("1 |"),
        "{}",
        output.stderr
    );
}

/// Puts a record of another tool into the folder.
fn record(cli: &CliTest, name: &str) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../records/tests/data").join(name);
    cli.file(name, std::fs::read(data).expect("readable"));
}

#[test]
fn records_of_other_tools_are_graded_as_they_are() {
    let cli = cli();
    cli.file("rubric.yaml", "- Names `mockllm`\n");
    record(&cli, "capitals.eval");
    cli.run(&["grade", "rubric.yaml", "--answers", "capitals.eval", "--run-dir", "run"]).expect_code(0);
    let graded = rows(&cli, "run");
    assert_eq!(graded.len(), 6);
    let clusters: HashSet<&str> = graded.iter().filter_map(|row| row["cluster"].as_str()).collect();
    assert_eq!(clusters, HashSet::from(["2", "3", "fr"]));

    // A sample that ended in an error has no answer.
    record(&cli, "broken.eval");
    let refused = cli.run(&["grade", "rubric.yaml", "--answers", "broken.eval"]).expect_code(2);
    assert!(refused.stderr.contains("E0420") && refused.stderr.contains("boom"), "{}", refused.stderr);
    cli.run(&["convert", "broken.eval", "--to", "cases", "-o", "others.jsonl"]).expect_code(3);
    cli.run(&["grade", "rubric.yaml", "--answers", "others.jsonl", "--run-dir", "others"]).expect_code(0);
    assert_eq!(rows(&cli, "others").len(), 1);

    record(&cli, "skill-evals.json");
    let none = cli.run(&["grade", "rubric.yaml", "--answers", "skill-evals.json"]).expect_code(2);
    assert!(none.stderr.contains("assize convert FILE --to tests"), "{}", none.stderr);

    cli.file("cut.eval", &std::fs::read(cli.path("capitals.eval")).expect("readable")[..900]);
    let cut = cli.run(&["grade", "rubric.yaml", "--answers", "cut.eval"]).expect_code(2);
    assert_eq!(cut.stderr.matches("error[").count(), 1, "{}", cut.stderr);
    assert!(cut.stderr.contains("E0750"), "{}", cut.stderr);

    // Each unreadable record is reported with its line, and so is each record without an answer.
    let good = r#"{"input": "q", "actual_output": "mockllm"}"#;
    cli.file("d.jsonl", format!("{good}\n{{\"input\": 1}}\n{{\"input\": \"q\"}}\n[]\n"));
    let refused = cli.run(&["grade", "rubric.yaml", "--answers", "d.jsonl"]).expect_code(2);
    for text in
        ["d.jsonl:2:", "not a text", "d.jsonl:4:", "not a JSON object", "E0420", "--to cases --keep-going"]
    {
        assert!(refused.stderr.contains(text), "{text}: {}", refused.stderr);
    }
    cli.run(&["convert", "d.jsonl", "--to", "cases", "--keep-going", "-o", "kept.jsonl"]).expect_code(3);
    cli.run(&["grade", "rubric.yaml", "--answers", "kept.jsonl", "--run-dir", "kept"]).expect_code(0);
    assert_eq!(rows(&cli, "kept").len(), 1);

    cli.file("none.json", r#"{"skill_name": "s", "evals": []}"#);
    let none = cli.run(&["grade", "rubric.yaml", "--answers", "none.json"]).expect_code(2);
    assert!(none.stderr.contains("E0403") && none.stderr.contains("`evals`"), "{}", none.stderr);
    cli.file("r.csv", "x,[echo] {{x}},Status,Score,Named Scores,Grader Reason,Comment\na,b,PASS,1.00,,,\n");
    let table = cli.run(&["grade", "rubric.yaml", "--answers", "r.csv"]).expect_code(2);
    assert!(table.stderr.contains("promptfoo export eval"), "{}", table.stderr);
}

#[test]
fn a_report_never_replaces_a_file_that_the_run_reads() {
    let (cli, server) = with_server(honest);
    cli.file("rubric.yaml", RUBRIC);
    let table = "id,answer\ngood,apples and pears\n";
    cli.file("answers.csv", table).file("other.csv", "kept,\n");
    let args =
        ["grade", "rubric.yaml", "--answers", "answers.csv", "--judge", "openai:m", "--run-dir", "run"];
    for out in ["answers.csv", "./answers.csv"] {
        for (more, says) in [
            (&[][..], "exists, and is no report of Assize"),
            (&["--force"], "was read, and a report does not replace it"),
        ] {
            let refused = cli.run(&[&args[..], &["-o", out], more].concat()).expect_code(2);
            assert!(refused.stderr.contains(says), "{}", refused.stderr);
        }
    }
    assert_eq!((cli.read("answers.csv").as_str(), server.count()), (table, 0));
    cli.run(&[&args[..], &["-o", "report.csv"]].concat()).expect_code(0);
    cli.run(&["report", "run", "-o", "report.csv"]).expect_code(0);
}

#[test]
fn answers_are_selected_by_id_tag_number_and_earlier_result() {
    let cli = cli();
    cli.file("rubric.yaml", "name: words\ncriteria:\n  - Says \"right\"\n");
    cli.file("answers.csv", "id,answer,tags\na1,right,x\na2,wrong,x\nb1,right,y\nb2,wrong,y\n");
    let graded = |options: &[&str], code: i32| {
        let command = ["grade", "rubric.yaml", "--answers", "answers.csv", "--json"];
        let found = object(&cli.run(&[&command[..], options].concat()).expect_code(code));
        let mut ids: Vec<String> = rows(&cli, found["run_dir"].as_str().expect("a folder"))
            .iter()
            .map(|row| row["case_id"].as_str().expect("an id").to_owned())
            .collect();
        ids.sort();
        (ids.join(" "), found["conclusion"]["scope"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(graded(&[], 1), ("a1 a2 b1 b2".to_owned(), String::new()));
    assert_eq!(graded(&["--rerun-failed", "last"], 1).0, "a2 b2");
    assert_eq!(
        graded(&["--filter", "a*"], 1),
        ("a1 a2".to_owned(), "2 of 4 cases (`--filter a*`)".to_owned())
    );
    assert_eq!(
        graded(&["--tag", "y", "--limit", "1"], 0),
        ("b1".to_owned(), "1 of 4 cases (`--tag y`, `--limit 1`)".to_owned())
    );

    let unknown =
        cli.run(&["grade", "rubric.yaml", "--answers", "answers.csv", "--filter", "c*"]).expect_code(2);
    assert!(
        unknown.stderr.contains("no case matches `--filter`; there are 4, such as a1, a2, b1"),
        "{}",
        unknown.stderr
    );
    cli.run(&["grade", "rubric.yaml", "--answers", "answers.csv", "--limit", "0"]).expect_code(2);
}

#[test]
fn ids_that_are_row_numbers_move_with_the_rows() {
    let cli = cli();
    cli.file("r.yaml", "- {id: fruit, outcome: Names `apples`}\n");
    let rows_of = "T-1,q1,apples\nT-2,q2,pears\nT-3,\"q\n3\",apples\n";
    cli.file("a.csv", format!("ticket,question,answer\n{rows_of}"));
    cli.file("b.csv", format!("ticket,question,answer\nT-0,q0,pears\n{rows_of}"));
    let refused = cli.run(&["grade", "r.yaml", "--answers", "a.csv"]).expect_code(2);
    assert!(refused.stderr.contains("write `--columns id=ticket`"), "{}", refused.stderr);

    let grade = |columns: &str| {
        for name in ["a", "b"] {
            let answers = format!("{name}.csv");
            let run = format!("{name}-{columns}");
            cli.run(&["grade", "r.yaml", "--answers", &answers, "--columns", columns, "--run-dir", &run])
                .expect_code(1);
        }
    };
    grade("metadata=ticket");
    let mut ids: Vec<_> = rows(&cli, "a-metadata=ticket").iter().map(|row| row["case_id"].clone()).collect();
    ids.sort_by_key(ToString::to_string);
    assert_eq!(ids, ["row-1", "row-2", "row-3"]);
    let refused = cli.run(&["compare", "a-metadata=ticket", "b-metadata=ticket"]).expect_code(2);
    let moved = "ids are row numbers, and 2 of these inputs have another one in `b-metadata=ticket`";
    assert!(refused.stderr.replace("\n  ", " ").contains(moved), "{}", refused.stderr);

    grade("id=ticket");
    let compared = cli.run(&["compare", "a-id=ticket", "b-id=ticket"]).expect_code(0);
    assert!(!compared.stderr.contains("row numbers"), "{}", compared.stderr);
}

#[test]
fn the_summary_says_how_many_criteria_are_gates() {
    let cli = cli();
    cli.file("a.csv", "id,question,answer\na,q1,apples\nb,q2,pears\n");
    for (rubric, gates) in [
        ("criteria: [{outcome: Names `apples`}, {expected_outcome: Names `pears`}]", ""),
        (
            "criteria: [{outcome: Names `apples`, required: true}, {outcome: Names `pears`}]",
            "1 of 2 criteria is a gate",
        ),
        (
            "rubrics: [{outcome: Names `apples`}, {expected_outcome: Names `pears`}]",
            "2 of 2 criteria are gates",
        ),
    ] {
        cli.file("r.yaml", rubric);
        let summary = cli.run(&["grade", "r.yaml", "--answers", "a.csv"]).expect_code(1).stdout;
        let line = summary.lines().find(|line| line.starts_with("Gates")).unwrap_or_default();
        assert_eq!(line.is_empty(), gates.is_empty(), "{rubric}: {summary}");
        assert!(line.contains(gates), "{rubric}: {line}");
    }
}
