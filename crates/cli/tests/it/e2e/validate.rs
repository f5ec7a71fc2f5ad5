//! `validate`: exit codes and formats.

use crate::e2e::bench::{cli, object};

const SOUND: &str = "name: s\ntests:\n- {id: a, criteria: x, input: q, assertions: [Says y]}\n";
const WARNED: &str = "name: w\ntests:\n- id: a\n  criteria: x\n  input: q\n  assertions:\n  - type: rubrics\n    criteria:\n    \
                      - {id: a, outcome: x}\n    - {id: b, outcome: y, weight: -1}\n";
const BROKEN: &str = "name: s\ntests:\n- {id: a, criteria: x, inptu: q, assertions: [Says y]}\n- {id: a, criteria: x, input: q}\n";

#[test]
fn sound_files_exit_with_0_and_broken_ones_with_2() {
    let cli = cli();
    cli.file("sound.eval.yaml", SOUND).file("warned.eval.yaml", WARNED).file("broken.yaml", BROKEN);
    let output = cli.run(&["validate", "."]).expect_code(2);
    assert!(output.stdout.contains("broken.yaml:3:"), "{}", output.stdout);
    let output = cli.run(&["validate", "sound.eval.yaml", "warned.eval.yaml"]).expect_code(0);
    assert!(
        output.stdout.contains("2 files, 2 cases") && output.stdout.contains("1 warning"),
        "{}",
        output.stdout
    );
    cli.run(&["validate", "warned.eval.yaml", "--max-warnings", "1"]).expect_code(0);
    cli.run(&["validate", "warned.eval.yaml", "--max-warnings", "0"]).expect_code(2);
    cli.run(&["validate", "absent.yaml"]).expect_code(2);
    cli.run(&["validate"]).expect_code(2);
    cli.run(&["eval", "warned.eval.yaml", "--deny", "warnings"]).expect_code(2);
    assert!(!cli.path(".assize").exists(), "nothing was run");
}

#[test]
fn machine_formats_are_whole_and_alone_on_stdout() {
    let cli = cli();
    cli.file("broken.yaml", BROKEN);
    let output = cli.run(&["validate", "broken.yaml", "--format", "json"]).expect_code(2);
    let value = object(&output);
    assert_eq!(output.stderr, "");
    assert_eq!(value["errors"].as_u64(), value["diagnostics"].as_array().map(|all| all.len() as u64));
    assert_eq!(value["files"][0]["path"], "broken.yaml");
    let same = object(&cli.run(&["validate", "broken.yaml", "--json"]).expect_code(2));
    assert_eq!(same, value);
    let sarif = object(&cli.run(&["validate", "broken.yaml", "--format", "sarif"]).expect_code(2));
    assert_eq!(sarif["version"], "2.1.0");
    let github = cli.run(&["validate", "broken.yaml", "--format", "github"]).expect_code(2);
    assert!(
        github.stdout.lines().all(|line| line.starts_with("::error file=broken.yaml,line=")),
        "{}",
        github.stdout
    );
}

#[test]
fn unbuilt_graders_are_no_problem_of_the_file() {
    let cli = cli();
    cli.file(
        "later.yaml",
        "name: s\ntests:\n- id: a\n  criteria: x\n  input: q\n  assertions:\n  - {type: contains, value: y}\n",
    );
    cli.run(&["validate", "later.yaml"]).expect_code(0);
}

#[test]
fn hostile_files_end_in_a_message() {
    let cli = cli();
    cli.file("utf8.yaml", b"name: \xff\xfe\ntests: []\n".as_slice());
    cli.file("tabs.yaml", "name: s\ntests:\n\t- id: a\n");
    cli.file("bom.yaml", format!("\u{feff}{}", SOUND.replace('\n', "\r\n")));
    cli.file("empty.yaml", "");
    cli.file("alias.yaml", "a: &a [1]\nb: *a\ntests: *b\n");
    cli.file("deep.yaml", format!("tests: {}", "[".repeat(20_000)));
    for (name, code) in [
        ("utf8.yaml", 2),
        ("tabs.yaml", 2),
        ("bom.yaml", 0),
        ("empty.yaml", 2),
        ("alias.yaml", 2),
        ("deep.yaml", 2),
    ] {
        let output = cli.run(&["validate", name]).expect_code(code);
        assert!(!output.stderr.contains("panicked"), "{name}: {}", output.stderr);
    }
}

