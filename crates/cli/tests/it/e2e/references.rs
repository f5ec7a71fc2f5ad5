//! Files that an eval file names, and output without a terminal.

use std::fmt::Write as _;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::Value;

use crate::e2e::bench::{cli, object, rows, with_server};

#[test]
fn an_answer_may_stand_in_a_file() {
    let mut cli = cli();
    cli.without_consent();
    cli.file("answers/a.txt", "apples and pears\n");
    cli.file(
        "s.yaml",
        "name: s\ntests:\n- {id: a, input: q, output: 'file://answers/a.txt', assertions: [{type: contains, value: pears}]}\n\
         - {id: b, input: q, output: 'file://answers/a.txt', assertions: [{type: equals, value: 'file://answers/a.txt'}]}\n",
    );
    cli.run(&["eval", "s.yaml", "--judge", "offline", "--run-dir", "run"]).expect_code(1);
    let found = rows(&cli, "run");
    let of = |id: &str| found.iter().find(|row| row["case_id"] == id).expect("a row").clone();
    assert_eq!((&of("a")["verdict"], &of("b")["verdict"]), (&"pass".into(), &"fail".into()));
    assert!(of("a")["answer"].as_str().is_some_and(|answer| answer.contains("apples and pears")));

    cli.file("s.yaml", cli.read("s.yaml").replace("a.txt", "gone.txt"));
    let refused = cli.run(&["eval", "s.yaml", "--judge", "offline"]).expect_code(2);
    assert!(refused.stderr.contains("gone.txt"), "{}", refused.stderr);
    cli.file("s.yaml", cli.read("s.yaml").replace("answers/gone.txt", "../../../etc/passwd"));
    cli.run(&["eval", "s.yaml", "--judge", "offline"]).expect_code(2);
}

#[test]
fn a_prompt_that_is_the_path_of_a_file_is_the_file() {
    let (cli, server) =
        with_server(|_: &MockRequest| MockReply::Json(serde_json::json!({ "score": 0.9, "reason": "fine" })));
    cli.file("judges/tone.md", "Is the tone KIND? {{ output }}\n");
    let suite = |prompt: &str| {
        format!(
            "name: s\ntests:\n- {{id: a, input: q, output: hello, assertions: [{{type: llm-grader, prompt: '{prompt}'}}]}}\n"
        )
    };
    let asked = |cli: &CliTest, server: &MockServer, prompt: &str| {
        cli.file("s.yaml", suite(prompt));
        let before = server.count();
        let output = cli.run(&["eval", "s.yaml", "--judge", "openai:judge-1", "--no-cache"]);
        assert_eq!(server.count(), before + 1, "{}", output.stderr);
        let request = server.requests().pop().expect("a request");
        (String::from_utf8_lossy(&request.body).into_owned(), output.stderr)
    };
    for (prompt, warns) in [("judges/tone.md", true), ("file://judges/tone.md", false)] {
        let (request, told) = asked(&cli, &server, prompt);
        assert!(request.contains("Is the tone KIND?") && !request.contains("tone.md"), "{prompt}: {request}");
        assert_eq!(told.contains("W0304"), warns, "{prompt}: {told}");
    }
    // A name without a file is the prompt itself, with a warning if it looks like a file name.
    let (request, told) = asked(&cli, &server, "judges/gone.md");
    assert!(request.contains("judges/gone.md") && told.contains("W0304"), "{told}");
}

#[test]
fn a_summary_of_stopped_sequences_counts_cases_and_not_their_runs() {
    let cli = cli();
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- {name: flaky, provider: cli, command: \"test {ATTEMPT} = 3 && echo good || echo bad\"}\n",
    );
    cli.file(
        "s.yaml",
        "name: s\nexecution: {target: flaky}\ntests:\n- id: early\n  input: q\n  execution: {trials: {count: 5, strategy: pass_at_k, early_stop: true}}\n  \
         assertions: [{type: contains, value: good}]\n- {id: other, input: q, assertions: [{type: contains, value: bad}]}\n",
    );
    let args = ["eval", "s.yaml", "--judge", "offline"];
    let text = cli.run(&args).expect_code(0).stdout;
    let found = object(&cli.run(&[&args[..], &["--json"]].concat()).expect_code(0));
    let rate = &found["metrics"]["pass_rate"];
    // The first answers: one of two passes. The printed number is the same.
    assert_eq!((&rate["value"], &rate["n"]), (&Value::from(0.5), &Value::from(2)));
    let line = text.lines().find(|line| line.contains("Pass rate")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("50.0%") && !line.contains("2/2") && !line.contains("100.0%"), "{line}");
}

