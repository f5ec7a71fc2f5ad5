//! Typical mistakes in promptfoo configurations: each gives one message with the position and the likely fix,
//! and all problems of a file are reported in one pass.

use assize_testkit::cli::CliOutput;

use crate::e2e::bench::cli;

/// A mistake: its name, the configuration below `prompts` and `providers`, and parts of the message.
type Mistake = (&'static str, &'static str, &'static [&'static str]);

const MISTAKES: &[Mistake] = &[
    (
        "the list of assertions under AgentV's name",
        "tests:\n  - vars: {x: hi}\n    assertions: [{type: contains, value: hi}]\n",
        &["unknown key `assertions`", "c.yaml:5:5", "did you mean `assert`?"],
    ),
    (
        "assertions in the plural",
        "tests:\n  - vars: {x: hi}\n    asserts: [{type: contains, value: hi}]\n",
        &["unknown key `asserts`", "did you mean `assert`?"],
    ),
    (
        "assertions as another tool calls them",
        "tests:\n  - vars: {x: hi}\n    expect: [{type: contains, value: hi}]\n",
        &["unknown key `expect`", "did you mean `assert`?"],
    ),
    (
        "a misspelt name of variables",
        "tests:\n  - var: {x: hi}\n    assert: [{type: contains, value: hi}]\n",
        &["unknown key `var`", "did you mean `vars`?"],
    ),
    (
        "a type as a key of a test",
        "tests:\n  - vars: {x: hi}\n    llm-rubric: Is kind\n    assert: [{type: contains, value: hi}]\n",
        &["unknown key `llm-rubric`", "write it under `assert`: `- {type: llm-rubric, value: ...}`"],
    ),
    (
        "a type as a key of an assertion",
        "tests:\n  - vars: {x: hi}\n    assert: [{llm-rubric: Is kind}]\n",
        &["an assertion has no type", "c.yaml:5:15", "`- type: llm-rubric`, and below it `value: ...`"],
    ),
    (
        "an expected text",
        "tests:\n  - vars: {x: hi}\n    expected: hi\n    assert: [{type: contains, value: hi}]\n",
        &["`expected` is not part of this format", "`- {type: contains, value: TEXT}`"],
    ),
    (
        "a misspelt value",
        "tests:\n  - vars: {x: hi}\n    assert: [{type: contains, valeu: hi}]\n",
        &["unknown key `valeu`", "did you mean `value`?"],
    ),
    (
        "a misspelt type",
        "tests:\n  - vars: {x: hi}\n    assert: [{tpye: contains, value: hi}]\n",
        &["an assertion has no type", "did you mean `type`?"],
    ),
    (
        "a value as an assertion of its own",
        "tests:\n  - vars: {x: hi}\n    assert: [{type: is-json}, {value: hi}]\n",
        &["an assertion has no type", "without a `-` of its own"],
    ),
    (
        "a text in place of an assertion",
        "tests:\n  - vars: {x: hi}\n    assert: [hi]\n",
        &["an assertion must be a map with `type`", "found a string", "write `- type: contains`"],
    ),
    (
        "a text in place of the assertions",
        "tests:\n  - vars: {x: hi}\n    assert: contains hi\n",
        &["`assert` must be a list of assertions", "c.yaml:5:13", "write `- type: contains`"],
    ),
    (
        "a list of variables",
        "tests:\n  - vars: [x, y]\n    assert: [{type: contains, value: hi}]\n",
        &["`vars` must be a map of names and values", "found a list", "`vars: {question: TEXT}`"],
    ),
    (
        "variables that are not indented",
        "tests:\n  - vars:\n    x: hi\n    assert: [{type: contains, value: hi}]\n",
        &["`x` is not below `vars`", "c.yaml:5:5", "indent it further than `vars`"],
    ),
    (
        "a test without a dash",
        "tests:\n  vars: {x: hi}\n  assert: [{type: contains, value: hi}]\n",
        &["`tests` must be a list of tests", "found a map", "begin each test with `- `"],
    ),
    (
        "a misspelt variable",
        "tests:\n  - vars: {xx: hi}\n    assert: [{type: contains, value: hi}]\n",
        &["the prompt of this test is empty, as it has no variable `x`", "c.yaml:4:5", "add `x` to `vars`"],
    ),
    (
        "an empty variable",
        "tests:\n  - vars: {x: ''}\n    assert: [{type: contains, value: hi}]\n",
        &["the prompt of this test is empty, as its variable `x` is", "c.yaml:4:15", "write a value for `x`"],
    ),
    (
        "a threshold in percent",
        "tests:\n  - vars: {x: hi}\n    threshold: 70%\n    assert: [{type: contains, value: hi}]\n",
        &["`threshold` must be a number", "c.yaml:5:16", "+     threshold: 0.7"],
    ),
    (
        "a negated type without its hyphen",
        "tests:\n  - vars: {x: hi}\n    assert: [{type: notcontains, value: hi}]\n",
        &["unknown assertion type `notcontains`", "did you mean `not-contains`?"],
    ),
    (
        "templates that refer to each other",
        "assertionTemplates: {a: {$ref: '#/assertionTemplates/b'}, b: {$ref: '#/assertionTemplates/a'}}\n\
         tests:\n  - vars: {x: hi}\n    assert: [{$ref: '#/assertionTemplates/a'}]\n",
        &[
            "the `$ref`s of this assertion form a cycle",
            "`#/assertionTemplates/a` → `#/assertionTemplates/b` → `#/assertionTemplates/a`",
        ],
    ),
    (
        "a set that contains itself",
        "assertionTemplates: {s: {type: assert-set, assert: [{$ref: '#/assertionTemplates/s'}]}}\n\
         tests:\n  - vars: {x: hi}\n    assert: [{$ref: '#/assertionTemplates/s'}]\n",
        &["a set contains itself", "`#/assertionTemplates/s` leads back to this set"],
    ),
    (
        "a cost without a limit",
        "tests:\n  - vars: {x: hi}\n    assert: [{type: cost}]\n",
        &["`cost` needs `threshold`", "`threshold: 0.05`"],
    ),
    (
        "a provider that the file does not have",
        "tests:\n  - vars: {x: hi}\n    providers: [ecco]\n    assert: [{type: contains, value: hi}]\n",
        &["there is no provider `ecco`", "c.yaml:5:17", "did you mean `echo`?"],
    ),
    (
        "a threshold of 0 to 100",
        "tests:\n  - vars: {x: hi}\n    assert: [{type: similar, value: hi, threshold: 75}]\n",
        &["the `threshold` of `similar` must be between 0 and 1", "found 75", "threshold: 0.75"],
    ),
    (
        "a criterion without its text",
        "tests:\n  - vars: {x: hi}\n    assert: [{type: llm-rubric}]\n",
        &["`llm-rubric` needs `value`", "write what the answer has to do as `value`"],
    ),
    ("no tests", "", &["there are no tests, and the prompt needs the variable `x`", "c.yaml:1:11"]),
    (
        "a prompt without quotes",
        "defaultTest: {options: {prefix: {{x}}}}\ntests:\n  - vars: {x: hi}\n    assert: [{type: contains, value: hi}]\n",
        &["a template without quotes", "\"{{x}}\""],
    ),
];

