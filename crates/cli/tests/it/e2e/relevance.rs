//! Assertions about the context of an answer, and about the questions that an answer would answer.

use assize_testkit::mock::{MockReply, MockRequest};
use serde_json::{Value, json};

use crate::e2e::bench::{cli, object, rows, with_server};

/// A judge for which statements with `wrong` are unmet and statements with `hollow` don't apply, and that
/// writes the questions `a?`, `ab?` and `b?`; vectors count the letters `a` and `b`.
fn judge(incoming: &MockRequest) -> MockReply {
    if incoming.path.ends_with("/embeddings") {
        let count = |letter| incoming.last_user_text.matches(letter).count();
        return MockReply::text(json!([count('a'), count('b')]).to_string());
    }
    if incoming.system_text.contains("You write the questions") {
        return MockReply::text(json!({"questions": ["a?", "ab?", "b?"]}).to_string());
    }

    let criterion = incoming.last_user_text.rsplit("BEGIN criterion").next().unwrap_or_default();
    let outcome = match criterion {
        text if text.contains("broken") => return MockReply::text("no decision"),
        text if text.contains("hollow") => "not_applicable",
        text if text.contains("wrong") => "unmet",
        _ => "met",
    };
    MockReply::text(json!({"evidence": [], "reason": "said so", "outcome": outcome}).to_string())
}

fn verdicts(rows: &[Value]) -> Vec<(String, Option<f64>)> {
    let verdict = |row: &Value| {
        (row["verdict"].as_str().unwrap_or_default().to_owned(), row["graders"][0]["score"].as_f64())
    };
    rows.iter().map(verdict).collect()
}

#[test]
fn each_statement_is_a_decision_and_their_share_is_the_score() {
    let (cli, server) = with_server(judge);
    cli.file(
        "p.yaml",
        "prompts: ['{{ query }}']\nproviders: [echo]\ndefaultTest: {options: {disableVarExpansion: true}}\ntests:\n\
         - vars: {query: Q, context: C.}\n  assert: [{type: context-recall, value: Right. Also right. Right too. This is wrong., threshold: 0.75}]\n\
         - vars: {query: Q, context: C.}\n  assert: [{type: context-recall, value: Right. This is wrong., threshold: 0.75}]\n\
         - vars: {query: Q, context: [right, wrong]}\n  assert: [{type: context-relevance}]\n\
         - vars: {query: Q, context: [right, wrong]}\n  assert: [{type: not-context-relevance}]\n\
         - vars: {query: Right. A hollow one. This is wrong. Wrong? No., context: C.}\n  assert: [{type: context-faithfulness, threshold: 0.7}]\n\
         - vars: {query: Right., context: C.}\n  assert: [{type: context-faithfulness}]\n\
         - vars: {query: Right. A broken one., context: C.}\n  assert: [{type: context-faithfulness, threshold: 0.8}]\n",
    );
    cli.run(&["eval", "p.yaml", "--judge", "openai:judge", "--run-dir", "run"]).expect_code(1);
    let found = rows(&cli, "run");
    let expected = [
        ("pass", Some(0.75)),
        ("fail", Some(0.5)),
        ("pass", Some(0.5)),
        ("fail", Some(0.5)),
        ("pass", Some(0.75)),
        ("pass", Some(1.0)),
        ("incomplete", None),
    ];
    let expected: Vec<(String, Option<f64>)> =
        expected.into_iter().map(|(verdict, score)| (verdict.to_owned(), score)).collect();
    assert_eq!(verdicts(&found), expected, "{found:#?}");

    let told = cli.run(&["explain", "run", "test-1"]).expect_code(0).stdout;
    assert!(told.contains("This is wrong.") && told.contains("said so"), "{told}");

    // All decisions are in the cache.
    let asked = server.requests().len();
    cli.run(&["eval", "p.yaml", "--judge", "openai:judge", "--run-dir", "again", "--filter", "test-[1-6]"])
        .expect_code(1);
    assert_eq!(server.requests().len(), asked);
}

#[test]
fn a_context_may_come_from_the_answer_before_it_is_changed() {
    let (cli, _server) = with_server(judge);
    cli.file(
        "p.yaml",
        "prompts: ['{{ answer }}']\nproviders: [echo]\ntests:\n\
         - vars: {answer: '{\"said\": \"Fine.\", \"found\": [\"right\", \"wrong\", \"wrong too\"]}', query: Q}\n\
         \u{20} options: {transform: JSON.parse(output).said}\n\
         \u{20} assert: [{type: context-relevance, contextTransform: JSON.parse(output).found, threshold: 0.3}, {type: equals, value: Fine.}]\n\
         - vars: {answer: no JSON, query: Q}\n\
         \u{20} assert: [{type: context-relevance, contextTransform: JSON.parse(output).found}]\n",
    );
    cli.run(&["eval", "p.yaml", "--judge", "openai:judge", "--run-dir", "run"]).expect_code(3);
    let found = rows(&cli, "run");
    assert_eq!(found[0]["verdict"], "pass", "{found:#?}");
    assert_eq!(found[0]["graders"][0]["score"], 1.0 / 3.0);
    assert_eq!(found[1]["verdict"], "incomplete", "{found:#?}");
    let error = found[1]["graders"][0]["error"].as_str().unwrap_or_default();
    assert!(error.contains("`context_transform`"), "{error}");
}

