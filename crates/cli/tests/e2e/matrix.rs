//! Files with prompts, providers and tests, run as they are.

use std::fmt::Write as _;

use serde_json::Value;

use crate::bench::{cli, object, rows};

/// Assertions, each with an answer that passes and one that fails.
const ASSERTIONS: &[(&str, &str, &str)] = &[
    ("{type: contains, value: ada}", "hi ada", "hi bo"),
    ("{type: not-contains, value: ada}", "hi bo", "hi ada"),
    ("{type: icontains, value: ADA}", "hi ada", "hi bo"),
    ("{type: contains-any, value: 'x, \"a, b\"'}", "say a, b", "say a b"),
    ("{type: contains-all, value: [a, b]}", "a b", "a"),
    ("{type: icontains-any, value: [X, A]}", "a", "b"),
    ("{type: icontains-all, value: [A, B]}", "ab", "a"),
    ("{type: not-contains-any, value: [a, b]}", "c", "b"),
    ("{type: starts-with, value: hi}", "hi ada", "ada hi"),
    ("{type: ends-with, value: ada}", "hi ada", "ada hi"),
    ("{type: equals, value: 42}", "42", "43"),
    ("{type: not-equals, value: a}", "b", "a"),
    ("{type: equals, value: {a: [1, 2]}}", "{\"a\": [1, 2]}", "{\"a\": [2, 1]}"),
    ("{type: regex, value: '^a+$'}", "aaa", "aab"),
    ("{type: is-json}", "[1]", "[1"),
    ("{type: is-json, value: {required: [a]}}", "{\"a\": 1}", "{\"b\": 1}"),
    ("{type: is-json, value: 'required: [a]'}", "{\"a\": 1}", "{\"b\": 1}"),
    ("{type: contains-json}", "so: {\"a\": [1]} there", "so: {a"),
    ("{type: is-xml}", "<a><b/></a>", "<a><b></a>"),
    ("{type: contains-xml}", "so <a>1</a>", "so a"),
    ("{type: is-html}", "<div>a</div>", "a"),
    ("{type: contains-html}", "so <b>a</b>", "so a"),
    ("{type: is-refusal}", "I can't help with that", "Sure"),
    ("{type: not-is-refusal}", "Sure", "I cannot assist with that"),
    ("{type: word-count, value: {min: 2, max: 3}}", "a b c", "a b c d"),
    ("{type: levenshtein, value: kitten, threshold: 3}", "sitting", "a dog"),
    ("{type: rouge-n, value: the quick fox}", "the quick brown fox", "a dog"),
    ("{type: javascript, value: 'output.length > 3'}", "long", "no"),
    ("{type: javascript, value: \"const n = output.length;\\nreturn n > 3;\"}", "long", "no"),
    ("{type: javascript, value: output.length / 10, threshold: 0.3}", "long", "no"),
    ("{type: javascript, value: \"({pass: output === 'a', score: 0.5, reason: ''})\"}", "a", "b"),
    ("{type: javascript, value: 'JSON.parse(output).a === 1'}", "{\"a\": 1}", "no json"),
    ("{type: not-javascript, value: 'output.length > 3'}", "no", "long"),
    ("{type: contains, value: A, transform: output.toUpperCase()}", "a", "b"),
    (
        "{type: is-valid-openai-tools-call}",
        "[{\"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}]",
        "no",
    ),
    ("{type: is-valid-function-call}", "{\"name\": \"f\", \"arguments\": {}}", "{\"name\": 1}"),
    ("{type: latency, threshold: 100000}", "any", ""),
    ("{type: assert-set, assert: [{type: contains, value: a}, {type: contains, value: b}]}", "ab", "a"),
    (
        "{type: assert-set, threshold: 0.5, assert: [{type: contains, value: a}, {type: contains, value: b}]}",
        "a",
        "c",
    ),
];

#[test]
fn every_assertion_passes_and_fails_where_it_should() {
    let mut text = "prompts: ['{{ answer }}']\nproviders: [echo]\ntests:\n".to_owned();
    for (index, (assertion, good, bad)) in ASSERTIONS.iter().enumerate() {
        for (word, answer) in [("good", good), ("bad", bad)] {
            if answer.is_empty() {
                continue;
            }
            let answer = Value::from(*answer);
            writeln!(
                text,
                "- description: {index:02} {word}\n  vars: {{answer: {answer}}}\n  assert: [{assertion}]"
            )
            .expect("a string takes everything");
        }
    }

    let cli = cli();
    cli.file("promptfooconfig.yaml", &text);
    cli.run(&["eval", "promptfooconfig.yaml", "--run-dir", "run"]).expect_code(1);
    for row in rows(&cli, "run") {
        let id = row["case_id"].as_str().expect("an id");
        let expected = if id.ends_with("good") { "pass" } else { "fail" };
        let number: usize = id[..2].parse().expect("a number");
        assert_eq!(row["verdict"], expected, "{id}: {} {:#}", ASSERTIONS[number].0, row["graders"]);
    }
}

#[test]
fn a_run_is_resumed_and_its_answers_may_be_changed_before_they_are_graded() {
    let cli = cli();
    cli.file(
        "any.yaml",
        "prompts: ['{{ a }}', 'again {{ a }}']\nproviders: [{id: echo, label: first, transform: 'output + \"!\"'}, {id: echo, label: second}]\n\
         tests:\n- {description: one, vars: {a: [x, y]}, options: {transform: output.toUpperCase()}, assert: [{type: ends-with, value: '!'}]}\n",
    );
    let value = object(&cli.run(&["eval", "any.yaml", "--json", "--run-dir", "run"]).expect_code(1));
    assert_eq!(
        (value["counts"]["pass"].as_u64(), value["counts"]["fail"].as_u64()),
        (Some(4), Some(4)),
        "{value:#}"
    );
    cli.run(&["eval", "any.yaml", "--resume", "run"]).expect_code(1);
    assert_eq!(rows(&cli, "run").len(), 8);
}

#[test]
fn what_can_not_be_run_is_an_error_only_where_it_is_used() {
    let cli = cli();
    cli.file(
        "p.yaml",
        "prompts: [p]\nproviders: ['replicate:a/b', 'exec: rm -rf x', echo]\ntests: [{assert: [{type: contains, value: p}]}]\n",
    );
    let refused = cli.run(&["eval", "p.yaml"]).expect_code(2);
    assert!(refused.stderr.contains("`replicate:a/b` can't be run here"), "{}", refused.stderr);
    assert!(refused.stderr.contains("is a command"), "{}", refused.stderr);
    cli.run(&["eval", "p.yaml", "--target", "echo"]).expect_code(0);
}
