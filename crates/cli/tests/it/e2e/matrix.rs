//! Files with prompts, providers and tests, run unchanged.

use std::fmt::Write as _;

use assize_testkit::mock::{MockReply, MockRequest};
use serde_json::{Value, json};

use crate::e2e::bench::{KEY, cli, object, rows, with_server};

/// Assertions, each with a passing and a failing answer.
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
    ("{type: not-equals, value: ''}", "b", ""),
    ("{type: equals, value: {a: [1, 2]}}", "{\"a\": [1, 2]}", "{\"a\": [2, 1]}"),
    ("{type: regex, value: '^a+$'}", "aaa", "aab"),
    ("{type: is-json}", "[1]", "[1"),
    ("{type: is-json, value: {required: [a]}}", "{\"a\": 1}", "{\"b\": 1}"),
    ("{type: is-json, value: 'required: [a]'}", "{\"a\": 1}", "{\"b\": 1}"),
    ("{type: contains-json}", "so: {\"a\": [1]} there", "so: {a"),
    ("{type: contains-json, value: {type: object, required: [b]}}", "so {\"b\": 1}", "so {\"a\": 1} there"),
    ("{type: contains-json, value: 'required: [b]'}", "so {\"a\": 1} or {\"b\": 1}", "so {\"a\": 1} there"),
    ("{type: not-contains-json, value: {required: [b]}}", "so {\"a\": 1} there", "so {\"b\": 1}"),
    ("{type: is-sql}", "SELECT a FROM t", "SELECT a FROM"),
    ("{type: not-is-sql}", "no SQL", "SELECT a FROM t"),
    (
        "{type: is-sql, value: {databaseType: PostgresQL, allowedTables: ['select::null::t'], allowedColumns: ['select::t::a']}}",
        "SELECT t.a FROM t",
        "SELECT b FROM t",
    ),
    ("{type: contains-sql}", "So:\n```sql\nSELECT 1\n```\n", "So: SELECT 1"),
    ("{type: is-xml}", "<a><b/></a>", "<a><b></a>"),
    ("{type: contains-xml}", "so <a>1</a>", "so a"),
    ("{type: is-xml, value: {requiredElements: [a.c]}}", "<a><c/></a>", "<a><b><c/></b></a>"),
    ("{type: is-xml, value: 'a.b, a.c'}", "<a><b>1</b><c>1</c></a>", "<a><b>1</b></a>"),
    ("{type: is-xml, value: [a.b.1.c, a.@_x]}", "<a x='1'><b/><b><c/></b></a>", "<a x='1'><b><c/></b></a>"),
    ("{type: not-is-xml, value: a.c}", "<a><b/></a>", "<a><c/></a>"),
    ("{type: contains-xml, value: a.c}", "so <b/> and <a><c>1</c></a>", "so <a><b>1</b></a>"),
    ("{type: contains-xml, value: 'a, b'}", "so <a>1</a> and <b>2</b>", "so <r><a/><b/></r>"),
    ("{type: contains-xml, value: a}", "so <p> and <a>1</a>", "so <p> and <a>1"),
    ("{type: not-contains-xml, value: {requiredElements: [a.c]}}", "so <a/>", "so <a><c/></a>"),
    ("{type: is-html}", "<div>a</div>", "a"),
    ("{type: contains-html}", "so <b>a</b>", "so a"),
    ("{type: is-refusal}", "I can't help with that", "Sure"),
    ("{type: not-is-refusal}", "Sure", "I cannot assist with that"),
    ("{type: not-is-refusal}", "I don't know", "Sorry, no"),
    ("{type: word-count, value: {min: 2, max: 3}}", "a b c", "a b c d"),
    ("{type: levenshtein, value: kitten, threshold: 3}", "sitting", "a dog"),
    ("{type: rouge-n, value: the quick fox}", "The QUICK brown fox", "a slow brown dog"),
    (
        "{type: rouge-n, value: 'I cannot go. We do', threshold: 1}",
        "i can not go. we do",
        "i can not go . we do",
    ),
    ("{type: not-contains, value: \"\\n\"}", "one line", "two\nlines"),
    ("{type: not-rouge-n, value: the quick fox}", "the quick fox and many words more", "the quick brown fox"),
    ("{type: javascript, value: 'output.length > 3'}", "long", "no"),
    ("{type: javascript, value: \"const n = output.length;\\nreturn n > 3;\"}", "long", "no"),
    ("{type: javascript, value: output.length / 10, threshold: 0.3}", "long", "no"),
    ("{type: javascript, value: \"({pass: output === 'a', score: 0.5, reason: ''})\"}", "a", "b"),
    (
        "{type: javascript, threshold: 0.5, value: '({pass: true, score: output.length / 10})'}",
        "long text",
        "no",
    ),
    ("{type: javascript, value: 'JSON.parse(output).a === 1'}", "{\"a\": 1}", "no json"),
    ("{type: not-javascript, value: 'output.length > 3'}", "no", "long"),
    ("{type: contains, value: A, transform: output.toUpperCase()}", "a", "b"),
    (
        "{type: is-valid-openai-tools-call}",
        "[{\"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}]",
        "no",
    ),
    ("{type: is-valid-function-call}", "{\"name\": \"f\", \"arguments\": {}}", "{\"name\": 1}"),
    (
        "{type: is-valid-openai-function-call}",
        "{\"name\": \"f\", \"arguments\": \"{}\"}",
        "{\"name\": \"Ann\"}",
    ),
    (
        "{type: tool-call-f1, value: f}",
        "[{\"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}]",
        "{\"tool_calls\": [{\"name\": \"g\"}]}",
    ),
    ("{type: latency, threshold: 100000}", "any", ""),
    ("{type: assert-set, assert: [{type: contains, value: a}, {type: contains, value: b}]}", "ab", "a"),
    (
        "{type: assert-set, threshold: 0.5, assert: [{type: contains, value: a}, {type: contains, value: b}]}",
        "a",
        "c",
    ),
    ("{type: not-assert-set, assert: [{type: contains, value: a}, {type: contains, value: b}]}", "a", "ab"),
    (
        "{type: not-assert-set, threshold: 0.3, assert: [{type: contains, value: a}, {type: contains, value: b}]}",
        "c",
        "a",
    ),
    ("{type: assert-set, assert: [{type: not-assert-set, assert: [{type: contains, value: a}]}]}", "b", "a"),
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

