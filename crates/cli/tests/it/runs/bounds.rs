//! Limits on the length of replies: set by budgets and by users, their cut-off replies, and their lines in plans.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::{Value, json};

use crate::runs::support::{decisions, eval, fixture, model, printed, rows, suite};

const CRITERIA: &[&str] = &["yes one", "no two", "yes three"];
const PRICES: &str =
    "models:\n  openai:judge-1: {input: 1, output: 4}\n  openai:answers-1: {input: 10, output: 40}\n";

/// Graders of every kind that calls a model, and a conversation.
const EVERYTHING: &str = "name: all
tests:
  - id: rubric
    criteria: yes it is polite
    input: Say hello
    assertions:
      - {type: rubrics, criteria: [yes one, yes two], judging: batched}
      - {type: rubrics, criteria: [{id: r, score_ranges: [{score_range: [0, 4], outcome: bad}, {score_range: [5, 10], outcome: good}]}]}
      - {type: llm-grader, prompt: 'Is {{ answer }} right?'}
  - id: talk
    mode: conversation
    criteria: stays polite
    turns:
      - {input: I am Ada, assertions: [yes it greets]}
      - {input: And you, assertions: [yes it answers]}
    assertions: [yes it all hangs together]
";

/// A judgement that fits the requested schema, with this many words of reason; for other schemas, words.
fn fitting(incoming: &MockRequest, words: usize) -> MockReply {
    let schema = &incoming.body["response_format"]["json_schema"]["schema"];
    if schema.is_object() {
        MockReply::Json(fill(schema, words))
    } else {
        MockReply::text(format!("{} ", incoming.model).repeat(words.max(1)))
    }
}

fn fill(schema: &Value, words: usize) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|all| all.first()) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let fields = schema["properties"].as_object().expect("fields");
            Value::Object(fields.iter().map(|(key, field)| (key.clone(), fill(field, words))).collect())
        }
        Some("array") => Value::Array(entries(&schema["items"], words)),
        Some("integer") => json!(7),
        Some("number") => json!(0.5),
        Some("boolean") => json!(true),
        _ => json!("why ".repeat(words)),
    }
}

/// One entry for each id that a list must contain; none for lists without ids.
fn entries(items: &Value, words: usize) -> Vec<Value> {
    let forms = items["anyOf"].as_array().map_or(std::slice::from_ref(items), Vec::as_slice);
    let of = |form: &Value| {
        let ids = form["properties"]["id"]["enum"].as_array().cloned().unwrap_or_default();
        let form = form.clone();
        ids.into_iter().map(move |id| {
            let mut entry = fill(&form, words);
            entry["id"] = id;
            entry
        })
    };
    forms.iter().flat_map(of).collect()
}

/// A server that counts requests without a limit for their replies.
fn counting(
    reply: impl Fn(&MockRequest) -> MockReply + Send + Sync + 'static,
) -> (MockServer, Arc<AtomicUsize>) {
    let unlimited: Arc<AtomicUsize> = Arc::default();
    let count = Arc::clone(&unlimited);
    let server = MockServer::start(move |incoming: &MockRequest| {
        if incoming.output_limit().is_none() {
            count.fetch_add(1, Ordering::Relaxed);
        }
        reply(incoming)
    });
    (server, unlimited)
}

