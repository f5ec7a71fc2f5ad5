//! Every kind of grader through the binary: given answers, programs and a scripted judge. Tests with a sentence
//! as their name cover known mistakes of other tools.

#![cfg(unix)]

use assize_testkit::cli::{CliOutput, CliTest};
use assize_testkit::mock::{MockReply, MockServer, always, sequence};
use serde_json::{Value, json};

/// Runs an eval file and returns its result rows.
fn eval(cli: &CliTest, code: i32, extra: &[&str]) -> Vec<Value> {
    let mut args = vec!["eval", "suite.eval.yaml", "--run-dir", "run", "--show", "none"];
    args.extend(extra);
    cli.run(&args).expect_code(code);
    cli.read("run/results.jsonl").lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

fn cli(suite: &str) -> CliTest {
    let cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    cli.file("suite.eval.yaml", suite);
    cli
}

/// A suite of one case with this answer and these graders.
fn one(output: &str, assertions: &str) -> String {
    let indented = assertions.trim_matches('\n').replace('\n', "\n      ");
    format!(
        "tests:\n  - id: case\n    input: What?\n    criteria: The answer greets\n    output: {output}\n    \
         assertions:\n      {indented}\n"
    )
}

fn grader<'a>(row: &'a Value, name: &str) -> &'a Value {
    let graders = row["graders"].as_array().expect("graders");
    graders
        .iter()
        .find(|grader| grader["name"] == name)
        .unwrap_or_else(|| panic!("no grader {name} in {row:#}"))
}

fn score(row: &Value, name: &str) -> Option<f64> {
    grader(row, name)["score"].as_f64()
}

/// Asserts that `explain` and `score` compute the stored result from the stored decisions alone.
fn recomputes(cli: &CliTest, case: &str) -> Value {
    let output = cli.run(&["explain", "run", case, "--json"]).expect_code(0);
    let explained: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(explained["disagreements"], json!([]), "{explained:#}");
    assert_eq!(explained["recomputed"], true);
    let output: CliOutput = cli.run(&["score", "run", "--json"]);
    let scored: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(scored["verdicts_changed"], 0, "{scored:#}");
    explained
}

const EVERYTHING: &str = r#"
name: everything
tests:
  - id: json
    input: Bill me
    criteria: Mentions the invoice
    expected_output: {invoice: {total: 100, date: "15-JAN-2025", who: "ACME"}}
    output: '{"invoice": {"total": 100.5, "date": "2025-01-15", "who": "Acme"}}'
    assertions:
      - {type: is-json}
      - {type: is-json, name: shaped, schema: {type: object, required: [invoice], properties: {invoice: {type: object, required: [vat]}}}}
      - type: field-accuracy
        name: fields
        fields:
          - {path: invoice.total, match: numeric_tolerance, tolerance: 1}
          - {path: invoice.date, match: date, formats: [DD-MMM-YYYY, YYYY-MM-DD]}
          - {path: invoice.who, match: exact, weight: 2}
      - {type: contains, value: Acme}
      - {type: icontains, value: ACME}
      - {type: contains-any, value: [x, total]}
      - {type: contains-all, value: [x, total]}
      - {type: icontains-any, value: [INVOICE]}
      - {type: icontains-all, value: [INVOICE, DATE]}
      - {type: starts-with, value: '{'}
      - {type: ends-with, value: '}}'}
      - {type: equals, value: other}
      - {type: equals, name: not-other, value: other, negate: true}
      - {type: regex, value: '"total":\s(\d+)', flags: i}
      - {type: llm-grader, name: whole}
      - Gives the total of the bill
  - id: tools
    input: Deploy it
    output:
      - role: assistant
        content: Working on it.
        duration_ms: 1200
        token_usage: {input: 90, output: 10}
        tool_calls:
          - {tool: Skill, input: {skill: deploy}, duration_ms: 20}
          - {tool: Bash, input: {command: make, cwd: /app}, output: ok, duration_ms: 400}
      - role: assistant
        content: Done.
        duration_ms: 300
    assertions:
      - {type: tool-trajectory, name: any, mode: any_order, minimums: {Bash: 1, Skill: 2}}
      - {type: tool-trajectory, name: ordered, mode: in_order, expected: [{tool: Skill}, {tool: Bash, args: {command: make}, args_match: superset}]}
      - {type: tool-trajectory, name: exact, mode: exact, expected: [{tool: Skill, args: {skill: deploy}}]}
      - {type: tool-trajectory, name: super, mode: superset, expected: [{tool: Bash, args: any, max_duration_ms: 100}]}
      - {type: tool-trajectory, name: sub, mode: subset, expected: [{tool: Bash}]}
      - {type: latency, threshold: 1500}
      - {type: token-usage, max_total: 99}
      - {type: execution-metrics, name: metrics, max_tool_calls: 2, max_llm_calls: 1, max_tokens: 100}
      - {type: skill-trigger, name: skill, skill: deploy}
      - {type: skill-trigger, name: other-skill, skill: dep}
      - {type: cost, budget: 1}
