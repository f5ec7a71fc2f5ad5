//! Conversations: every turn is sent with all earlier messages, graded by its own graders, and stored.

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::{Value, json};

use crate::runs::support::{fixture, is_judging, model, printed, rows};

/// Three turns, each with a criterion; the model repeats the last message.
const SUITE: &str = "name: talk
execution: {target: 'openai:chat-1'}
tests:
  - id: names
    mode: conversation
    criteria: stays polite
    input: [{role: system, content: Be brief.}]
    turns:
      - {input: I am Ada, assertions: [yes it greets]}
      - {input: And you, assertions: [yes it answers, {type: contains, value: And}]}
      - {input: Bye, assertions: [{type: equals, value: answer to Bye}]}
    assertions: [yes it all hangs together]
";

fn run(cli: &CliTest, more: &[&str]) -> Value {
    let mut args = vec!["eval", "suite.yaml", "--judge", "openai:judge-1", "--json", "-q"];
    args.extend(more);
    printed(&cli.run(&args))
}

/// The only row of a run.
fn row(cli: &CliTest, folder: &str) -> Value {
    rows(cli, &format!("{folder}/results.jsonl")).pop().expect("a row")
}

/// A row of `judgements.jsonl` by its path, such as `turn-1/rubrics`.
fn decided(cli: &CliTest, folder: &str, member: &str) -> Value {
    let way = |row: &Value| -> Vec<String> {
        let member = row["member"].as_array().cloned().unwrap_or_default();
        member.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
    };
    rows(cli, &format!("{folder}/judgements.jsonl"))
        .into_iter()
        .find(|row| way(row).join("/") == member)
        .unwrap_or_else(|| panic!("no row of {member}"))
}

#[test]
fn each_turn_is_asked_with_what_was_said_and_bought_once() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", SUITE);
    let plan = printed(&cli.run(&["eval", "--dry-run", "suite.yaml", "--judge", "openai:judge-1", "--json"]));
    // Three answers, three criteria.
    assert_eq!(plan["calls"], 6, "{plan:#}");
    let first = run(&cli, &["--run-dir", "a"]);
    assert_eq!((&first["counts"]["pass"], &first["exit_code"]), (&1.into(), &0.into()), "{first:#}");
    let messages: Vec<Value> = server
        .requests()
        .iter()
        .filter(|request| !is_judging(request))
        .map(|request| request.json()["messages"].clone())
        .collect();
    let said = |role: &str, content: &str| json!({"role": role, "content": content});
    assert_eq!(messages.len(), 3);
    assert_eq!(
        messages[2],
        json!([
            said("system", "Be brief."),
            said("user", "I am Ada"),
            said("assistant", "answer to I am Ada"),
            said("user", "And you"),
            said("assistant", "answer to And you"),
            said("user", "Bye"),
        ])
    );
    let result = row(&cli, "a");
    assert_eq!(result["score"], 1.0);
    assert_eq!(result["turns"][1]["answer"], "answer to And you");
    assert!(
        result["answer"].as_str().unwrap().starts_with("[user]\nI am Ada\n\n[assistant]\nanswer to I am Ada")
    );
    let of_turn = decided(&cli, "a", "turn-2/rubrics");
    assert_eq!((&of_turn["turn"], &of_turn["outcome"]), (&2.into(), &"met".into()));
    // A gate of a turn works like any other gate.
    assert!(!of_turn["criterion"]["gate"].is_null(), "{of_turn}");
    assert!(decided(&cli, "a", "whole/rubrics")["turn"].is_null());
    let of_turns: u64 = (0..3).filter_map(|at| result["turns"][at]["tokens"]["input"].as_u64()).sum();
    let of_judges: u64 =
        rows(&cli, "a/judgements.jsonl").iter().filter_map(|row| row["tokens"]["input"].as_u64()).sum();
    assert_eq!(result["tokens"]["input"], of_turns + of_judges);

    let bought = server.count();
    let second = run(&cli, &["--run-dir", "b"]);
    assert_eq!((server.count(), &second["judge_calls_cached"]), (bought, &3.into()));
    assert_eq!(row(&cli, "b")["turns"][2]["tokens"]["input"], 0);
    // A changed turn is sent and judged again, and so are the turns after it. Earlier turns come from the
    // cache.
    cli.file("suite.yaml", SUITE.replace("input: And you", "input: And who"));
    run(&cli, &["--run-dir", "b", "--resume"]);
    assert_eq!(server.count() - bought, 2 + 2, "two answers, the criterion of turn 2 and that of the whole");
}

