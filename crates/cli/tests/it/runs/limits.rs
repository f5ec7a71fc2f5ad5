//! Limits on concurrency and time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assize_testkit::mock::{MockReply, MockRequest, MockServer, RecordedRequest, with_slots};

use crate::runs::support::{decisions, eval, fixture, model, printed, rows, suite};

#[test]
fn a_run_against_a_server_that_takes_few_at_once_loses_nothing() {
    let slow = |incoming: &MockRequest| {
        if incoming.in_flight > 6 {
            return MockReply::RateLimited { retry_after: None };
        }
        model(incoming).after(Duration::from_millis(5))
    };
    let server = MockServer::start(slow);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(60, &["yes one", "no two", "yes three"], true));
    let output = printed(&eval(&cli, &["--max-concurrency", "24", "--run-dir", "a"]).expect_code(1));
    assert_eq!((&output["criteria"], &output["criteria_ungraded"]), (&180.into(), &0.into()));
    let calm = MockServer::start(model);
    let other = fixture(&calm);
    other.file("suite.yaml", suite(60, &["yes one", "no two", "yes three"], true));
    eval(&other, &["--max-concurrency", "1", "--run-dir", "a"]).expect_code(1);
    assert_eq!(calm.peak_in_flight(), 1);
    assert_eq!(decisions(&cli, "a"), decisions(&other, "a"));
}

#[test]
fn cases_are_no_bottleneck_unless_somebody_wants_them_to_be() {
    let slow = |incoming: &MockRequest| model(incoming).after(Duration::from_millis(200));
    let server = MockServer::start(slow);
    let cli = fixture(&server);
    // One request shows that the server is there, and the others follow together.
    cli.file("suite.yaml", suite(31, &["yes one"], true));
    eval(&cli, &["--max-concurrency", "30", "--no-cache"]).expect_code(0);
    assert_eq!(server.peak_in_flight(), 30);
    let server = MockServer::start(slow);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(6, &["yes one"], true));
    eval(&cli, &["--max-concurrency", "30", "--no-cache", "--workers", "3"]).expect_code(0);
    assert_eq!(server.peak_in_flight(), 3);
}

#[test]
fn a_slow_server_is_sent_what_it_can_answer_and_ends_one_case_after_the_other() {
    let server = MockServer::start(with_slots(4, Duration::from_millis(50), model));
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(12, &["yes one", "yes two", "yes three", "yes four"], true));
    let output = printed(&eval(&cli, &["--request-timeout", "400ms", "--run-dir", "a"]).expect_code(0));
    assert_eq!((&output["criteria"], &output["criteria_ungraded"]), (&48.into(), &0.into()));
    assert_eq!(server.count(), 48, "no request ran into its time limit");

    let is_early_or_late = |(at, request): (usize, &RecordedRequest)| {
        let text = request.json().to_string();
        let (_, rest) = text.split_once("the answer is ").expect("an answer");
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let case: usize = rest[..digits].parse().expect("a number");
        case.abs_diff(at / 4) > 3
    };
    // The first requests belong to the cases that happen to start first.
    let others = server.requests().iter().enumerate().filter(|request| is_early_or_late(*request)).count();
    assert!(others <= 8, "{others} of 48 requests did not go out in the order of the cases");
}

#[test]
fn a_reply_that_runs_on_is_asked_for_once_more_with_more_room() {
    let server = MockServer::start(|_: &MockRequest| MockReply::finish("length", "and ".repeat(1000)));
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, &["yes one"], true));
    eval(&cli, &["--run-dir", "a"]).expect_code(3);
    let limits: Vec<_> =
        server.requests().iter().map(|request| request.json()["max_tokens"].clone()).collect();
    assert_eq!(limits, [2000, 8192]);
    let reason = rows(&cli, "a/judgements.jsonl")[0]["reason"].to_string();
    assert!(reason.contains("8192 tokens") && reason.contains("--max-output-tokens"), "{reason}");

    // A limit of the user stays, and one repair asks the judge to be brief.
    eval(&cli, &["--run-dir", "b", "--max-output-tokens", "300", "--no-cache"]).expect_code(3);
    assert_eq!(server.count(), 4);
}

#[test]
fn a_run_from_the_cache_alone_needs_no_key() {
    let server = MockServer::start(model);
    let mut cli = fixture(&server);
    cli.file("suite.yaml", suite(2, &["yes one"], true));
    // A server that is not on this machine has a key.
    cli.env("OPENAI_API_KEY", "").env("OPENAI_BASE_URL", "");
    let refused = eval(&cli, &[]).expect_code(2).stderr.clone();
    assert!(refused.contains("OPENAI_API_KEY"), "{refused}");
    let output = printed(&eval(&cli, &["--cache-only"]).expect_code(3));
    assert_eq!(output["criteria_ungraded"], 2);
}