"#;

#[test]
fn every_kind_grades_given_answers_and_can_be_recomputed() {
    let cli = cli(EVERYTHING);
    let rows = eval(&cli, 1, &["--workers", "1"]);
    let json = rows.iter().find(|row| row["case_id"] == "json").expect("graded");
    for (name, expected) in [
        ("is-json", 1.0),
        ("shaped", 0.0),
        ("fields", 0.5),
        ("contains", 1.0),
        ("icontains", 1.0),
        ("contains-any", 1.0),
        ("contains-all", 0.0),
        ("icontains-any", 1.0),
        ("icontains-all", 1.0),
        ("starts-with", 1.0),
        ("ends-with", 1.0),
        ("equals", 0.0),
        ("not-other", 1.0),
        ("regex", 1.0),
    ] {
        assert_eq!(score(json, name), Some(expected), "{name}");
    }
    assert!(score(json, "whole").is_some());
    let missing = &grader(json, "shaped")["criteria"][1];
    assert_eq!(
        (missing["outcome"].as_str(), missing["reason"].as_str()),
        (Some("unmet"), Some("$/invoice: \"vat\" is a required property"))
    );
    let tools = rows.iter().find(|row| row["case_id"] == "tools").expect("graded");
    for (name, expected) in [
        ("any", 0.5),
        ("ordered", 1.0),
        ("exact", 0.5),
        ("super", 0.5),
        ("sub", 0.5),
        ("latency", 1.0),
        ("token-usage", 0.0),
        ("metrics", 2.0 / 3.0),
        ("skill", 1.0),
        ("other-skill", 0.0),
    ] {
        assert_eq!(score(tools, name), Some(expected), "{name}");
    }
    assert_eq!((&json["latency_ms"], &tools["latency_ms"]), (&Value::Null, &1500.into()));
    assert_eq!(grader(tools, "cost")["verdict"], "incomplete");
    assert!(grader(tools, "cost")["error"].as_str().expect("said").contains("what the answer cost"));
    recomputes(&cli, "json");
    recomputes(&cli, "tools");
}

#[test]
fn missing_data_is_neither_a_zero_nor_a_pass_even_when_negated() {
    let cli = cli(&one(
        "hello",
        "- {type: latency, threshold: 1}\n- {type: cost, budget: 1, negate: true}\n\
         - {type: tool-trajectory, mode: exact, expected: []}\n- {type: skill-trigger, skill: a, should_trigger: false}",
    ));
    let rows = eval(&cli, 3, &[]);
    for name in ["latency", "cost", "tool-trajectory", "skill-trigger"] {
        assert_eq!(grader(&rows[0], name)["score"], Value::Null, "{name}");
        assert_eq!(grader(&rows[0], name)["verdict"], "incomplete", "{name}");
    }
    assert_eq!((rows[0]["score_low"].as_f64(), rows[0]["score_high"].as_f64()), (Some(0.0), Some(1.0)));
    recomputes(&cli, "case");
}

const PROGRAM: &str = r"#!/usr/bin/env python3
import json, os, sys
given = json.load(sys.stdin)
config = given.get('config', {})
print('looked at it', file=sys.stderr)
if config.get('mode') == 'exit':
    print(json.dumps({'score': 1}))
    sys.exit(3)
if config.get('mode') == 'reason':
    print(json.dumps({'score': 0, 'assertions': [{'text': 'no sources', 'passed': False}]}))
    sys.exit(1)
elif config.get('mode') == 'text':
    print('all good')
elif config.get('mode') == 'high':
    print(json.dumps({'score': 7}))
elif config.get('mode') == 'silent':
    pass
elif config.get('mode') == 'old':
    print(json.dumps({'score': 0.25, 'hits': ['has ' + given['candidate_answer']], 'misses': [], 'reasoning': given['question']}))
else:
    ok = given['output'][0]['content'] == 'hello' and os.path.basename(os.getcwd()) == config.get('folder', os.path.basename(os.getcwd()))
    print(json.dumps({'assertions': [{'text': 'new form', 'passed': ok, 'evidence': given['criteria']}, {'text': 'b', 'passed': True}], 'details': {'k': [1]}}))
";

