//! Typical first mistakes: each gives one message with the position, the value found and the likely fix.

use assize_testkit::cli::CliOutput;

use crate::e2e::bench::cli;

const RUBRIC: &str = "criteria:\n  - Says hello\n";
const VALID: &str =
    "tests:\n  - id: a\n    input: Hi\n    output: Hello there\n    assertions:\n      - Says hello\n";

/// A mistake: its files, the command, and parts of the message.
struct FirstMistake {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    command: &'static [&'static str],
    says: &'static [&'static str],
}

const MISTAKES: &[FirstMistake] = &[
    FirstMistake {
        name: "a range of the score under another name",
        files: &[
            ("rubric.yaml", "criteria:\n  - {id: a, outcome: Says hello, range: [1, 5]}\n"),
            ("t.csv", "id,answer\n1,hello\n"),
        ],
        command: &["grade", "rubric.yaml", "--answers", "t.csv"],
        says: &["`range` is not part of this format", "score_ranges: [{score_range: [0, 4]"],
    },
    FirstMistake {
        name: "a column that is nothing beside one with the answers",
        files: &[("rubric.yaml", RUBRIC), ("t.csv", "id,answer,topic\n1,hello,x\n")],
        command: &["grade", "rubric.yaml", "--answers", "t.csv"],
        says: &[
            "unknown column `topic`",
            "help: to keep it from the judge, store it as metadata: `--columns metadata=topic`",
        ],
    },
    FirstMistake {
        name: "a column that takes the place of the one with the answers",
        files: &[("rubric.yaml", RUBRIC), ("t.csv", "id,answer,topic\n1,hello,x\n")],
        command: &["grade", "rubric.yaml", "--answers", "t.csv", "--columns", "answer=topic"],
        says: &["unknown column `answer`", "`--columns answer=topic` reads another column as the answer"],
    },
    FirstMistake {
        name: "criteria at the top of an eval file",
        files: &[("a.eval.yaml", "criteria: [Says hello]\ntests:\n  - {id: a, input: Hi, output: Hello}\n")],
        command: &["eval", "a.eval.yaml"],
        says: &[
            "`criteria` is not part of this format", "a.eval.yaml:1:1", "{type: rubrics, criteria: [...]}",
            "1 error in the eval files",
        ],
    },
    FirstMistake {
        name: "a judge that is no model and no target",
        files: &[("a.eval.yaml", VALID)],
        command: &["eval", "a.eval.yaml", "--judge", "nobody"],
        says: &["unknown judge `nobody`: no target has this name", "write it like `openai:nobody`"],
    },
    FirstMistake {
        name: "graders under a name that is nearly an older one",
        files: &[("a.eval.yaml", "tests:\n  - {id: a, input: Hi, output: Hello, asserts: [Says hello]}\n")],
        command: &["eval", "a.eval.yaml"],
        says: &["write the graders as `assertions`"],
    },
    FirstMistake {
        name: "half of the name of the expected output",
        files: &[(
            "a.eval.yaml",
            "tests:\n  - {id: a, input: Hi, output: Hello, expected: Hello, criteria: x}\n",
        )],
        command: &["eval", "a.eval.yaml"],
        says: &["write what a good answer says as `expected_output`"],
    },
    FirstMistake {
        name: "a case without its dash",
        files: &[("a.eval.yaml", "tests:\n  id: a\n  input: Hi\n")],
        command: &["eval", "a.eval.yaml"],
        says: &["this is one case: write `- ` before its first key"],
    },
    FirstMistake {
        name: "a tag that no case has",
        files: &[(
            "a.eval.yaml",
            "tags: [smoke]\ntests:\n  - {id: a, input: Hi, output: Hello, criteria: x, tags: [slow]}\n",
        )],
        command: &["eval", "a.eval.yaml", "--tag", "nope"],
        says: &["no case matches `--tag nope`; the tags are `slow`, `smoke`"],
    },
    FirstMistake {
        name: "a misspelt folder",
        files: &[("evals/support.eval.yaml", VALID)],
        command: &["eval", "evls/support.eval.yaml"],
        says: &["evls/support.eval.yaml: no such file or folder", "did you mean `evals/support.eval.yaml`?"],
    },
    FirstMistake {
        name: "a file name without its whole ending",
        files: &[("evals/support.eval.yaml", VALID)],
        command: &["eval", "evals/support.yaml"],
        says: &["did you mean `evals/support.eval.yaml`?"],
    },
    FirstMistake {
        name: "a misspelt rubric",
        files: &[("rubric.yaml", RUBRIC), ("answers.csv", "id,answer\n1,Hello\n")],
        command: &["grade", "rubrik.yaml", "--answers", "answers.csv"],
        says: &["file not found", "--> rubrik.yaml", "did you mean `rubric.yaml`?"],
    },
    FirstMistake {
        name: "misspelt answers",
        files: &[("rubric.yaml", RUBRIC), ("answers.csv", "id,answer\n1,Hello\n")],
        command: &["grade", "rubric.yaml", "--answers", "answer.csv"],
        says: &["file not found", "--> answer.csv", "did you mean `answers.csv`?"],
    },
    FirstMistake {
        name: "a folder without an eval file",
        files: &[("evals/notes.txt", "")],
        command: &["eval", "evals"],
        says: &["evals: no eval files in this folder", "*.eval.yaml"],
    },
    FirstMistake {
        name: "a tab in YAML",
        files: &[("a.eval.yaml", "tests:\n\t- id: a\n")],
        command: &["eval", "a.eval.yaml"],
        says: &["not valid YAML", "a.eval.yaml:2:1", "a tab", "replace the tab by spaces"],
    },
    FirstMistake {
        name: "a misspelt key",
        files: &[(
            "a.eval.yaml",
            "tests:\n  - id: a\n    input: x\n    output: y\n    asertions: [Says y]\n",
        )],
        command: &["eval", "a.eval.yaml"],
        says: &["unknown key `asertions`", "a.eval.yaml:5:5", "did you mean `assertions`?"],
    },
    FirstMistake {
        name: "a promptfoo configuration without a key",
        files: &[(
            "promptfooconfig.yaml",
            "prompts: ['{{q}}']\nproviders: [openai:gpt-4o-mini]\ntests:\n  - vars: {q: Hi}\n    assert:\n      - \
             {type: llm-rubric, value: Says hello}\n",
        )],
        command: &["eval", "promptfooconfig.yaml"],
        says: &["promptfooconfig.yaml:2:13", "set OPENAI_API_KEY"],
    },
    FirstMistake {
        name: "an assertion type of promptfoo",
        files: &[(
            "a.eval.yaml",
            "tests:\n  - id: a\n    input: x\n    output: y\n    assertions:\n      - {type: llm-rubric, value: y}\n",
        )],
        command: &["eval", "a.eval.yaml"],
        says: &["no grader type `llm-rubric`", "a.eval.yaml:6:16", "write `type: rubrics` with `criteria`"],
    },
    FirstMistake {
        name: "a string in place of a list of criteria",
        files: &[("a.eval.yaml", "tests:\n  - id: a\n    input: x\n    output: y\n    assertions: Says y\n")],
        command: &["eval", "a.eval.yaml"],
        says: &[
            "`assertions` must be a list", "a.eval.yaml:5:17", "found a string", "begin each entry with `- `",
        ],
    },
    FirstMistake {
        name: "a criterion under another key",
        files: &[("rubric.yaml", "criteria:\n  - criterion: Says hello\n"), ("a.csv", "answer\nHello\n")],
        command: &["grade", "rubric.yaml", "--answers", "a.csv"],
        says: &["rubric.yaml:2:5", "write the text as `outcome`"],
    },
    FirstMistake {
        name: "criteria as a block of text",
        files: &[
            ("rubric.yaml", "criteria: |\n  Says hello\n  Names the price\n"),
            ("a.csv", "answer\nHello\n"),
        ],
        command: &["grade", "rubric.yaml", "--answers", "a.csv"],
        says: &["`criteria` must be a list of criteria", "rubric.yaml:2:3", "remove the `|` and begin each"],
    },
    FirstMistake {
        name: "answers without their option",
        files: &[("rubric.yaml", RUBRIC), ("answers.csv", "id,answer\n1,Hello\n")],
        command: &["grade", "rubric.yaml", "answers.csv"],
        says: &["unexpected argument 'answers.csv'", "tip: pass the file as '--answers answers.csv'"],
    },
    FirstMistake {
        name: "columns that contradict each other",
        files: &[("rubric.yaml", RUBRIC), ("answers.csv", "id,answer\n1,Hello\n")],
        command: &[
            "grade", "rubric.yaml", "--answers", "answers.csv", "--columns", "answer=a", "--columns",
            "answer=b",
        ],
        says: &["`--columns`: the field `answer` has two columns, `a` and `b`"],
    },
    FirstMistake {
        name: "a misspelt column of answers",
        files: &[("rubric.yaml", RUBRIC), ("a.csv", "id,repsonse,model\n1,Hello,m\n")],
        command: &["grade", "rubric.yaml", "--answers", "a.csv"],
        says: &["unknown columns: `repsonse`, `model`", "`--columns answer=repsonse,metadata=*`"],
    },
    FirstMistake {
        name: "a misspelt key of answers",
        files: &[("rubric.yaml", RUBRIC), ("a.jsonl", "{\"id\":\"1\",\"repsonse\":\"Hello\"}\n")],
        command: &["grade", "rubric.yaml", "--answers", "a.jsonl"],
        says: &["unknown key `repsonse`", "did you mean `response`?", "`--columns answer=repsonse`"],
    },
    FirstMistake {
        name: "a threshold in percent",
        files: &[(
            "a.eval.yaml",
            "execution: {threshold: 70%}\ntests: [{id: a, input: x, assertions: [Says y]}]\n",
        )],
        command: &["eval", "a.eval.yaml"],
        says: &["`threshold` must be a number", "help: write the share", "+ execution: {threshold: 0.7}"],
    },
    FirstMistake {
        name: "a threshold in percent, as an option",
        files: &[("a.eval.yaml", VALID)],
        command: &["eval", "a.eval.yaml", "--threshold", "70%"],
        says: &["from 0 to 1; did you mean 0.7?"],
    },
    FirstMistake {
        name: "a trailing comma",
        files: &[(
            "a.eval.json",
            "{\"tests\": [{\"id\": \"a\", \"input\": \"x\", \"assertions\": [\"Says y\",]}]}\n",
        )],
        command: &["eval", "a.eval.json"],
        says: &["trailing comma before this bracket", "remove that comma"],
    },
    FirstMistake {
        name: "a report below a file",
        files: &[("a.eval.yaml", VALID), ("out", "")],
        command: &["eval", "a.eval.yaml", "-o", "out/report.html"],
        says: &["`out` is a file, not a folder to write to"],
    },
    FirstMistake {
        name: "a case in place of a run",
        files: &[("a.eval.yaml", VALID)],
        command: &["explain", "a"],
        says: &["no run `a`"],
    },
    FirstMistake {
        name: "a misspelt name of the newest run",
        files: &[(".assize/runs/20260101-000000-a-1/run.json", "{}")],
        command: &["explain", "lst"],
        says: &["no run `lst`", "did you mean `last`?"],
    },
    FirstMistake {
        name: "answers under other keys, in every line",
        files: &[
            ("rubric.yaml", RUBRIC),
            (
                "a.jsonl",
                "{\"id\":\"1\",\"text\":\"Hello\"}\n{\"id\":\"2\",\"text\":\"Hi\"}\n{\"id\":\"3\",\"text\":\"Ho\"}\n",
            ),
        ],
        command: &["grade", "rubric.yaml", "--answers", "a.jsonl"],
        says: &["a.jsonl:1:12", "the same in 2 further lines", "`--columns answer=text`"],
    },
    FirstMistake {
        name: "answers in a JSON array",
        files: &[("rubric.yaml", RUBRIC), ("a.json", "[{\"id\":\"1\",\"answer\":\"Hello\"}]\n")],
        command: &["grade", "rubric.yaml", "--answers", "a.json"],
        says: &["a JSON array, not JSON lines", "a.json:1:1", "jq -c"],
    },
    FirstMistake {
        name: "rubric and answers exchanged",
        files: &[("rubric.yaml", RUBRIC), ("answers.csv", "id,answer\n1,Hello\n")],
        command: &["grade", "answers.csv", "--answers", "rubric.yaml"],
        says: &["a .csv file is not a rubric", "assize grade RUBRIC.yaml --answers answers.csv"],
    },
    FirstMistake {
        name: "an eval file as rubric",
        files: &[("a.eval.yaml", VALID), ("answers.csv", "id,answer\n1,Hello\n")],
        command: &["grade", "a.eval.yaml", "--answers", "answers.csv"],
        says: &["this is an eval file, not a rubric", "a.eval.yaml:1:1", "run it with `assize eval`"],
    },
    FirstMistake {
        name: "a rubric as eval file",
        files: &[("rubric.yaml", RUBRIC)],
        command: &["eval", "rubric.yaml"],
        says: &["this is a rubric, not an eval file", "assize grade RUBRIC --answers FILE"],
    },
    FirstMistake {
        name: "a list of criteria as an eval file",
        files: &[("rubric.yaml", "- Says hello\n- {outcome: Is short, weight: 2}\n")],
        command: &["eval", "rubric.yaml"],
        says: &["this is a rubric, not an eval file", "assize grade RUBRIC --answers FILE"],
    },
    FirstMistake {
        name: "an eval file as answers",
        files: &[("rubric.yaml", RUBRIC), ("a.eval.yaml", VALID)],
        command: &["grade", "rubric.yaml", "--answers", "a.eval.yaml"],
        says: &["this is an eval file", "a.eval.yaml:1:1", "assize eval a.eval.yaml"],
    },
    FirstMistake {
        name: "criteria under another key",
        files: &[("rubric.yaml", "criteria:\n  - {criterion: Says hello}\n"), ("a.csv", "answer\nHi\n")],
        command: &["grade", "rubric.yaml", "--answers", "a.csv"],
        says: &["`criterion` is not part of this format", "write the text as `outcome`"],
    },
    FirstMistake {
        name: "criteria under another key in the list of the other format",
        files: &[("rubric.yaml", "rubrics:\n  - {text: Says hello}\n"), ("a.csv", "answer\nHi\n")],
        command: &["grade", "rubric.yaml", "--answers", "a.csv"],
        says: &["`text` is not part of this format", "write the text as `expected_outcome`"],
    },
    FirstMistake {
        name: "labels that are not there",
        files: &[],
        command: &["calibrate", "--labels", "labels.csv"],
        says: &["labels.csv: no such file or folder"],
    },
    FirstMistake {
        name: "no key in the environment",
        files: &[("a.eval.yaml", VALID)],
        command: &["eval", "a.eval.yaml", "--judge", "openai:gpt-4o-mini"],
        says: &["nothing was spent", "--judge: judge `openai:gpt-4o-mini`: no API key", "set OPENAI_API_KEY"],
    },
    FirstMistake {
        name: "a misspelt provider",
        files: &[("a.eval.yaml", VALID)],
        command: &["eval", "a.eval.yaml", "--judge", "opneai:gpt-4o-mini"],
        says: &["unknown provider `opneai`", "did you mean `openai`?"],
    },
    FirstMistake {
        name: "a model without its provider",
        files: &[("a.eval.yaml", VALID)],
        command: &["eval", "a.eval.yaml", "--judge", "gpt-4o-mini"],
        says: &["write it like `openai:gpt-4o-mini`"],
    },
    FirstMistake {
        name: "a provider without its model",
        files: &[("a.eval.yaml", VALID)],
        command: &["eval", "a.eval.yaml", "--judge", "openai"],
        says: &["is a provider without a model", "`openai:MODEL`", "`openai:gpt-6-luna`"],
    },
    FirstMistake {
        name: "a number out of range",
        files: &[("a.eval.yaml", VALID)],
        command: &["eval", "a.eval.yaml", "--trials", "0"],
        says: &["`--trials <N>` takes a number from 1 to 1000, not 0"],
    },
    FirstMistake {
        name: "a command that is an option",
        files: &[],
        command: &["resume"],
        says: &["'assize eval --resume' does this"],
    },
    FirstMistake {
        name: "a folder whose only file has a misspelt list of cases",
        files: &[("evals/a.yaml", "test:\n  - id: a\n    input: q\n")],
        command: &["eval", "evals"],
        says: &["no eval files in this folder", "skipped 1 YAML file", "evals/a.yaml"],
    },
    FirstMistake {
        name: "a table of answers as an eval file",
        files: &[("a.csv", "id,answer\n1,Hello\n")],
        command: &["eval", "a.csv"],
        says: &["cases are not read from this kind of file", "assize grade RUBRIC.yaml --answers FILE"],
    },
    FirstMistake {
        name: "explaining before any run",
        files: &[],
        command: &["explain", "last"],
        says: &["no runs in `/", "/.assize/runs` yet", "`assize eval` creates one"],
    },
    FirstMistake {
        name: "a threshold in percent",
        files: &[("a.eval.yaml", VALID)],
        command: &["eval", "a.eval.yaml", "--threshold", "80"],
        says: &["invalid value '80'", "a number from 0 to 1; did you mean 0.8?"],
    },
    FirstMistake {
        name: "a misspelt command",
        files: &[],
        command: &["evl", "evals"],
        says: &["unrecognized subcommand 'evl'", "'eval'"],
    },
];