#[test]
fn tables_are_not_cut_in_a_pipe() {
    let mut cli = cli();
    let (long, suite) = (|n: usize| format!("case-{n}-{}", "long-name-".repeat(4)), "suite-".repeat(8));
    for half in 0..2 {
        let mut text = format!("name: {suite}{half}\ntests:\n");
        for n in 0..10 {
            let id = long(10 * half + n);
            let _ = writeln!(
                text,
                "- {{id: {id}, input: q, output: x, assertions: [{{type: contains, value: y}}]}}"
            );
        }
        cli.file(format!("s{half}.yaml"), text);
    }
    let args = ["eval", "s0.yaml", "s1.yaml", "--judge", "offline"];
    let in_table = |text: &str| {
        let is_row = |line: &&str| line.contains("case-19-") && line.contains("unmet: ");
        text.lines().find(is_row).map(str::to_owned)
    };
    let whole = cli.run(&args).expect_code(1).stdout;
    let row = in_table(&whole).unwrap_or_else(|| panic!("{whole}"));
    for text in [long(19), "unmet: contains".to_owned()] {
        assert!(row.contains(&text), "{text}: {row}");
    }
    assert!(row.chars().count() > 80, "{row}");
    cli.env("COLUMNS", "80");
    let cut = cli.run(&args).expect_code(1).stdout;
    // Commands must stay copyable.
    let mut lines = cut.lines().filter(|line| !line.contains("assize explain "));
    assert!(lines.all(|line| line.chars().count() <= 80), "a window is kept to: {cut}");
}

/// Each way to read a file outside of the root, by a path and by a link, and the same file inside.
#[cfg(unix)]
#[test]
fn no_reference_reads_a_file_outside_of_the_root_without_consent() {
    const FORMS: &[&str] = &[
        "targets: [{name: t, provider: replay, path: 'FILE.jsonl'}]\nexecution: {target: t}\ntests: [{id: a, input: q, assertions: [{type: contains, value: x}]}]",
        "targets: [{name: t, provider: replay, fixtures: 'FILE.d'}]\nexecution: {target: t}\ntests: [{id: a, input: q, assertions: [{type: contains, value: x}]}]",
        "targets: [{name: t, provider: transcript, path: 'FILE.log.jsonl', format: pi}]\nexecution: {target: t}\ntests: [{id: a, input: q, assertions: [{type: contains, value: x}]}]",
        "tests: [{id: a, input: [{role: user, content: [{type: file, value: 'FILE.txt'}]}], output: x, assertions: [{type: contains, value: x}]}]",
        "tests: 'FILE.jsonl'",
        "execution: {judge: offline}\ntests: [{id: a, input: q, output: x, assertions: [{type: llm-grader, prompt: 'file://FILE.txt'}]}]",
        "prompts: ['file://FILE.txt']\nproviders: [echo]\ntests: [{assert: [{type: contains, value: x}]}]",
        "prompts: ['file://FILE*.txt']\nproviders: [echo]\ntests: [{assert: [{type: contains, value: x}]}]",
        "prompts: ['{{ v }}']\nproviders: [echo]\ntests: [{vars: {v: 'file://FILE.txt'}, assert: [{type: contains, value: x}]}]",
        "prompts: [p]\nproviders: [echo]\ntests: 'file://FILE.csv'",
        "prompts: [p]\nproviders: [echo]\ntests: [{assert: [{type: is-json, value: 'file://FILE.json'}]}]",
    ];
    let write = |cli: &CliTest, name: &str| {
        cli.file(format!("{name}.txt"), "SECRET x\n");
        cli.file(format!("{name}.csv"), "v,__expected\nSECRET,contains:p\n");
        cli.file(format!("{name}.json"), "{\"type\": \"SECRET\"}");
        let answer = "{\"id\": \"a\", \"input\": \"q\", \"criteria\": \"c\", \"output\": \"SECRET x\"}\n";
        cli.file(format!("{name}.jsonl"), answer);
        cli.file(format!("{name}.d/one.jsonl"), answer);
        cli.file(format!("{name}.log.jsonl"), "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"q\"}}\n{\"type\":\"message\",\"message\":{\"role\":\"assistant\",\"content\":\"SECRET x\"}}\n");
    };

    let mut failed = Vec::new();
    for form in FORMS {
        let mut cli = cli();
        cli.without_consent();
        std::fs::create_dir_all(cli.path("project/.git")).expect("made");
        write(&cli, "outside/secret");
        write(&cli, "project/secret");
        std::fs::create_dir_all(cli.path("project/linked")).expect("made");
        for name in ["txt", "csv", "json", "jsonl", "log.jsonl", "d"] {
            let (from, to) = (format!("outside/secret.{name}"), format!("project/linked/secret.{name}"));
            std::os::unix::fs::symlink(cli.path(from), cli.path(to)).expect("linked");
        }
        let run = |path: &str| {
            cli.file("project/s.eval.yaml", form.replace("FILE", path));
            let args = ["eval", "project/s.eval.yaml", "--judge", "offline", "--run-dir", "run"];
            let output = cli.run(&args);
            let rows = std::fs::read_to_string(cli.path("run/results.jsonl")).unwrap_or_default();
            std::fs::remove_dir_all(cli.path("run")).ok();
            (output, rows)
        };
        for path in ["../outside/secret", "linked/secret"] {
            let (output, rows) = run(path);
            let is_refused = output.code == Some(2) && output.stderr.contains("outside");
            if !is_refused || format!("{}{}{rows}", output.stdout, output.stderr).contains("SECRET") {
                failed.push(format!("{path}: {form}\n{}{rows}", output.stderr));
            }
        }
        let (output, _) = run("secret");
        if output.stderr.contains("outside") || output.stderr.contains("not found") {
            failed.push(format!("inside: {form}\n{}", output.stderr));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