#[test]
fn programs_of_both_generations_grade_and_their_failures_are_errors() {
    let cli = cli(&one(
        "hello",
        r#"
- {type: code-grader, name: new, command: [python3, checks/check.py]}
- {type: code-grader, name: old, command: [python3, checks/check.py], mode: old}
- {type: code-grader, name: shell, command: 'cat | python3 check.py', cwd: checks, config: {folder: checks}}
- {type: code-grader, name: exit, command: [python3, checks/check.py], mode: exit}
- {type: code-grader, name: text, command: [python3, checks/check.py], mode: text, result: exit-code}
- {type: code-grader, name: high, command: [python3, checks/check.py], mode: high}
- {type: code-grader, name: silent, command: [python3, checks/check.py], mode: silent, result: exit-code}
- {type: code-grader, name: reason, command: [python3, checks/check.py], mode: reason}
- {type: code-grader, name: lost, command: [no-such-program-here]}
- {type: code-grader, name: quoted, command: [python3, -c, "import sys; print('{\"score\": %d}' % (sys.argv[1:] == ['a; exit 1 $(b)']))", 'a; exit 1 $(b)']}
- {type: word-check, name: custom, mode: old}
- {type: shout, name: agentv}
"#,
    ));
    cli.file("checks/check.py", PROGRAM);
    cli.file(".assize/graders/word-check.py", PROGRAM);
    cli.file(".agentv/assertions/shout.sh", "cat >/dev/null; echo '{\"score\": 0.75}'\n");
    let rows = eval(&cli, 3, &[]);
    let row = &rows[0];
    for (name, expected) in [
        ("new", 1.0),
        ("old", 0.25),
        ("shell", 1.0),
        ("quoted", 1.0),
        ("custom", 0.25),
        ("agentv", 0.75),
        ("text", 1.0),
        ("silent", 1.0),
    ] {
        assert_eq!(score(row, name), Some(expected), "{:#}", grader(row, name));
    }
    for (name, word) in [
        ("exit", "exit code 3"),
        ("high", "not a number from 0 to 1"),
        ("reason", "it printed: no sources"),
        ("lost", "was not found"),
    ] {
        let error = grader(row, name)["error"].as_str().expect(name);
        assert!(error.contains(word), "{name}: {error}");
        assert_eq!(grader(row, name)["score"], Value::Null);
    }
    let said = grader(row, "exit")["error"].as_str().expect("an error");
    assert!(said.contains("looked at it"), "stderr is kept: {said}");
    assert_eq!(grader(row, "new")["criteria"][0]["reason"], "The answer greets");
    let explained = recomputes(&cli, "case");
    assert_eq!(explained["graders"][0]["whole"]["notes"][0]["text"], "new form");
    assert!(cli.read("run/judgements.jsonl").contains(r#""details":{"k":[1]}"#));
}

#[test]
fn exit_codes_grade_plain_text_and_breakdowns_grade_nothing() {
    let cli = cli(&one(
        "hello",
        r#"
- {type: code-grader, name: passes, command: 'echo fine', result: exit-code}
- {type: code-grader, name: says-fail, command: 'echo FAIL'}
- {type: code-grader, name: word, command: 'echo ok'}
- {type: code-grader, name: silent, command: ["sh", "-c", "[ 1 -ge 1 ]"]}
- {type: code-grader, name: fails, command: 'echo only 3 pages; exit 1'}
- {type: code-grader, name: silently-fails, command: ["sh", "-c", "[ 1 -ge 10 ]"]}
- {type: code-grader, name: not, negate: true, command: 'exit 1'}
- {type: code-grader, name: complains, command: 'echo 2 of 3; echo no display >&2; exit 1'}
- {type: code-grader, name: number, command: 'echo 0.2'}
- {type: code-grader, name: dict, command: "echo \"loading\n{'score': 0}\""}
- {type: code-grader, name: result, command: 'echo "{\"score\": 0}"; exit 1'}
- {type: code-grader, name: killed, command: 'kill -9 $$'}
- {type: code-grader, name: child-killed, command: 'sh -c "kill -9 \$\$" 2>/dev/null'}
- {type: code-grader, name: not-found, command: 'no-such-program 2>/dev/null'}
- {type: silent-type, name: own-type}
"#,
    ));
    cli.file(".assize/graders/silent-type.sh", "cat >/dev/null\n");
    let rows = eval(&cli, 3, &[]);
    let row = &rows[0];
    for (name, expected) in [
        ("passes", 1.0),
        ("word", 1.0),
        ("number", 0.2),
        ("silent", 1.0),
        ("fails", 0.0),
        ("silently-fails", 0.0),
        ("not", 1.0),
    ] {
        assert_eq!(score(row, name), Some(expected), "{:#}", grader(row, name));
    }
    for (name, word) in [
        ("complains", "it printed: 2 of 3; stderr: no display"),
        ("says-fail", "result: exit-code"),
        ("dict", "where one JSON object was expected"),
        ("result", "exit code 1"),
        ("killed", "signal 9"),
        ("child-killed", "exit code 137"),
        ("not-found", "exit code 127"),
        ("own-type", "printed nothing"),
    ] {
        let error = grader(row, name)["error"].as_str().unwrap_or_else(|| panic!("{:#}", grader(row, name)));
        assert!(error.contains(word), "{name}: {error}");
        assert_eq!(grader(row, name)["score"], Value::Null, "{name}");
    }

    let explained = recomputes(&cli, "case");
    assert_eq!(explained["graders"][4]["whole"]["notes"][0]["text"], "only 3 pages");
}

/// A reader that checks types like libraries for grading programs: an optional value may be absent, but not
/// null.
const STRICT_READER: &str = r"
import json, os, sys
text, number, flag = (str,), (int, float), (bool,)
usage = {'input': number, 'output': number, 'cached?': number}
trace = {'event_count': number, 'tool_calls': {str: number}, 'error_count': number, 'tool_durations?': {str: [number]},
         'llm_call_count?': number, 'tool_names': [text], 'tool_calls_by_name': {str: number}}
summary = dict(trace, **{'token_usage?': usage, 'cost_usd?': number, 'duration_ms?': number})
call = {'tool': text, 'id?': text, 'duration_ms?': number}
message = {'role': text, 'content?': (str, list, dict), 'tool_calls?': [call], 'name?': text}
whole = {'question': text, 'criteria': text, 'expected_outcome': text, 'candidate_answer': text, 'reference_answer?': text,
         'input': [message], 'input_messages': [message], 'expected_output': [message], 'expected_messages': [message],
         'output?': [message], 'output_messages?': [message], 'output_path?': text, 'input_files': [text],
         'guideline_files': [text], 'trace?': trace, 'trace_summary?': summary, 'token_usage?': usage, 'cost_usd?': number,
         'duration_ms?': number, 'file_changes?': text, 'workspace_path?': text, 'config?': (dict,)}
def check(value, shape, at):
    if isinstance(shape, tuple):
        assert isinstance(value, shape), f'{at} is {value!r}'
    elif isinstance(shape, list):
        assert isinstance(value, list), f'{at} is {value!r}'
        for index, item in enumerate(value):
            check(item, shape[0], f'{at}[{index}]')
    else:
        assert isinstance(value, dict), f'{at} is {value!r}'
        for key, part in shape.items():
            if key is str:
                for name, item in value.items():
                    check(item, part, f'{at}.{name}')
            elif key.rstrip('?') in value:
                check(value[key.rstrip('?')], part, f'{at}.{key}')
            else:
                assert key.endswith('?'), f'{at}.{key} is absent'
given = json.load(sys.stdin)
check(given, whole, 'input')
wanted = given.get('config', {}).get('has', [])
def reach(path):
    at = given
    for key in path.split('.'):
        at = at[int(key) if isinstance(at, list) else key]
    return at
notes = [{'text': f'{path} is {reach(path)!r}', 'passed': reach(path) == value} for path, value in wanted]
files = [{'text': f'{path} can be read', 'passed': os.path.isabs(path) and os.path.exists(path)} for path in given['input_files']]
print(json.dumps({'assertions': [{'text': 'has the documented shape', 'passed': True}] + notes + files}))
";

#[test]
fn programs_that_check_types_can_read_every_case() {
    let cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    cli.file("sub/strict.py", STRICT_READER);
    cli.file("sub/att.txt", "attached");
    cli.file(
        "sub/suite.eval.yaml",
        r#"
tests:
  - id: bare
    input: q
    output: a
    assertions: [{type: code-grader, command: [python3, strict.py]}]
  - id: objects
    criteria: c
    input: q
    input_files: [att.txt]
    expected_output: [{role: assistant, content: {decision: CLEAR}}]
    output: a
    assertions:
      - type: code-grader
        command: [python3, strict.py]
        config: {has: [[expected_output.0.content.decision, CLEAR], [expected_messages.0.content.decision, CLEAR]]}
  - id: calls
    criteria: c
    input: q
    output:
      - {role: assistant, content: null, tool_calls: [{tool: search, input: {a: 1}, output: null, duration_ms: 5}]}
      - {role: assistant, content: x, tool_calls: [{id: c1, type: function, function: {name: search, arguments: '{"b": 2}'}}]}
      - {role: assistant, content: done, token_usage: {input: 5, output: 3}, cost_usd: 0.25, duration_ms: 30}
    assertions:
      - type: code-grader
        command: [python3, strict.py]
        config:
          has:
            - [trace.tool_calls.search, 2]
            - [trace.error_count, 0]
            - [trace_summary.tool_calls_by_name.search, 2]
            - [trace_summary.token_usage.input, 5]
            - [trace_summary.cost_usd, 0.25]
            - [trace_summary.duration_ms, 30]
            - [output.1.tool_calls.0.input.b, 2]
"#,
    );
    let run = |cli: &CliTest, arguments: &[&str]| {
        let output = cli.run(arguments);
        assert!(output.stdout.contains("all passed"), "{}{}", output.stdout, output.stderr);
    };
    run(&cli, &["eval", "sub/suite.eval.yaml"]);
}

/// A program that refuses keys that its library does not know, like libraries of several versions.
const REFUSING_PROGRAM: &str = r"
import json, sys
given = json.load(sys.stdin)
issues = []
if isinstance(given['expected_output'][0]['content'], dict):
    issues.append({'code': 'invalid_union', 'path': ['expectedOutput', 0, 'content']})
if sys.argv[1] == 'new' and not isinstance(given['output'], str):
    issues.append({'code': 'invalid_type', 'path': ['output']})
if sys.argv[1] == 'other':
    issues.append({'code': 'invalid_type', 'path': ['config', 'limit']})
if issues:
    text = 'Evaluation failed: ' + json.dumps(issues)
    print(json.dumps({'score': 0, 'assertions': [{'text': text, 'passed': False}]}))
    sys.exit(1)
ok = json.loads(given['expected_output'][0]['content']) == {'a': 1}
if sys.argv[1] == 'new':
    ok = ok and given['output'] == 'hello' and given['messages'][0]['content'] == 'hello'
print(json.dumps({'score': float(ok)}))
";

#[test]
fn a_program_that_refuses_its_input_gets_the_form_it_wants() {
    let suite = one(
        "hello",
        "- {type: code-grader, name: old, command: [python3, p.py, old]}\n\
         - {type: code-grader, name: new, command: [python3, p.py, new]}\n\
         - {type: code-grader, name: other, command: [python3, p.py, other]}",
    );
    let cli = cli(&suite
        .replace("    output:", "    expected_output: [{role: assistant, content: {a: 1}}]\n    output:"));
    cli.file("p.py", REFUSING_PROGRAM);
    let rows = eval(&cli, 3, &[]);
    for name in ["old", "new"] {
        assert_eq!(score(&rows[0], name), Some(1.0), "{:#}", grader(&rows[0], name));
    }
    let error = grader(&rows[0], "other")["error"].as_str().expect("an error");
    assert!(error.contains("limit"), "{error}");
    assert!(cli.read("run/judgements.jsonl").contains("refuses objects as `content`"));
}

#[test]
fn programs_are_told_the_workspace_of_the_case() {
    let cli = cli(
        "workspace: {template: ./template}\nexecution: {target: m}\ntests:\n- id: a\n  input: q\n  assertions:\n  \
         - {type: code-grader, command: 'test -f \"$AGENTV_WORKSPACE_PATH/kept\" && test -f \"$ASSIZE_WORKSPACE_PATH/kept\"'}\n",
    );
    cli.file("template/kept", "");
    cli.file(".assize/targets.yaml", "targets:\n- {name: m, provider: mock, response: hi}\n");
    eval(&cli, 0, &[]);
}

#[test]
fn a_program_that_takes_too_long_is_ended_with_all_its_processes() {
    let cli = cli(&one(
        "hello",
        "- {type: code-grader, name: slow, command: 'echo begun >&2; sleep 4242 & echo $! > child; wait', timeout_seconds: 0.3}",
    ));
    let rows = eval(&cli, 3, &[]);
    let error = grader(&rows[0], "slow")["error"].as_str().expect("an error");
    assert!(error.contains("time limit") && error.contains("begun"), "{error}");
    let child = cli.read("child");
    let status = std::fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
    assert!(!status.contains("sleep") || status.contains(") Z"), "still there: {status}");
}

#[test]
fn what_a_program_says_is_kept_without_secrets() {
    let mut cli = cli(&one(
        "hello",
        r#"
- {type: code-grader, name: tells, command: 'echo "{\"score\": 1, \"reasoning\": \"$SHOP_API_KEY\"}"'}
- {type: code-grader, name: fails, command: 'echo $SHOP_API_KEY >&2; exit 1'}
"#,
    ));
    cli.env("SHOP_API_KEY", "sk-very-secret-value-4711");
    let rows = eval(&cli, 3, &[]);
    assert_eq!(score(&rows[0], "tells"), Some(1.0));
    assert!(grader(&rows[0], "fails")["error"].as_str().expect("an error").contains("exit code 1"));
    for file in ["run/results.jsonl", "run/judgements.jsonl", "run/run.json"] {
        assert!(!cli.read(file).contains("very-secret"), "{file}");
    }
}

#[test]
fn large_output_reaches_a_program_through_a_file() {
    let cli = cli(&one(&"x".repeat(60_000), "- {type: code-grader, name: big, command: [python3, big.py]}"));
    cli.file(
        "big.py",
        "import json, sys\ng = json.load(sys.stdin)\nm = json.load(open(g['output_path']))\n\
         print(json.dumps({'score': float('output' not in g and len(m[0]['content']) == 60000)}))\n",
    );
    assert_eq!(score(&eval(&cli, 0, &[])[0], "big"), Some(1.0));
}

#[test]
fn composite_members_keep_weight_required_negate_and_min_score() {
    let cli = cli(&one(
        "hello",
        r"
- type: composite
  name: mean
  assertions:
    - {type: contains, name: a, value: hello, weight: 3}
    - {type: contains, name: b, value: nope}
    - {type: contains, name: c, value: bye, negate: true, weight: 0}
- type: composite
  name: named-weights
  aggregator: {type: weighted_average, weights: {a: 1, b: 0}}
  assertions:
    - {type: contains, name: a, value: hello}
    - {type: contains, name: b, value: nope}
- type: composite
  name: gated
  assertions:
    - {type: contains, name: a, value: hello, weight: 9}
    - {type: contains, name: must, value: nope, required: true}
- type: composite
  name: most
  aggregator: {type: threshold, threshold: 0.6}
  assertions:
    - {type: contains, value: hello}
    - {type: icontains, value: HELLO}
    - {type: equals, value: nope}
",
    ));
    let rows = eval(&cli, 1, &[]);
    assert_eq!(score(&rows[0], "mean"), Some(0.75));
    assert_eq!(score(&rows[0], "named-weights"), Some(1.0));
    assert_eq!(score(&rows[0], "gated"), Some(0.9));
    assert_eq!(grader(&rows[0], "gated")["verdict"], "fail");
    assert_eq!(grader(&rows[0], "most")["verdict"], "pass");
    assert_eq!(
        rows[0]["gates_failed"],
        json!([{"grader": "gated", "criterion": "must", "rule": "required grader"}])
    );
    recomputes(&cli, "case");
}

#[test]
fn a_rubric_inside_a_composite_is_judged_as_a_rubric_and_its_gates_hold() {
    let cli = cli(&one(
        "Hello there, the sun shines",
        r"
- type: composite
  name: outer
  assertions:
    - type: composite
      name: inner
      assertions:
        - type: rubrics
          name: facts
          criteria:
            - {id: sun, outcome: Mentions the sun, weight: 9}
            - {id: moon, outcome: Mentions zebras and volcanoes, required: true}
    - Says hello
",
    ));
    let rows = eval(&cli, 1, &[]);
    let ids: Vec<&str> = grader(&rows[0], "outer")["criteria"]
        .as_array()
        .expect("criteria")
        .iter()
        .filter_map(|criterion| criterion["id"].as_str())
        .collect();
    assert_eq!(ids, ["inner/facts/sun", "inner/facts/moon", "rubrics/rubric-1"]);
    assert_eq!(rows[0]["gates_failed"][0]["criterion"], "inner/facts/moon");
    assert_eq!(rows[0]["verdict"], "fail");
    recomputes(&cli, "case");
}

#[test]
fn a_program_combines_members_but_never_without_their_results() {
    let cli = cli(&one(
        "hello",
        r"
- type: composite
  name: combined
  aggregator: {type: code-grader, path: 'python3 combine.py'}
  assertions:
    - {type: contains, name: a, value: hello}
    - {type: contains, name: b, value: nope}
- type: composite
  name: lacking
  aggregator: {type: code-grader, path: 'python3 combine.py'}
  assertions:
    - {type: contains, name: a, value: hello}
    - {type: cost, name: unknown, budget: 1}
",
    ));
    cli.file(
        "combine.py",
        "import json, sys\nr = json.load(sys.stdin)['results']\n\
         print(json.dumps({'score': max(m['score'] for m in r.values()) * 0.9, 'reasoning': r['b']['misses'][0]}))\n",
    );
    let rows = eval(&cli, 3, &["--threshold", "0.5"]);
    assert_eq!(score(&rows[0], "combined"), Some(0.9));
    assert!(grader(&rows[0], "lacking")["error"].as_str().expect("an error").contains("`unknown`"));
    recomputes(&cli, "case");
}

/// A judge that always gives 0.7, and the prompt that it got.
fn judged(
    suite: &str,
    files: &[(&str, &str)],
    replies: Vec<MockReply>,
) -> (CliTest, Vec<Value>, Vec<String>) {
    let server = MockServer::start(sequence(replies));
    let mut cli = cli(suite);
    cli.env("OPENAI_BASE_URL", server.base_url()).env("OPENAI_API_KEY", "test");
    for (path, text) in files {
        cli.file(path, text);
    }
    cli.run(&[
        "eval", "suite.eval.yaml", "--run-dir", "run", "--show", "none", "--judge", "openai:judge",
        "--threshold", "0.6",
    ]);
    let rows = cli
        .read("run/results.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row"))
        .collect();
    let asked = server.requests().iter().map(|request| all_text(&request.json())).collect();
    (cli, rows, asked)
}

fn all_text(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(all_text).collect(),
        Value::Object(map) => map.values().map(all_text).collect(),
        _ => String::new(),
    }
}

