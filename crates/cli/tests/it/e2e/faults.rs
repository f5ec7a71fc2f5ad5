//! Judges that reply badly or not at all: repaired or ungraded, never a wrong outcome.

use std::time::Duration;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer, always};
use serde_json::{Value, json};

use crate::e2e::bench::{KEY, cli, info, judgements, object, one_case, outcomes, rows, with_server};
use crate::e2e::judge::{JudgeRequest, honest};

/// A met criterion, an unmet one, and a score of 7.
const SUITE: &str = "name: s
tests:
- id: c
  criteria: x
  input: q
  output: apples and pears
  assertions:
  - type: rubrics
    criteria:
    - {id: a, outcome: 'Names `apples`'}
    - {id: z, outcome: 'Names `zebras`'}
    - {id: n, outcome: 'Depth is `7`', score_ranges: {0: none, 5: some, 8: all}}
";
const RIGHT: [&str; 3] = ["a=met", "z=unmet", "n=7"];
const UNGRADED: [&str; 3] = ["a=ungraded", "z=ungraded", "n=ungraded"];

type Script = fn(&JudgeRequest) -> MockReply;

fn run_with(mode: &str, reply: Script) -> (CliTest, MockServer, Vec<String>, i32) {
    let (cli, server) = with_server(move |incoming: &MockRequest| {
        reply(&JudgeRequest::read(&incoming.body).expect("a judge is asked"))
    });
    cli.file("s.yaml", SUITE);
    let output = cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--judging", mode, "--run-dir", "run"]);
    let outcomes = outcomes(&rows(&cli, "run")[0]);
    (cli, server, outcomes, output.code.expect("a code"))
}

fn kinds(cli: &CliTest) -> Vec<String> {
    let mut kinds: Vec<String> = judgements(cli, "run")
        .iter()
        .map(|row| row["ungraded"]["kind"].as_str().unwrap_or("decided").to_owned())
        .collect();
    kinds.dedup();
    kinds
}

#[test]
fn replies_in_fences_and_prose_are_read() {
    for mode in ["per-criterion", "batched"] {
        for script in [
            (|request| MockReply::text(format!("```json\n{:#}\n```", request.truthful()))) as Script,
            |request| {
                MockReply::text(format!(
                    "Let me see.\n\n{}\n\nI hope that helps {{you}}.",
                    request.truthful()
                ))
            },
            |request| {
                MockReply::text(format!(
                    "<think>It could be {{\"outcome\": ...}}</think>\n{}",
                    request.truthful()
                ))
            },
            |request| MockReply::text(format!("\u{feff}  {}  \n", request.truthful())),
        ] {
            let (_, server, outcomes, code) = run_with(mode, script);
            assert_eq!((outcomes.as_slice(), code), (RIGHT.map(str::to_owned).as_slice(), 1), "{mode}");
            assert_eq!(server.count(), if mode == "batched" { 1 } else { 3 }, "no repair was needed");
        }
    }
}

/// The truth after a repair, and a spoiled reply before it.
fn spoiled_once(request: &JudgeRequest, spoil: impl Fn(&mut Value)) -> MockReply {
    let mut value = request.truthful();
    if request.repair.is_empty() {
        spoil(&mut value);
    }
    MockReply::Json(value)
}

fn results(value: &mut Value) -> &mut Vec<Value> {
    value["results"].as_array_mut().expect("a batched reply")
}