/// Given answers that are not texts, each with an assertion and its verdict.
const GIVEN_VALUES: &[(&str, &str, &str)] = &[
    ("{error: no}", "{type: javascript, value: '!output.error'}", "fail"),
    ("{a: 1}", "{type: javascript, value: output.a === 1}", "pass"),
    ("{a: 1}", "{type: contains, value: '\"a\":1'}", "pass"),
    ("{a: 1}", "{type: equals, value: {a: 1}}", "pass"),
    ("[1, 2]", "{type: javascript, value: 'output.length === 2'}", "pass"),
    ("[1, 2]", "{type: is-json, value: {type: object}}", "fail"),
    ("5", "{type: equals, value: 5}", "pass"),
];

#[test]
fn given_maps_and_lists_are_values_to_scripts_and_json_to_others() {
    let mut text = "prompts: [text]\nproviders: [echo]\ntests:\n".to_owned();
    for (index, (answer, assertion, _)) in GIVEN_VALUES.iter().enumerate() {
        writeln!(text, "- {{description: '{index:02}', providerOutput: {answer}, assert: [{assertion}]}}")
            .expect("a string takes everything");
    }
    let cli = cli();
    cli.file("promptfooconfig.yaml", &text);
    cli.run(&["eval", "promptfooconfig.yaml", "--run-dir", "run"]).expect_code(1);
    for row in rows(&cli, "run") {
        let number: usize = row["case_id"].as_str().expect("an id")[..2].parse().expect("a number");
        let (answer, assertion, verdict) = GIVEN_VALUES[number];
        assert_eq!(row["verdict"], verdict, "{answer} {assertion}: {:#}", row["graders"]);
    }
}

/// Scripts without a decision on the answer `text`, with part of the reason.
const UNDECIDED: &[(&str, &str)] = &[
    (
        "{type: javascript, value: \"({pass: 'false', score: 1})\"}",
        "must be true or false; it is \\\"false\\\"",
    ),
    ("{type: javascript, value: '({passed: false, score: 0.1})'}", "rename `passed` to `pass`"),
    ("{type: python, value: \"{'passed': False, 'score': 0.9}\"}", "rename `passed` to `pass`"),
    ("{type: not-javascript, value: JSON.parse(output).bad}", "does not make a negated assertion pass"),
    ("{type: not-python, value: 1/0}", "ZeroDivisionError"),
    (
        "{type: not-assert-set, assert: [{type: javascript, value: JSON.parse(output).bad}]}",
        "negated assertion",
    ),
    ("{type: javascript, value: 'process.env.HOME !== undefined'}", "process is not defined"),
    ("{type: not-javascript, value: process.env.HOME}", "process is not defined"),
    ("{type: not-javascript, value: 'file://throws.js'}", "the file of the script threw an error"),
    ("{type: javascript, value: \"import('fs').then(() => true)\"}", "could not load module"),
];

