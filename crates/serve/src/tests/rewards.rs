//! Rewards of samples that a judge decided only in part or not at all.

use std::time::{Duration, Instant};

use assize_testkit::mock::{MockReply, MockRequest, MockServer, always, rule};
use serde_json::{Value, json};

use crate::tests::client::{Reply, request_text, send};
use crate::tests::fixture::{Running, Setup};

/// A model that refuses criteria with "never" and decides the rest by the word "yes".
fn partly_refusing(request: &MockRequest) -> MockReply {
    if request.last_user_text.contains("never") {
        return MockReply::status(400, r#"{"error": {"message": "no such thing"}}"#);
    }

    rule::judge(request)
}

async fn start(model: &MockServer) -> Running {
    let mut setup = Setup::with_model(model);
    setup.run.spending.cache = assize_engine::CacheUse::Off;
    setup.start().await
}

fn body(criteria: Value, more: Value) -> Value {
    let mut body = json!({"rubric": {"criteria": criteria}, "samples": [{"output": "an answer"}]});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

#[tokio::test]
async fn a_judge_that_fails_is_never_a_zero() {
    let model = MockServer::start(partly_refusing);
    let server = start(&model).await;

    let all = server.graded(&body(json!(["never a", "never b"]), json!({}))).await;
    let result = &all["results"][0];
    assert_eq!(
        (&result["status"], &result["reward"], &result["score"]),
        (&json!("ungraded"), &json!(null), &json!(null))
    );
    assert_eq!((&result["score_low"], &result["score_high"]), (&json!(0.0), &json!(1.0)));
    assert!(result["error"].as_str().unwrap().contains("no such thing"), "{result}");
    assert!(result["decisions"][0]["ungraded"]["kind"].is_string());

    let one =
        server.graded(&body(json!([{"outcome": "yes", "weight": 3}, {"outcome": "never"}]), json!({}))).await;
    let result = &one["results"][0];
    assert_eq!(
        (&result["status"], &result["reward"], &result["coverage"]),
        (&json!("partial"), &json!(null), &json!(0.75))
    );
    assert_eq!(one["summary"]["partial"], 1);
    assert_eq!(server.metric("assize_decisions_total{outcome=\"ungraded\"}").await, 3.0);
}

#[tokio::test]
async fn the_worst_case_follows_the_sign_of_the_weight() {
    let model = MockServer::start(partly_refusing);
    let server = start(&model).await;
    let reward = |criteria: Value, policy: Value| {
        let body = body(criteria, json!({"on_ungraded": policy}));
        let server = &server;
        async move { server.graded(&body).await["results"][0]["reward"].clone() }
    };

    let gain = || json!([{"outcome": "yes", "weight": 1}, {"outcome": "never", "weight": 1}]);
    let penalty = || json!([{"outcome": "yes", "weight": 1}, {"outcome": "never", "weight": -1}]);
    assert_eq!(reward(gain(), json!("low")).await, 0.5);
    assert_eq!(reward(gain(), json!("high")).await, 1.0);
    assert_eq!(reward(penalty(), json!("low")).await, 0.0, "the fault may be there");
    assert_eq!(reward(penalty(), json!("high")).await, 1.0);
    assert_eq!(reward(gain(), json!({"value": -1.5})).await, -1.5);
    assert_eq!(reward(gain(), json!(null)).await, Value::Null);
}

#[tokio::test]
async fn a_sample_without_a_reward_can_be_left_out_or_fail_the_request() {
    let model = MockServer::start(partly_refusing);
    let server = start(&model).await;

    let dropped = server.graded(&body(json!(["never"]), json!({"on_ungraded": "drop"}))).await;
    assert_eq!((&dropped["results"], &dropped["summary"]["dropped"]), (&json!([]), &json!(1)));

    let failed = server.grade(&body(json!(["never"]), json!({"on_ungraded": "error"}))).await;
    assert_eq!((failed.status, failed.kind().as_str()), (502, "ungraded"));
    assert_eq!(failed.problems()[0].0, "/samples/0");

    let stream = server
        .post(
            "/v1/grade",
            &[("Accept", "text/event-stream")],
            &body(json!(["never"]), json!({"on_ungraded": "error"})),
        )
        .await;
    assert!(stream.body.contains("event: error"), "{stream:?}");
}

#[tokio::test]
async fn rewards_are_scores_gated_scores_or_passes() {
    let model = MockServer::start(partly_refusing);
    let server = start(&model).await;
    let reward = |criteria: Value, kind: &str| {
        let body = body(criteria, json!({"reward": kind}));
        let server = &server;
        async move { server.graded(&body).await["results"][0]["reward"].clone() }
    };

    let failed_gate = || json!([{"outcome": "yes", "weight": 9}, {"outcome": "no", "required": true}]);
    assert_eq!(reward(failed_gate(), "score").await, 0.9);
    assert_eq!(reward(failed_gate(), "gated").await, 0.0);
    assert_eq!(reward(failed_gate(), "pass").await, 0.0);
    assert_eq!(reward(json!(["yes"]), "pass").await, 1.0);

    let open_gate = || json!([{"outcome": "yes", "weight": 9}, {"outcome": "never", "required": true}]);
    assert_eq!(reward(open_gate(), "gated").await, Value::Null, "nobody knows if the gate holds");
    assert_eq!(reward(open_gate(), "pass").await, Value::Null);
    let low = server.graded(&body(open_gate(), json!({"reward": "gated", "on_ungraded": "low"}))).await;
    assert_eq!(low["results"][0]["reward"], 0.0);
}

#[tokio::test]
async fn a_sample_to_which_nothing_applies_is_ungraded_and_low_and_high_are_numbers() {
    let decision = r#"{"evidence": [], "reason": "no refund is asked for", "outcome": "not_applicable"}"#;
    let model = MockServer::start(always(MockReply::text(decision)));
    let mut setup = Setup::with_model(&model);
    setup.file("rubrics/default.yaml", "- {id: a, outcome: Names the fee, allow_not_applicable: true}\n");
    setup.options.rubrics = Some("rubrics".into());
    let server = setup.start().await;
    let ask = |policy: Value| json!({"rubric": {"name": "default"}, "samples": [{"output": "x"}], "on_ungraded": policy});

    let reply = server.graded(&ask(json!(null))).await;
    let result = &reply["results"][0];
    assert_eq!(
        (&result["status"], &result["reward"], &result["error"]),
        (&json!("ungraded"), &json!(null), &json!("no criterion applies"))
    );
    assert_eq!((&result["score_low"], &result["score_high"]), (&json!(0.0), &json!(1.0)));
    assert_eq!((&reply["summary"]["ungraded"], &reply["summary"]["graded"]), (&json!(1), &json!(0)));
    assert_eq!(server.metric("assize_samples_total{client=\"\",status=\"ungraded\"}").await, 1.0);
    for (policy, reward) in [("low", 0.0), ("high", 1.0)] {
        let reply = server.graded(&ask(json!(policy))).await;
        let result = &reply["results"][0];
        assert_eq!((&result["reward"], &result["reward_assumed"]), (&json!(reward), &json!(true)));
    }
    let failed = server.grade(&ask(json!("error"))).await;
    assert_eq!(failed.problems(), [("/samples/0".to_owned(), "no criterion applies".to_owned())]);

    let slime = json!({"prompt": "p", "response": "r", "label": "l"});
    let rlhf = json!({"query": ["pr"], "prompts": ["p"], "labels": ["l"]});
    let lambda = json!({"id": "1", "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]});
    for (path, body, pointer) in [
        ("/slime", &slime, ""),
        ("/get_reward", &rlhf, "/rewards"),
        ("/lambda", &lambda, "/aggregate_reward_score"),
    ] {
        assert_eq!(server.post(path, &[], body).await.status, 502, "{path}");
        for (policy, reward) in [("low", 0.0), ("high", 1.0)] {
            let reply = server.post(&format!("{path}?on_ungraded={policy}"), &[], body).await;
            assert_eq!(reply.json().pointer(pointer), Some(&json!(reward)), "{path}: {reply:?}");
        }
    }
    let row = json!({"response": {"output": [{"role": "assistant", "content": "a"}]}});
    let masked = server.post("/verify", &[], &row).await.json();
    assert_eq!(
        (&masked["mask_sample"], &masked["failure_kind"]),
        (&json!(true), &json!("assize:not_applicable")),
        "{masked}"
    );
}

#[tokio::test]
async fn components_are_larger_the_better_the_sample_is() {
    let model = MockServer::start(partly_refusing);
    let server = start(&model).await;
    let criteria = json!([
        {"id": "good", "outcome": "yes"}, {"id": "fault", "outcome": "yes, a fault", "weight": -1},
        {"id": "avoided", "outcome": "no fault", "weight": -2}, {"id": "open", "outcome": "never", "weight": -1},
    ]);
    let reply = server.graded(&body(criteria, json!({}))).await;
    let result = &reply["results"][0];

    let components = json!({"good": 1.0, "fault": 0.0, "avoided": 1.0, "open": null});
    assert_eq!(result["reward_components"], components);
    let decision = &result["decisions"][1];
    assert_eq!((&decision["outcome"], &decision["value"]), (&json!("met"), &json!(1.0)), "as it was decided");
}

#[tokio::test]
async fn a_deadline_keeps_what_is_decided_by_then() {
    let model = MockServer::start(|request: &MockRequest| {
        let is_slow = request.last_user_text.contains("slowly");
        rule::judge(request).after(Duration::from_secs(if is_slow { 30 } else { 0 }))
    });
    let server = start(&model).await;
    let begun = Instant::now();
    let criteria = json!([{"outcome": "yes", "weight": 3}, {"outcome": "slowly", "weight": 1}]);
    let reply = server.graded(&body(criteria, json!({"deadline_ms": 400}))).await;

    let result = &reply["results"][0];
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!((&result["status"], &result["coverage"]), (&json!("partial"), &json!(0.75)));
    assert_eq!((&result["score_low"], &result["score_high"]), (&json!(0.75), &json!(1.0)));
    assert_eq!(result["decisions"][0]["outcome"], "met");
    let cause = &result["decisions"][1]["ungraded"];
    assert_eq!(cause["kind"], "cancelled");
    assert!(cause["message"].as_str().unwrap().contains("the deadline of 400 ms passed"), "{cause}");
}

#[tokio::test]
async fn a_reward_is_known_where_what_is_open_does_not_matter() {
    let model = MockServer::start(partly_refusing);
    let server = start(&model).await;
    let criteria = json!([
        {"outcome": "no", "weight": 3},
        {"outcome": "never", "weight": 1, "required": true},
        {"outcome": "yes", "weight": -4},
    ]);
    let reply = server.graded(&body(criteria, json!({"reward": "gated"}))).await;
    let result = &reply["results"][0];
    assert_eq!((&result["score_low"], &result["score_high"]), (&json!(0.0), &json!(0.0)), "{result}");
    assert_eq!((&result["reward"], &result["reward_assumed"]), (&json!(0.0), &json!(false)), "{result}");
}

/// Whether a reply reports that the partly spent budget of the key allows no further call.
fn is_out_of_money(reply: &Reply) -> bool {
    let is_full = reply.status == 429 && reply.kind() == "quota_exceeded";
    is_full || reply.body.contains("does not allow another call") && !reply.body.contains("$0 is spent")
}

#[tokio::test]
async fn calls_that_a_deadline_ends_are_counted_and_charged_to_the_key() {
    let model = MockServer::start(|request: &MockRequest| rule::judge(request).after(Duration::from_mins(1)));
    let mut setup = Setup::with_model(&model);
    setup.file(".assize/prices.yaml", "models:\n  openai:judge-1: {input: 1, output: 4}\n");
    let budget_usd = assize_rubric::Usd::from_dollars(0.005);
    let keys = setup.keys(&[("poor", crate::KeyQuotas { budget_usd, ..Default::default() })]);
    let path = setup.options.keys.clone().unwrap();
    let operator =
        crate::KeyFile::add(&path, "watch", crate::KeyQuotas::default(), String::new(), true).unwrap();
    let server = setup.start().await;
    let headers = [("Authorization", format!("Bearer {}", keys[0]))];
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));

    let ask = |answer: &str| json!({"rubric": ["yes", "no"], "samples": [{"output": answer}], "deadline_ms": 1_500});
    let first = server.post("/v1/grade", &headers, &ask("a")).await.json();
    let summary = &first["summary"];
    assert_eq!(
        (&summary["judge_calls"], &summary["unpriced_calls"]),
        (&json!(model.count()), &json!(model.count())),
        "{first}"
    );
    let metrics =
        send(server.address, &request_text("GET", "/metrics", &[("X-Api-Key", &operator)], b"")).await.body;
    assert!(
        metrics.contains(&format!("assize_unpriced_calls_total{{client=\"poor\"}} {}\n", model.count())),
        "{metrics}"
    );
    assert!(metrics.contains("assize_model_paused{server=\"127.0.0.1"), "{metrics}");

    // The abandoned call counts as spent, so the budget allows no other call.
    let calls = model.count();
    assert_eq!(calls, 1, "the budget allows one call");
    let second = server.post("/v1/grade", &headers, &ask("b")).await;
    assert!(is_out_of_money(&second) && model.count() == calls, "{second:?}");

    let mut file = crate::KeyFile::read(&path).unwrap();
    file.keys[0].quotas.samples_in_flight = Some(9);
    std::fs::write(&path, serde_json::to_string(&file).unwrap()).unwrap();
    wait_for_line(&server, "the keys were read again").await;
    let third = server.post("/v1/grade", &headers, &ask("c")).await;
    assert!(is_out_of_money(&third) && model.count() == calls, "another quota: {third:?}");
}

#[tokio::test]
async fn calls_whose_client_goes_away_are_charged_to_the_key() {
    let model = MockServer::start(|request: &MockRequest| rule::judge(request).after(Duration::from_mins(1)));
    let grader = json!({"model_sample": "r", "item": {}, "grader": {
        "type": "score_model", "name": "s", "model": "judge-1", "input": "Rate it.",
    }});
    // Each budget allows one or two calls at their maximum cost.
    let bodies = [
        ("/v1/grade", json!({"rubric": ["yes"], "samples": [{"output": "a"}]}), 0.005),
        ("/v1/fine_tuning/alpha/graders/run", grader, 0.05),
    ];
    for (path, body, dollars) in bodies {
        let mut setup = Setup::with_model(&model);
        setup.file(".assize/prices.yaml", "models:\n  openai:judge-1: {input: 1, output: 4}\n");
        let budget_usd = assize_rubric::Usd::from_dollars(dollars);
        let keys = setup.keys(&[("poor", crate::KeyQuotas { budget_usd, ..Default::default() })]);
        let server = setup.start().await;
        let text = request_text("POST", path, &[("X-Api-Key", &keys[0])], body.to_string().as_bytes());
        let (address, calls, first) = (server.address, model.count(), text.clone());

        let client = tokio::spawn(async move { send(address, &first).await });
        let begun = Instant::now();
        while model.count() == calls {
            assert!(begun.elapsed() < Duration::from_secs(10), "{path}: the budget allows a call");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        client.abort();

        let begun = Instant::now();
        let again = loop {
            let client = tokio::spawn({
                let text = text.clone();
                async move { send(address, &text).await }
            });
            tokio::time::sleep(Duration::from_millis(300)).await;
            if client.is_finished() {
                break client.await.unwrap();
            }
            client.abort();
            assert!(begun.elapsed() < Duration::from_secs(10), "{path}: calls go on that nobody pays for");
        };
        assert!(is_out_of_money(&again), "{path}: {again:?}");
    }
}

#[tokio::test]
async fn a_model_that_comes_back_is_asked_again() {
    let broken = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let state = std::sync::Arc::clone(&broken);
    let model = MockServer::start(move |request: &MockRequest| {
        if state.load(std::sync::atomic::Ordering::Acquire) {
            return MockReply::status(401, r#"{"error": {"message": "bad key"}}"#);
        }
        rule::judge(request)
    });
    let server = start(&model).await;
    let first = server.graded(&body(json!(["yes"]), json!({}))).await;
    assert_eq!(first["results"][0]["status"], "ungraded");

    let (reply, log) = (first.to_string(), server.log.lock().unwrap().join("\n"));
    assert!(reply.contains("did not accept the API key"), "{reply}");
    assert!(!reply.contains("OPENAI") && !reply.contains("127.0.0.1"), "{reply}");
    assert!(log.contains("OPENAI_API_KEY") && log.contains("127.0.0.1"), "{log}");

    broken.store(false, std::sync::atomic::Ordering::Release);
    let second = server.graded(&body(json!(["yes"]), json!({}))).await;
    assert_eq!(
        (&second["results"][0]["status"], &second["results"][0]["reward"]),
        (&json!("graded"), &json!(1.0))
    );
}

#[tokio::test]
async fn a_budget_that_is_spent_leaves_the_rest_ungraded_with_the_reason() {
    let model = MockServer::start(rule::judge);
    let mut setup = Setup::with_model(&model);
    setup.run.spending.budget.calls = Some(2);
    let server = setup.start().await;
    let samples: Vec<Value> = (0..4).map(|sample| json!({"output": format!("answer {sample}")})).collect();
    let reply = server.graded(&json!({"rubric": ["yes"], "samples": samples})).await;

    assert_eq!(
        (&reply["summary"]["graded"], &reply["summary"]["ungraded"]),
        (&json!(2), &json!(2)),
        "{reply}"
    );
    let reasons: Vec<&str> =
        reply["results"].as_array().unwrap().iter().filter_map(|result| result["error"].as_str()).collect();
    assert!(reasons.len() == 2 && reasons[0].contains("budget of 2 calls"), "{reasons:?}");
}

/// Waits until the operator got a message.
async fn wait_for_line(server: &Running, part: &str) {
    for _ in 0..80 {
        if server.log.lock().unwrap().iter().any(|line| line.contains(part)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("`{part}` is not in {:?}", server.log.lock().unwrap());
}

#[tokio::test]
async fn a_judge_that_is_not_asked_now_says_when_it_is_asked_again() {
    let broken = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let state = std::sync::Arc::clone(&broken);
    let model = MockServer::start(move |request: &MockRequest| {
        if state.load(std::sync::atomic::Ordering::Acquire) {
            return MockReply::status(401, r#"{"error": {"message": "bad key"}}"#);
        }
        rule::judge(request)
    });
    let server = start(&model).await;
    for _ in 0..4 {
        server.graded(&body(json!(["yes"]), json!({}))).await;
    }
    let calls = model.count();

    let failed = server.grade(&body(json!(["yes"]), json!({"on_ungraded": "error"}))).await;
    assert_eq!((failed.status, failed.kind().as_str()), (503, "unavailable"), "{failed:?}");
    let seconds: u64 = failed.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=2).contains(&seconds), "{failed:?}");
    let [(_, problem)] = &failed.problems()[..] else { panic!("{failed:?}") };
    for part in
        ["not judged: openai:judge-1 failed before", "did not accept the API key. It is tried again in"]
    {
        assert!(problem.contains(part), "{problem}");
    }
    assert!(!problem.contains("127.0.0.1") && !problem.contains("OPENAI"), "{problem}");

    let null = server.graded(&body(json!(["yes"]), json!({}))).await;
    assert_eq!(null["results"][0]["decisions"][0]["ungraded"]["kind"], "unavailable", "{null}");
    let grader = json!({"model_sample": "r", "item": {}, "grader": {
        "type": "score_model", "name": "s", "model": "judge-1", "input": "Rate it.",
    }});
    let failed = server.post("/v1/fine_tuning/alpha/graders/run", &[], &grader).await;
    assert!(failed.status == 503 && failed.header("retry-after").is_some(), "{failed:?}");
    let card = json!({
        "rubrics": [{"code": "T", "label": "Tone", "weight": 1.0, "aggregation_method": "WEIGHTED_AVERAGE",
            "passing_threshold": 0.8, "benchmarks": ["T1"]}],
        "benchmarks": [{"code": "T1", "concept": "Share of polite answers.", "weight": 1.0, "threshold": 0.9,
            "evaluator_type": "llm_judge", "llm_prompt_file": "prompts/T1.md",
            "inclusion_criteria": "Apply when an answer is given. Flag if it is rude."}],
        "prompts": {"prompts/T1.md": "SYSTEM:\nYou judge the tone.\n---\nBEHAVIOR: polite\n\nRUBRIC\n\
            Automatic fail if any of the following are true:\n- It is rude.\n\n\
            Pass conditions (all must be satisfied):\n1. It is polite.\n"},
    });
    let card = json!({"scorecard": card, "samples": [{"output": "an answer"}], "on_ungraded": "error"});
    let failed = server.grade(&card).await;
    assert_eq!((failed.status, failed.kind().as_str()), (503, "unavailable"), "{failed:?}");
    let lines = body(json!(["yes"]), json!({"on_ungraded": "error"}));
    let lines = server.post("/v1/grade", &[("Accept", "application/x-ndjson")], &lines).await;
    assert!(lines.body.lines().last().unwrap().contains("\"type\":\"unavailable\""), "{lines:?}");
    assert_eq!(model.count(), calls, "nothing was sent");
    wait_for_line(&server, "calls are held back, and criteria are ungraded, because it failed").await;

    broken.store(false, std::sync::atomic::Ordering::Release);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let second = server.graded(&body(json!(["yes"]), json!({}))).await;
    assert_eq!(second["results"][0]["reward"], 1.0, "{second}");
    wait_for_line(&server, "calls are no longer held back").await;
}

#[tokio::test]
async fn replies_that_decide_nothing_and_late_ones_are_told_to_the_operator() {
    let model = MockServer::start(|request: &MockRequest| {
        if request.last_user_text.contains("slowly") {
            return rule::judge(request).after(Duration::from_secs(30));
        }
        MockReply::Text("I think it is fine!".to_owned())
    });
    let server = start(&model).await;

    server.graded(&body(json!(["yes"]), json!({}))).await;
    server.graded(&body(json!(["slowly"]), json!({"deadline_ms": 200}))).await;

    wait_for_line(&server, "a judge failed: the reply").await;
    wait_for_line(&server, "the deadline of 200 ms passed").await;
}

#[tokio::test]
async fn a_cost_that_is_not_known_is_null_and_no_metric_says_0() {
    let model = MockServer::start(rule::judge);
    let server = start(&model).await;

    let reply = server.graded(&body(json!(["yes", "no"]), json!({}))).await;

    let summary = &reply["summary"];
    assert_eq!((&summary["cost_usd"], &summary["unpriced_calls"]), (&Value::Null, &json!(2)), "{summary}");
    assert_eq!(summary["cost_partial"], json!({"at_least_usd": 0.0, "unpriced_calls": 2}));
    let metrics = server.get("/metrics").await.body;
    assert!(metrics.contains("assize_unpriced_calls_total{client=\"\"} 2\n"), "{metrics}");
    assert!(!metrics.contains("assize_spent_usd_total{"), "{metrics}");
}

#[tokio::test]
async fn the_operator_is_told_that_nobody_named_a_judge() {
    let is_told = |server: &Running| {
        server.log.lock().unwrap().iter().any(|line| line.starts_with("no judge is named"))
    };
    assert!(is_told(&Setup::offline().start().await));

    let mut setup = Setup::offline();
    setup.run.judges = vec!["offline".to_owned()];
    assert!(!is_told(&setup.start().await));
}