#[test]
fn list_prices_of_another_day_are_read_from_litellms_table() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, &["yes one"], true));
    cli.file("good.json", r#"{"gpt-x": {"litellm_provider": "openai", "input_cost_per_token": 1e-06}}"#);
    cli.file("bad.json", r#"{"gpt-x": {"input": 3}}"#);
    eval(&cli, &["--prices", "good.json", "--dry-run"]).expect_code(0);
    for (file, words) in
        [("bad.json", "model_prices_and_context_window.json"), ("none.json", "can't be read")]
    {
        let said = eval(&cli, &["--prices", file]).expect_code(2).stderr.clone();
        assert!(said.contains(file) && said.contains(words), "{said}");
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn a_deadline_ends_the_run_and_the_rest_is_done_later() {
    let stuck = Arc::new(AtomicBool::new(true));
    let is_stuck = Arc::clone(&stuck);
    let server = MockServer::start(move |incoming: &MockRequest| {
        if incoming.index >= 10 && is_stuck.load(Ordering::Relaxed) {
            MockReply::Hang
        } else {
            model(incoming)
        }
    });
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(12, &["yes one", "yes two"], true));
    let begun = Instant::now();
    let options = ["--max-concurrency", "2", "--run-dir", "a", "--deadline"];
    let stopped = printed(&eval(&cli, &[&options[..], &["1500ms"]].concat()).expect_code(3));
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert_eq!(stopped["exit_reason"], "stopped at the deadline");
    let done = rows(&cli, "a/results.jsonl").len();
    assert_eq!(stopped["not_run"], 12 - done);
    assert!(done <= 5, "what was in flight is not on record");

    stuck.store(false, Ordering::Relaxed);
    let finished = printed(&eval(&cli, &["--run-dir", "a", "--resume", "--deadline", "5m"]).expect_code(0));
    assert_eq!((&finished["not_run"], &finished["counts"]["pass"]), (&0.into(), &12.into()));
    assert_eq!(rows(&cli, "a/results.jsonl").len(), 12);
}

#[test]
fn a_request_that_takes_too_long_is_given_up() {
    let server = MockServer::start(|_: &MockRequest| MockReply::Hang);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, &["yes one"], true));
    // Waits between attempts are real here, so there is one attempt; the deadline ends the rest.
    let options = ["--request-timeout", "50ms", "--deadline", "20s", "--run-dir", "a"];
    eval(&cli, &options).expect_code(3);
    let row = &rows(&cli, "a/judgements.jsonl")[0];
    assert_eq!((&row["outcome"], &row["attempts"]), (&"ungraded".into(), &5.into()));
    assert!(row["reason"].as_str().is_some_and(|reason| reason.contains("within 50 ms")), "{row}");
}

#[test]
fn lengths_of_time_and_limits_are_checked() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1, &["yes one"], true));
    for wrong in [["--deadline", "30"], ["--max-concurrency", "0"], ["--requests-per-minute", "-1"]] {
        eval(&cli, &wrong).expect_code(2);
    }
    cli.file(".assize/config.yaml", "max_concurrency: 2\nrequest_timeout: 30\n");
    let complaint = eval(&cli, &[]).expect_code(2).stderr.clone();
    assert!(complaint.contains("request_timeout"), "{complaint}");
    cli.file(".assize/config.yaml", "max_concurrency: 2\nrequests_per_minute: 6000\nrequest_timeout: 30s\n");
    eval(&cli, &[]).expect_code(0);
    assert_eq!(server.count(), 1);
}

#[test]
fn a_wrong_key_stops_the_run_after_a_few_requests_and_the_rest_is_done_later() {
    let wrong = Arc::new(AtomicBool::new(true));
    let is_wrong = Arc::clone(&wrong);
    let server = MockServer::start(move |incoming: &MockRequest| {
        if is_wrong.load(Ordering::Relaxed) {
            MockReply::status(401, r#"{"error":{"message":"Incorrect API key"}}"#)
        } else {
            model(incoming)
        }
    });
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(200, &["yes one"], true));
    let words = ["eval", "suite.yaml", "--judge", "openai:judge-1", "--run-dir", "a"];
    let output = cli.run(&[&words[..], &["--show", "none"]].concat()).expect_code(3);
    assert!(server.count() <= 40, "{} requests", server.count());
    let said = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("Incorrect API key") && said.contains("--resume"), "{said}");
    let done = rows(&cli, "a/results.jsonl").len();
    assert!(done <= server.count(), "{done} cases are on record");

    wrong.store(false, Ordering::Relaxed);
    let finished = printed(&eval(&cli, &["--run-dir", "a", "--resume"]));
    assert_eq!(finished["not_run"], 0, "{finished}");
    assert_eq!(finished["counts"]["pass"], 200 - done, "{finished}");
    assert_eq!(rows(&cli, "a/results.jsonl").len(), 200);
}

#[test]
fn an_outage_of_some_requests_loses_no_case() {
    let server = MockServer::start(|incoming: &MockRequest| match incoming.index {
        100..109 => MockReply::Reset,
        _ => model(incoming),
    });
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(300, &["yes one"], true));
    let finished = printed(&eval(&cli, &["--run-dir", "a", "--workers", "8"]).expect_code(0));
    assert_eq!(finished["counts"]["pass"], 300, "{finished}");
}

#[test]
fn what_was_spent_on_cases_that_did_not_finish_is_told() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(2, &["yes one", "yes two", "yes three", "yes four"], true));
    let stopped = ["--max-concurrency", "1", "--workers", "1", "--no-cache", "--budget-calls", "3"];
    let output = eval(&cli, &[&stopped[..], &["--run-dir", "a"]].concat()).expect_code(4);
    let value = printed(&output);
    assert_eq!((&value["judge_calls"], &value["not_run"]), (&0.into(), &2.into()), "no case has finished");
    assert_eq!((&value["sent"]["requests"], server.count()), (&3.into(), 3));
    assert_eq!(value["sent"]["cost_usd"], serde_json::Value::Null, "the price is unknown");

    let shown = |more: &[&str], code| {
        cli.run(&[&["eval", "suite.yaml", "--judge", "openai:judge-1"], more].concat())
            .expect_code(code)
            .stdout
    };
    let text = shown(&[&stopped[..], &["--run-dir", "b"]].concat(), 4);
    assert!(text.contains("3 requests, including those for unfinished cases; cost unknown"), "{text}");
    assert!(!shown(&["--run-dir", "c"], 0).contains("in all"));
}