#[test]
fn every_command_limits_what_models_may_say_where_tokens_are_limited() {
    let (server, unlimited) = counting(|incoming| fitting(incoming, 3));
    let cli = fixture(&server);
    cli.file("suite.yaml", EVERYTHING)
        .file("drafts.yaml", "evalcases:\n  - {id: a, expected_outcome: Explains the refund, input: q}\n")
        .file("rubric.yaml", "rubrics: [yes one, yes two]\n")
        .file("answers.jsonl", "{\"id\": \"a\", \"answer\": \"hello\"}\n");
    let judge = ["--judge", "openai:judge-1", "--budget-tokens", "100000000", "--no-cache"];
    let mut before = 0;
    for command in [
        &["eval", "suite.yaml", "--target", "openai:answers-1", "--run-dir", "a"][..],
        &["eval", "suite.yaml", "--target", "openai:answers-2", "--run-dir", "b"],
        &["grade", "rubric.yaml", "--answers", "answers.jsonl"],
        &["compare", "pairwise", "a", "b"],
        &["generate", "rubrics", "drafts.yaml"],
        &["lint", "drafts.yaml", "suite.yaml"],
        &["audit", "injection", "suite.yaml", "--target", "openai:answers-1"],
    ] {
        let output = cli.run(&[command, &judge].concat());
        assert_ne!(output.code, Some(2), "{command:?}: {}", output.stderr);
        assert!(server.count() > before, "{command:?} asked nothing: {}", output.stderr);
        assert_eq!(unlimited.load(Ordering::Relaxed), 0, "{command:?}");
        before = server.count();
    }
    // Without a limit in tokens or money, only replies of judges are limited.
    eval(&cli, &["--target", "openai:answers-1", "--budget-calls", "1000", "--no-cache"]);
    let unlimited = unlimited.load(Ordering::Relaxed);
    assert!((1..server.count() - before).contains(&unlimited), "{unlimited}");
}

#[test]
fn long_replies_and_many_at_once_keep_to_the_tokens_and_the_run_goes_on_to_the_same_end() {
    // Some replies need nearly all of their limit, and none needs more.
    let wordy = |incoming: &MockRequest| {
        if incoming.index % 9 == 3 {
            return MockReply::RateLimited { retry_after: Some(Duration::ZERO) };
        }
        let reply = model(incoming);
        if incoming.body["response_format"].is_object()
            && incoming.last_user_text.contains("answer to question 1")
        {
            let MockReply::Json(mut judgement) = reply else { return reply };
            judgement["reason"] = json!("by rule ".repeat(3000));
            return MockReply::Json(judgement).after(Duration::from_millis(1));
        }
        reply
    };
    let server = MockServer::start(wordy);
    let target = ["--target", "openai:answers-1"];
    let calm = fixture(&server);
    calm.file("suite.yaml", suite(24, CRITERIA, false));
    eval(&calm, &[&target[..], &["--run-dir", "run"]].concat()).expect_code(1);
    let whole = decisions(&calm, "run");
    for at_once in ["1", "8", "64"] {
        let cli = fixture(&server);
        cli.file("suite.yaml", suite(24, CRITERIA, false));
        let words =
            ["--run-dir", "run", "--resume", "--max-concurrency", at_once, "--budget-tokens", "60000"];
        let mut rounds = 0;
        loop {
            let before = server.usage();
            let output = eval(&cli, &[&target[..], &words].concat());
            let after = server.usage();
            let spent = after.0 + after.1 - before.0 - before.1;
            assert!(spent <= 60_000, "{at_once}: {spent} in round {rounds}");
            rounds += 1;
            if output.code != Some(4) {
                output.expect_code(1);
                break;
            }
            assert!(spent > 30_000, "{at_once}: {spent} in round {rounds}: {}", output.stderr);
            assert!(rounds < 24, "{}", output.stderr);
        }
        assert!(rounds > 1, "the budget stopped nothing");
        for (id, row) in decisions(&cli, "run") {
            assert_eq!(row, whole[&id], "{at_once} {id}");
        }
        // Cached replies cost nothing and need no budget.
        eval(&cli, &[&target[..], &["--budget-tokens", "0"]].concat()).expect_code(1);
    }
}

#[test]
fn a_reply_that_runs_into_its_limit_decides_nothing_and_another_limit_buys_nothing_twice() {
    let server = MockServer::start(|incoming: &MockRequest| {
        let MockReply::Json(mut judgement) = model(incoming) else { return MockReply::text("hello") };
        if incoming.last_user_text.contains("yes three") {
            judgement["reason"] = json!("x".repeat(4000));
        }
        MockReply::Json(judgement)
    });
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, CRITERIA, true));
    eval(&cli, &["--run-dir", "cut", "--max-output-tokens", "300"]).expect_code(1);
    let of = |folder: &str, criterion: &str| {
        let rows = rows(&cli, &format!("{folder}/judgements.jsonl"));
        rows.into_iter().find(|row| row["criterion"]["id"] == criterion).expect("a decision")
    };
    let row = of("cut", "c2");
    assert_eq!(row["outcome"], "ungraded", "{row}");
    assert!(row["reason"].as_str().unwrap().contains("cut off at its limit of 300 tokens"), "{row}");
    assert_eq!(of("cut", "c0")["outcome"], "met");
    let bought = server.count();
    // Complete replies are found in the cache under any limit; only cut-off ones are requested again.
    eval(&cli, &["--run-dir", "whole"]).expect_code(1);
    assert_eq!((server.count() - bought, &of("whole", "c2")["outcome"]), (1, &json!("met")));
    eval(&cli, &["--max-output-tokens", "2000", "--budget-tokens", "100000"]).expect_code(1);
    assert_eq!(server.count() - bought, 1);
}