#[test]
fn questions_for_the_answer_are_compared_with_the_one_that_was_asked() {
    let (cli, server) = with_server(judge);
    cli.file(
        "p.yaml",
        "prompts: ['{{ query }}']\nproviders: [echo]\n\
         defaultTest: {options: {provider: {embedding: 'openai:embedding:tiny'}}}\ntests:\n\
         - {vars: {query: aa}, assert: [{type: answer-relevance, threshold: 0.56}]}\n\
         - {vars: {query: aa}, assert: [{type: answer-relevance, threshold: 0.58}]}\n\
         - {vars: {query: aa}, assert: [{type: not-answer-relevance, threshold: 0.58}]}\n",
    );
    cli.run(&["eval", "p.yaml", "--judge", "openai:judge", "--run-dir", "run"]).expect_code(1);
    let found = rows(&cli, "run");
    let all: Vec<&Value> = found.iter().map(|row| &row["verdict"]).collect();
    assert_eq!(all, ["pass", "fail", "pass"], "{found:#?}");
    // The cosines are 1, 0.707 and 0.
    let score = found[0]["graders"][0]["score"].as_f64().unwrap_or_default();
    assert!((score - (1.0 + 0.5f64.sqrt()) / 3.0).abs() < 1e-9, "{score}");
    let told = cli.run(&["explain", "run", "test-1"]).expect_code(0).stdout;
    assert!(told.contains("ab?"), "{told}");

    // The questions once, and a vector for each of four texts.
    assert_eq!(server.requests().len(), 5);
    let plan = cli.run(&["eval", "p.yaml", "--judge", "offline"]).expect_code(2);
    assert!(plan.stderr.contains("writes no questions"), "{}", plan.stderr);
}

#[test]
fn a_failure_is_no_score() {
    let (cli, _server) = with_server(|_: &MockRequest| MockReply::text("neither"));
    cli.file(
        "p.yaml",
        "prompts: [p]\nproviders: [echo]\n\
         defaultTest: {options: {provider: {embedding: 'openai:embedding:tiny'}}}\ntests:\n\
         - {assert: [{type: answer-relevance}]}\n- {assert: [{type: not-answer-relevance}]}\n- {assert: [{type: conversation-relevance}]}\n",
    );
    cli.run(&["eval", "p.yaml", "--judge", "openai:judge", "--run-dir", "run"]).expect_code(3);
    for row in rows(&cli, "run") {
        assert_eq!(row["verdict"], "incomplete", "{row:#}");
    }
}

#[test]
fn each_reply_of_a_conversation_is_a_criterion() {
    let (cli, server) = with_server(judge);
    cli.file(
        "p.yaml",
        "prompts: [p]\nproviders: [echo]\ntests:\n\
         - vars: {_conversation: [{input: i1, output: o1}, {input: i2, output: wrong}, {input: i3, output: o3}]}\n\
         \u{20} assert: [{type: conversation-relevance, threshold: 0.6, config: {windowSize: 1}}]\n\
         - {assert: [{type: conversation-relevance}]}\n",
    );
    let value = object(
        &cli.run(&["eval", "p.yaml", "--judge", "openai:judge", "--json", "--run-dir", "run"]).expect_code(0),
    );
    assert_eq!(value["counts"]["pass"], 2, "{value:#}");
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn words_are_no_measure_of_relevance() {
    let cli = cli();
    let text = |kind: &str| {
        format!(
            "prompts: [Paris is the capital of France.]\nproviders: [echo]\ntests: [{{vars: {{query: Which?, context: The capital of France is Paris. Rome is in Italy.}}, assert: [{{type: {kind}}}]}}]\n"
        )
    };
    cli.file("faithful.yaml", text("context-faithfulness"));
    let open = cli.run(&["eval", "faithful.yaml", "--judge", "offline"]).expect_code(3);
    assert!(open.stdout.contains("needs a model"), "{}", open.stdout);
    cli.file("relevant.yaml", text("context-relevance"));
    let refused = cli.run(&["eval", "relevant.yaml", "--judge", "offline"]).expect_code(2);
    assert!(refused.stderr.contains("can't tell what a question needs"), "{}", refused.stderr);
}

#[test]
fn statements_of_other_answers_are_no_other_rubric() {
    let (cli, _server) = with_server(judge);
    for (run, answer) in [("a", "Right."), ("b", "Other. A wrong one.")] {
        cli.file(
            "p.yaml",
            format!(
                "prompts: [p]\nproviders: [echo]\ntests: [{{providerOutput: {answer}, vars: {{context: C.}}, assert: [{{type: context-faithfulness}}]}}]\n"
            ),
        );
        cli.run(&["eval", "p.yaml", "--judge", "openai:judge", "--run-dir", run, "--quiet"]);
    }
    let told = cli.run(&["compare", "a", "b"]).stdout;
    assert!(told.contains("score") && !told.contains("criteria differ"), "{told}");
}