/// Number of errors in a message, without the last line of `assize`, which is a summary.
fn count_errors(output: &CliOutput) -> usize {
    output.stderr.lines().filter(|line| line.starts_with("error[")).count()
}

#[test]
fn each_first_mistake_ends_in_one_message_with_place_and_fix() {
    for mistake in MISTAKES {
        let cli = cli();
        for (path, text) in mistake.files {
            cli.file(path, text);
        }

        let output = cli.run(mistake.command).expect_code(2);
        for part in mistake.says {
            assert!(output.stderr.contains(part), "{}: {part:?} in\n{}", mistake.name, output.stderr);
        }
        assert!(count_errors(&output) <= 1, "{}:\n{}", mistake.name, output.stderr);
        assert!(output.stderr.lines().count() <= 16, "{}:\n{}", mistake.name, output.stderr);
    }
}

#[test]
fn each_first_mistake_is_one_document_for_programs() {
    for mistake in MISTAKES {
        let cli = cli();
        for (path, text) in mistake.files {
            cli.file(path, text);
        }

        let command = [mistake.command, &["--json"]].concat();
        let output = cli.run(&command).expect_code(2);
        let document: serde_json::Value = serde_json::from_str(&output.stdout).expect(mistake.name);
        let message = document["error"].as_str().unwrap_or_default();
        assert!(!message.is_empty() && document["exit_code"] == 2, "{}: {document:#}", mistake.name);

        let diagnostics = document["diagnostics"].as_array().expect("a list");
        assert_eq!(diagnostics.is_empty(), count_errors(&output) == 0, "{}: {document:#}", mistake.name);
        assert!(
            diagnostics.iter().all(|one| one["file"].is_string() && one["line"].is_u64()),
            "{document:#}"
        );
    }
}