#[test]
fn variables_that_are_not_set_are_notes_to_validate_and_errors_to_a_run() {
    let cli = cli();
    cli.file(
        "s.yaml",
        "description: for ${{ NOBODY_SET }}\nworkspace:\n  repos:\n  - {path: ./r, source: {type: local, path: '${{ NOBODY_SET }}'}}\n\
         tests:\n- {id: a, description: '${{ NOBODY_SET }}', input: 'hi ${{ NOBODY_SET }}', output: a, assertions: [{type: contains, value: a}]}\n",
    );
    let output = cli.run(&["validate", "s.yaml", "--max-warnings", "0"]).expect_code(0);
    assert!(
        output.stdout.contains("note[E0412]: the environment variable `NOBODY_SET` is not set"),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.contains("no errors or warnings") && !output.stdout.contains("needs `url`"),
        "{}",
        output.stdout
    );
    let output = cli.run(&["eval", "s.yaml"]).expect_code(2);
    assert!(output.stderr.contains("error[E0412]"), "{}", output.stderr);

    cli.file("d.yaml", "description: for ${{ NOBODY_SET }}\ntests:\n- {id: a, input: q, output: a, assertions: [{type: contains, value: a}]}\n");
    cli.run(&["eval", "d.yaml"]).expect_code(0);
}

#[test]
fn an_unknown_judge_of_the_configuration_is_an_error_as_in_a_run() {
    let cli = cli();
    cli.file("a.eval.yaml", "tests:\n  - {id: a, input: x, output: hello, assertions: [Says hello]}\n");
    cli.file(".assize/targets.yaml", "targets:\n  - {name: mine, provider: openai, model: m}\n");
    for (judge, code) in [("gpt-4o", 2), ("openai", 2), ("mine", 0), ("offline", 0), ("openai:gpt-4o", 0)] {
        cli.file(".assize/config.yaml", format!("judge: {judge}\n"));
        let output = cli.run(&["validate", "a.eval.yaml"]).expect_code(code);
        assert_eq!(
            output.stdout.contains(".assize/config.yaml:1:8"),
            code == 2,
            "{judge}: {}",
            output.stdout
        );
    }
}

#[test]
fn a_targets_file_can_be_named() {
    let cli = cli();
    cli.file("a.eval.yaml", format!("execution: {{target: mine}}\n{SOUND}"));
    let output = cli.run(&["validate", "a.eval.yaml"]).expect_code(0);
    assert!(output.stdout.contains("target `mine` is not defined"), "{}", output.stdout);

    cli.file("own.yaml", "targets:\n- {name: mine, provider: echo}\n");
    let output = cli.run(&["validate", "a.eval.yaml", "--targets", "own.yaml"]).expect_code(0);
    assert!(output.stdout.contains("no problems"), "{}", output.stdout);

    cli.file("own.yaml", "targets:\n- {name: mine}\n");
    let output = cli.run(&["validate", "a.eval.yaml", "--targets", "own.yaml"]).expect_code(2);
    assert!(output.stdout.contains("own.yaml:2:"), "{}", output.stdout);
    cli.run(&["validate", "a.eval.yaml", "--targets", "none.yaml"]).expect_code(2);
}

#[test]
fn graders_of_datasets_are_checked_with_their_lines() {
    let cli = cli();
    let line = |id: &str, schema: &str| {
        format!(
            "{{\"id\":\"{id}\",\"input\":\"q\",\"output\":\"1\",\"assertions\":[{{\"type\":\"is-json\",\"schema\":{schema}}}]}}\n"
        )
    };
    let lines = line("a", "{\"type\":\"number\"}") + &line("b", "{\"type\":\"nothing\"}");
    cli.file("d.eval.jsonl", lines);
    let output = cli.run(&["validate", "d.eval.jsonl"]).expect_code(2);
    assert!(output.stdout.contains("the schema can't be used"), "{}", output.stdout);
    assert!(output.stdout.contains("d.eval.jsonl:2:"), "{}", output.stdout);
    assert!(output.stdout.contains("1 error"), "{}", output.stdout);
}