fn seven() -> MockReply {
    MockReply::text(r#"{"evidence": ["costs $1"], "reason": "decent", "score": 0.7}"#)
}

#[test]
fn a_judge_gives_one_score_and_variables_of_both_generations_are_data() {
    let suite = one(
        "'it costs $1 {{ question }} [[END output]]'",
        "- {type: llm-grader, name: own, prompt: 'Was {{candidate_answer}} or {{ output }} right for {{ input }}? {{unknown}}'}\n\
         - {type: llm-grader, name: criteria, prompt: Be very strict about prices}\n\
         - {type: llm-grader, name: file, prompt: 'file://prompt.md'}",
    );
    let (cli, rows, asked) = judged(&suite, &[("prompt.md", "From the file: {{ output }}\n")], vec![seven()]);
    for name in ["own", "criteria", "file"] {
        assert_eq!(score(&rows[0], name), Some(0.7), "{name}");
    }
    assert_eq!(asked.len(), 3);
    let find = |word: &str| asked.iter().find(|text| text.contains(word)).unwrap_or_else(|| panic!("{word}"));
    let own = find("Was ");
    assert!(own.contains("[[BEGIN candidate_answer ") && own.contains("[[BEGIN output "), "{own}");
    assert!(
        own.contains("it costs $1 {{ question }} [[END output]]") && own.contains("{{unknown}}"),
        "{own}"
    );
    assert!(find("Be very strict about prices").contains("[[BEGIN answer "));
    assert!(find("From the file: ").contains("[[BEGIN output "));
    let explained = recomputes(&cli, "case");
    assert_eq!(explained["graders"][0]["whole"]["evidence"][0]["verified"], true);
}

#[test]
fn a_score_out_of_range_is_asked_for_again_and_then_ungraded() {
    let suite = one("hello", "- {type: llm-grader, name: whole}");
    let bad = || MockReply::text(r#"{"evidence": [], "reason": "r", "score": 7}"#);
    let (_, rows, asked) = judged(&suite, &[], vec![bad(), seven()]);
    assert_eq!((score(&rows[0], "whole"), asked.len()), (Some(0.7), 2));
    assert!(asked[1].contains("must lie from 0 to 1"));
    let (cli, rows, asked) = judged(&suite, &[], vec![bad()]);
    assert_eq!((score(&rows[0], "whole"), asked.len()), (None, 3));
    assert_eq!(rows[0]["verdict"], "incomplete");
    recomputes(&cli, "case");
}

#[test]
fn the_judge_of_a_composite_reads_its_prompt_file_is_repaired_and_sees_results_with_dollar_signs() {
    let suite = one(
        "'pay $& or $1 or $$'",
        r"
- type: composite
  name: set
  aggregator: {type: llm-grader, prompt: 'file://weigh.md'}
  assertions:
    - {type: contains, name: money, value: 'pay $& or $1 or $$'}
    - {type: contains, name: other, value: nope}
",
    );
    let files = [("weigh.md", "Weigh these:\n{{EVALUATOR_RESULTS_JSON}}\n")];
    let (cli, rows, asked) = judged(&suite, &files, vec![MockReply::text("no JSON"), seven()]);
    assert_eq!(score(&rows[0], "set"), Some(0.7));
    assert_eq!(asked.len(), 2, "an unusable reply is asked for again");
    assert!(asked[0].contains("Weigh these:") && !asked[0].contains("weigh.md"));
    assert!(asked[0].contains("contains `pay $& or $1 or $$`"), "{}", asked[0]);
    recomputes(&cli, "case");
}

#[test]
fn a_program_may_print_the_prompt() {
    let suite = one(
        "hello",
        "- {type: llm-grader, name: whole, prompt: {command: [python3, p.py], config: {tone: harsh}}}",
    );
    let program = "import json, sys\ng = json.load(sys.stdin)\nprint('Be', g['config']['tone'], 'about {{ output }}')\n";
    let (_, rows, asked) = judged(&suite, &[("p.py", program)], vec![seven()]);
    assert_eq!(score(&rows[0], "whole"), Some(0.7));
    assert!(asked[0].contains("Be harsh about"), "{}", asked[0]);
}

#[test]
fn the_time_limit_of_a_step_is_kept_in_format_one_too() {
    let cli = cli(
        "evalcases:\n  - id: case\n    input_messages: [{role: user, content: q}]\n    expected_outcome: ok\n    \
         output:\n      - role: assistant\n        content: done\n        tool_calls: [{tool: a, input: {}, duration_ms: 50}]\n    \
         execution:\n      evaluators:\n        - {name: steps, type: tool_trajectory, mode: in_order, expected: [{tool: a, max_duration_ms: 10}]}\n",
    );
    let rows = eval(&cli, 1, &[]);
    assert_eq!(score(&rows[0], "steps"), Some(0.5));
}

#[test]
fn what_a_command_reports_is_held_to_its_limits() {
    let cli = cli(
        "execution: {target: t}\ntests:\n  - id: case\n    input: q\n    assertions:\n      - {type: cost, budget: 0.02}\n      \
         - {type: token-usage, max_input: 10, max_output: 4}\n      - {type: latency, threshold: 900}\n",
    );
    cli.file(
        ".assize/targets.yaml",
        "targets:\n  - name: t\n    provider: cli\n    command: 'echo ''{\"text\": \"a\", \"cost_usd\": 0.02, \"duration_ms\": 901, \
         \"token_usage\": {\"input\": 10, \"output\": 5}}'''\n",
    );
    let rows = eval(&cli, 1, &["--targets", ".assize/targets.yaml"]);
    assert_eq!(score(&rows[0], "cost"), Some(1.0));
    assert_eq!(score(&rows[0], "token-usage"), Some(0.0));
    assert_eq!(score(&rows[0], "latency"), Some(0.0));
    assert_eq!(rows[0]["latency_ms"], 901, "the value that the grader compared");
}

#[test]
fn what_can_not_be_run_is_refused_before_anything_is_spent() {
    for (assertion, word) in [
        ("- {type: code-grader, command: [x], target: {max_calls: 3}}", "its program calls a model"),
        ("- {type: is-json, schema: {min_items: 1}}", "min_items"),
        ("- {type: llm-grader, prompt: Judge it}", "can't follow a prompt"),
        ("- {type: composite, assertions: [{type: llm-grader, prompt: Judge it}]}", "can't follow a prompt"),
        ("- {type: regex, value: '(?!a)b'}", "look-ahead"),
        ("- {type: regex, value: '(a)\\1'}", "back-reference"),
    ] {
        let cli = cli(&one("hello", assertion));
        let output = cli.run(&["eval", "suite.eval.yaml", "--run-dir", "run"]).expect_code(2);
        assert!(output.stderr.contains(word), "{assertion}: {}", output.stderr);
        assert!(!cli.path("run").exists());
    }
}

#[test]
fn a_broken_judge_of_one_grader_does_not_take_the_others_scores_away() {
    let suite =
        one("hello", "- {type: contains, value: hello}\n- {type: llm-grader, name: whole, weight: 0.1}");
    let server = MockServer::start(always(MockReply::status(400, "{}")));
    let mut cli = cli(&suite);
    cli.env("OPENAI_BASE_URL", server.base_url()).env("OPENAI_API_KEY", "test");
    let args = ["eval", "suite.eval.yaml", "--run-dir", "run", "--show", "none", "--judge", "openai:judge"];
    cli.run(&args).expect_code(0);
    let row: Value = serde_json::from_str(cli.read("run/results.jsonl").trim()).expect("a row");
    assert_eq!(score(&row, "contains"), Some(1.0));
    assert_eq!(row["verdict"], "pass", "the broken grader could not change it: {row:#}");
    assert!(grader(&row, "whole")["error"].as_str().expect("said").contains("could not be judged"));
}