#[test]
fn a_result_is_the_only_document() {
    let cli = cli();
    cli.file("a.eval.yaml", "tests:\n  - id: a\n    input: x\n    output: y\n    asertions: [Says y]\n");
    let output = cli.run(&["validate", "a.eval.yaml", "--json"]).expect_code(2);
    let document: serde_json::Value = serde_json::from_str(&output.stdout).expect("one document");
    assert_eq!(document["errors"], 1);
    assert!(document.get("error").is_none(), "{document:#}");
}

/// Encodes a text as UTF-16 with a byte order mark.
fn utf16(text: &str) -> Vec<u8> {
    std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

#[test]
fn files_of_another_encoding_are_named_as_such() {
    let cli = cli();
    cli.file("rubric.yaml", RUBRIC);
    cli.file("a.eval.yaml", utf16(VALID));
    cli.file("a.csv", b"id,answer\n1,Gr\xfc\xdfe und G\xfcte\n");
    for (command, name) in [
        (&["eval", "a.eval.yaml"][..], "UTF-16"),
        (&["grade", "rubric.yaml", "--answers", "a.csv"], "windows-1252"),
    ] {
        let output = cli.run(command).expect_code(2);
        assert!(output.stderr.contains(&format!("it is probably {name}")), "{}", output.stderr);
        assert_eq!(count_errors(&output), 1, "{}", output.stderr);
    }
}

#[test]
fn a_table_with_semicolons_is_read_as_such() {
    let cli = cli();
    cli.file("rubric.yaml", RUBRIC);
    cli.file("a.csv", "id;question;answer\n1;Hi;Hello\n2;Hi;Hello, you\n");
    let output = cli.run(&["grade", "rubric.yaml", "--answers", "a.csv", "--json"]).expect_code(0);
    assert!(output.stdout.contains("\"pass\": 2"), "{}", output.stdout);
}

/// Problems that prevent a run are found without one, each at its position in the file.
#[test]
fn validate_finds_what_no_run_can_use() {
    let cli = cli();
    let cases = "tests:\n  - {id: a, input: x, output: y, assertions: [Says y]}\n";
    cli.file("judge.eval.yaml", format!("execution:\n  judge: gpt-4o\n{cases}"));
    cli.file("near.eval.yaml", format!("execution:\n  judge: ofline\n{cases}"));
    let schema = "{type: is-json, schema: {type: object, requierd: [a]}}";
    cli.file("schema.eval.yaml", cases.replace("Says y", schema));
    cli.file(
        "p.yaml",
        "prompts: [a]\nproviders: [ehco, 'replicate:x/y']\ntests: [{assert: [{type: contains, value: a}]}]\n",
    );

    for (file, code, wanted) in [
        ("judge.eval.yaml", 1, ["E", "judge.eval.yaml:2:10", "write it like `openai:gpt-4o`"]),
        ("near.eval.yaml", 1, ["E", "near.eval.yaml:2:10", "did you mean `offline`?"]),
        ("schema.eval.yaml", 1, ["E0320", "schema.eval.yaml:2", "unknown keyword `requierd`"]),
        ("p.yaml", 0, ["W0408", "p.yaml:2:13", "did you mean `echo`?"]),
    ] {
        let output = cli.run(&["validate", file]);
        let said = format!("{}{}", output.stdout, output.stderr);
        assert_eq!(output.code == Some(0), code == 0, "{file}: {said}");
        for part in wanted {
            assert!(said.contains(part), "{file}: no `{part}` in {said}");
        }
    }

    // Targets in the file that the configuration names are known.
    cli.file("named.eval.yaml", format!("execution:\n  judge: mine\n{cases}"));
    cli.run(&["validate", "named.eval.yaml"]).expect_code(2);
    cli.file(".assize/config.yaml", "targets: ../own/targets.yaml\n");
    cli.file("own/targets.yaml", "targets: [{name: mine, provider: mock, response: x}]\n");
    cli.run(&["validate", "named.eval.yaml"]).expect_code(0);

    // The run reports the same position; `echo` needs no definition.
    let refused = cli.run(&["eval", "judge.eval.yaml"]).expect_code(2);
    assert!(refused.stderr.contains("judge.eval.yaml:2:10: unknown judge `gpt-4o`"), "{}", refused.stderr);
    cli.run(&["eval", "p.yaml", "--target", "echo"]).expect_code(0);
}

/// Tests of a project say nothing about an answer that was made somewhere else.
#[test]
fn a_program_that_needs_a_workspace_is_warned_of_where_there_is_none() {
    let cli = cli();
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- {name: agent, provider: cli, command: [echo, x]}\n- {name: model, provider: openai, model: m, api_key: k}\n",
    );
    cli.file("project/a.txt", "a");
    let (native, older) = ("native.eval.yaml", "older.eval.yaml");
    let given = "tests: [{id: a, input: q, output: y, assertions: [GRADER]}]\n";
    let asked = "execution: {target: TARGET}\nWORKSPACE\ntests: [{id: a, input: q, assertions: [GRADER]}]\n";
    let old = "evalcases: [{id: a, expected_outcome: x, input_messages: [{role: user, content: q}], output: y, execution: {evaluators: [GRADER]}}]\n";
    let bare = "{type: code-grader, command: [pytest, -q]}";
    let placed = "{type: code-grader, command: [sh, x.sh], cwd: '{{workspace_path}}'}";
    let inner = "{type: composite, aggregator: {type: weighted_average}, assertions: [GRADER]}"
        .replace("GRADER", bare);
    let (folder, none) = ("workspace: {template: project}", "");
    let (tests, breaks) = (Some("tests the folder of the eval file"), Some("breaks: `cwd` is the workspace"));
    for (file, text, target, workspace, grader, wanted) in [
        (native, given, "", none, bare, tests),
        (native, given, "", none, placed, breaks),
        (native, asked, "agent", none, bare, tests),
        (native, asked, "agent", none, &*inner, tests),
        (native, asked, "agent", none, placed, breaks),
        (native, asked, "agent", folder, bare, None),
        (native, asked, "agent", folder, placed, None),
        (native, asked, "model", folder, bare, tests),
        (native, asked, "agent", none, "{type: code-grader, command: [pytest, -q], cwd: .}", None),
        (native, asked, "agent", none, "{type: code-grader, command: [sh, pytest.sh]}", None),
        (native, asked, "agent", none, "{type: code-grader, command: pytests}", None),
        (native, asked, "agent", none, "{type: code-grader, command: 'cargo test -q'}", tests),
        (older, old, "", none, "{name: t, type: code_judge, script: [pytest, -q]}", tests),
    ] {
        let text = text.replace("TARGET", target).replace("WORKSPACE", workspace).replace("GRADER", grader);
        cli.file(file, &text);
        let output = cli.run(&["validate", file]).expect_code(0);
        assert_eq!(output.stdout.contains("W0417"), wanted.is_some(), "{text}{}", output.stdout);
        assert!(output.stdout.contains(wanted.unwrap_or_default()), "{text}{}", output.stdout);
        let plan = cli.run(&["eval", file, "--dry-run", "--allow-code", "--judge", "offline"]);
        assert!(plan.stderr.contains(wanted.unwrap_or_default()), "{text}{}", plan.stderr);
    }
}

