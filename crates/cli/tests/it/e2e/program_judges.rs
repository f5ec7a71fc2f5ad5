//! Programs that judge: functions of promptfoo's files, and commands.

use std::sync::{Arc, Mutex};

use assize_testkit::mock::{MockReply, MockRequest};
use serde_json::json;

use crate::e2e::bench::{cli, judgements, object, rows, with_server};

/// Has the answer a "please"? It replies as promptfoo's judges do.
const JUDGE: &str = "import json\n\
    def call_api(prompt, options, context):\n    \
        text = json.loads(prompt)[1]['content']\n    \
        answer = text.split('[[BEGIN answer')[1].split('[[END answer')[0]\n    \
        polite = 'please' in answer.lower()\n    \
        return {'output': json.dumps({'pass': polite, 'score': 0.9 if polite else 0.1, 'reason': options['config']['why']}), 'cost': 0.25}\n";
const FILE: &str = "prompts: ['{{ q }}']\n\
    providers: [echo]\n\
    defaultTest: {options: {provider: {id: 'file://judge.py', config: {why: looked}}}}\n\
    tests:\n\
    - {description: a, vars: {q: Please wait}, assert: [{type: llm-rubric, value: Is polite}]}\n\
    - {description: b, vars: {q: Wait}, assert: [{type: llm-rubric, value: Is polite}]}\n";

#[test]
fn a_function_judges_with_consent() {
    let mut cli = cli();
    cli.without_consent();
    cli.file("judge.py", JUDGE);
    cli.file("p.yaml", FILE);

    let refused = cli.run(&["eval", "p.yaml", "--run-dir", "none"]).expect_code(2).stderr;
    assert!(refused.contains("only with `--allow-code`") && refused.contains("judge.py"), "{refused}");
    assert!(!cli.path("none").exists());
    let listed = cli.run(&["validate", "p.yaml"]).expect_code(0);
    assert!((listed.stdout + &listed.stderr).contains("judge.py"), "validate names the program");

    cli.run(&["eval", "p.yaml", "--allow-code", "--run-dir", "run"]).expect_code(1);
    let found: Vec<(String, f64)> = rows(&cli, "run")
        .iter()
        .map(|row| {
            let verdict = row["verdict"].as_str().expect("a verdict").to_owned();
            (verdict, row["cost_usd"].as_f64().expect("a known cost"))
        })
        .collect();
    assert_eq!(found, [("pass".to_owned(), 0.25), ("fail".to_owned(), 0.25)]);
    let decided = &judgements(&cli, "run")[0];
    assert_eq!(
        (&decided["reason"], &decided["judge"]["name"]),
        (&json!("looked"), &json!("file://judge.py"))
    );
}

#[test]
fn a_program_that_does_not_judge_leaves_the_criterion_ungraded() {
    let cli = cli();
    cli.file("p.yaml", FILE);
    for (judge, told) in [
        ("def call_api(prompt, options, context):\n    return 'yes, it is'\n", "JSON"),
        ("def call_api(prompt, options, context):\n    raise SystemExit('no licence')\n", "no licence"),
    ] {
        cli.file("judge.py", judge);
        let run = object(&cli.run(&["eval", "p.yaml", "--allow-code", "--json"]).expect_code(3));
        assert_eq!(run["counts"]["incomplete"], 2, "{run}");
        let explained = cli.run(&["explain", "last", "a"]).expect_code(0).stdout;
        assert!(explained.contains("ungraded") && explained.contains(told), "{explained}");
    }
}

#[test]
fn a_command_of_a_targets_file_judges() {
    let cli = cli();
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- {name: strict, provider: cli, command: [sh, -c, 'echo \"{\\\"evidence\\\": [], \\\"reason\\\": \\\"r\\\", \\\"outcome\\\": \\\"unmet\\\"}\"']}\n- {name: repeats, provider: echo}\n",
    );
    cli.file("e.yaml", "tests:\n- {id: a, input: q, output: x, assertions: [Is good]}\n");
    let refused = cli.run(&["eval", "e.yaml", "--judge", "repeats"]).expect_code(2).stderr;
    assert!(refused.contains("`repeats` can't judge: it is neither a model nor a command"), "{refused}");
    cli.run(&["eval", "e.yaml", "--judge", "strict", "--allow-code", "--run-dir", "run"]).expect_code(1);
    assert_eq!(judgements(&cli, "run")[0]["judge"]["name"], "strict");
}

#[test]
fn a_prompt_beside_criteria_is_sent_with_the_material() {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&asked);
    let (cli, _server) = with_server(move |request: &MockRequest| {
        noted.lock().expect("not poisoned").push(request.last_user_text.clone());
        MockReply::Json(json!({ "evidence": [], "reason": "r", "outcome": "met" }))
    });
    let file = |prompt: &str| {
        format!(
            "tests:\n- id: a\n  input: the question\n  output: the answer\n  assertions:\n  - type: rubrics\n    prompt: {prompt}\n    criteria: [Is kind, Is short]\n"
        )
    };
    cli.file("e.yaml", file("'As an editor. All: {{ rubrics }}'"));
    cli.run(&["eval", "e.yaml", "--judge", "openai:m"]).expect_code(0);
    cli.file("e.yaml", file("'Look at {{ output }}'"));
    cli.run(&["eval", "e.yaml", "--judge", "openai:m"]).expect_code(0);
    let sent = asked.lock().expect("not poisoned").clone();
    assert_eq!(sent.len(), 4, "one call for each criterion, and other instructions are another question");
    for text in &sent[..2] {
        assert!(
            text.contains("[[BEGIN answer ") && text.contains("Instructions\n\nAs an editor. All: "),
            "{text}"
        );
        assert!(text.contains("- Is kind\n- Is short"), "{text}");
    }
    for text in &sent[2..] {
        assert!(!text.contains("[[BEGIN question ") && text.contains("[[BEGIN output "), "{text}");
    }

    let refused = cli.run(&["eval", "e.yaml", "--judge", "offline"]).expect_code(2).stderr;
    assert!(refused.contains("can't follow a prompt"), "{refused}");
    cli.file("e.yaml", file("'{{ metadata }}'"));
    let warned = cli.run(&["validate", "e.yaml"]).expect_code(0);
    assert!((warned.stdout + &warned.stderr).contains("`{{ metadata }}` stays as it is"), "named");
}