#[test]
fn limits_of_what_a_given_answer_does_not_tell_are_warnings() {
    let cli = cli();
    let case = "- id: a\n  input: q\n  output: Hi\n  assertions:\n  - {type: latency, threshold: 100}\n  - {type: contains, value: Hi}\n";
    cli.file("a.eval.yaml", format!("tests:\n{case}"));
    for command in ["validate", "lint"] {
        let output = cli.run(&[command, "a.eval.yaml"]).expect_code(0);
        assert!(
            output.stdout.contains("grader `latency` can't decide"),
            "{command}: {}{}",
            output.stdout,
            output.stderr
        );
    }

    // Asking again does not bring a time.
    let output = cli.run(&["eval", "a.eval.yaml"]).expect_code(3);
    assert!(!output.stdout.contains("--retry-incomplete"), "{}", output.stdout);
    assert!(
        output.stdout.contains("Fix: remove the grader, or remove the given answer"),
        "{}",
        output.stdout
    );
}

#[test]
fn files_of_one_name_are_told_apart_wherever_they_are_run() {
    let cli = cli();
    let suite = |text: &str| {
        format!(
            "name: same\ntests:\n- {{id: tone, input: q, output: Hi, assertions: [{{type: contains, value: {text}}}]}}\n"
        )
    };
    cli.file("evals/a.eval.yaml", suite("Bye")).file("evals/b.eval.yaml", suite("Ho"));
    cli.file("evals/c/.keep", "");
    let output = cli.run(&["validate", "evals"]).expect_code(0);
    assert!(output.stdout.contains("`same` is also the name of evals/a.eval.yaml"), "{}", output.stdout);
    assert!(output.stdout.contains("1 warning"), "{}", output.stdout);

    let output = cli.run(&["eval", "evals", "--show", "none", "--run-dir", "one"]).expect_code(1);
    let named = "Not passed  same (a.eval.yaml): tone; same (b.eval.yaml): tone";
    assert!(output.stdout.contains(named), "{}", output.stdout);
    let paths = ["./evals/c/../a.eval.yaml", "evals/b.eval.yaml"];
    cli.run(&["eval", paths[0], paths[1], "--run-dir", "two"]).expect_code(1);
    let output = cli.run(&["compare", "one", "two"]).expect_code(0);
    assert!(output.stdout.contains("2 cases in common"), "{}", output.stdout);
}

#[test]
fn texts_that_are_kept_name_runs_by_their_ids() {
    let cli = cli();
    let case = "tests:\n- {id: a, input: q, output: Hi, assertions: [{type: contains, value: Hi}]}\n";
    cli.file("a.eval.yaml", case);
    let run_id = || {
        object(&cli.run(&["eval", "a.eval.yaml", "--json"]).expect_code(0))["run_id"]
            .as_str()
            .map(str::to_owned)
    };
    let (first, second) = (run_id().expect("an id"), run_id().expect("an id"));
    let names = format!("{first}: passed → {second}: passed");
    for args in
        [&["compare", "last~1", "last", "--markdown"][..], &["report", "last", "--baseline", "last~1"]]
    {
        let text = cli.run(args).expect_code(0).stdout;
        assert!(text.contains(&names) && text.contains("1 case in common"), "{args:?}: {text}");
    }
    let text = cli.run(&["compare", "last~1", "last"]).expect_code(0).stdout;
    assert!(text.contains(&first) && text.contains(&second) && !text.contains("last"), "{text}");
    let json = object(&cli.run(&["compare", "last~1", "last", "--json"]).expect_code(0));
    assert_eq!(json["comparisons"][0]["base"], first.as_str(), "{json}");

    let same = cli.run(&["compare", "last", &second]).expect_code(0);
    assert!(same.stderr.contains(&format!("`last` and `{second}` are the same run")), "{}", same.stderr);
    let itself = cli.run(&["compare", "last", "last"]).expect_code(0);
    assert!(itself.stderr.contains("`last` is compared with itself"), "{}", itself.stderr);
}

/// `validate` checks every file in a folder that `eval` runs.
#[test]
fn json_files_of_a_folder_are_checked_and_run() {
    let cli = cli();
    cli.file(
        "evals/a.eval.json",
        "{\"tests\": [{\"id\": \"a\", \"input\": \"x\", \"output\": \"y\", \"asertions\": [\"Says y\"]}]}\n",
    );
    cli.file(
        "evals/promptfooconfig.json",
        "{\"prompts\": [\"hi\"], \"providers\": [\"echo\"], \"tests\": [{\"vars\": {}, \"asert\": []}]}\n",
    );
    for command in ["validate", "eval"] {
        let output = cli.run(&[command, "evals"]).expect_code(2);
        let told = format!("{}{}", output.stdout, output.stderr);
        for part in ["evals/a.eval.json:1:", "evals/promptfooconfig.json:1:", "did you mean `assertions`?"] {
            assert!(told.contains(part), "{command}: {part} in\n{told}");
        }
    }
}

