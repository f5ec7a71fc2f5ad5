//! `grade`: answers that are already there.

use assize_testkit::mock::{MockReply, always};

use crate::bench::{cli, info, object, outcomes, rows, with_server};
use crate::judge::honest;

const RUBRIC: &str = "name: fruit\nthreshold: 0.75\ncriteria:\n- {id: a, outcome: Names `apples`, weight: 2, required: true}\n\
                      - {id: p, outcome: Names `pears`}\n- {id: z, outcome: Names `zebras`}\n";

#[test]
fn every_line_is_graded_against_the_rubric() {
    let (cli, server) = with_server(honest);
    cli.file("rubric.yaml", RUBRIC);
    cli.file(
        "answers.jsonl",
        "{\"id\": \"good\", \"answer\": \"apples and pears\"}\n\n{\"id\": \"bad\", \"output\": \"pears\", \"question\": \"Which?\"}\n\
         {\"id\": 7, \"answer\": \"apples pears zebras\", \"extra\": [1]}\n",
    );
    let args = ["grade", "rubric.yaml", "--answers", "answers.jsonl", "--judge", "openai:m"];
    let value = object(&cli.run(&[&args[..], &["--json", "--out", "run"]].concat()).expect_code(1));
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
                "grade", "rubric.yaml", "--answers", "answers.jsonl", "--judge", "openai:m", "--out", "run",
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
