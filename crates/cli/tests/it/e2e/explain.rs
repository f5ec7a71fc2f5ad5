//! `explain`: its arithmetic agrees with the stored row.

use crate::e2e::bench::{cli, object, rows};

const SUITE: &str = "name: s\ntests:\n- id: refund-policy\n  criteria: x\n  input: q\n  output: apples and pears\n  assertions:\n  \
                     - Names apples\n  - Names zebras\n  - name: weighted\n    type: rubrics\n    weight: 3\n    criteria:\n    \
                     - {id: p, outcome: Names pears, weight: 2.5}\n    - {id: l, outcome: Names lions, weight: 0.5, required: true}\n\
                     - id: other\n  criteria: x\n  input: q\n  output: y\n  assertions: [Says y]\n";

#[test]
fn numbers_agree_with_the_row() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    cli.run(&["eval", "s.yaml"]).expect_code(1);
    let run = object(&cli.run(&["eval", "s.yaml", "--json"]).expect_code(1));
    let rows = rows(&cli, run["run_dir"].as_str().expect("a text"));
    let row = rows.iter().find(|row| row["case_id"] == "refund-policy").expect("it ran");
    let explained = object(&cli.run(&["explain", "last", "refund-policy", "--json"]).expect_code(0));
    let numbers = numbers(&explained);
    for wanted in [&row["score"], &row["graders"][0]["score"], &row["graders"][1]["score"]] {
        let wanted = wanted.as_f64().expect("a number");
        assert!(numbers.iter().any(|found| (found - wanted).abs() < 1e-12), "{wanted} not in {explained}");
    }
    // Strings: 1/2 with weight 2; objects: 2.5/3 with weight 3.
    let expected = (0.5 * 2.0 + 2.5 / 3.0 * 3.0) / 5.0;
    assert!((row["score"].as_f64().expect("a number") - expected).abs() < 1e-12);
    let text = cli.run(&["explain", "last", "refund-policy"]).expect_code(0).stdout;
    for words in ["2.5 / 3", "0.833", "weighted", "not met, failed", "fail"] {
        assert!(text.contains(words), "{words} not in\n{text}");
    }
    let by_id =
        cli.run(&["explain", run["run_id"].as_str().expect("a text"), "refund-policy"]).expect_code(0);
    assert_eq!(by_id.stdout, text, "an id and `last` mean the same run");
}

fn numbers(value: &serde_json::Value) -> Vec<f64> {
    match value {
        serde_json::Value::Number(number) => number.as_f64().into_iter().collect(),
        serde_json::Value::Array(items) => items.iter().flat_map(numbers).collect(),
        serde_json::Value::Object(members) => members.values().flat_map(numbers).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn suites_of_one_name_are_found_by_it_and_unknown_ones_are_named() {
    let cli = cli();
    cli.file("a/x.eval.yaml", SUITE).file("b/x.eval.yaml", SUITE);
    cli.run(&["eval", "a", "b", "--run-dir", "run"]).expect_code(1);
    let both = cli.run(&["explain", "run", "--suite", "s", "other", "--json"]).expect_code(0).stdout;
    let both: serde_json::Value = serde_json::from_str(&both).expect("JSON");
    assert_eq!(both.as_array().map(Vec::len), Some(2), "{both}");
    let one = ["explain", "run", "--suite", "s (a/x.eval.yaml)", "other", "--json"];
    assert!(object(&cli.run(&one).expect_code(0)).is_object());

    for (args, says) in [
        (
            &["--suite", "nope", "other"][..],
            "no suite `nope` in `run`; its suites are `s (a/x.eval.yaml)`, `s (b/x.eval.yaml)`",
        ),
        (&["--suite", "nope"], "no suite `nope`"),
        (&["--target", "nope", "other"], "no target `nope` in `run`; it has no target"),
    ] {
        let output = cli.run(&[&["explain", "run"], args].concat()).expect_code(2);
        assert!(output.stderr.contains(says), "{args:?}: {}", output.stderr);
    }
}

#[test]
fn unknown_cases_and_runs_get_a_hint() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    let output = cli.run(&["explain", "last", "x"]).expect_code(2);
    assert!(output.stderr.contains("assize eval"), "{}", output.stderr);
    cli.run(&["eval", "s.yaml", "--run-dir", "run"]).expect_code(1);
    let output = cli.run(&["explain", "run", "refund-polcy"]).expect_code(2);
    assert!(output.stderr.contains("did you mean `refund-policy`?"), "{}", output.stderr);
    let output = cli.run(&["explain", "run", "entirely different"]).expect_code(2);
    assert!(output.stderr.contains("refund-policy") && output.stderr.contains("other"), "{}", output.stderr);
    let output = cli.run(&["explain", "absent", "other"]).expect_code(2);
    assert!(output.stderr.contains("absent"), "{}", output.stderr);
    cli.file("folder/notes.txt", "");
    let output = cli.run(&["explain", "folder", "other"]).expect_code(2);
    assert!(output.stderr.contains("folder"), "{}", output.stderr);
    assert_eq!(output.stdout, "");
}

#[test]
fn without_a_case_the_cases_are_listed() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    cli.run(&["eval", "s.yaml"]).expect_code(1);
    let output = cli.run(&["explain", "last"]).expect_code(0);
    assert!(output.stdout.contains("refund-policy") && output.stdout.contains("other"), "{}", output.stdout);
    assert!(output.stderr.contains("assize explain last refund-policy"), "{}", output.stderr);
    let listed = cli.run(&["explain", "last", "--json"]).expect_code(0).stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!((&listed[0]["case_id"], &listed[1]["verdict"]), (&"refund-policy".into(), &"pass".into()));
    cli.run(&["explain", "last", "--suite", "nobody"]).expect_code(2);
}