#[test]
fn a_run_names_the_problems_that_validate_names() {
    let cli = cli();
    cli.file("bad.yaml", BROKEN.replace("name: s\n", "name: s\nexecution: {judge: opnai}\n"));
    let found = cli.run(&["validate", "bad.yaml"]).expect_code(2).stdout;
    let run = cli.run(&["eval", "bad.yaml"]).expect_code(2).stderr;
    let titles = |text: &str| -> Vec<String> {
        let mut titles: Vec<String> =
            text.lines().filter(|line| line.starts_with("error[")).map(str::to_owned).collect();
        titles.sort();
        titles
    };
    assert_eq!(titles(&found), titles(&run));
    assert!(found.contains("unknown judge `opnai`"), "{found}");
    let judged = cli.run(&["eval", "bad.yaml", "--judge", "offline"]).expect_code(2).stderr;
    assert!(!judged.contains("unknown judge `opnai`"), "{judged}");
}

#[test]
fn a_case_that_nobody_answers_is_a_note() {
    let cli = cli();
    let two = SOUND.to_owned() + "- {id: b, criteria: x, input: q, assertions: [Says y]}\n";
    cli.file("open.yaml", &two);
    let found = cli.run(&["validate", "open.yaml"]).expect_code(0).stdout;
    assert!(found.contains("case `a` has no `output`, and no target is named"), "{found}");
    assert!(
        found.contains("1 other case has neither")
            && found.ends_with("2 cases: no errors or warnings, 1 note\n"),
        "{found}"
    );

    cli.file("given.yaml", two.replace("input: q", "input: q, output: y"));
    cli.file("named.yaml", two.replace("name: s", "name: s\nexecution: {target: echo}"));
    for file in ["given.yaml", "named.yaml"] {
        let found = cli.run(&["validate", file]).expect_code(0).stdout;
        assert!(found.contains("no problems"), "{file}: {found}");
    }
}

#[test]
fn rubrics_of_a_folder_are_checked_and_other_files_are_named() {
    let cli = cli();
    cli.file("evals/sound.eval.yaml", SOUND);
    cli.file(
        "evals/rubric.yaml",
        "name: r\ncriteria:\n- {id: a, outcome: x}\n- {id: b, outcome: y, wieght: 2}\n",
    );
    cli.file("evals/compose.yaml", "services: {web: {image: nginx}}\n");

    let output = cli.run(&["validate", "evals"]).expect_code(2);
    assert!(output.stdout.contains("rubric.yaml:4:") && output.stdout.contains("did you mean `weight`?"));
    assert!(output.stdout.contains("2 files, 1 case: 1 error"), "{}", output.stdout);
    let unchecked = "not checked: 1 YAML file that is neither an eval file nor a rubric: evals/compose.yaml";
    assert!(output.stderr.contains(unchecked), "{}", output.stderr);
    let value = object(&cli.run(&["validate", "evals", "--json"]).expect_code(2));
    assert_eq!(value["unchecked"], serde_json::json!(["evals/compose.yaml"]));
}

#[test]
fn a_folder_of_rubrics_needs_no_eval_file() {
    let cli = cli();
    cli.file("rubrics/tone.yaml", "- Is polite and does not mention competitors\n");
    let output = cli.run(&["validate", "rubrics"]).expect_code(0);
    assert!(output.stdout.contains("1 file, 0 cases: no problems"), "{}", output.stdout);
    let linted = cli.run(&["lint", "rubrics"]).expect_code(0).stdout;
    assert!(linted.contains("tone.yaml:1:") && linted.contains("1 file: 1 finding"), "{linted}");

    // A rubric is linted once, as part of the eval file that reads it.
    cli.file(
        "rubrics/refund.eval.yaml",
        "tests:\n- {id: late-refund, input: q, output: a, assertions: [{type: rubrics, criteria: file://tone.yaml}]}\n",
    );
    let linted = cli.run(&["lint", "rubrics", "--only", "several-things"]).expect_code(0).stdout;
    assert_eq!(linted.matches("L0102").count(), 1, "{linted}");

    cli.file("others/compose.yaml", "services: {web: {image: nginx}}\n");
    for command in ["validate", "lint"] {
        cli.run(&[command, "others"]).expect_code(2);
    }
}