#[test]
fn a_conversation_that_a_budget_cut_off_goes_on_without_buying_anything_twice() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", SUITE);
    for (calls, code) in [("1", 4), ("1", 4), ("2", 4), ("9", 0)] {
        let said = run(&cli, &["--run-dir", "a", "--resume", "--budget-calls", calls]);
        assert_eq!(said["exit_code"], code, "{said:#}");
        assert_eq!(rows(&cli, "a/results.jsonl").len(), usize::from(code == 0));
    }
    assert_eq!(server.count(), 6);
    assert_eq!(row(&cli, "a")["score"], 1.0);
}

#[test]
fn the_judge_of_a_turn_sees_the_turn_and_that_of_the_whole_sees_all() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", SUITE);
    run(&cli, &["--run-dir", "a"]);
    let judged: Vec<String> = server
        .requests()
        .iter()
        .filter(|request| is_judging(request))
        .map(|request| request.json()["messages"].to_string())
        .collect();
    let of = |criterion: &str| judged.iter().find(|text| text.contains(criterion)).expect(criterion);
    assert!(of("it greets").contains("answer to I am Ada") && !of("it greets").contains("And you"));
    assert!(
        of("it answers").contains("[user]\\\\nI am Ada") || of("it answers").contains("[user]\\nI am Ada")
    );
    assert!(
        of("hangs together").contains("answer to Bye") && of("hangs together").contains("answer to And you")
    );
}

/// A suite with one case; its target is a server that repeats the last words.
fn one(case: &str) -> String {
    format!(
        "name: talk\nexecution: {{target: 'openai:chat-1'}}\ntests:\n  - id: t\n    mode: conversation\n{case}"
    )
}

/// Answers with the last words; refuses those that begin with FAIL.
fn fragile(incoming: &MockRequest) -> MockReply {
    if incoming.body["response_format"].is_object() || !incoming.last_user_text.starts_with("FAIL") {
        model(incoming)
    } else {
        MockReply::status(400, r#"{"error": {"message": "no"}}"#)
    }
}

#[test]
fn a_window_keeps_the_last_turns_and_the_system_messages() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file(
        "suite.yaml",
        one("    window_size: 1
    input: [{role: system, content: S}, {role: user, content: before}]
    turns:
      - {input: one, assertions: [{type: contains, value: one}]}
      - {input: two}
      - {input: three}
"),
    );
    run(&cli, &["--run-dir", "a"]);
    let heard: Vec<String> = server
        .requests()
        .iter()
        .map(|request| {
            let messages = request.json()["messages"].clone();
            let texts: Vec<String> = messages
                .as_array()
                .unwrap()
                .iter()
                .map(|message| message["content"].as_str().unwrap().replace("answer to ", "re "))
                .collect();
            texts.join("|")
        })
        .collect();
    assert_eq!(heard, ["S|before|one", "S|before|one|re one|two", "S|two|re two|three"]);
}

#[test]
fn turns_that_nobody_grades_are_left_out_and_the_rest_is_taken_together() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    let turns = "    turns:
      - {input: one, assertions: [{type: contains, value: one}, {type: contains, value: x, weight: 3}]}
      - {input: two}
      - {input: three, assertions: [{type: contains, value: three}]}
";
    for (aggregation, score) in [("mean", 0.625), ("min", 0.25), ("max", 1.0)] {
        cli.file("suite.yaml", one(&format!("    aggregation: {aggregation}\n{turns}")));
        run(&cli, &["--run-dir", aggregation]);
        assert_eq!(row(&cli, aggregation)["score"], score, "{aggregation}");
        assert_eq!(printed(&cli.run(&["score", aggregation, "--json"]))["exit_code"], u8::from(score < 0.8));
    }
    // The conversation as a whole has its own value.
    cli.file("suite.yaml", one(&format!("{turns}    assertions: [{{type: contains, value: nowhere}}]\n")));
    run(&cli, &["--run-dir", "whole"]);
    let result = row(&cli, "whole");
    assert!((result["score"].as_f64().unwrap() - 1.25 / 3.0).abs() < 1e-9, "{result}");
}