#[test]
fn batches_with_missing_repeated_or_unknown_ids_are_repaired_for_what_is_open_only() {
    for script in [
        // Missing.
        (|request| spoiled_once(request, |value| drop(results(value).remove(1)))) as Script,
        // Repeated with two different decisions.
        |request| {
            spoiled_once(request, |value| {
                let mut twin = results(value)[1].clone();
                twin["outcome"] = "met".into();
                results(value).push(twin);
            })
        },
        // Repeated in place of another.
        |request| {
            spoiled_once(request, |value| {
                let first = results(value)[0]["id"].clone();
                results(value)[1]["id"] = first;
            })
        },
        // Unknown.
        |request| spoiled_once(request, |value| results(value)[1]["id"] = "z".into()),
        // Without an id.
        |request| {
            spoiled_once(request, |value| {
                drop(results(value)[1].as_object_mut().expect("sound").remove("id"));
            })
        },
        // A number as id.
        |request| spoiled_once(request, |value| results(value)[1]["id"] = 2.into()),
        // The wrong member.
        |request| {
            spoiled_once(request, |value| {
                let id = results(value)[1]["id"].clone();
                results(value)[1] = json!({"id": id, "score": 9, "evidence": [], "reason": "r"});
            })
        },
    ] {
        let (_, server, outcomes, code) = run_with("batched", script);
        assert_eq!((outcomes.as_slice(), code), (RIGHT.map(str::to_owned).as_slice(), 1));
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        let repair = JudgeRequest::of(&requests[1]);
        let texts: Vec<&str> = repair.criteria.iter().map(|criterion| criterion.text.as_str()).collect();
        assert!(texts.contains(&"Names `zebras`") && !texts.contains(&"Depth is `7`"), "{texts:?}");
    }
}

#[test]
fn wrong_types_and_ranges_are_repaired() {
    for script in [
        (|request| {
            spoiled_once(request, |value| match value.get_mut("score") {
                Some(score) => *score = 11.into(),
                None => value["outcome"] = "pass".into(),
            })
        }) as Script,
        |request| {
            spoiled_once(request, |value| match value.get_mut("score") {
                Some(score) => *score = json!(6.5),
                None => value["outcome"] = json!(true),
            })
        },
        |request| {
            spoiled_once(request, |value| match value.get_mut("score") {
                Some(score) => *score = json!("7"),
                None => value["outcome"] = json!(["met"]),
            })
        },
        |request| {
            spoiled_once(request, |value| match value.get_mut("score") {
                Some(score) => *score = json!(-1),
                None => value["outcome"] = Value::Null,
            })
        },
        |request| {
            spoiled_once(request, |value| match value.get_mut("score") {
                Some(score) => *score = "not_applicable".into(),
                None => value["outcome"] = "not_applicable".into(),
            })
        },
        |request| spoiled_once(request, |value| value["evidence"] = "apples".into()),
        |request| spoiled_once(request, |value| drop(value.as_object_mut().expect("sound").remove("reason"))),
    ] {
        let (_, server, outcomes, code) = run_with("per-criterion", script);
        assert_eq!((outcomes.as_slice(), code), (RIGHT.map(str::to_owned).as_slice(), 1));
        assert_eq!(server.count(), 6, "each criterion was asked twice");
    }
}

