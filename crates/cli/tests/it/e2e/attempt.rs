//! `assize try`: one answer by one criterion, once and again on every save.

use std::fs::File;
use std::process::Stdio;

use assize_testkit::mock::{MockReply, MockRequest};

use crate::e2e::bench::{cli, object, with_server};
use crate::e2e::judge::honest;
use crate::e2e::signals::{signal, until};

#[test]
fn the_exit_code_is_the_decision_and_nothing_is_left_behind() {
    let cli = cli();
    let deadline = "Names the deadline `30 days`";
    let met = cli.run(&["try", deadline, "--answer", "The deadline: 30 days."]).expect_code(0);
    assert!(
        met.stdout.contains("✓ met") && met.stdout.contains("“The deadline: 30 days.”"),
        "{}",
        met.stdout
    );
    let unmet =
        cli.run(&["try", deadline, "Apologizes", "--answer", "The deadline: 30 days."]).expect_code(1);
    assert!(unmet.stdout.contains("✗ unmet     Apologizes"), "{}", unmet.stdout);
    cli.run_with_input(&["try", deadline], "The deadline: 30 days.").expect_code(0);
    let none = cli.run_with_input(&["try", deadline], " \n").expect_code(2);
    assert!(none.stderr.contains("no answer given"), "{}", none.stderr);
    let ungraded = cli
        .run(&["try", deadline, "--answer", "x", "--judge", "ollama:m", "--cache-only", "--json"])
        .expect_code(3);
    assert_eq!(object(&ungraded)["criteria"][0]["decision"]["outcome"], "ungraded");
    let gap = cli
        .run(&["try", "Is polite", "--range", "0-4: rude", "--range", "6-10: kind", "--answer", "x"])
        .expect_code(2);
    assert!(gap.stderr.contains("score 5 is in no range"), "{}", gap.stderr);
    assert!(!cli.path(".assize/runs").exists());
}

#[test]
fn a_case_is_tried_by_its_rubrics_with_another_answer() {
    let cli = cli();
    cli.file(
        "s.yaml",
        "tests:\n- {id: first, criteria: x, input: q, output: apples, assertions: [{type: rubrics, criteria: [Names `pears`]}, {type: contains, value: z}]}\n",
    );
    let args = ["try", "--rubric", "s.yaml", "--case", "first"];
    cli.run(&args).expect_code(1);
    let other: Vec<&str> = args.into_iter().chain(["--answer", "It names pears"]).collect();
    cli.run(&other).expect_code(0);
    let missing = cli.run(&["try", "--rubric", "s.yaml", "--case", "frist"]).expect_code(2);
    assert!(missing.stderr.contains("did you mean `first`?"), "{}", missing.stderr);
}

#[test]
fn a_case_of_a_matrix_is_tried_with_its_variables() {
    let cli = cli();
    cli.file(
        "m.yaml",
        "prompts: ['Say {{x}}', 'Shout {{x}}']\nproviders: [echo]\ntests:\n  - description: polite\n    vars: {x: [hello, bye]}\n    assert: [{type: llm-rubric, value: 'Says `{{x}}`'}]\n",
    );
    let tried = |id, code| {
        let args = ["try", "--rubric", "m.yaml", "--case", id, "--answer", "bye then"];
        cli.run(&args).expect_code(code)
    };
    tried("polite/vars-2/prompt-1", 0);
    tried("polite/vars-1/prompt-1", 1);
    let missing = tried("polite", 2);
    assert!(missing.stderr.contains("did you mean `polite/vars-1/prompt-1`?"), "{}", missing.stderr);
}

#[test]
fn what_was_tried_before_costs_nothing() {
    let (cli, server) = with_server(honest);
    let args = ["try", "Names `apples`", "--answer", "apples", "--judge", "openai:m"];
    cli.run(&args).expect_code(0);
    cli.run(&args).expect_code(0);
    assert_eq!(server.count(), 1);
    cli.run(&["try", "Names `apples`", "--answer", "pears", "--judge", "openai:m"]).expect_code(1);
    assert_eq!(server.count(), 2);
    let stopped = cli
        .run(&["try", "Names `plums`", "--answer", "plums", "--judge", "openai:m", "--budget-calls", "0"])
        .expect_code(4);
    assert_eq!((server.count(), stopped.stdout.as_str()), (2, ""));
    let unpriced = cli
        .run(&["try", "Names `plums`", "--answer", "plums", "--judge", "openai:m", "--budget-usd", "1"])
        .expect_code(2);
    assert!(unpriced.stderr.contains("unknown price for openai:m"), "{}", unpriced.stderr);
    assert!(!unpriced.stderr.contains("--budget-unknown-price"), "there is no such option here");
}

#[test]
fn watching_judges_what_changed_and_outlives_broken_files() {
    let (cli, server) = with_server(|incoming: &MockRequest| -> MockReply { honest(incoming) });
    cli.file("r.yaml", "criteria:\n  - Names `apples`\n  - Names `pears`\n")
        .file("a.txt", "apples and pears");
    let (out, err) = (cli.path("out.txt"), cli.path("err.txt"));
    let mut child = cli
        .command(&["try", "--watch", "r.yaml", "--answer-file", "a.txt", "--judge", "openai:m", "--no-cache"])
        .stdin(Stdio::null())
        .stdout(File::create(&out).expect("a file"))
        .stderr(File::create(&err).expect("a file"))
        .spawn()
        .expect("the binary starts");
    let says = |file: &str, text: &str| cli.read(file).contains(text);
    until("the first round", || says("out.txt", "rubric-2") && says("err.txt", "watching"));
    assert_eq!(server.count(), 2);

    cli.file("new", "criteria:\n  - Names `apples`\n  - Names `plums`\n");
    std::fs::rename(cli.path("new"), cli.path("r.yaml")).expect("saved as editors do");
    until("the second criterion", || says("out.txt", "rubric-2  met → unmet"));
    assert_eq!(server.count(), 3, "the first was not judged again");

    cli.file("r.yaml", "criteria:\n  - [Names\n");
    until("the complaint", || says("err.txt", "E0001"));
    cli.file("r.yaml", "criteria:\n  - Names `apples`\n  - Names `pears`\n");
    until("the next round", || says("out.txt", "rubric-2  unmet → met"));
    assert_eq!(server.count(), 4);
    assert!(!says("out.txt", "rubric-1  "));

    cli.file("a.txt", "pears");
    until("the other answer", || says("out.txt", "rubric-1  met → unmet"));
    assert_eq!(server.count(), 6);
    assert!(signal("INT", child.id()));
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