#[test]
fn a_failed_turn_ends_the_conversation_when_it_is_told_to() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    let turns = "    turns:
      - {input: one, assertions: [{type: contains, value: one}]}
      - {input: two, assertions: [{type: contains, value: x}]}
      - {input: three, assertions: [{type: contains, value: three}]}
";
    cli.file("suite.yaml", one(turns));
    run(&cli, &["--run-dir", "on"]);
    assert_eq!((server.count(), row(&cli, "on")["score"].as_f64().unwrap()), (3, 2.0 / 3.0));
    cli.file("suite.yaml", one(&format!("    on_turn_failure: stop\n{turns}")));
    run(&cli, &["--run-dir", "stop", "--no-cache"]);
    let result = row(&cli, "stop");
    assert_eq!((server.count(), &result["score"], &result["verdict"]), (5, &0.5.into(), &"fail".into()));
    assert_eq!(result["gates_failed"][0]["criterion"], "turn-2");
    assert_eq!(result["turns"].as_array().unwrap().len(), 2);
    let left_out = decided(&cli, "stop", "turn-3");
    assert!(left_out["reason"].as_str().unwrap().contains("turn 2 failed"), "{left_out}");
    // However good the other turns are, a conversation that broke off has not passed.
    cli.file("suite.yaml", one(&format!("    on_turn_failure: stop\n    aggregation: max\n{turns}")));
    run(&cli, &["--run-dir", "max"]);
    assert_eq!((&row(&cli, "max")["score"], &row(&cli, "max")["verdict"]), (&1.0.into(), &"fail".into()));
}