#[test]
fn a_long_judgement_after_many_short_ones_is_asked_for_again_as_the_same_call() {
    let (server, unlimited) = counting(|incoming| {
        let MockReply::Json(mut judgement) = model(incoming) else { return MockReply::text("hello") };
        if incoming.last_user_text.contains("the answer is 29") {
            judgement["reason"] = json!("x".repeat(20_000));
        }
        MockReply::Json(judgement)
    });
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(30, &["yes one"], true));
    eval(&cli, &["--run-dir", "run", "-j", "1", "--budget-tokens", "1000000"]).expect_code(0);
    assert_eq!((server.count(), unlimited.load(Ordering::Relaxed)), (31, 0));
    let limits: Vec<Value> = server.requests().iter().map(|sent| sent.json()["max_tokens"].clone()).collect();
    assert_eq!((&limits[0], &limits[28], &limits[30]), (&json!(2000), &json!(2000), &json!(8192)));
    let row = rows(&cli, "run/judgements.jsonl").pop().expect("a row");
    assert_eq!((&row["outcome"], &row["attempts"]), (&json!("met"), &json!(2)), "{row}");
    let replies = row["replies"].as_array().expect("replies");
    assert_eq!(replies.len(), 1, "{row}");
    let (input, output) = server.usage();
    let info: Value = serde_json::from_str(&cli.read("run/run.json")).expect("JSON");
    assert_eq!(info["summary"]["tokens"]["output"], json!(output), "what was cut off is counted");
    assert_eq!(info["summary"]["tokens"]["input"], json!(input));
    // It is found with its own identity.
    eval(&cli, &["--budget-tokens", "0"]).expect_code(0);
    assert_eq!(server.count(), 31);
}

#[test]
fn the_limit_of_a_target_holds_where_it_judges_and_the_command_line_beats_it() {
    let limits: Arc<std::sync::Mutex<Vec<Option<u64>>>> = Arc::default();
    let seen = Arc::clone(&limits);
    let server = MockServer::start(move |incoming: &MockRequest| {
        seen.lock().expect("no panic").push(incoming.output_limit());
        model(incoming)
    });
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, &["yes one"], false)).file(
        ".assize/targets.yaml",
        "targets:\n  - {name: strict, provider: openai, model: judge-1, max_output_tokens: 700}\n",
    );
    let run = |more: &[&str]| {
        let words = ["eval", "suite.yaml", "--judge", "strict", "--target", "strict", "--no-cache", "-q"];
        cli.run(&[&words[..], more].concat()).expect_code(0);
        std::mem::take(&mut *limits.lock().expect("no panic"))
    };
    assert_eq!(run(&[]), [Some(700), Some(700)]);
    // The limit does not apply to the target's answers.
    assert_eq!(run(&["--max-output-tokens", "900"]), [Some(700), Some(900)]);
    assert_eq!(run(&["--budget-tokens", "100000"]), [Some(700), Some(700)]);
}

#[test]
fn an_answer_that_only_a_budget_cut_off_is_no_answer() {
    let server = MockServer::start(|incoming: &MockRequest| {
        if incoming.body["response_format"].is_object() {
            model(incoming)
        } else {
            MockReply::text("word ".repeat(40_000))
        }
    });
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, &["yes one"], false));
    let target = ["--target", "openai:answers-1", "--run-dir"];
    eval(&cli, &[&target[..], &["short", "--budget-tokens", "10000000"]].concat()).expect_code(3);
    let row = &rows(&cli, "short/results.jsonl")[0];
    let message = row["error"]["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("cut off after 32,768 tokens") && message.contains("max_output_tokens"),
        "{row}"
    );
    eval(&cli, &[&target[..], &["whole"]].concat()).expect_code(0);
}