#[test]
fn scripts_that_decide_nothing_leave_their_case_incomplete() {
    let mut text = "prompts: [text]\nproviders: [echo]\ntests:\n".to_owned();
    for (index, (assertion, _)) in UNDECIDED.iter().enumerate() {
        writeln!(text, "- {{description: '{index:02}', assert: [{assertion}]}}")
            .expect("a string takes everything");
    }
    let cli = cli();
    cli.file("throws.js", "throw new Error('no');\nmodule.exports = () => true;\n");
    cli.file("promptfooconfig.yaml", &text);
    cli.run(&["eval", "promptfooconfig.yaml", "--run-dir", "run", "--allow-code"]).expect_code(3);
    for row in rows(&cli, "run") {
        let number: usize = row["case_id"].as_str().expect("an id")[..2].parse().expect("a number");
        let (assertion, reason) = UNDECIDED[number];
        let graders = row["graders"].to_string();
        assert_eq!(row["verdict"], "incomplete", "{assertion}: {graders}");
        assert!(graders.contains(reason), "{assertion}: {graders}");
    }
}

/// Values that would be ignored in whole or in part.
const UNUSABLE: &[&str] = &[
    "{type: is-xml, value: 5}",
    "{type: contains-xml, value: {requiredElement: [a]}}",
    "{type: not-is-xml, value: /a/b}",
    "{type: contains-json, value: 5}",
    "{type: not-rouge-n}",
    "{type: not-rouge-n, value: [a]}",
    "{type: not-levenshtein, value: {a: 1}}",
    "{type: not-finish-reason, value: [stop]}",
    "{type: 'trajectory:step-count', value: {maximum: 3}}",
    "{type: 'trajectory:step-count', value: {max: 3, type: command}}",
    "{type: 'trajectory:step-count', value: [3]}",
    "{type: 'trajectory:tool-args-match', value: {name: f}}",
    "{type: 'trajectory:tool-args-match', value: {name: f, args: {}, mode: superset}}",
    "{type: 'trajectory:tool-sequence', value: {steps: []}}",
    "{type: 'trajectory:tool-sequence', value: {steps: [f], mode: exactly}}",
    "{type: 'trajectory:tool-used', value: []}",
    "{type: 'trajectory:tool-used', value: {name: f, minimum: 3}}",
    "{type: 'not-trajectory:tool-used', value: {names: [f]}}",
    "{type: not-tool-call-f1, value: []}",
    "{type: skill-used, value: {name: s, max: 0}}",
];