#[test]
fn what_every_case_lacks_is_said_once() {
    let cli = cli();
    let case = |n: usize| format!("  - id: c{n}\n    input: x\n    output: y\n    assertions: [Says y]\n");
    let cases: String = (0..20).map(case).collect();
    cli.file("a.eval.yaml", format!("tests:\n{cases}"));
    let output = cli.run(&["eval", "a.eval.yaml", "--judge", "openai:gpt-4o-mini"]).expect_code(2);
    assert_eq!(output.stderr.matches("no API key").count(), 1, "{}", output.stderr);
    assert!(!output.stderr.contains("a.eval.yaml"), "the judge is not of the file: {}", output.stderr);

    cli.file("own.eval.yaml", format!("execution: {{judge: openai:gpt-4o-mini}}\ntests:\n{cases}"));
    let output = cli.run(&["eval", "own.eval.yaml"]).expect_code(2);
    assert!(output.stderr.contains("own.eval.yaml:1:20: judge"), "{}", output.stderr);
}

#[test]
fn a_judge_of_the_environment_leads_to_its_variable() {
    let mut cli = cli();
    cli.file("a.eval.yaml", VALID);
    cli.env("JUDGE_MODEL", "openai:gpt-4o-mini");
    let output = cli.run(&["eval", "a.eval.yaml"]).expect_code(2);
    assert!(
        output.stderr.contains("JUDGE_MODEL: judge `openai:gpt-4o-mini`: no API key"),
        "{}",
        output.stderr
    );
    assert!(!output.stderr.contains("a.eval.yaml:"), "{}", output.stderr);
}