#[test]
fn quotes_are_shown_where_they_are_in_the_answer() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    cli.run(&["eval", "s.yaml"]).expect_code(1);
    // The offline judge quotes the whole answer for "Names apples".
    let plain = cli.run(&["explain", "last", "refund-policy"]).expect_code(0).stdout;
    assert!(plain.contains("(line 1 of the answer, characters 1 to 16)"), "{plain}");
    let marked = cli.run(&["explain", "last", "refund-policy", "--color", "always"]).expect_code(0).stdout;
    assert!(marked.contains("\u{1b}[1;4mapples and pears\u{1b}[0m"), "{marked:?}");
    assert!(!marked.contains("of the answer, characters"), "{marked:?}");
    let json = object(&cli.run(&["explain", "last", "refund-policy", "--json"]).expect_code(0));
    let place = &json["graders"][0]["criteria"][0]["evidence_places"][0];
    assert_eq!((&place["start"], &place["end"], &place["line"]), (&0.into(), &16.into(), &1.into()));
}

#[test]
fn last_is_the_newest_even_of_several_in_one_second() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    for number in 0..6 {
        let text = SUITE.replace("id: other", &format!("id: other-{number}"));
        cli.file("s.yaml", text);
        cli.run(&["eval", "s.yaml", "--quiet"]).expect_code(1);
        cli.run(&["explain", "last", &format!("other-{number}")]).expect_code(0);
    }
}

#[test]
fn what_names_and_answers_hold_steers_no_terminal() {
    let cli = crate::e2e::bench::cli();
    cli.file(
        "s.yaml",
        "name: s\ntests:\n- id: \"one\\u202Etwo\\u2066\"\n  criteria: x\n  input: q\n  output: \"apples \\e[31m \\e]52;c;aGk=\\a \\x9b2J\"\n  \
         assertions: [{type: rubrics, criteria: [\"Names \\u202E apples\"]}]\n",
    );
    let mut said = String::new();
    for args in [
        &["eval", "s.yaml", "--run-dir", "r", "--show", "all"][..],
        &["explain", "r", "other"],
        &["explain", "r"],
        &["explain", "r", "one\u{202e}two\u{2066}"],
    ] {
        let output = cli.run(args);
        said.push_str(&output.stdout);
        said.push_str(&output.stderr);
    }
    assert!(said.contains("two") && said.contains("apples"), "{said}");
    let steers = |c: char| {
        (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!said.contains(steers), "{said:?}");
}

#[test]
fn without_a_run_the_last_one_is_meant() {
    let cli = cli();
    let output = cli.run(&["explain"]).expect_code(2);
    assert!(output.stderr.contains("no runs"), "{}", output.stderr);
    cli.file("s.yaml", SUITE);
    cli.run(&["eval", "s.yaml"]).expect_code(1);

    assert_eq!(
        cli.run(&["explain"]).expect_code(0).stdout,
        cli.run(&["explain", "last"]).expect_code(0).stdout
    );
    assert_eq!(
        cli.run(&["report"]).expect_code(0).stdout,
        cli.run(&["report", "last"]).expect_code(0).stdout
    );
    let output = cli.run(&["explain", "refund-policy"]).expect_code(2);
    assert!(output.stderr.contains("`assize explain last refund-policy`"), "{}", output.stderr);
}

#[test]
fn the_cases_that_a_criterion_counts_against_are_listed_with_their_reasons() {
    let cli = cli();
    cli.file("s.yaml", SUITE);
    cli.run(&["eval", "s.yaml"]).expect_code(1);
    let text = cli.run(&["explain", "last", "--criterion", "l"]).expect_code(0).stdout;
    for words in ["Names lions", "It counts against 1 of 1 result:", "refund-policy", "unmet"] {
        assert!(text.contains(words), "{words} not in\n{text}");
    }
    assert!(!text.contains("Names pears") && !text.contains("other"), "{text}");
    let named = cli.run(&["explain", "last", "--criterion", "weighted/l"]).expect_code(0).stdout;
    assert!(named.contains("It counts against 1 of 1 result:"), "{named}");
    let met = cli.run(&["explain", "last", "--criterion", "p"]).expect_code(0).stdout;
    assert!(met.contains("It counts against none of 1 result."), "{met}");

    let listed = cli.run(&["explain", "last", "--criterion", "l", "--json"]).expect_code(0).stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let one = &listed[0];
    assert_eq!(
        (&one["case_id"], &one["criterion"], &one["outcome"]),
        (&"refund-policy".into(), &"l".into(), &"unmet".into())
    );
    let unknown = cli.run(&["explain", "last", "--criterion", "pp"]).expect_code(2).stderr;
    assert!(unknown.contains("has a criterion `pp`"), "{unknown}");
    cli.run(&["explain", "last", "refund-policy", "--criterion", "l"]).expect_code(2);
}