#[test]
fn values_that_would_be_ignored_are_errors() {
    for assertion in UNUSABLE {
        let cli = cli();
        cli.file(
            "promptfooconfig.yaml",
            format!("prompts: [text]\nproviders: [echo]\ntests: [{{assert: [{assertion}]}}]\n"),
        );
        let refused = cli.run(&["validate", "promptfooconfig.yaml"]).expect_code(2);
        assert!(
            refused.stderr.contains("value") || refused.stdout.contains("value"),
            "{assertion}: {refused:?}"
        );
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
    let mut cli = cli();
    cli.without_consent();
    cli.file(
        "p.yaml",
        "prompts: [p]\nproviders: ['replicate:a/b', 'exec: rm -rf x', echo]\ntests: [{assert: [{type: contains, value: p}]}]\n",
    );
    let refused = cli.run(&["eval", "p.yaml"]).expect_code(2);
    assert!(refused.stderr.contains("`replicate:a/b` can't be run here"), "{}", refused.stderr);
    assert!(refused.stderr.contains("target `exec: rm -rf x` (a command)"), "{}", refused.stderr);
    cli.run(&["eval", "p.yaml", "--target", "echo"]).expect_code(0);
}

/// A vector that counts the letters `a` and `b` in a text.
fn letters(incoming: &MockRequest) -> MockReply {
    let count = |letter| incoming.last_user_text.matches(letter).count();
    MockReply::text(json!([count('a'), count('b')]).to_string())
}

#[test]
fn meaning_is_compared_by_embeddings_that_are_asked_for_once() {
    let (cli, server) = with_server(letters);
    cli.file(
        "p.yaml",
        "prompts: ['{{ word }}']\nproviders: [echo]\n\
         defaultTest: {options: {provider: {embedding: 'openai:embedding:tiny'}}}\ntests:\n\
         - {description: near, vars: {word: aab}, assert: [{type: similar, value: aabaab}, {type: not-similar, value: [b, bb]}]}\n\
         - {description: far, vars: {word: aab}, assert: [{type: similar, value: [b, bb]}, {type: similar:euclidean, value: aab, threshold: 0}]}\n",
    );
    cli.run(&["eval", "p.yaml", "--run-dir", "run"]).expect_code(1);
    let found = rows(&cli, "run");
    let verdicts: Vec<&Value> = found.iter().map(|row| &row["verdict"]).collect();
    assert_eq!(verdicts, ["fail", "pass"], "{found:#?}");
    let graders = found[0]["graders"].as_array().expect("graders");
    assert_eq!(
        (graders[0]["verdict"].as_str(), graders[1]["verdict"].as_str()),
        (Some("fail"), Some("pass"))
    );

    // Each text once, however often it is needed.
    let asked = server.requests().len();
    assert_eq!(asked, 4);
    cli.run(&["eval", "p.yaml", "--run-dir", "again"]).expect_code(1);
    assert_eq!(server.requests().len(), asked);
}

#[test]
fn embeddings_come_from_any_of_their_providers() {
    let (mut cli, server) = with_server(letters);
    let keys = [
        "AZURE_OPENAI_API_KEY", "GEMINI_API_KEY", "VERTEX_ACCESS_TOKEN", "AWS_BEARER_TOKEN_BEDROCK",
        "MISTRAL_API_KEY", "COHERE_API_KEY", "VOYAGE_API_KEY", "HF_TOKEN",
    ];
    for key in keys {
        cli.env(key, KEY);
    }
    let addresses = [
        ("AZURE_OPENAI_ENDPOINT", "azure"),
        ("GEMINI_BASE_URL", "gemini"),
        ("VERTEX_BASE_URL", "vertex/v1"),
        ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "bedrock"),
        ("MISTRAL_BASE_URL", "mistral"),
        ("COHERE_BASE_URL", "cohere"),
        ("VOYAGE_BASE_URL", "voyage"),
        ("HUGGINGFACE_INFERENCE_URL", "huggingface"),
    ];
    let root = server.base_url().trim_end_matches("/v1").to_owned();
    for (variable, folder) in addresses {
        cli.env(variable, format!("{root}/{folder}"));
    }

    let ids = [
        "azure:embedding:mine", "google:embedding:m", "vertex:embedding:m",
        "bedrock:embeddings:amazon.titan", "mistral:embedding:m", "cohere:embedding:m", "voyage:m",
        "huggingface:feature-extraction:a/m",
    ];
    let mut text = "prompts: ['aab']\nproviders: [echo]\ntests:\n".to_owned();
    for id in ids {
        writeln!(
            text,
            "- {{assert: [{{type: similar, value: aabaab, provider: '{id}'}}, {{type: not-similar, value: bb, provider: '{id}'}}]}}"
        )
        .expect("a text");
    }
    cli.file("p.yaml", text);
    let passed = cli.run(&["eval", "p.yaml", "--run-dir", "run"]);
    assert_eq!(passed.code, Some(0), "{}\n{}", passed.stdout, passed.stderr);
    assert_eq!(rows(&cli, "run").len(), ids.len());

    let requests = server.requests();
    assert_eq!(requests.len(), 3 * ids.len());
    for end in [
        "/openai/deployments/mine/embeddings",
        "/gemini/v1beta/models/m:embedContent",
        "/models/m:predict",
        "/bedrock/model/amazon.titan/invoke",
        "/mistral/embeddings",
        "/cohere/embed",
        "/voyage/embeddings",
        "/huggingface/models/a/m/pipeline/feature-extraction",
    ] {
        let asked = requests.iter().filter(|request| request.path.ends_with(end)).count();
        assert_eq!(asked, 3, "{end}: {:?}", requests.iter().map(|request| &request.path).collect::<Vec<_>>());
    }
}