/// A plan, a run without a budget, and runs with the budget that the plan estimates.
fn planned(cli: &CliTest, server: &MockServer, more: &[&str]) {
    let words = ["suite.yaml", "--judge", "openai:judge-1", "--json", "-q"];
    let plan = |extra: &[&str]| {
        printed(&cli.run(&[&["eval", "--dry-run"], &words[..], more, extra].concat()).expect_code(0))
    };
    let whole = plan(&[]);
    assert_eq!(whole["budget"], Value::Null);
    let (count, before) = (server.count(), server.usage());
    let run = cli.run(&[&["eval"], &words[..], more, &["--no-cache"]].concat());
    assert!(matches!(run.code, Some(0 | 1)), "{:?} {} {}", run.code, run.stderr, run.stdout);
    let run = printed(&run);
    assert_eq!(json!(server.count() - count), whole["calls"], "{more:?}");
    let spent = [server.usage().0 - before.0, server.usage().1 - before.1];
    for (kind, spent) in ["input", "output"].into_iter().zip(spent) {
        let range = &whole["tokens_estimated"][kind];
        // The mock reads only the last user message and the instructions.
        let low = if kind == "input" { 0 } else { range["low"].as_u64().expect("a count") };
        assert!(
            (low..=range["high"].as_u64().expect("a count")).contains(&spent),
            "{more:?} {kind} {spent} {range}"
        );
    }
    let cost = run["cost_usd"].as_f64().expect("a sum");
    let dollars = |key: &str| whole["cost_usd"][key].as_f64().expect("a sum");
    assert!(cost <= dollars("high"), "{more:?} {cost} {}", whole["cost_usd"]);
    let tokens = |key: &str| {
        let of = |kind: &str| whole["tokens_estimated"][kind][key].as_u64().expect("a count");
        of("input") + of("output")
    };
    let largest = &whole["largest_call"];
    // The fences around the judged texts are random and vary a little in length.
    let enough = [
        (
            "--budget-tokens",
            "tokens",
            ((tokens("high") + largest["tokens"].as_u64().expect("a count")) * 51 / 50).to_string(),
        ),
        (
            "--budget-usd",
            "usd",
            format!("{:.6}", (dollars("high") + largest["cost_usd"].as_f64().expect("a sum")) * 1.02),
        ),
    ];
    for (flag, key, limit) in &enough {
        let seen = plan(&[flag, limit]);
        assert_eq!(seen["budget"][key]["outlook"], "enough", "{more:?} {}", seen["budget"]);
        let output = cli.run(&[&["eval"], &words[..], more, &["--no-cache", flag, limit]].concat());
        assert_ne!(output.code, Some(4), "{more:?} {flag} {limit}: {}", output.stderr);
    }
    let seen = plan(&["--budget-tokens", &(tokens("low") / 2).to_string(), "--budget-calls", "100000"]);
    assert_eq!(seen["budget"]["tokens"]["outlook"], "too little");
    assert_eq!(seen["budget"]["calls"]["outlook"], "enough");
}

#[test]
fn runs_keep_to_their_plans_and_what_plans_call_enough_is_enough() {
    for words in [1, 150] {
        let server = MockServer::start(move |incoming: &MockRequest| fitting(incoming, words));
        let cli = fixture(&server);
        cli.file(".assize/prices.yaml", PRICES);
        for text in [suite(3, CRITERIA, true), suite(3, CRITERIA, false), EVERYTHING.to_owned()] {
            cli.file("suite.yaml", &text);
            let target: &[&str] =
                if text.contains("output: the answer") { &[] } else { &["--target", "openai:answers-1"] };
            for more in [&[][..], &["--judging", "batched"], &["--judge-repeats", "2"]] {
                planned(&cli, &server, &[target, more].concat());
            }
        }
    }
}