#[test]
fn names_that_do_not_exist_lead_to_those_that_do() {
    let cli = cli();
    cli.file("a.eval.yaml", VALID);
    cli.run(&["eval", "a.eval.yaml"]).expect_code(0);

    let output = cli.run(&["explain", "last", "b2"]).expect_code(2);
    assert!(output.stderr.contains("no case `b2`"), "{}", output.stderr);
    assert!(output.stderr.contains("its cases are `a`"), "{}", output.stderr);

    cli.file("b.eval.yaml", VALID.replace("id: a", "id: refund-policy"));
    cli.run(&["eval", "b.eval.yaml"]).expect_code(0);
    let output = cli.run(&["explain", "last", "refund"]).expect_code(2);
    assert!(output.stderr.contains("did you mean `refund-policy`?"), "{}", output.stderr);

    let output = cli.run(&["explain", "20200101-000000-x"]).expect_code(2);
    assert!(output.stderr.contains("no run `20200101-000000-x`"), "{}", output.stderr);
    assert!(output.stderr.contains("the newest are "), "{}", output.stderr);
}

#[test]
fn numbers_that_cannot_be_are_refused_with_those_that_can() {
    let cli = cli();
    cli.file("a.eval.yaml", VALID);
    for (option, says) in [
        (["-j", "0"], "at least 1"),
        (["--trials", "0"], "from 1 to 1000"),
        (["--budget-usd", "-1"], "such as 2.50"),
        (["--min-pass-rate", "90"], "did you mean 0.9 or 90%?"),
    ] {
        let output = cli.run(&[&["eval", "a.eval.yaml"][..], &option].concat()).expect_code(2);
        assert!(output.stderr.contains(says) && output.stderr.contains(option[1]), "{}", output.stderr);
    }
}