#[test]
fn a_comparison_without_vectors_is_ungraded() {
    let (cli, _server) = with_server(|_: &MockRequest| MockReply::text("no vector"));
    cli.file("p.yaml", "prompts: [p]\nproviders: [echo]\ntests: [{assert: [{type: similar, value: p}]}]\n");
    cli.run(&["eval", "p.yaml", "--run-dir", "run"]).expect_code(3);
    let found = rows(&cli, "run");
    assert_eq!(found[0]["verdict"], "incomplete", "{found:#?}");
}

#[test]
fn code_with_an_interpreter_runs_only_where_it_is_allowed() {
    let mut cli = cli();
    cli.without_consent();
    cli.file("checks.py", "def get_assert(output, context):\n    return {'pass': context['vars']['a'] in output, 'score': 0.5, 'reason': ''}\n");
    cli.file(
        "p.yaml",
        "prompts: ['{{ a }}!']\nproviders: [echo]\ntests:\n\
         - {description: good, vars: {a: tea}, assert: [{type: python, value: len(output) == 4}, {type: python, value: 'file://checks.py'}]}\n\
         - {description: bad, vars: {a: tea}, assert: [{type: python, value: 'int(output)'}]}\n\
         - {description: broken, vars: {a: tea}, assert: [{type: python, value: missing}]}\n",
    );
    let refused = cli.run(&["eval", "p.yaml", "--run-dir", "none"]).expect_code(2);
    assert!(refused.stderr.contains("only with `--allow-code`"), "{}", refused.stderr);
    assert!(!cli.path("none").exists());

    cli.run(&["eval", "p.yaml", "--allow-code", "--run-dir", "run"]).expect_code(1);
    let found = rows(&cli, "run");
    let verdicts: Vec<(&Value, &Value)> =
        found.iter().map(|row| (&row["case_id"], &row["verdict"])).collect();
    let expected = [("bad", "fail"), ("broken", "incomplete"), ("good", "pass")];
    let expected = expected.map(|(case, verdict)| (json!(case), json!(verdict)));
    assert_eq!(
        verdicts,
        expected.iter().map(|(case, verdict)| (case, verdict)).collect::<Vec<_>>(),
        "{found:#?}"
    );
}

#[test]
fn providers_that_are_code_answer_where_it_is_allowed() {
    let mut cli = cli();
    cli.without_consent();
    cli.file("answer.py", "def call_api(prompt, options, context):\n    print('noise')\n    return {'output': prompt + options['config']['mark']}\n");
    cli.file(
        "p.yaml",
        "prompts: ['say {{ a }}']\nproviders: [{id: 'file://answer.py', label: code, config: {mark: '!'}}]\n\
         tests: [{vars: {a: \"it's {x} $HOME\"}, assert: [{type: equals, value: \"say it's {x} $HOME!\"}]}]\n",
    );
    let refused = cli.run(&["eval", "p.yaml"]).expect_code(2);
    assert!(refused.stderr.contains("target `code` (a command): `python3 -c "), "{}", refused.stderr);
    cli.run(&["eval", "p.yaml", "--allow-code"]).expect_code(0);
}

/// A provider sees the variables of its test, gets prompts of any length and may answer with JSON. Its tokens
/// and cost are stored.
#[test]
fn providers_that_are_code_see_the_variables_and_say_what_they_used() {
    let long = "x".repeat(200_000);
    let providers = [
        (
            "answer.py",
            "def call_api(prompt, options, context):\n    assert prompt == context['vars']['long'], 'another prompt'\n    \
             return {'output': '{\"error\": \"' + context['vars']['word'] + '\"}', 'cost': 0.25, \
             'tokenUsage': {'total': 7, 'prompt': 4, 'completion': 3}}\n",
        ),
        (
            "answer.mjs",
            "export default class {\n  constructor(options) { this.id = () => options.id; }\n  \
             async callApi(prompt, context) {\n    if (prompt !== context.vars.long) throw new Error('another prompt');\n    \
             return { output: { error: context.vars.word }, cost: 0.25, tokenUsage: { prompt: 4, completion: 3 } };\n  }\n}\n",
        ),
    ];
    for (name, code) in providers {
        let cli = cli();
        cli.file(name, code);
        cli.file(
            "p.yaml",
            format!(
                "prompts: ['{{{{ long }}}}']\nproviders: ['file://{name}']\n\
                 tests: [{{vars: {{word: tea, long: {long}}}, assert: [{{type: is-json}}, {{type: contains, value: tea}}]}}]\n"
            ),
        );
        cli.run(&["eval", "p.yaml", "--allow-code", "--run-dir", "run"]).expect_code(0);

        let row = &rows(&cli, "run")[0];
        assert_eq!(
            (&row["tokens"]["input"], &row["tokens"]["output"]),
            (&json!(4), &json!(3)),
            "{name}: {row}"
        );
        assert_eq!(row["cost_usd"], json!(0.25), "{name}: {row}");
    }
}