#[test]
fn replies_that_stay_unusable_leave_criteria_ungraded() {
    for (script, kind) in [
        ((|_| MockReply::text("It is fine, I would say: met.")) as Script, "malformed"),
        (|_| MockReply::text(""), "malformed"),
        (|_| MockReply::text("{}"), "malformed"),
        (|_| MockReply::text("null"), "malformed"),
        (|_| MockReply::text("[".repeat(5000)), "malformed"),
        (
            |_| MockReply::text(r#"{"evidence": [], "reason": "r", "outcome": "met", "score": 7}"#),
            "malformed",
        ),
        // Two decisions that differ: neither may count.
        (
            |request| {
                let mut other = request.truthful();
                match other.get_mut("score") {
                    Some(score) => *score = 3.into(),
                    None => other["outcome"] = if other["outcome"] == "met" { "unmet" } else { "met" }.into(),
                }
                MockReply::text(format!("{}\n{other}", request.truthful()))
            },
            "malformed",
        ),
        (|_| MockReply::Refusal("I can't judge that.".into()), "refusal"),
        (|_| MockReply::finish("content_filter", ""), "refusal"),
        (|request| MockReply::finish("length", request.truthful().to_string()), "truncated"),
        (|_| MockReply::finish("length", "{\"evidence\": [\"app"), "truncated"),
    ] {
        for mode in ["per-criterion", "batched"] {
            let (cli, server, outcomes, code) = run_with(mode, script);
            assert_eq!(
                (outcomes.as_slice(), code),
                (UNGRADED.map(str::to_owned).as_slice(), 3),
                "{mode} {kind}"
            );
            assert_eq!(kinds(&cli), [kind], "{mode}");
            let row = &rows(&cli, "run")[0];
            assert_eq!((row["verdict"].as_str(), &row["score"]), (Some("incomplete"), &Value::Null));
            assert_eq!((row["score_low"].as_f64(), row["score_high"].as_f64()), (Some(0.0), Some(1.0)));
            assert_eq!(row["coverage"], 0.0);
            assert!(server.count() <= 12, "{} calls", server.count());
        }
    }
}

#[test]
fn a_judge_of_nonsense_ends_the_run_as_incomplete() {
    let (cli, _server) = with_server(always(MockReply::text("bananas")));
    cli.file("s.yaml", SUITE);
    let output = cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run"]).expect_code(3);
    assert!(
        output.stdout.contains("incomplete") && output.stdout.contains("exit code 3"),
        "{}",
        output.stdout
    );
    let value = object(&cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--json"]).expect_code(3));
    assert_eq!((value["criteria_ungraded"].as_u64(), value["criteria"].as_u64()), (Some(3), Some(3)));
    assert_eq!(value["mean_score"], Value::Null);
    assert!(judgements(&cli, "run").iter().all(|row| row["replies"][0] == "bananas"));
}

#[test]
fn a_failed_gate_fails_even_beside_ungraded_criteria_and_sure_verdicts_stand() {
    let (cli, _server) = with_server(|incoming: &MockRequest| {
        let request = JudgeRequest::read(&incoming.body).expect("a judge is asked");
        if request.criteria[0].text.contains("`7`") {
            MockReply::text("?")
        } else {
            MockReply::Json(request.truthful())
        }
    });
    cli.file("fail.yaml", SUITE.replace("'Names `zebras`'", "'Names `zebras`', required: true"));
    cli.run(&["eval", "fail.yaml", "--judge", "openai:m", "--run-dir", "fail"]).expect_code(1);
    let row = &rows(&cli, "fail")[0];
    assert_eq!((row["verdict"].as_str(), &row["score"]), (Some("fail"), &Value::Null));
    // One of three met and one ungraded: at most 2/3, even if the ungraded one were met.
    cli.run(&["eval", "fail.yaml", "--judge", "openai:m", "--threshold", "0.3", "--run-dir", "low"])
        .expect_code(1);
    cli.file("pass.yaml", SUITE);
    cli.run(&["eval", "pass.yaml", "--judge", "openai:m", "--threshold", "0.3", "--run-dir", "pass"])
        .expect_code(0);
    assert_eq!(rows(&cli, "pass")[0]["verdict"], "pass");
}

#[test]
fn retries_are_as_many_as_the_command_line_says() {
    for (retries, requests) in [("0", 1), ("2", 3)] {
        let fault = MockReply::RateLimited { retry_after: Some(Duration::ZERO) };
        let (cli, server) = with_server(always(fault));
        cli.file("s.yaml", "tests:\n- {id: a, input: q, output: o, assertions: [Says o]}\n");
        let args = ["eval", "s.yaml", "--judge", "openai:m", "--max-retries", retries];
        cli.run(&args).expect_code(3);
        assert_eq!(server.count(), requests, "{retries}");
    }

    // Retries of a command, whatever the targets file says.
    let cli = cli();
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- {name: slow, provider: cli, command: [sh, -c, 'echo x >> started; sleep 30'], timeout_seconds: 1, max_retries: 3}\n",
    );
    cli.file("s.yaml", "tests:\n- {id: a, input: q, assertions: [Says o]}\n");
    let args = ["eval", "s.yaml", "--target", "slow", "--max-retries", "1", "--run-dir", "run"];
    cli.run(&args).expect_code(3);
    let path =
        [".assize/started", "started"].into_iter().find(|path| cli.path(path).exists()).expect("begun");
    assert_eq!(cli.read(path).lines().count(), 2);
}

#[test]
fn servers_that_recover_cost_attempts_but_change_nothing() {
    for fault in [
        MockReply::status(500, "{\"error\":{\"message\":\"oops\"}}"),
        MockReply::RateLimited { retry_after: Some(Duration::ZERO) },
        MockReply::Reset,
        MockReply::Truncated("{}".into()),
        MockReply::Raw("<html>".into()),
    ] {
        let (cli, server) = with_server({
            let fault = fault.clone();
            move |incoming: &MockRequest| if incoming.index < 2 { fault.clone() } else { honest(incoming) }
        });
        cli.file("s.yaml", SUITE);
        cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run"]).expect_code(1);
        assert_eq!(outcomes(&rows(&cli, "run")[0]), RIGHT, "{fault:?}");
        assert_eq!(server.count(), 5, "{fault:?}");
        let attempts: u64 =
            judgements(&cli, "run").iter().map(|row| row["attempts"].as_u64().expect("sound")).sum();
        assert_eq!(attempts, 5, "{fault:?}");
        assert_eq!(info(&cli, "run")["summary"]["judge_calls"], 5);
    }
}

#[test]
fn a_judge_that_is_down_leaves_everything_ungraded_and_says_why() {
    let mut cli = cli();
    // A port that was free a moment ago, so no server listens there.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("sound").local_addr().expect("sound");
    cli.env("OPENAI_BASE_URL", format!("http://{free}/v1")).env("OPENAI_API_KEY", KEY);
    cli.file("s.yaml", one_case("apples", &["Names `apples`"]));
    let output = cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run"]).expect_code(3);
    assert!(output.stdout.contains("no connection"), "{}", output.stdout);
    assert!(output.stdout.contains(&free.port().to_string()), "the address is named: {}", output.stdout);
    assert_eq!(judgements(&cli, "run")[0]["ungraded"]["kind"], "transport");
}

#[test]
fn a_judge_that_fails_for_ever_leaves_everything_ungraded() {
    let (cli, server) = with_server(always(MockReply::status(503, "busy")));
    cli.file("s.yaml", one_case("apples", &["Names `apples`"]));
    let output = cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run"]).expect_code(3);
    assert!(output.stdout.contains("overloaded"), "{}", output.stdout);
    let row = &judgements(&cli, "run")[0];
    assert_eq!(row["attempts"].as_u64(), Some(server.count() as u64));
    assert!(server.count() > 1);
}

#[test]
fn evidence_required_refuses_invented_quotes() {
    let script = |incoming: &MockRequest| {
        let request = JudgeRequest::read(&incoming.body).expect("a judge is asked");
        MockReply::Json(request.reply(|_| json!({"evidence": ["bananas"], "reason": "r", "outcome": "met"})))
    };
    let (cli, server) = with_server(script);
    cli.file("s.yaml", one_case("apples", &["Names `apples`"]));
    cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "checked"]).expect_code(0);
    assert_eq!(rows(&cli, "checked")[0]["graders"][0]["criteria"][0]["evidence"][0]["verified"], false);
    let before = server.count();
    cli.file(
        "r.yaml",
        one_case("apples", &["Names `apples`"]).replace("tests:", "execution: {evidence: required}\ntests:"),
    );
    cli.run(&["eval", "r.yaml", "--judge", "openai:m", "--run-dir", "required"]).expect_code(3);
    assert_eq!(judgements(&cli, "required")[0]["ungraded"]["kind"], "evidence");
    assert_eq!(server.count() - before, 3, "asked, and repaired twice");
}