fn run(files: &[(&str, &str)]) -> CliOutput {
    let cli = cli();
    for (path, text) in files {
        cli.file(path, text);
    }
    cli.run(&["eval", files[0].0]).expect_code(2)
}

fn count(output: &CliOutput, start: &str) -> usize {
    output.stderr.lines().filter(|line| line.starts_with(start)).count()
}

#[test]
fn each_mistake_ends_in_one_message_with_place_and_fix() {
    for (name, text, says) in MISTAKES {
        let text = format!("prompts: ['{{{{x}}}}']\nproviders: [echo]\n{text}");
        let output = run(&[("c.yaml", &text)]);
        for part in *says {
            assert!(output.stderr.contains(part), "{name}: {part:?} in\n{}", output.stderr);
        }
        assert_eq!(count(&output, "error["), 1, "{name}:\n{}", output.stderr);
        assert_eq!(count(&output, "warning["), 0, "{name}:\n{}", output.stderr);
    }
}

#[test]
fn all_problems_of_a_file_are_told_at_once() {
    let text = "\
prompts: ['Say {{x}}']
providers: [echo]
tests:
  - vars: {x: hi}
    assert:
      - {type: contians, value: a, weigth: 2}
      - {type: contains, value: a, metrc: b}
      - {type: latency, threshold: many, weigth: 2}
  - vars: {x: file://missing.txt}
    assert:
      - {type: icontians, value: a, theshold: 1}
      - {type: contains}
      - {type: search-rubric, value: a}
  - vars: {x: hi}
    asserts:
      - {type: contians, value: a}
";
    let output = run(&[("c.yaml", text)]);
    let expected = [
        "c.yaml:6:16", "c.yaml:6:36", "c.yaml:7:36", "c.yaml:8:36", "c.yaml:8:42", "c.yaml:9:15",
        "c.yaml:11:16", "c.yaml:11:37", "c.yaml:12:10", "c.yaml:13:16", "c.yaml:15:5", "c.yaml:16:16",
    ];
    let found: Vec<&str> =
        output.stderr.lines().filter_map(|line| line.trim().strip_prefix("--> ")).collect();
    assert_eq!(found, expected, "{}", output.stderr);
}

#[test]
fn an_empty_cell_is_named_with_file_row_and_column() {
    let config = "prompts: ['{{question}}']\nproviders: [echo]\ntests: file://t.csv\n";
    let table = "question,__expected\nhi,contains:h\n,contains:x\n\"  \",contains:y\n";
    let output = run(&[("c.yaml", config), ("t.csv", table)]);
    for part in [
        "t.csv:3:1",
        "t.csv:4:1",
        "as its variable `question` is",
        "the column `question` is empty in this row",
        "fill the cell, or delete the row",
    ] {
        assert!(output.stderr.contains(part), "{part} in\n{}", output.stderr);
    }
    assert_eq!(count(&output, "error["), 2, "{}", output.stderr);
}

/// White space alone is a valid part of a prompt, and a variable may be empty next to others.
#[test]
fn an_empty_variable_beside_text_is_fine() {
    let cli = cli();
    cli.file(
        "c.yaml",
        "prompts: ['Say {{x}}']\nproviders: [echo]\ntests:\n  - {vars: {x: ''}, assert: [{type: contains, value: Say}]}\n",
    );
    cli.run(&["eval", "c.yaml"]).expect_code(0);
}

#[test]
fn tests_in_a_table_with_semicolons_are_read() {
    let cli = cli();
    cli.file("c.yaml", "prompts: ['{{x}}']\nproviders: [echo]\ntests: file://t.csv\n");
    cli.file("t.csv", "x;__expected\nhi, you;contains:hi\n");
    cli.run(&["eval", "c.yaml"]).expect_code(0);
}

#[test]
fn prompts_that_are_not_there_are_told() {
    for (prompts, file, says) in [
        ("[]", "", "`prompts` is empty"),
        ("[file://p.txt]", "\n", "there is no prompt in this file"),
        ("[file://p.csv]", "prompt\n\"\"\n", "write a prompt in each row, in the column `prompt`"),
    ] {
        let text = format!("prompts: {prompts}\nproviders: [echo]\ntests: [{{vars: {{x: a}}}}]\n");
        let output = run(&[("c.yaml", &text), ("p.txt", file), ("p.csv", file)]);
        assert!(output.stderr.contains(says), "{says} in\n{}", output.stderr);
    }
}

#[test]
fn a_provider_that_lacks_its_other_half_or_its_file_is_told_so() {
    for (provider, says) in [
        ("gpt-4o", "write the provider before the model: `openai:gpt-4o`"),
        ("claude-sonnet-4-6", "`anthropic:claude-sonnet-4-6`"),
        ("openai", "name one of its models: `openai:MODEL`"),
        ("'file://anser.py:ask'", "there is no file `anser.py`"),
    ] {
        let text =
            format!("prompts: [hi]\nproviders: [{provider}]\ntests: [{{assert: [{{type: is-json}}]}}]\n");
        let output = run(&[("promptfooconfig.yaml", &text)]);
        assert!(output.stderr.contains(says), "{says} in\n{}", output.stderr);
    }
}

/// Problems of graders and targets are found when a run is planned.
#[test]
fn mistakes_in_schemas_and_providers_are_told_in_the_words_of_the_file() {
    let test = |schema: &str| {
        format!(
            "providers: [echo]\ntests:\n  - vars: {{x: hi}}\n    assert: [{{type: is-json, value: {schema}}}]\n"
        )
    };
    for (text, says) in [
        (test("{type: objekt}"), "`objekt` is not a type"),
        (test("{required: d}"), "`required` must be a list"),
        (test("{properties: {a: {format: dat}}}"), "unknown format 'dat'"),
        ("tests:\n  - vars: {x: hi}\n".to_owned(), "add `providers: [NAME]`"),
    ] {
        let output = run(&[("c.yaml", &format!("prompts: ['{{{{x}}}}']\n{text}"))]);
        assert!(output.stderr.contains(says), "{says:?} in\n{}", output.stderr);
    }
}

#[test]
fn assertions_among_the_variables_are_a_warning() {
    let text = "prompts: ['{{x}}']\nproviders: [echo]\n\
                tests:\n  - vars:\n      x: hi\n      assert: [{type: contains, value: hi}]\n";
    let cli = cli();
    cli.file("c.yaml", text);
    let output = cli.run(&["eval", "c.yaml"]).expect_code(0);
    assert!(output.stderr.contains("`assert` is a variable here"), "{}", output.stderr);
    assert!(output.stderr.contains("c.yaml:6:7"), "{}", output.stderr);
}

#[test]
fn a_function_that_a_script_does_not_have_is_named() {
    let text = "prompts: ['{{x}}']\nproviders: [echo]\n\
                tests: [{vars: {x: hi}, assert: [{type: javascript, value: 'file://chk.js:nofn'}]}]\n";
    let output = run(&[("c.yaml", text), ("chk.js", "exports.other = (output) => output === 'hi';\n")]);
    assert!(output.stderr.contains("this file has no function `nofn`"), "{}", output.stderr);
}