/// Functions read settings in `config` and parse the messages of a chat. Their return value is available to
/// scripts.
#[test]
fn providers_that_are_code_get_messages_and_return_values() {
    let cli = cli();
    cli.file(
        "answer.py",
        "import json\ndef call_api(prompt, options, context):\n    messages = json.loads(prompt)\n    \
         return {'output': {'roles': [m['role'] for m in messages], 'mark': options.get('config', {}).get('mark', 'none')}}\n",
    );
    cli.file(
        "answer.mjs",
        "export default (prompt, options) => ({ output: { roles: JSON.parse(prompt).map((m) => m.role), \
         mark: options.config.mark ?? 'none' } });\n",
    );
    cli.file(
        "p.yaml",
        "prompts: ['[{\"role\": \"system\", \"content\": \"é\"}, {\"role\": \"user\", \"content\": \"hi\"}]']\n\
         providers:\n- 'file://answer.py'\n- 'file://answer.mjs'\n- {id: 'file://answer.py', label: changed, transform: 'output'}\n\
         tests:\n- assert:\n  - {type: javascript, value: 'output.roles[1] === \"user\" && output.mark === \"none\"'}\n  \
         - {type: python, value: 'output[\"mark\"] == \"none\"'}\n  - {type: equals, value: none, transform: output.mark}\n  - {type: is-json}\n",
    );
    cli.run(&["eval", "p.yaml", "--allow-code"]).expect_code(0);
}

/// `echo` and commands get the messages of a chat as promptfoo writes them.
#[test]
fn echo_and_commands_get_a_chat_as_json() {
    let cli = cli();
    cli.file("print.py", "import sys\nprint(sys.argv[1])\n");
    cli.file(
        "p.yaml",
        "prompts: ['[{\"role\": \"system\", \"content\": \"be brief\"}, {\"role\": \"user\", \"content\": \"hi\"}]', plain]\n\
         providers: [echo, 'exec: python3 print.py']\ntests:\n- assert:\n  \
         - {type: javascript, value: 'output === \"plain\" || JSON.parse(output)[1].content === \"hi\"'}\n",
    );
    cli.run(&["eval", "p.yaml", "--allow-code"]).expect_code(0);
}

#[test]
fn python_of_one_line_may_begin_with_return() {
    let cli = cli();
    cli.file(
        "p.yaml",
        "prompts: [plain]\nproviders: [echo]\ntests:\n- assert:\n  - {type: python, value: 'return len(output) == 5'}\n  \
         - type: python\n    value: |\n      return 0.5\n",
    );
    cli.run(&["eval", "p.yaml", "--allow-code"]).expect_code(0);
}

#[test]
fn commands_as_providers_get_prompt_settings_and_variables_without_a_shell() {
    let cli = cli();
    cli.file(
        "answer.py",
        "import json, sys\nflag, prompt, options, context = sys.argv[1:]\n\
         print(flag, prompt, json.loads(options)['config']['mark'], json.loads(context)['vars']['word'])\n",
    );
    cli.file(
        "p.yaml",
        "prompts: [say]\nproviders: [{id: 'exec:python3 answer.py \"$HOME; x\"', config: {mark: \"it's {PROMPT\"}}]\n\
         tests: [{vars: {word: 'tea {x}'}, assert: [{type: equals, value: \"$HOME; x say it's {PROMPT tea {x}\"}]}]\n",
    );
    cli.run(&["eval", "p.yaml", "--allow-code"]).expect_code(0);
}