#[test]
fn a_turn_without_an_answer_is_no_zero_and_is_said() {
    let server = MockServer::start(fragile);
    let cli = fixture(&server);
    let turns = "    turns:
      - {input: one, assertions: [{type: contains, value: one}]}
      - {input: FAIL, assertions: [{type: contains, value: x}]}
      - {input: three, assertions: [{type: contains, value: three}]}
";
    cli.file("suite.yaml", one(turns));
    let said = run(&cli, &["--run-dir", "on"]);
    let result = row(&cli, "on");
    assert_eq!(
        (&said["exit_code"], &result["verdict"], &result["score"]),
        (&3.into(), &"incomplete".into(), &Value::Null)
    );
    assert!((result["score_low"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-9, "{result}");
    assert_eq!((&result["score_high"], &result["error"]["kind"]), (&1.0.into(), &"bad_request".into()));
    assert!(result["error"]["message"].as_str().unwrap().starts_with("turn 2: "), "{result}");
    assert_eq!(
        (&result["turns"][1]["answer"], &result["turns"][2]["answer"]),
        (&Value::Null, &"answer to three".into())
    );
    let explained = cli.run(&["explain", "on", "t"]).expect_code(0).stdout;
    assert!(explained.contains("turn 2    no answer: "), "{explained}");
    assert!(!explained.contains("DOES NOT FOLLOW"), "{explained}");

    cli.file("suite.yaml", one(&format!("    on_turn_failure: stop\n{turns}")));
    run(&cli, &["--run-dir", "stop"]);
    let result = row(&cli, "stop");
    assert_eq!((&result["verdict"], result["turns"].as_array().unwrap().len()), (&"incomplete".into(), 2));
    assert!((result["score_low"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-9, "{result}");
}

#[test]
fn structured_assertions_of_turns_are_those_of_cases() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file(
        "suite.yaml",
        one("    turns:
      - input: one
        assertions:
          - type: rubrics
            name: facts
            criteria: [{id: a, outcome: Mentions an answer, weight: 3}, {id: b, outcome: Mentions a refund}]
          - {type: contains_any, value: [one, two]}
          - type: composite
            name: set
            aggregator: {type: weighted_average}
            assertions: [Mentions a coupon, {type: regex, value: ^answer, negate: true}]
      - input: two
        expected_output: answer to two
"),
    );
    let said = printed(&cli.run(&["eval", "suite.yaml", "--run-dir", "a", "--judge", "offline", "--json"]));
    assert_eq!(said["criteria_ungraded"], 0, "{said:#}");
    let result = row(&cli, "a");
    assert_eq!(result["error"], Value::Null);
    let kinds = decided(&cli, "a", "turn-1");
    let members: Vec<&str> = kinds["grader_result"]["composite"]["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| member["type"].as_str().unwrap())
        .collect();
    assert_eq!(members, ["rubrics", "contains-any", "composite"]);
    assert_eq!(decided(&cli, "a", "turn-1/set/regex")["grader_result"]["score"], 1.0);
    // If there is only an example of a good answer, the answer is judged as a whole.
    assert!(decided(&cli, "a", "turn-2/llm-grader")["grader_result"]["score"].as_f64().is_some());

    let broken = one("    turns:
      - {input: one, assertions: [{type: contians, value: x}, {type: equals, value: ''}]}
      - {input: two, assertions: [{type: contains, value: x, weight: 0}]}
");
    cli.file("suite.yaml", broken);
    let refused = cli.run(&["eval", "suite.yaml", "--run-dir", "b"]).expect_code(2);
    assert!(refused.stderr.contains("all graders of this turn have weight 0"), "{}", refused.stderr);
    assert!(refused.stderr.contains("suite.yaml:8:"), "{}", refused.stderr);
}

#[test]
fn recorded_conversations_are_graded_turn_by_turn() {
    let cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    let turns = "    turns:
      - {input: one, assertions: [{type: equals, value: A}]}
      - {input: two, assertions: [{type: equals, value: B}, {type: tool-trajectory, mode: any_order, minimums: {look: 1}}]}
    assertions: [{type: contains, value: A}]
";
    let messages = "[{role: user, content: one}, {role: assistant, content: A}, {role: user, content: two}, \
                    {role: assistant, content: hm, tool_calls: [{tool: look, input: {}}]}, {role: assistant, content: B}]";
    let given = format!("name: talk\ntests:\n  - id: t\n    output: {messages}\n{turns}");
    cli.file("given.yaml", &given);
    cli.run(&["eval", "given.yaml", "--run-dir", "given"]).expect_code(0);
    assert_eq!(row(&cli, "given")["turns"][1]["answer"], "B");
    cli.file("short.yaml", given.replace("{role: user, content: two}, ", ""));
    let refused = cli.run(&["eval", "short.yaml"]).expect_code(2);
    assert!(refused.stderr.contains("has 2 turns, but its `output` has 1"), "{}", refused.stderr);

    cli.file("suite.yaml", one(turns).replace("'openai:chat-1'", "past"));
    let again = |name: &str, lines: &str| {
        cli.file("past.jsonl", lines);
        cli.file(".assize/targets.yaml", "targets: [{name: past, provider: replay, path: ../past.jsonl}]\n");
        cli.run(&["eval", "suite.yaml", "--run-dir", name, "-q"])
    };
    let call = r#"{"role": "assistant", "tool_calls": [{"tool": "look", "input": {}}]}, {"role": "assistant", "content": "B"}"#;
    again("by-line", &format!("{{\"id\": \"t\", \"turn\": 1, \"output\": \"A\"}}\n{{\"id\": \"t\", \"turn\": 2, \"output\": [{call}]}}\n"))
        .expect_code(0);
    assert_eq!(row(&cli, "by-line")["turns"][1]["answer"], "B");
    again("as-list", &format!("{{\"id\": \"t\", \"turns\": [\"A\", {{\"output\": [{call}]}}]}}\n"));
    assert_eq!(row(&cli, "as-list")["turns"][0]["answer"], "A");
    again("lost", "{\"id\": \"t\", \"turns\": [\"A\"]}\n").expect_code(3);
    assert!(
        row(&cli, "lost")["error"]["message"].as_str().unwrap().contains("turn 2"),
        "{}",
        row(&cli, "lost")
    );
    // A run is a recording of its conversations.
    cli.file(".assize/targets.yaml", "targets: [{name: past, provider: replay, path: ../given}]\n");
    cli.run(&["eval", "suite.yaml", "--run-dir", "of-run", "-q"]);
    assert_eq!(row(&cli, "of-run")["turns"][1]["answer"], "B");
}

#[test]
fn a_session_of_an_agent_is_graded_turn_by_turn() {
    let cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    let line = |role: &str, id: &str, content: &str| {
        format!(
            r#"{{"type":"{role}","sessionId":"s","uuid":"{id}","timestamp":"2026-01-01T00:00:0{id}Z","message":{{"id":"m{id}","role":"{role}","content":{content},"usage":{{"input_tokens":5,"output_tokens":1}}}}}}"#
        ) + "\n"
    };
    let text = |text: &str| format!(r#"[{{"type":"text","text":"{text}"}}]"#);
    let call = r#"[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"x"}}]"#;
    let result = r#"[{"type":"tool_result","tool_use_id":"t","content":"ok"}]"#;
    let log = [
        line("user", "1", r#""one""#),
        line("assistant", "2", call),
        line("user", "3", result),
        line("assistant", "4", &text("first")),
        line("user", "5", r#""two""#),
        line("assistant", "6", &text("second")),
    ];
    cli.file("log.jsonl", log.concat());
    cli.file(".assize/targets.yaml", "targets: [{name: past, provider: transcript, path: ../log.jsonl}]\n");
    cli.file(
        "suite.yaml",
        one("    turns:
      - {input: one, assertions: [{type: equals, value: first}, {type: tool-trajectory, mode: exact, expected: [{tool: Read}]}]}
      - {input: two, assertions: [{type: equals, value: second}, {type: token-usage, max_total: 100}]}
      - {input: three, assertions: [{type: contains, value: x}]}
    assertions: [{type: tool-trajectory, mode: any_order, minimums: {Read: 1}}]
")
        .replace("'openai:chat-1'", "past"),
    );
    cli.run(&["eval", "suite.yaml", "--run-dir", "a", "-q"]).expect_code(3);
    let turns = row(&cli, "a")["turns"].clone();
    assert_eq!((&turns[0]["answer"], &turns[1]["answer"]), (&"first".into(), &"second".into()));
    assert_eq!(turns[2]["error"]["kind"], "not_recorded");
    assert_eq!(decided(&cli, "a", "turn-1/tool-trajectory")["grader_result"]["score"], 1.0);
    // Metrics of a whole session belong to no single turn.
    assert!(decided(&cli, "a", "turn-2/token-usage")["grader_result"]["error"].is_string());
}

#[test]
fn commands_hold_conversations_too() {
    let cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    cli.file(
        ".assize/targets.yaml",
        r#"targets:
  - {name: shell, provider: cli, command: 'printf "%s:" {TURN} && cat {MESSAGES_FILE} && printf "|%s" {PROMPT}'}
  - {name: all, provider: cli, provider_batching: true, command: 'cat /dev/null'}
"#,
    );
    cli.file(
        "suite.yaml",
        "name: talk
execution: {target: shell}
tests:
  - id: a/b
    turns:
      - {input: \"it's one\", assertions: [{type: contains, value: '1:[{\"'}]}
      - {input: $(two), assertions: [{type: contains, value: \"[user]\\nit's one\"}, {type: ends-with, value: \"[user]\\n$(two)\"}]}
",
    );
    let output = cli.run(&["eval", "suite.yaml", "--run-dir", "a", "--show", "all"]).expect_code(0);
    assert!(output.stdout.contains("turn-2/ends-with/check-1"), "{}", output.stdout);
    let refused = cli.run(&["eval", "suite.yaml", "--target", "all"]).expect_code(2);
    assert!(refused.stderr.contains("answers all cases in one run"), "{}", refused.stderr);
}

#[cfg(unix)]
#[test]
fn a_conversation_works_in_one_folder_which_graders_of_every_turn_and_of_the_whole_see() {
    let cli = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    cli.file("template/a.txt", "a\n");
    cli.file(
        ".assize/targets.yaml",
        "targets: [{name: notes, provider: cli, command: 'echo {TURN} >> notes.txt; echo done'}]\n",
    );
    // Prints the notes in the folder as its reason.
    cli.file(
        "look.sh",
        "folder=$(grep -o '\"workspace_path\":\"[^\"]*\"' | cut -d'\"' -f4)\n\
         printf '{\"score\": 1, \"reason\": \"%s\"}' \"$(tr '\\n' ' ' < \"$folder/notes.txt\")\"\n",
    );
    let look = "assertions: [{type: code-grader, name: look, command: [sh, look.sh]}]";
    cli.file(
        "suite.yaml",
        format!(
            "execution: {{target: notes}}\nworkspace: {{template: ./template}}\ntests:\n  - id: t\n    turns:\n      - input: one\n        \
             {look}\n      - input: two\n        {look}\n    {look}\n"
        ),
    );
    cli.run(&["eval", "suite.yaml", "--run-dir", "a", "-q"]).expect_code(0);
    for (member, notes) in [("turn-1/look", "1"), ("turn-2/look", "1 2"), ("whole/look", "1 2")] {
        assert_eq!(decided(&cli, "a", member)["reason"].as_str().unwrap().trim(), notes, "{member}");
    }
}