#[test]
fn a_file_is_no_folder_of_a_run() {
    let cli = cli();
    cli.file("a.eval.yaml", VALID);
    cli.file("result.json", "{}");
    let output = cli.run(&["eval", "a.eval.yaml", "--run-dir", "result.json"]).expect_code(2);
    assert!(
        output.stderr.contains("`--run-dir result` or") || output.stderr.contains("--run-dir result`"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("--out result.json"), "{}", output.stderr);
    assert_eq!(cli.read("result.json"), "{}");
}

#[test]
fn filters_that_match_nothing_lead_to_ids() {
    let cli = cli();
    cli.file("a.eval.yaml", VALID.replace("id: a", "id: refund-policy"));
    for (filter, near) in
        [("refund", "`--filter '*refund*'`"), ("refund-polcy", "`--filter 'refund-policy'`")]
    {
        let output = cli.run(&["eval", "a.eval.yaml", "--filter", filter]).expect_code(2);
        assert!(output.stderr.contains(near), "{}", output.stderr);
    }
    let output = cli.run(&["eval", "a.eval.yaml", "--filter", "zzz"]).expect_code(2);
    assert!(output.stderr.contains("the only case is refund-policy"), "{}", output.stderr);
    let output = cli.run(&["eval", "a.eval.yaml", "--tag", "zzz"]).expect_code(2);
    assert!(output.stderr.contains("no case matches `--tag zzz`; no case has a tag"), "{}", output.stderr);
}

#[test]
fn runs_are_named_by_beginnings_of_their_ids() {
    let cli = cli();
    cli.file("a.eval.yaml", VALID);
    let id = |word: &str| {
        cli.file("b.eval.yaml", format!("name: {word}\n{VALID}"));
        let output = cli.run(&["eval", "b.eval.yaml", "--json"]).expect_code(0);
        let value: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
        value["run_id"].as_str().expect("an id").to_owned()
    };
    let (first, second) = (id("one"), id("two"));
    let begin = &first[..first.len() - 2];
    cli.run(&["explain", begin]).expect_code(0);

    let both = cli.run(&["explain", &first[..8]]).expect_code(2);
    for part in [first.as_str(), &second, "is the beginning of 2 ids"] {
        assert!(both.stderr.contains(part), "{}", both.stderr);
    }
    let far = cli.run(&["explain", "last~7"]).expect_code(2);
    for part in ["no run `last~7`", "has 2 runs", "`last~1`", "`--run-dir` is named by its folder"] {
        assert!(far.stderr.contains(part), "{}", far.stderr);
    }
}

#[test]
fn tables_without_answers_are_refused() {
    let cli = cli();
    cli.file("rubric.yaml", RUBRIC);
    for (name, text, says) in [
        ("empty.csv", "", "write a line with the names of the columns"),
        ("header.csv", "id,answer\n", "there are no rows below the names of the columns"),
    ] {
        cli.file(name, text);
        let output = cli.run(&["grade", "rubric.yaml", "--answers", name]).expect_code(2);
        assert!(output.stderr.contains(says), "{name}: {}", output.stderr);
    }
}

#[test]
fn rubric_and_answers_are_checked_together() {
    let cli = cli();
    cli.file("rubric.yaml", "criterio:\n  - Says hello\n");
    cli.file("answers.csv", "id,antwort\n1,Hello\n");
    let output = cli.run(&["grade", "rubric.yaml", "--answers", "answers.csv"]).expect_code(2);
    for part in ["rubric.yaml:1", "answers.csv:1", "the rubric and the answers file have errors"] {
        assert!(output.stderr.contains(part), "{part}: {}", output.stderr);
    }
}

#[test]
fn validate_checks_rubrics_and_the_configuration() {
    let cli = cli();
    cli.file("rubric.yaml", RUBRIC);
    cli.file("list.yaml", "- Says hello\n");
    for rubric in ["rubric.yaml", "list.yaml"] {
        let output = cli.run(&["validate", rubric]).expect_code(0);
        assert!(output.stdout.contains("no problems"), "{}", output.stdout);
    }
    cli.file("broken.yaml", "criteria:\n  - outcom: Says hello\n");
    let output = cli.run(&["validate", "broken.yaml"]).expect_code(2);
    assert!(
        output.stdout.contains("outcome") && !output.stdout.contains("not an eval file"),
        "{}",
        output.stdout
    );

    cli.file("mine/evals/a.eval.yaml", VALID);
    cli.file("mine/.assize/config.yaml", "jugde: openai:gpt-4o-mini\n");
    let output = cli.run(&["validate", "mine/evals"]).expect_code(2);
    assert!(output.stdout.contains("mine/.assize/config.yaml:1:1"), "{}", output.stdout);
    assert!(output.stdout.contains("did you mean `judge`?"), "{}", output.stdout);
}

#[test]
fn a_judge_without_its_provider_is_no_judge_of_a_project() {
    let cli = cli();
    let output = cli.run(&["init", "mine", "--judge", "gpt-4o"]).expect_code(2);
    assert!(output.stderr.contains("`openai:gpt-4o`"), "{}", output.stderr);
    let output = cli.run(&["init", "mine", "--judge", "claude-x"]).expect_code(2);
    assert!(output.stderr.contains("`anthropic:claude-x`"), "{}", output.stderr);
    assert!(!cli.path("mine").exists());
    cli.run(&["init", "mine", "--judge", "openai:gpt-4o"]).expect_code(0);
}

#[test]
fn failures_in_json_are_one_document() {
    let cli = cli();
    for args in [
        &["validate", "none.yaml", "--format", "json"][..],
        &["lint", "none.yaml", "--format=json"],
        &["lint", "--format", "json", "--bogus"],
    ] {
        let output = cli.run(args).expect_code(2);
        let value: serde_json::Value = serde_json::from_str(&output.stdout).expect("one document");
        assert!(value["error"].is_string(), "{value}");
    }
}

#[test]
fn a_column_that_the_command_line_misspells_is_one_error() {
    let cli = cli();
    cli.file("rubric.yaml", RUBRIC).file("a.csv", "id,repsonse\n1,Hello\n");
    let output = cli.run(&["grade", "rubric.yaml", "--answers", "a.csv", "--columns", "answer=response"]);
    let output = output.expect_code(2);
    assert!(output.stderr.contains("did you mean `repsonse`?"), "{}", output.stderr);
    assert_eq!(output.stderr.matches("error[").count(), 1, "{}", output.stderr);
}

#[test]
fn keep_going_is_offered_only_where_a_case_is_valid() {
    let cli = cli();
    cli.file("a.eval.yaml", "tests:\n  - id: a\n");
    let output = cli.run(&["eval", "a.eval.yaml"]).expect_code(2);
    assert!(
        output.stderr.contains("nothing was run") && !output.stderr.contains("--keep-going"),
        "{}",
        output.stderr
    );

    cli.file("b.eval.yaml", VALID);
    let output = cli.run(&["eval", "."]).expect_code(2);
    assert!(output.stderr.contains("`--keep-going` runs the valid cases"), "{}", output.stderr);
}

#[test]
fn a_report_of_a_stored_run_names_no_option_of_other_commands() {
    let cli = cli();
    cli.file("a.eval.yaml", VALID);
    let output = cli.run(&["report", "-o", "r.docx"]).expect_code(2);
    assert!(output.stderr.contains("FILE.html") && !output.stderr.contains("--run-dir"), "{}", output.stderr);
}

#[test]
fn a_column_that_is_nothing_is_not_proposed_as_the_answer_that_is_there() {
    let cli = cli();
    cli.file("rubric.yaml", RUBRIC).file("t.csv", "id,answer,topic\n1,hello,x\n");
    let output = cli.run(&["grade", "rubric.yaml", "--answers", "t.csv"]).expect_code(2);
    assert!(!output.stderr.contains("answer=topic"), "{}", output.stderr);
    let output = cli.run(&["grade", "rubric.yaml", "--answers", "t.csv", "--columns", "answer=topic"]);
    assert!(!output.stderr.contains("answer=answer"), "{}", output.stderr);
}

#[test]
fn answers_from_standard_input_are_named_as_such() {
    let cli = cli();
    cli.file("rubric.yaml", RUBRIC);
    let output = cli
        .run_with_input(&["grade", "rubric.yaml", "--answers", "-"], "{\"answr\": \"hello\"}\n")
        .expect_code(2);
    assert!(output.stderr.contains("<stdin>:1:3"), "{}", output.stderr);
    assert!(!output.stderr.contains("standard-input"), "{}", output.stderr);
}

#[test]
fn an_empty_variable_counts_as_one_that_is_not_set() {
    let mut cli = cli();
    cli.env("OPENAI_API_KEY", "").env("OPENAI_BASE_URL", "").env("JUDGE_MODEL", "");
    cli.file("a.eval.yaml", VALID);
    let output =
        cli.run(&["eval", "a.eval.yaml", "--dry-run", "--judge", "openai:gpt-4o-mini"]).expect_code(0);
    assert!(output.stderr.contains("OPENAI_API_KEY is not set; the run will need it"), "{}", output.stderr);

    // A copied `.env` file without values, and one that supplies values that are empty in the environment.
    cli.file(".env", "OPENAI_API_KEY=\nOPENAI_BASE_URL=\n");
    cli.run(&["eval", "a.eval.yaml", "--dry-run", "--judge", "openai:gpt-4o-mini"]).expect_code(0);
    cli.file(".env", "OPENAI_API_KEY=sk-of-a-file-that-was-filled-in\n");
    let output =
        cli.run(&["eval", "a.eval.yaml", "--dry-run", "--judge", "openai:gpt-4o-mini"]).expect_code(0);
    assert!(!output.stderr.contains("is not set"), "{}", output.stderr);
}