#[test]
fn programs_of_agentvs_newest_format_get_the_answer_as_text() {
    let cli = cli();
    cli.file(
        "check.py",
        "import json, sys\ndata = json.load(sys.stdin)\n\
         good = data['output'] == 'tea' and data['messages'][-1]['content'] == 'tea'\n\
         print(json.dumps({'score': 1.0 if good else 0.0, 'reason': str(data['output'])}))\n",
    );
    let tests = "tests: [{id: a, vars: {x: tea}, assert: [{type: script, command: [python3, check.py]}]}]\n";
    cli.file(
        "suite.yaml",
        format!("name: n\nprompts: ['{{{{ x }}}}']\nproviders: [{{id: echo, label: e}}]\n{tests}"),
    );
    cli.run(&["eval", "suite.yaml"]).expect_code(0);

    // A library for an older format refuses it and then gets messages.
    cli.file(
        "check.py",
        "import json, sys\ndata = json.load(sys.stdin)\n\
         if isinstance(data['output'], str):\n    print('Evaluation failed: ' + json.dumps([{'path': ['output']}]), file=sys.stderr)\n    sys.exit(1)\n\
         print(json.dumps({'score': 1.0 if data['output'][0]['content'] == 'tea' else 0.0, 'reason': 'r'}))\n",
    );
    cli.run(&["eval", "suite.yaml", "--no-cache"]).expect_code(0);
}

#[test]
fn a_negated_assertion_says_itself_whether_it_holds() {
    let cli = cli();
    cli.file(
        "p.yaml",
        "prompts: ['{{ a }}']\nproviders: [echo]\ntests: [{vars: {a: tea}, assert: [{type: not-contains, value: coffee}, {type: not-contains, value: tea}]}]\n",
    );
    cli.run(&["eval", "p.yaml", "--run-dir", "run"]).expect_code(1);
    let found = rows(&cli, "run");
    let graders = found[0]["graders"].as_array().expect("graders");
    assert_eq!((&graders[0]["verdict"], &graders[1]["verdict"]), (&json!("pass"), &json!("fail")));
}

#[test]
fn prompts_and_tests_come_from_functions_of_javascript() {
    let cli = cli();
    cli.file("prompt.js", "module.exports = ({ vars }) => `The word is ${vars.word}`;\n");
    cli.file(
        "tests.mjs",
        "export default () => ['one', 'two'].map((word) => ({\n  vars: { word },\n  \
         assert: [{ type: 'equals', value: 'The word is one' }],\n}));\n",
    );
    cli.file(
        "promptfooconfig.yaml",
        "prompts: ['file://prompt.js']\nproviders: [echo]\ntests: file://tests.mjs\n",
    );
    cli.run(&["eval", "promptfooconfig.yaml", "--run-dir", "run"]).expect_code(1);
    let verdicts: Vec<Value> = rows(&cli, "run").iter().map(|row| row["verdict"].clone()).collect();
    assert_eq!(verdicts, [json!("pass"), json!("fail")]);

    cli.file(
        "tests.mjs",
        "export const list = () => [{ vars: { word: 'a' }, assert: [{ type: 'no-such' }] }];\n",
    );
    cli.file(
        "broken.yaml",
        "prompts: ['file://prompt.js']\nproviders: [echo]\ntests: file://tests.mjs:list\n",
    );
    let broken = cli.run(&["validate", "broken.yaml"]).expect_code(2);
    let shown = format!("{}{}", broken.stdout, broken.stderr);
    assert!(shown.contains("tests.mjs (what it returned):8:"), "{shown}");
}

/// A server that is not a model's: it fails once, and then repeats its input.
fn plain_server(incoming: &MockRequest) -> MockReply {
    match (incoming.index, incoming.path.as_str()) {
        (0, _) => MockReply::status(503, "{\"busy\": true}"),
        (_, "/plain/refuse") => MockReply::status(400, format!("no {:?}", incoming.header("authorization"))),
        _ => MockReply::Raw(
            json!({"said": incoming.body, "auth": incoming.header("authorization"), "path": incoming.path})
                .to_string(),
        ),
    }
}

#[test]
fn servers_answer_requests_that_templates_write() {
    let (mut cli, server) = with_server(plain_server);
    let base = server.base_url().trim_end_matches("/v1").to_owned();
    cli.env("SERVICE", &base);
    cli.env("SERVICE_TOKEN", "geheim-1234567");
    cli.file(
        "p.yaml",
        "prompts: ['Say {{ word }}']\nproviders:\n  - id: '{{BASE}}/plain/ask/{{ name }}?v=1'\n    label: address\n    config:\n      \
         headers: {Authorization: 'Bearer {{env.SERVICE_TOKEN}}'}\n      queryParams: {q: '{{ word }}'}\n      maxRetries: 2\n      \
         body: {text: '{{ prompt }}', list: '{{ items }}'}\n      \
         transformResponse: \"({output: json.said.text + json.said.list[1] + json.path + json.auth, tokenUsage: {prompt: 3, completion: 4}})\"\n\
         \x20 - id: http\n    label: text\n    config: {url: '{{env.SERVICE}}/plain/text', body: '{\"p\": \"{{ prompt }}\"}', \
         transformResponse: 'file://read.js:said'}\n\
         \x20 - {id: http, label: raw, config: {useHttps: false, request: \"PUT /plain/raw HTTP/1.1\\nHost: {{HOST}}\\n\\nq={{ word }}\"}}\n\
         \x20 - {id: http, label: refused, config: {url: '{{BASE}}/plain/refuse', headers: {Authorization: '{{env.SERVICE_TOKEN}}'}}}\n\
         \x20 - {id: http, label: elsewhere, config: {url: 'http://{{ name }}/x'}}\n\
         tests: [{vars: {word: \"a\\\"},\\\"x\\\":\\\"b\", name: 'x/../y', items: '[1, 22]'}, \
         assert: [{type: contains, value: 'Say a\"},\"x\":\"b'}]}]\n"
            .replace("{{BASE}}", &base)
            .replace("{{HOST}}", base.trim_start_matches("http://"))
            .as_str(),
    );
    cli.file(
        "read.js",
        "module.exports = { said: (json, text, context) => json.said.p + context.response.status };\n",
    );

    let run = |target: &str, code| {
        let folder = format!("run-{target}");
        cli.run(&["eval", "p.yaml", "--target", target, "--run-dir", &folder]).expect_code(code);
        rows(&cli, &folder)[0].clone()
    };
    let row = run("address", 0);
    assert_eq!(
        row["answer"],
        json!("Say a\"},\"x\":\"b22/plain/ask/x%2F..%2FyBearer [redacted]"),
        "the secret that the server sends back is hidden"
    );
    assert_eq!(row["tokens"], json!({"input": 3, "cached": null, "output": 4}));
    let requests = server.requests();
    assert_eq!(requests.len(), 2, "the first attempt was answered by 503");
    assert_eq!(
        requests[1].line, "POST /plain/ask/x%2F..%2Fy?v=1&q=a%22%7D%2C%22x%22%3A%22b",
        "values change neither the path nor the query"
    );
    assert_eq!(requests[1].header("authorization"), Some("Bearer geheim-1234567"));
    assert_eq!(requests[1].json(), json!({"text": "Say a\"},\"x\":\"b", "list": [1, 22]}));

    let row = run("text", 0);
    assert_eq!(row["answer"], json!("Say a\"},\"x\":\"b200"), "a value in a JSON text adds no keys to it");
    run("raw", 1);
    let last = server.requests().pop().expect("a request");
    assert_eq!(
        (last.line.as_str(), last.body.as_slice()),
        ("PUT /plain/raw", b"q=a\"},\"x\":\"b".as_slice())
    );

    let row = run("refused", 3);
    let message = row["error"]["message"].as_str().expect("a message");
    assert!(message.contains("HTTP 400") && !message.contains("geheim"), "{message}");
    let refused = cli.run(&["eval", "p.yaml", "--target", "elsewhere"]).expect_code(2);
    assert!(refused.stderr.contains("a variable is part of the host in `url`"), "{}", refused.stderr);
    let mut folders = vec![cli.dir().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let bytes = std::fs::read(entry.path()).expect("a file");
                assert!(!bytes.windows(6).any(|part| part == b"geheim"), "{}", entry.path().display());
            }
        }
    }
}

#[test]
fn models_tell_why_they_stopped() {
    let (cli, _server) = with_server(|_: &MockRequest| MockReply::text("done"));
    cli.file(
        "promptfooconfig.yaml",
        "prompts: [say it]\nproviders: ['openai:gpt-4o-mini', echo]\ntests:\n- assert:\n  - {type: finish-reason, value: STOP}\n  \
         - {type: not-finish-reason, value: length}\n",
    );
    cli.run(&["eval", "promptfooconfig.yaml", "--run-dir", "run"]).expect_code(3);
    let found = rows(&cli, "run");
    let verdicts: Vec<_> = found.iter().map(|row| (&row["target"], &row["verdict"])).collect();
    // `echo` has no model that could stop, so neither the assertion nor its opposite has a result.
    assert_eq!(
        verdicts,
        [(&json!("echo"), &json!("incomplete")), (&json!("openai:gpt-4o-mini"), &json!("pass"))]
    );
}
